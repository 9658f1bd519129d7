// The scan that looks for leaks finds one that is planted, in every form.
import { expect, test } from 'bun:test'
import { findCredentials } from '../support/credential-scan.ts'

const SECRET = 'Ä"pass/word+of\\20' // every form of it differs
const OTHER = 'nobody-was-told-this'
const base64 = (text: string) => Buffer.from(text).toString('base64')

const PLANTED: [form: string, text: string][] = [
  ['raw', `a line with ${SECRET} in it`],
  ['hex', Buffer.from(SECRET).toString('hex')],
  ['URL', `/sign-in?key=${encodeURIComponent(SECRET)}&next=`],
  ['JSON', JSON.stringify({ text: `see ${SECRET}` })],
  ['JSON in JSON', JSON.stringify({ text: JSON.stringify({ text: SECRET }) })],
  ['base64', base64(SECRET)],
  ['base64', base64(`1${SECRET}2`)],
  ['base64', base64(`12${SECRET}`)],
  ['base64', Buffer.from(`12${SECRET}3`).toString('base64url')],
]

test.each(PLANTED)('%s: %s', (form, text) => {
  expect(findCredentials([Buffer.from('before '), Buffer.from(text), ' after'], [OTHER, SECRET])).toContainEqual({ credential: 1, form })
})

test('one that is split over chunks, at every byte of it', () => {
  const bytes = Buffer.from(`x${SECRET}y`)
  for (let at = 0; at <= bytes.length; at++)
    expect(findCredentials([bytes.subarray(0, at), bytes.subarray(at)], [SECRET])).toContainEqual({ credential: 0, form: 'raw' })
})

test('nothing where nothing is', () => {
  expect(findCredentials(['a text', Buffer.from(base64('another')), JSON.stringify({ pass: 'word' })], [SECRET, OTHER])).toEqual([])
})

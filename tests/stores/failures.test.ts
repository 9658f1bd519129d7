import { expect, test } from 'bun:test'
import { DatabaseTimeout } from '../../db/database.ts'
import { isAway, isRefused } from '../../db/errors.ts'

const coded = (code: string) => Object.assign(new Error('It failed.'), { code })

test.each([
  '08006', // the connection broke
  '25P03', // our transaction idled for too long
  '53300', // too many connections
  '57P01', // the server stops
  '57014', // the statement took too long
  'CONNECTION_CLOSED',
  'CONNECT_TIMEOUT',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTDOWN',
  'EHOSTUNREACH',
  'ENETDOWN',
  'ENETUNREACH',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
])('%s: the database is away, also as the cause of another error', (code) => {
  expect(isAway(coded(code))).toBe(true)
  expect(isAway(new Error('The query failed.', { cause: coded(code) }))).toBe(true)
})

test('our own patience that ended is the same', () => {
  expect(isAway(new DatabaseTimeout())).toBe(true)
})

test.each(['23505', '22021', '25P02', '42P01', 'ENOENT'])('%s: the database is there', (code) => {
  expect(isAway(coded(code))).toBe(false)
})

test('only what the database itself said no to is known to be unwritten', () => {
  for (const code of ['23505', '22021', '40P01', '55P03', 'XX000']) expect(isRefused(coded(code))).toBe(true)
  for (const code of ['57014', '53100', 'CONNECTION_CLOSED', 'UNDEFINED_VALUE', 'EPIPE', 'EROFS'])
    expect(isRefused(coded(code))).toBe(false)
  expect(isRefused(new TypeError('row is undefined'))).toBe(false)
})

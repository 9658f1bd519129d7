import { expect, test } from 'bun:test'
import { createLog, describeError } from '../../src/core/runtime/log.ts'
import { HEX, TOKEN } from '../support/secrets.ts'

const logged = (level: 'debug' | 'info' | 'warn', pretty = false) => {
  const lines: string[] = []
  return { lines, log: createLog(level, (line) => void lines.push(line), pretty) }
}

test('a line is one JSON object, and levels below the least are left out', () => {
  const { lines, log } = logged('warn')
  log('info', 'quiet')
  log('warn', 'loud\nand long', { n: 1 })
  expect(lines).toHaveLength(1)
  expect(JSON.parse(lines[0]!)).toMatchObject({ level: 'warn', message: 'loud\nand long', n: 1 })
})

test.each([false, true])('no credential gets through, pretty: %p', (pretty) => {
  const { lines, log } = logged('debug', pretty)
  const keys = [TOKEN, `ca_full_${HEX}`, `op_${'A'.repeat(32)}`]
  log('warn', `failed with ${keys.join(' and ')}`, { team_id: TOKEN, nested: { keys } })
  for (const secret of [TOKEN.slice(37), HEX, 'A'.repeat(32)]) expect(lines[0]).not.toContain(secret)
  expect(lines[0]).toContain(TOKEN.slice(0, 8))
})

test('an error is logged with its name, message and causes, never with a statement’s parameters', () => {
  const error = new Error('Failed query: select 1\nparams: secret,values', { cause: Object.assign(new Error('away'), { code: '57P01' }) })
  const described = describeError(error)
  expect(described).toMatchObject({ error: 'Error', reason: 'Failed query: select 1', cause: { reason: 'away', code: '57P01' } })
  expect(JSON.stringify({ ...described, stack: undefined })).not.toContain('secret')
  expect(describeError('a text')).toEqual({ error: 'a text' })
})

test('a stack tells no parameters either', () => {
  const error = new Error('Failed query: insert\nparams: line one\nline two,secret')
  expect(JSON.stringify(describeError(error))).not.toContain('secret')
})

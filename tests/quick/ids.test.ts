import { expect, test } from 'bun:test'
import { derivedSecret, newSecret, parseToken, sameText, uuid7, uuidOf } from '../../src/core/ids.ts'
import { TOKEN } from '../support/secrets.ts'

test('only handle.secret is a token', () => {
  expect(parseToken(TOKEN)).toEqual({ handle: TOKEN.slice(0, 36), secret: TOKEN.slice(37) })
  for (const text of ['', TOKEN.slice(0, 36), `${TOKEN}x`, TOKEN.slice(0, -1), ` ${TOKEN}`, `${TOKEN}\n`, TOKEN.replace('.', ':')])
    expect(parseToken(text), text).toBeUndefined()
})

test('a made secret and a derived one have the same shape, and the derived one follows from its parts alone', () => {
  for (const secret of [newSecret(), derivedSecret('s', 'a', 'b')]) expect(secret).toMatch(/^[A-Za-z0-9_-]{32}$/)
  expect(derivedSecret('s', 'a', 'b')).toBe(derivedSecret('s', 'a', 'b'))
  expect(derivedSecret('s', 'a', 'b')).not.toBe(derivedSecret('t', 'a', 'b'))
  expect(derivedSecret('s', 'a', 'b')).not.toBe(derivedSecret('s', 'b', 'a'))
})

test('texts are the same only when all of them is', () => {
  expect([sameText('abc', 'abc'), sameText('abc', 'abd'), sameText('abc', 'abcd'), sameText('', '')]).toEqual([true, false, false, true])
})

test('the id of a text is the same for good: ids of people and of imported events rest on it', () => {
  expect(uuidOf('parley\nclaude-code\nabc')).toBe('ca1c7742-e1ee-8ab0-8670-0c08a2333d9a')
})

test('ids sort by the time they were made', async () => {
  const first = uuid7()
  await Bun.sleep(3)
  expect(uuid7() > first).toBe(true)
  expect(first).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
})

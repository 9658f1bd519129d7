import { expect, test } from 'bun:test'
import type { Refusal } from '../../src/core/errors.ts'
import { newKey, newSecret, OPERATOR_PREFIX } from '../../src/core/ids.ts'
import { KEY_SCOPES, prefixOf } from '../../src/core/key-scopes.ts'
import { cutAt } from '../../src/core/text/cut-at.ts'
import { slugOf } from '../../src/core/text/slug.ts'
import { checkTexts, holdsSecret, isBlank, keepSecret, nameIsPlain, nameKey, redacted } from '../../src/core/text/text.ts'
import { HEX, TOKEN } from '../support/secrets.ts'

const refusalOf = (act: () => void): Refusal | undefined => {
  try {
    act()
    return undefined
  } catch (error) {
    return error as Refusal
  }
}

test('a text is refused for U+0000, half a pair, a token, a key, or the caller’s own secret', () => {
  const own = 'z'.repeat(32)
  for (const [text, code] of [
    [`a${String.fromCharCode(0)}`, 'invalid_request'],
    ['\ud800', 'invalid_request'],
    [`x ${TOKEN} y`, 'secret_in_text'],
    [TOKEN.toUpperCase().slice(0, 37) + TOKEN.slice(37), 'secret_in_text'],
    [`key=ca_run_${HEX};`, 'secret_in_text'],
    [`op_${'Ab-_'.repeat(8)}`, 'secret_in_text'],
    [`my ${own}`, 'secret_in_text'],
  ] as const)
    expect(refusalOf(() => checkTexts({ a: { b: [text] } }, own))?.code, text).toBe(code)
  expect(refusalOf(() => checkTexts({ a: { b: ['ok', TOKEN] } }))?.details).toEqual({ field: 'a.b.1' })
  expect(refusalOf(() => checkTexts({ a: 1, b: null, c: true, d: 'fine 🦜', e: ['x'] }, own))).toBeUndefined()
})

test.each(KEY_SCOPES)('a key of the scope %s is known for one, and redaction leaves what may be shown of it', (scope) => {
  const key = newKey(scope)
  expect([holdsSecret(key), redacted(`key=${key};`)]).toEqual([true, `key=${prefixOf(key)}…;`])
  expect(prefixOf(key)).toMatch(new RegExp(`^ca_${scope}_[0-9a-f]{8}$`))
})

test('tokens and operator keys are known in the shape in which they are made', () => {
  const handle = crypto.randomUUID()
  expect(redacted(`${handle}.${newSecret()}`)).toBe(`${handle}…`)
  expect(redacted(`${OPERATOR_PREFIX}${newSecret()}`)).toBe(`${OPERATOR_PREFIX}…`)
})

test('a handle, a hash and a short key are no secrets', () => {
  for (const text of [TOKEN.slice(0, 36), `${TOKEN.slice(0, 36)}.md`, HEX, 'ca_full_1234', 'op_short'])
    expect(holdsSecret(text)).toBe(false)
})

test('a longer text that begins with a key’s shape holds the key', () => {
  expect(holdsSecret(`(op_${'A'.repeat(32)})`)).toBe(true)
  expect(holdsSecret(`https://host/sign-in?key=op_${'A'.repeat(31)}-`)).toBe(true)
  expect(holdsSecret(`x_ca_full_${HEX}`)).toBe(true)
})

test('names are compared without case and in NFKC', () => {
  expect(nameKey(' Ａlex ')).toBe(nameKey('alex'))
  expect(nameKey('Ｂｅａ')).toBe('bea')
  expect(nameKey('Bea')).not.toBe(nameKey('Béa'))
})

test('plain words are compared as all others are', () => {
  for (const name of ['Alex', "Alex's  Team", ' Bea', 'Bea ', 'a\tb', 'A B', '~!'])
    expect(nameKey(name)).toBe(name.normalize('NFKC').replace(/\s+/g, ' ').trim().toLowerCase())
})

test('a text is blank when nothing of its name is left', () => {
  for (let code = 0; code <= 0x10_ff_ff; code++) {
    const text = String.fromCodePoint(code)
    if (isBlank(text) !== (nameKey(text) === '')) expect(`U+${code.toString(16)}`).toBe('the same to both')
  }
  expect([isBlank('\u3164 \u2800\n'), isBlank('\u3164 \ufdfa')]).toEqual([true, false])
})

test('a plain name has no invisible marks', () => {
  for (const name of ['Alex', 'Team O’Neill', '日本', '👩‍💻']) expect(nameIsPlain(name), name).toBe(true)
  for (const name of ['', ' ', 'a\u202eb', 'a\nb', 'a\u{e0061}b', 'a\u0085b', '\u200b', '\u3164\u200d'])
    expect(nameIsPlain(name), JSON.stringify(name)).toBe(false)
})

test('redaction keeps what is public', () => {
  expect(redacted(`handle ${TOKEN.slice(0, 36)} stays`)).toBe(`handle ${TOKEN.slice(0, 36)} stays`)
})

test('what an operator chose is a credential like ours once it is known, in a line of JSON too', () => {
  const secret = `"quoted" ${crypto.randomUUID()}`
  expect([holdsSecret(`see ${secret}`), redacted(secret)]).toEqual([false, secret])
  keepSecret(secret)
  expect([holdsSecret(`see ${secret}`), redacted(`see ${secret}.`)]).toEqual([true, 'see ….'])
  expect(redacted(JSON.stringify({ secret }))).toBe('{"secret":"…"}')
})

test('a title makes a name of a file without its accents', () => {
  const ascii = (title: string) => slugOf(title, /[^a-z0-9]+/g)
  expect(['Über Élan', '  Ship it! ', '日本'].map(ascii)).toEqual(['uber-elan', 'ship-it', ''])
})

test('a text is cut before a character that does not fit', () => {
  expect([0, 1, 2, 3, 4, 9].map((units) => cutAt('a😀b', units))).toEqual(['', 'a', 'a', 'a😀', 'a😀b', 'a😀b'])
})

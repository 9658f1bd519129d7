import { describe, expect, test } from 'bun:test'
import { Clock } from '../../src/core/clock.ts'
import { combine } from '../../src/core/combine.ts'
import { Refusal } from '../../src/core/errors.ts'
import { derivedSecret, newSecret, parseToken, sameText, uuid7 } from '../../src/core/ids.ts'
import { createLog, describeError } from '../../src/core/log.ts'
import { Presence } from '../../src/core/presence.ts'
import { Recent } from '../../src/core/recent.ts'
import { Tail } from '../../src/core/tail.ts'
import { checkTexts, holdsSecret, nameIsPlain, nameKey, redacted } from '../../src/core/text.ts'
import { Waiters } from '../../src/core/waiters.ts'

const HEX = '0123456789abcdef0123456789abcdef'
const TOKEN = `11111111-2222-4333-8444-555555555555.${'aB3_'.repeat(8)}`
const refusalOf = (act: () => void): Refusal | undefined => {
  try {
    act()
    return undefined
  } catch (error) {
    return error as Refusal
  }
}

describe('texts', () => {
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

  test('a plain name has no invisible marks', () => {
    for (const name of ['Alex', 'Team O’Neill', '日本', '👩‍💻']) expect(nameIsPlain(name), name).toBe(true)
    for (const name of ['', ' ', 'a\u202eb', 'a\nb', 'a\u{e0061}b', 'a\u0085b']) expect(nameIsPlain(name), JSON.stringify(name)).toBe(false)
  })
})

describe('tokens', () => {
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

  test('ids sort by the time they were made', async () => {
    const first = uuid7()
    await Bun.sleep(3)
    expect(uuid7() > first).toBe(true)
    expect(first).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  })
})

describe('combine', () => {
  test('what is asked for while loads are under way is loaded together', async () => {
    const loads: number[][] = []
    const gates: (() => void)[] = []
    const ask = combine(async (keys: number[]) => {
      loads.push(keys)
      await new Promise<void>((open) => gates.push(open))
      return keys.map((key) => key * 10)
    })
    const settle = () => Bun.sleep(1)
    const first = ask(1)
    await settle()
    const second = ask(2)
    await settle()
    const later = [ask(3), ask(4), ask(5)]
    await settle()
    expect(loads).toEqual([[1], [2]])
    gates.shift()!()
    expect(await first).toBe(10)
    await settle()
    expect(loads).toEqual([[1], [2], [3, 4, 5]])
    for (const open of gates) open()
    expect(await Promise.all([second, ...later])).toEqual([20, 30, 40, 50])
  })

  test('a load that fails fails those who share it, and nobody else', async () => {
    let fails = true
    const ask = combine(async (keys: string[]) => {
      if (fails) throw new Error('away')
      return keys
    })
    const answers = await Promise.allSettled([ask('a'), ask('b')])
    expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    fails = false
    expect(await ask('c')).toBe('c')
  })

  test('a load takes no more than it may', async () => {
    const sizes: number[] = []
    const ask = combine(async (keys: number[]) => (sizes.push(keys.length), keys), { atOnce: 1, most: 3 })
    expect(await Promise.all([1, 2, 3, 4, 5, 6, 7].map(ask))).toEqual([1, 2, 3, 4, 5, 6, 7])
    expect(Math.max(...sizes)).toBe(3)
  })
})

describe('the tail', () => {
  const events = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => ({ sequence: from + n }))
  const numbers = (held: { sequence: number }[] | undefined) => held?.map(({ sequence }) => sequence)
  const made = (size = 1) => new Tail<{ sequence: number }>(() => size)

  test('it gives everything after a cursor, or says that it cannot', () => {
    const tail = made()
    expect(tail.after('s', 0, 0)).toBeUndefined()
    tail.extend('s', events(5, 7))
    expect(numbers(tail.after('s', 4, 7))).toEqual([5, 6, 7])
    expect(numbers(tail.after('s', 6, 7))).toEqual([7])
    for (const cursor of [3, 7, 8]) expect(tail.after('s', cursor, 7)).toBeUndefined()
    expect(tail.after('s', 4, 8), 'it does not have what the caller knows of').toBeUndefined()
    expect(tail.after('other', 4, 5)).toBeUndefined()
  })

  test('after a gap it holds only what came behind it, and what comes late is left out', () => {
    const tail = made()
    tail.extend('s', events(1, 3))
    tail.extend('s', events(3, 4))
    expect(numbers(tail.after('s', 0, 4))).toEqual([1, 2, 3, 4])
    tail.extend('s', events(7, 8))
    expect(tail.after('s', 4, 8)).toBeUndefined()
    expect(numbers(tail.after('s', 6, 8))).toEqual([7, 8])
    tail.extend('s', events(5, 6))
    tail.extend('s', [])
    expect(numbers(tail.after('s', 6, 8))).toEqual([7, 8])
    expect(tail.after('s', 4, 8)).toBeUndefined()
  })

  test('it keeps the newest events of a session, whatever comes, and of only so many sessions', () => {
    const tail = made()
    for (let n = 1; n <= 2_000; n++) tail.extend('s', events(n, n))
    expect(tail.after('s', 1_000, 2_000)).toBeUndefined()
    expect(numbers(tail.after('s', 1_900, 2_000))).toEqual(events(1_901, 2_000).map(({ sequence }) => sequence))
    for (let n = 0; n < 1_000; n++) tail.extend(`other ${n}`, events(1, 1))
    expect(tail.after('s', 1_999, 2_000)).toBeUndefined()
    expect(tail.after('other 999', 0, 1)).toHaveLength(1)
  })

  test('it keeps few events when they are large', () => {
    const tail = made(32 * 1024)
    for (let n = 1; n <= 200; n++) tail.extend('s', events(n, n))
    expect(tail.after('s', 150, 200)).toBeUndefined()
    expect(numbers(tail.after('s', 199, 200))).toEqual([200])
  })
})

describe('waiters', () => {
  const isWoken = async (woken: Promise<void>) => (await Promise.race([woken.then(() => true), Bun.sleep(2).then(() => false)])) as boolean

  test('a wake reaches those of its session, and who was disarmed is not counted', async () => {
    const waiters = new Waiters()
    const [a, b, c] = [waiters.arm('s'), waiters.arm('s'), waiters.arm('t')]
    expect(waiters.size).toBe(3)
    b.disarm()
    b.disarm()
    waiters.wake('s', 4)
    expect([await isWoken(a.woken), await isWoken(b.woken), await isWoken(c.woken)]).toEqual([true, false, false])
    a.disarm()
    c.disarm()
    expect([waiters.size, waiters.sessions(), waiters.knows('s')]).toEqual([0, [], undefined])
  })

  test('a waiter who sees more than the others were told wakes them', async () => {
    const waiters = new Waiters()
    const early = waiters.arm('s')
    waiters.saw('s', 5)
    expect(await isWoken(early.woken)).toBe(false)
    const late = waiters.arm('s')
    waiters.saw('s', 5)
    expect(await isWoken(early.woken)).toBe(false)
    waiters.saw('s', 6)
    expect([await isWoken(early.woken), await isWoken(late.woken)]).toEqual([true, true])
    expect(waiters.knows('s')).toBe(6)
  })

  test('all are woken at once', async () => {
    const waiters = new Waiters()
    const armed = ['a', 'b', 'c'].map((session) => waiters.arm(session))
    waiters.wakeAll()
    expect(await Promise.all(armed.map(({ woken }) => isWoken(woken)))).toEqual([true, true, true])
  })
})

describe('what was looked up a moment ago', () => {
  test('is known until the session moves, and what was being looked up then is not kept', () => {
    const recent = new Recent<string>()
    const before = recent.of('s')
    before.set('team', 'found')
    recent.of('other').set('team', 'elsewhere')
    expect(recent.of('s').get('team')).toBe('found')
    recent.moved('s')
    before.set('late', 'found before it moved')
    expect([...recent.of('s')]).toEqual([])
    expect(recent.of('other').get('team')).toBe('elsewhere')
    recent.clear()
    expect([...recent.of('other')]).toEqual([])
  })

  test('is forgotten within a second by itself', async () => {
    const recent = new Recent<string>()
    recent.of('s').set('team', 'found')
    await Bun.sleep(700)
    expect([...recent.of('s')]).toEqual([])
  })
})

describe('presence', () => {
  const at = (ms: number) => {
    const clock = new Clock()
    clock.set(ms)
    return clock
  }

  test('a team polls until its last poll has ended', () => {
    const presence = new Presence(at(1_000_000))
    const [first, second] = [presence.poll('s', 't', 30_000), presence.poll('s', 't', 10_000)]
    expect([first.ofTeam, second.ofTeam]).toEqual([2, 2])
    second.end()
    expect(presence.of('s', 't')!.pollingUntilMs).toBeGreaterThan(1_029_000)
    first.end()
    expect([first.ofTeam, presence.of('s', 't')!.pollingUntilMs]).toEqual([0, undefined])
  })

  test('cursors only ever go forward, and what was read was delivered', () => {
    const presence = new Presence(at(0))
    const poll = presence.poll('s', 't', 0)
    poll.advance({ seen: 5 })
    poll.advance({ delivered: 9 })
    poll.advance({ seen: 3 })
    expect(presence.of('s', 't')).toMatchObject({ seenCursor: 5, deliveredCursor: 9 })
    poll.advance({ seen: 12 })
    expect(presence.of('s', 't')).toMatchObject({ seenCursor: 12, deliveredCursor: 12, addressedCursor: 0 })
    poll.advance({ addressed: 7 })
    poll.advance({ addressed: 4 })
    expect(presence.of('s', 't')).toMatchObject({ seenCursor: 12, deliveredCursor: 12, addressedCursor: 7 })
  })

  test('what changed is handed over once, again when writing failed, and what is at rest is forgotten', () => {
    const presence = new Presence(at(0))
    const poll = presence.poll('s', 't', 1_000)
    expect(presence.drain()).toHaveLength(1)
    expect(presence.drain()).toHaveLength(0)
    expect(presence.of('s', 't')).toBeDefined()
    poll.end()
    const drained = presence.drain()
    presence.restore(drained)
    expect(presence.drain()).toHaveLength(1)
    expect(presence.drain()).toHaveLength(0)
    expect(presence.of('s', 't')).toBeUndefined()
  })
})

describe('logs', () => {
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

  test('of an error its kind, message and causes are told, never a statement’s parameters', () => {
    const error = new Error('Failed query: select 1\nparams: secret,values', { cause: Object.assign(new Error('away'), { code: '57P01' }) })
    const told = describeError(error)
    expect(told).toMatchObject({ error: 'Error', reason: 'Failed query: select 1', cause: { reason: 'away', code: '57P01' } })
    expect(JSON.stringify({ ...told, stack: undefined })).not.toContain('secret')
    expect(describeError('a text')).toEqual({ error: 'a text' })
  })

  test('a stack tells no parameters either', () => {
    const error = new Error('Failed query: insert\nparams: line one\nline two,secret')
    expect(JSON.stringify(describeError(error))).not.toContain('secret')
  })

  test('redaction keeps what is public', () => {
    expect(redacted(`handle ${TOKEN.slice(0, 36)} stays`)).toBe(`handle ${TOKEN.slice(0, 36)} stays`)
  })
})

// The checker of logs finds what is wrong with one: tried with good logs, and with logs that contain each fault.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { entriesOf, expectFaultless, faultsOf, KINDS, linesOf, type Entry, type Seen } from './checker.ts'
import { DRAWN, FULL } from '../support/full.ts'

const RUNS = FULL ? 5_000 : 100 // generated logs

const row = (sequence: number, text?: string, id = `id ${sequence}`): Seen => ({ sequence, id, text })
const ack = (sequence: number, text: string, writer = 'alex', session = 's'): Entry => ({ op: 'ack', session, text, sequence, writer })
const read = (since: number, events: Seen[], reader = 'bea', session = 's'): Entry => ({ op: 'read', session, reader, since, events })

const GOOD = [
  ack(2, 'a'),
  ack(3, 'b'),
  { op: 'send', session: 's', text: 'c' } as const,
  read(0, [row(1), row(2, 'a')]),
  read(2, [row(3, 'b'), row(4, 'c')]),
]

test('a log with nothing wrong has no faults: unknown ends, rows without a text, a reader that goes back, one that begins later', () => {
  expect(faultsOf(GOOD)).toEqual([])
  expect(faultsOf([...GOOD, read(1, [row(2, 'a'), row(3, 'b')]), read(3, [row(4, 'c')], 'cleo'), read(4, [], 'cleo')])).toEqual([])
  expect(faultsOf([read(0, [row(1, 'whatever it is')])])).toEqual([]) // nothing is known of what was written
  expect(() => expectFaultless(GOOD)).not.toThrow()
})

describe('each fault is found, and nothing else', () => {
  const bad: [name: string, log: Entry[], faults: [kind: string, what: string][]][] = [
    ['a text that nobody reads', [...GOOD, ack(5, 'd')], [['lost', 'd, acknowledged as 5']]],
    ['a text at two places', [...GOOD, read(4, [row(5, 'a')])], [['doubled', 'a: 2 and 5']]],
    ['a row given twice', [...GOOD, read(3, [row(4, 'c'), row(4, 'c')])], [['doubled', '4, by bea after 3']]],
    ['a row that is not newer than the cursor', [...GOOD, read(3, [row(3, 'b'), row(4, 'c')])], [['doubled', '3, by bea after 3']]],
    ['a hole in an answer', [...GOOD, read(1, [row(2, 'a'), row(4, 'c')])], [['skipped', '3, by bea']]],
    ['an answer that begins too late', [...GOOD, read(2, [row(4, 'c')])], [['skipped', '3, by bea']]],
    [
      'a cursor that leaves rows out',
      [...GOOD, read(0, [row(1)], 'cleo'), read(3, [row(4, 'c')], 'cleo')],
      [['skipped', '2 to 3, by cleo']],
    ],
    ['an answer out of order', [...GOOD, read(2, [row(4, 'c'), row(3, 'b')])], [['reordered', '3 behind 4, by bea']]],
    ['a writer whose texts changed places', [ack(3, 'b'), ack(2, 'a'), ...GOOD.slice(2)], [['reordered', 'a as 2, after b as 3']]],
    [
      'an answer that names another place',
      [ack(2, 'a'), read(0, [row(1, 'a'), row(2)])],
      [
        ['doubled', 'a: 2 and 1'],
        ['two values', '2: a and '],
      ],
    ],
    ['two readers with two rows', [...GOOD, read(3, [row(4, 'c', 'another')], 'cleo')], [['two values', '4: id 4 and another']]],
    [
      'a text of another session',
      [...GOOD, ack(1, 'x', 'alex', 't'), read(0, [row(1, 'x')], 'bea', 't'), read(4, [row(5, 'x')])],
      [['foreign', 'x, at 5']],
    ],
    ['a text that nobody wrote', [...GOOD, read(4, [row(5, 'made up')])], [['foreign', 'made up, at 5']]],
  ]
  test.each(bad)('%s', (_, log, faults) => {
    expect(faultsOf(entriesOf(linesOf(log))).map(({ kind, what }) => [kind, what])).toEqual(faults)
  })

  test('a test hears of it, and where the log is', () => {
    expect(() => expectFaultless([...GOOD, ack(5, 'd')])).toThrow(/1 faults\nlost: d, acknowledged as 5, in s\nThe log: .*log\.jsonl/)
  })

  test('every kind has its log here', () => {
    expect([...new Set(bad.flatMap(([, , faults]) => faults.map(([kind]) => kind)))].toSorted()).toEqual([...KINDS].toSorted())
  })
})

/** A log as a good server makes it: writers of two sessions, whose texts fall into one order, and readers that get them in parts. */
const goodLog = fc
  .record({
    turns: fc.array(fc.nat(2), { minLength: 4, maxLength: 40 }),
    parts: fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 9 }),
  })
  .map(({ turns, parts }): Entry[] =>
    ['s', 't'].flatMap((session) => {
      const rows = turns.map((writer, n) => row(n + 1, `${session} ${writer} ${n}`))
      const acks = rows.map(({ sequence, text }, n) => ack(sequence, text!, `writer ${turns[n]}`, session))
      const reads = ['one', 'two'].flatMap((reader, n) => {
        const own: Entry[] = []
        for (let since = 0, part = n; since < rows.length; part++) {
          const events = rows.slice(since, since + parts[part % parts.length]!)
          own.push(read(since, events, reader, session))
          since += events.length
        }
        return own
      })
      return [...acks, ...reads]
    }),
  )

/** Plants one fault in a log of `goodLog`; `at` chooses where. */
const PLANTS: Record<(typeof KINDS)[number], (log: Entry[], at: number) => Entry[]> = {
  lost: (log, at) => {
    const session = ['s', 't'][at % 2]!
    return log.toSpliced(at % log.length, 0, { op: 'ack', session, text: 'gone' })
  },
  doubled: (log, at) => eachReaderGets(log, (session) => textsOf(log, session)[at % (textsOf(log, session).length - 1)]!),
  skipped: (log, at) => changed(log, at, (events, n) => events.toSpliced(n, 1)),
  reordered: (log, at) => changed(log, at, (events, n) => [...events.slice(0, n), events[n + 1]!, events[n]!, ...events.slice(n + 2)]),
  'two values': (log, at) => changed(log, at, (events, n) => events.with(n, { ...events[n]!, id: 'another' })),
  foreign: (log, at) => eachReaderGets(log, (session) => textsOf(log, session === 's' ? 't' : 's')[at % textsOf(log, 's').length]!),
}

const textsOf = (log: Entry[], session: string) =>
  log.flatMap((entry) => (entry.op === 'ack' && entry.session === session ? [entry.text] : []))

// Both readers of the one session get one row more, at its end.
const eachReaderGets = (log: Entry[], textFor: (session: string) => string): Entry[] => {
  const last = textsOf(log, 's').length
  return [...log, ...['one', 'two'].map((reader) => read(last, [row(last + 1, textFor('s'))], reader))]
}

// A third reader gets all in one answer, changed at a row that is not its last.
const changed = (log: Entry[], at: number, change: (events: Seen[], n: number) => Seen[]): Entry[] => {
  const last = textsOf(log, 's').length
  const all = log.flatMap((entry) => (entry.op === 'read' && entry.session === 's' && entry.reader === 'one' ? entry.events : []))
  const wide = read(0, change(all, at % (last - 1)), 'three')
  return [...log, wide]
}

test('a generated good log has no fault', () => {
  fc.assert(
    fc.property(goodLog, (log) => expect(faultsOf(log)).toEqual([])),
    { ...DRAWN, numRuns: RUNS },
  )
})

test.each(KINDS)('a fault planted anywhere in a generated log is found, and named as what it is: %s', (kind) => {
  fc.assert(
    fc.property(goodLog, fc.nat(), (log, at) => {
      const faults = faultsOf(PLANTS[kind](log, at))
      expect([...new Set(faults.map((fault) => fault.kind))]).toEqual([kind])
      expect(faults).toHaveLength(1)
    }),
    { ...DRAWN, numRuns: RUNS },
  )
})

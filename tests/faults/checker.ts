// What became of many writes and reads: every write that was tried and acknowledged and everything that a reader was given, in one log, and
// what is wrong with it. In the manner of Jepsen's checkers; all tests of delivery and of faults judge by this one.
//   bun tests/faults/checker.ts FILE    looks again at a log that a test left, one entry of JSON a line
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Texts are unique in the whole log, so that one names its write. Entries of one writer and of one reader stand in their order. */
export type Entry =
  /** A write that was tried; what came of it is unknown until it is acknowledged. An acknowledgement alone says as much. */
  | { op: 'send'; session: string; text: string }
  /** The answer to a write. A `writer` sends its next text only after it. */
  | { op: 'ack'; session: string; text: string; sequence?: number | undefined; writer?: string | undefined }
  /** What a reader was given for the cursor `since`. */
  | { op: 'read'; session: string; reader: string; since: number; events: Seen[] }

export interface Seen {
  sequence: number
  id: string
  text?: string | undefined // of a chat row; other rows have none
}

export const KINDS = ['lost', 'doubled', 'skipped', 'reordered', 'two values', 'foreign'] as const
export interface Fault {
  kind: (typeof KINDS)[number]
  session: string
  what: string
}

/**
 * All that is wrong with a log, in no particular order:
 * - lost: acknowledged, and given to no reader of its session. So somebody has to read all of it at the end.
 * - doubled: one text at two places, or one row given twice, or for a cursor that it is not newer than.
 * - skipped: a reader was given a later row without an earlier one.
 * - reordered: a row given behind a later one, or a writer's text placed before one that was acknowledged to it earlier.
 * - two values: two readers, or an answer and a reader, have different rows at one place.
 * - foreign: a text of another session, or, where the log has the session's writes, of nobody.
 */
export const faultsOf = (log: Entry[]): Fault[] => {
  const home = new Map<string, string>() // the session of each text
  for (const entry of log) if (entry.op !== 'read') home.set(entry.text, entry.session)
  const written = new Set(home.values())
  return Object.values(Object.groupBy(log, ({ session }) => session)).flatMap((entries) => {
    const session = entries![0]!.session
    const acks = entries!.filter((entry) => entry.op === 'ack')
    const reads = entries!.filter((entry) => entry.op === 'read')
    const rows = reads.flatMap(({ events }) => events)
    const found: [Fault['kind'], string[]][] = [
      ['lost', lostOf(acks, rows)],
      ['doubled', [...twicePlaced(acks, rows), ...reads.flatMap(givenTwice)]],
      ['skipped', [...reads.flatMap(holesIn), ...jumpsBetween(reads)]],
      ['reordered', [...reads.flatMap(backwardsIn), ...overtakenOf(acks)]],
      ['two values', twoValuesOf(acks, rows)],
      ['foreign', foreignOf(rows, (text) => (home.has(text) || written.has(session) ? home.get(text) === session : true))],
    ]
    return found.flatMap(([kind, whats]) => whats.map((what) => ({ kind, session, what })))
  })
}

type Ack = Extract<Entry, { op: 'ack' }>
type Read = Extract<Entry, { op: 'read' }>

const lostOf = (acks: Ack[], rows: Seen[]): string[] => {
  const there = new Set(rows.map(({ text }) => text))
  return acks
    .filter(({ text }) => !there.has(text))
    .map(({ text, sequence }) => `${text}, acknowledged${sequence === undefined ? '' : ` as ${sequence}`}`)
}

/** Each key with the different values that stand under it. */
const gather = <Value>(pairs: (readonly [string | number, Value])[]): Map<string | number, Set<Value>> => {
  const all = new Map<string | number, Set<Value>>()
  for (const [key, value] of pairs) all.set(key, (all.get(key) ?? new Set()).add(value))
  return all
}

const several = <Value>(all: Map<string | number, Set<Value>>): string[] =>
  [...all].flatMap(([key, values]) => (values.size > 1 ? [`${key}: ${[...values].join(' and ')}`] : []))

const placed = (acks: Ack[], rows: Seen[]) => [...acks.filter(({ sequence }) => sequence !== undefined), ...rows]

const twicePlaced = (acks: Ack[], rows: Seen[]): string[] =>
  several(gather(placed(acks, rows).flatMap(({ text, sequence }) => (text === undefined ? [] : [[text, sequence] as const]))))

const twoValuesOf = (acks: Ack[], rows: Seen[]): string[] => [
  ...several(gather(placed(acks, rows).map(({ text, sequence }) => [sequence!, text] as const))),
  ...several(gather(rows.map(({ id, sequence }) => [sequence, id] as const))),
]

const givenTwice = ({ reader, since, events }: Read): string[] => {
  const before = new Set<number>()
  return events.flatMap(({ sequence }) => {
    const again = before.has(sequence) || sequence <= since
    before.add(sequence)
    return again ? [`${sequence}, by ${reader} after ${since}`] : []
  })
}

const holesIn = ({ reader, since, events }: Read): string[] => {
  const given = new Set(events.map(({ sequence }) => sequence))
  const last = Math.max(since, ...given)
  return Array.from({ length: last - since }, (_, n) => since + 1 + n).flatMap((sequence) =>
    given.has(sequence) ? [] : [`${sequence}, by ${reader}`],
  )
}

// A reader goes on from the cursor that it was given: one beyond the last row leaves out what lies between.
const jumpsBetween = (reads: Read[]): string[] =>
  Object.values(Object.groupBy(reads, ({ reader }) => reader)).flatMap((own) => {
    let had = own![0]!.since
    return own!.flatMap(({ reader, since, events }) => {
      const jumped = since > had ? [`${had + 1} to ${since}, by ${reader}`] : []
      had = Math.max(had, since, ...events.map(({ sequence }) => sequence))
      return jumped
    })
  })

const backwardsIn = ({ reader, events }: Read): string[] => {
  let last = 0
  return events.flatMap(({ sequence }) => {
    const before = last
    last = Math.max(last, sequence)
    return sequence < before ? [`${sequence} behind ${before}, by ${reader}`] : []
  })
}

const overtakenOf = (acks: Ack[]): string[] => {
  const last = new Map<string, Ack>()
  return acks.flatMap((ack) => {
    if (ack.writer === undefined || ack.sequence === undefined) return []
    const before = last.get(ack.writer)
    last.set(ack.writer, ack)
    return before && before.sequence! > ack.sequence ? [`${ack.text} as ${ack.sequence}, after ${before.text} as ${before.sequence}`] : []
  })
}

const foreignOf = (rows: Seen[], belongs: (text: string) => boolean): string[] => [
  ...new Set(rows.flatMap(({ text, sequence }) => (text === undefined || belongs(text) ? [] : [`${text}, at ${sequence}`]))),
]

const TOLD = 20 // faults in the message of a test; the log has them all

/** Throws unless nothing is wrong with the log; the message has the first faults, and names a file with the whole log. */
export const expectFaultless = (log: Entry[]): void => {
  const faults = faultsOf(log)
  if (faults.length === 0) return
  const file = join(mkdtempSync(join(tmpdir(), 'parley-log-')), 'log.jsonl')
  writeFileSync(file, linesOf(log))
  throw new Error(`${toldOf(faults)}\nThe log: ${file}`)
}

const toldOf = (faults: Fault[]): string =>
  [`${faults.length} faults`, ...faults.slice(0, TOLD).map(({ kind, session, what }) => `${kind}: ${what}, in ${session}`)].join('\n')

export const linesOf = (log: Entry[]): string => log.map((entry) => `${JSON.stringify(entry)}\n`).join('')

export const entriesOf = (lines: string): Entry[] =>
  lines
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))

if (import.meta.main) console.log(toldOf(faultsOf(entriesOf(readFileSync(process.argv[2]!, 'utf8')))))

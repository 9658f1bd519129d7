// The document's versions as the feed shows them: rows of the page alone, since they are no events, placed among those by time.
import { day } from '../../../components/parts/time.ts'
import type { Edit } from '../../stores/documents.ts'
import type { Event } from '../../stores/events.ts'

/** What one author does within it is one row, or stands under one name. */
export const SAME_BREATH_MS = 5 * 60_000
const MOST_IN_A_ROW = 3 // edits with nothing said in between; of more, all but the last two are one row

/** How a feed ends: its last event, and the rows of edits that came after it. */
export interface Tail {
  event: Event | undefined
  edits: Edit[]
}

/** One row of the feed. */
export type Row = { event: Event; edit?: undefined } | { event?: undefined; edit: Edit }

export interface Arranged {
  /** Of the edits that the feed ended with: those that have gone on. */
  continued: Edit[]
  /** Those that an older one has taken in. */
  gone: Edit[]
  rows: Row[]
  tail: Tail
}

/** Events and what was written meanwhile, in the order of their times; at the same millisecond the event comes first. A post that waited
 *  for a writer of the document may have the earlier time: on a page that was told of the edit meanwhile, the edit came first. */
export const arrange = (tail: Tail, events: Event[], edits: Edit[]): Arranged => {
  const rest = withoutTold(edits, [...events, ...(tail.event ? [tail.event] : [])])
  const rows: Row[] = []
  let ended = tail.edits // where the feed ended, as it is now
  let last = tail
  const put = (slot: Edit[]) => {
    if (slot.length === 0) return
    const edits = shortened(runsOf([...last.edits, ...slot]))
    rows.push(...edits.filter((edit) => !isAmong(edit, last.edits)).map((edit) => ({ edit })))
    last = { ...last, edits }
    if (last.event === tail.event) ended = edits
  }
  let from = 0
  for (const event of events) {
    let until = from
    while (until < rest.length && rest[until]!.at < event.at) until++
    put(rest.slice(from, until))
    from = until
    rows.push({ event })
    last = { event, edits: [] }
  }
  put(rest.slice(from))
  return {
    continued: ended.filter((edit) => tail.edits.some(({ from, to }) => from === edit.from && to < edit.to)),
    gone: tail.edits.filter((edit) => !isAmong(edit, ended)),
    rows,
    tail: last,
  }
}

// A row is known by the first version in it.
const isAmong = ({ from }: Edit, edits: Edit[]) => edits.some((edit) => edit.from === from)

// A conclusion says itself which version it made.
const withoutTold = (edits: Edit[], events: Event[]): Edit[] => {
  const told = new Set(events.map(({ doc_version }) => doc_version))
  return edits.filter(({ to }) => !told.has(to))
}

/** What one author wrote one after the other is one edit. */
export const runsOf = (edits: Edit[]): Edit[] => {
  const runs: Edit[] = []
  for (const edit of edits) {
    const last = runs.at(-1)
    if (last && goesOn(last, edit)) runs[runs.length - 1] = { ...edit, from: last.from }
    else runs.push(edit)
  }
  return runs
}

const goesOn = (last: Edit, edit: Edit): boolean =>
  last.by !== undefined &&
  last.by === edit.by &&
  last.teamId === edit.teamId &&
  day(last.at) === day(edit.at) &&
  Date.parse(edit.at) - Date.parse(last.at) < SAME_BREATH_MS

const shortened = (runs: Edit[]): Edit[] => {
  if (runs.length <= MOST_IN_A_ROW) return runs
  const [older, newer] = [runs.slice(0, 1 - MOST_IN_A_ROW), runs.slice(1 - MOST_IN_A_ROW)]
  return [{ ...older.at(-1)!, from: older[0]!.from, teamId: null, by: undefined }, ...newer]
}

// The document's versions as the feed shows them: rows of the page alone, since they are no events, placed among those by time.
import { day } from '../../../components/time.ts'
import type { Edit } from '../../stores/documents.ts'
import type { Event } from '../../stores/events.ts'

/** What one author does within it is one row, or stands under one name. */
export const SAME_BREATH_MS = 5 * 60_000
const MOST_IN_A_ROW = 3 // edits with nothing said in between; of more, all but the last two are one row

/** How a feed ends: its last event, and the edit that came after it, if one did. */
export interface Tail {
  event: Event | undefined
  edit: Edit | undefined
}

/** One row of the feed. */
export type Row = { event: Event; edit?: undefined } | { event?: undefined; edit: Edit }

export interface Arranged {
  /** The edit that the feed ended with, which has gone on. */
  continued: Edit | undefined
  rows: Row[]
  tail: Tail
}

/** Events and what was written meanwhile, in the order of their times; at the same millisecond the event comes first. A post that waited
 *  for a writer of the document may have the earlier time: on a page that was told of the edit meanwhile, the edit came first. */
export const arrange = (tail: Tail, events: Event[], edits: Edit[]): Arranged => {
  const rest = withoutTold(edits, [...events, ...(tail.event ? [tail.event] : [])])
  const rows: Row[] = []
  let continued: Edit | undefined
  let last = tail
  const put = (slot: Edit[]) => {
    const [first, ...runs] = runsOf(last.edit ? [last.edit, ...slot] : slot)
    if (!first) return
    if (!last.edit) runs.unshift(first)
    else if (first.to > last.edit.to) continued = first
    rows.push(...shortened(runs).map((edit) => ({ edit })))
    last = { ...last, edit: runs.at(-1) ?? first }
  }
  let from = 0
  for (const event of events) {
    let until = from
    while (until < rest.length && rest[until]!.at < event.at) until++
    put(rest.slice(from, until))
    from = until
    rows.push({ event })
    last = { event, edit: undefined }
  }
  put(rest.slice(from))
  return { continued, rows, tail: last }
}

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

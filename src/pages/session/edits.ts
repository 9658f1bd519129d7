// The document's versions as the feed shows them: rows of the page alone, since they are no events, placed among the events by time.
import { day } from '../../../components/parts/time.ts'
import type { Edit } from '../../stores/documents.ts'
import type { Event } from '../../stores/events.ts'

/** Edits of one author that follow within this time are one row, and messages of one author stand under one name. */
export const SAME_BREATH_MS = 5 * 60_000
const MOST_IN_A_ROW = 3 // rows of edits with no event in between; of more, all but the last two become one

/** How a feed ends: its last event, and the rows of edits that came after it. */
export interface FeedEnd {
  event: Event | undefined
  edits: Edit[]
}

/** What one row of the feed shows. */
export type FeedEntry = { event: Event; edit?: undefined } | { event?: undefined; edit: Edit }

export interface Arranged {
  /** Rows at the feed's old end that have taken in later edits. */
  continued: Edit[]
  /** Rows at the feed's old end that an older row has taken in. */
  gone: Edit[]
  entries: FeedEntry[]
  end: FeedEnd
}

/** Sorts events and edits by their times; at the same millisecond the event comes first. A post that waited for the document's lock may
 *  have an earlier time than an edit that a page shows already; there it stands below that edit. */
export const arrange = (before: FeedEnd, events: Event[], edits: Edit[]): Arranged => {
  const rest = withoutAnnounced(edits, [...events, ...(before.event ? [before.event] : [])])
  const entries: FeedEntry[] = []
  let oldEnd = before.edits // the rows of edits at the feed's old end, as they are now
  let end = before
  const put = (slot: Edit[]) => {
    if (slot.length === 0) return
    const edits = shortened(mergeEdits([...end.edits, ...slot]))
    entries.push(...edits.filter((edit) => !isAmong(edit, end.edits)).map((edit) => ({ edit })))
    end = { ...end, edits }
    if (end.event === before.event) oldEnd = edits
  }
  let from = 0
  for (const event of events) {
    let until = from
    while (until < rest.length && rest[until]!.at < event.at) until++
    put(rest.slice(from, until))
    from = until
    entries.push({ event })
    end = { event, edits: [] }
  }
  put(rest.slice(from))
  return {
    continued: oldEnd.filter((edit) => before.edits.some(({ from, to }) => from === edit.from && to < edit.to)),
    gone: before.edits.filter((edit) => !isAmong(edit, oldEnd)),
    entries,
    end,
  }
}

// A row of edits is known by the first version in it.
const isAmong = ({ from }: Edit, edits: Edit[]) => edits.some((edit) => edit.from === from)

// An event that wrote the document itself, such as a conclusion, names the version: no second row for that.
const withoutAnnounced = (edits: Edit[], events: Event[]): Edit[] => {
  const announced = new Set(events.map(({ doc_version }) => doc_version))
  return edits.filter(({ to }) => !announced.has(to))
}

// Merges the edits of one author that follow each other within SAME_BREATH_MS.
const mergeEdits = (edits: Edit[]): Edit[] => {
  const merged: Edit[] = []
  for (const edit of edits) {
    const last = merged.at(-1)
    if (last && continues(last, edit)) merged[merged.length - 1] = { ...edit, from: last.from }
    else merged.push(edit)
  }
  return merged
}

const continues = (last: Edit, edit: Edit): boolean =>
  last.by !== undefined &&
  last.by === edit.by &&
  last.teamId === edit.teamId &&
  day(last.at) === day(edit.at) &&
  Date.parse(edit.at) - Date.parse(last.at) < SAME_BREATH_MS

const shortened = (edits: Edit[]): Edit[] => {
  if (edits.length <= MOST_IN_A_ROW) return edits
  const [older, newer] = [edits.slice(0, 1 - MOST_IN_A_ROW), edits.slice(1 - MOST_IN_A_ROW)]
  return [{ ...older.at(-1)!, from: older[0]!.from, teamId: null, by: undefined }, ...newer]
}

// Stretches of a session's log, and the edits of its document that belong between their events.
import type { Queries } from '../../../db/database.ts'
import { editsIn, type Edit } from '../../stores/documents.ts'
import { eventsAfter, eventsBefore, type Event } from '../../stores/events.ts'

const PAGE_ROWS = 100 // rows that a page begins with, and that are added to it at a time

/** Consecutive events of the conversation. */
export interface Stretch {
  /** The event before the first one: the look of a row depends on its predecessor, and on nothing else. */
  previous: Event | undefined
  events: Event[]
  /** The log goes on beyond the end that was read towards. */
  more: boolean
}

/** Up to `rows` events before a sequence, without that one. */
export const stretchBefore = async (queries: Queries, sessionId: string, before: number, rows = PAGE_ROWS): Promise<Stretch> => {
  const { events, hasMore } = await eventsBefore(queries, sessionId, before, false, rows + 1)
  const [previous, ...rest] = events
  if (rest.length === 0 || (!hasMore && events.length <= rows)) return { previous: undefined, events, more: hasMore }
  return { previous, events: rest, more: true }
}

/** Up to `rows` events after a cursor, and none beyond `until`. */
export const stretchAfter = async (
  queries: Queries,
  sessionId: string,
  after: number,
  { until = Number.MAX_SAFE_INTEGER, rows = PAGE_ROWS } = {},
): Promise<Stretch> => {
  const [page, previous] = await Promise.all([eventsAfter(queries, sessionId, after, false, rows), eventUpTo(queries, sessionId, after)])
  const events = page.events.filter(({ sequence }) => sequence <= until)
  return { previous, events, more: page.hasMore && events.length === page.events.length && events.at(-1)!.sequence < until }
}

/** The newest event of the conversation up to a cursor. */
export const eventUpTo = async (queries: Queries, sessionId: string, cursor: number): Promise<Event | undefined> =>
  (await eventsBefore(queries, sessionId, cursor + 1, false, 1)).events[0]

/** The edits of the document before each of a stretch's events. With `upTo`, the version that the document has at the feed's end, also
 *  those after the last event. */
export const editsOf = (
  queries: Queries,
  sessionId: string,
  { previous, events }: Pick<Stretch, 'previous' | 'events'>,
  upTo?: number,
): Promise<Edit[]> => {
  const before = upTo === undefined ? events.at(-1)?.at : undefined
  if (upTo === 0 || (upTo === undefined && before === undefined)) return Promise.resolve([])
  return editsIn(queries, sessionId, { since: previous?.at, before, upTo })
}

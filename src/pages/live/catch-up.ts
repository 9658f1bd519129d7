// What an open page that lags behind its hub has missed: rows of the feed, events and edits of the document alike.
import type { Seat } from '../../stores/members.ts'
import { arrange, type Tail } from '../session/edits.ts'
import { castOf, editsOf, eventUpTo, rowsAfter, stretchAfter, type Queries } from '../session/feed.tsx'
import { feedPartials } from './frames.tsx'

/** Up to where rows go, in the log and in the document's versions. */
export interface Place {
  cursor: number
  version: number
}

/** How the feed of a page ends that has come so far. */
export const tailAt = async (queries: Queries, sessionId: string, { cursor, version }: Place): Promise<Tail> => {
  const event = await eventUpTo(queries, sessionId, cursor)
  const edits = await editsOf(queries, sessionId, { previous: event, events: [] }, version)
  return arrange({ event, edits: [] }, [], edits).tail
}

/** A page of the rows from one place on, as far as another, and where it ends. `edited`: an edit is among them. */
export const missedRows = async (
  queries: Queries,
  sessionId: string,
  teams: Seat[],
  from: Place,
  to: Place,
): Promise<Place & { html: string; edited: boolean }> => {
  const [stretch, before] = await Promise.all([
    stretchAfter(queries, sessionId, from.cursor, { until: to.cursor }),
    tailAt(queries, sessionId, from),
  ])
  const { events, more } = stretch
  const edits = to.version > from.version ? await editsOf(queries, sessionId, stretch, more ? undefined : to.version) : []
  const missed = edits.filter((edit) => edit.to > from.version)
  const rows = await rowsAfter(queries, sessionId, castOf(teams), before, events, missed)
  const reached = more ? { cursor: events.at(-1)!.sequence, version: missed.at(-1)?.to ?? from.version } : to
  return { ...reached, html: feedPartials(rows), edited: missed.length > 0 }
}

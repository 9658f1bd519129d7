// The rows that an open page lacks when it lags behind its hub: events and edits of the document alike.
import type { Queries } from '../../../db/database.ts'
import { arrange, type FeedEnd } from '../session/edits.ts'
import { rowsAfter, type Feed } from '../session/feed.tsx'
import { editsOf, eventUpTo, stretchAfter } from '../session/stretches.ts'
import { feedPartials } from './frames.tsx'

/** Up to where a page has rows: in the log, and in the document's versions. */
export interface FeedPosition {
  cursor: number
  version: number
}

/** How a feed ends at a position: its last event, and the rows of edits after it. */
export const feedEndAt = async (queries: Queries, sessionId: string, { cursor, version }: FeedPosition): Promise<FeedEnd> => {
  const event = await eventUpTo(queries, sessionId, cursor)
  const edits = await editsOf(queries, sessionId, { previous: event, events: [] }, version)
  return arrange({ event, edits: [] }, [], edits).end
}

/** A page of the rows between two positions, and the position that it leads to. `edited`: it has edits of the document. */
export const missedRows = async (
  feed: Feed,
  from: FeedPosition,
  to: FeedPosition,
): Promise<FeedPosition & { html: string; edited: boolean }> => {
  const { queries, sessionId } = feed
  const [stretch, before] = await Promise.all([
    stretchAfter(queries, sessionId, from.cursor, { until: to.cursor }),
    feedEndAt(queries, sessionId, from),
  ])
  const { events, more } = stretch
  const edits = to.version > from.version ? await editsOf(queries, sessionId, stretch, more ? undefined : to.version) : []
  const missed = edits.filter((edit) => edit.to > from.version)
  const rows = await rowsAfter(feed, before, events, missed)
  const reached = more ? { cursor: events.at(-1)!.sequence, version: missed.at(-1)?.to ?? from.version } : to
  return { ...reached, html: feedPartials(rows), edited: missed.length > 0 }
}

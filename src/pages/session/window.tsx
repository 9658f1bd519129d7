// Which part of a session's feed its page begins with: the newest rows, those around an event, or all of them, streamed.
import { renderToStaticMarkup } from 'react-dom/server'
import { Gap } from '../../../components/session/feed-pane.tsx'
import type { FeedWindow } from '../../../components/session/session-view.ts'
import { rowsOf, type Feed } from './feed.tsx'
import { lineBudget } from './line-counts.ts'
import type { SessionWithDoc } from './state.ts'
import { editsOf, eventUpTo, stretchAfter, stretchBefore } from './stretches.ts'

const AROUND = 50 // rows on either side of the row that a link names

export interface WindowOptions {
  /** The sequence of the event to show; the newest rows unless it is given. */
  around?: number | undefined
  guest?: boolean
}

/** The rows that a page begins with. The session and its document's version were read at once: rows go up to both, and an open page
 *  follows from there. */
export const windowOf = async (
  feed: Feed,
  { session, version }: SessionWithDoc,
  { around, guest = false }: WindowOptions = {},
): Promise<FeedWindow> => {
  const { queries } = feed
  const { id, lastConversationSequence: newest } = session
  const sought = around !== undefined && around <= newest ? around : undefined
  const before = await stretchBefore(queries, id, sought ?? newest + 1, sought === undefined ? undefined : AROUND)
  const after = sought === undefined ? undefined : await stretchAfter(queries, id, sought - 1, { until: newest, rows: AROUND + 1 })
  const stretch = { previous: before.previous, events: [...before.events, ...(after?.events ?? [])] }
  const budget = lineBudget()
  const ending = after?.more ? await endingOf(feed, newest, version) : undefined
  const gap = after?.more ? renderToStaticMarkup(<Gap session={id} after={stretch.events.at(-1)!.sequence} until={newest} />) : ''
  const edits = await editsOf(queries, id, stretch, ending ? undefined : version)
  const rows = await rowsOf(feed, { ...stretch, edits }, { first: true, guest, budget })
  return {
    html: rows + gap + (ending ? await rowsOf(feed, ending, { guest, budget }) : ''),
    olderThan: before.more ? stretch.events[0]!.sequence : undefined,
    sought,
  }
}

// The edits after the last event. They stand at the feed's end whatever the window shows, because an open page continues from there.
const endingOf = async ({ queries, sessionId }: Feed, newest: number, version: number) => {
  const ending = { previous: await eventUpTo(queries, sessionId, newest), events: [] }
  return { ...ending, edits: await editsOf(queries, sessionId, ending, version) }
}

const PLACE = '<!-- the rows -->' // no agent's text can contain this: texts are escaped
/** Stands in a page for all rows of the feed, which `wholeFeed` puts there. */
export const WHOLE_FEED: FeedWindow = { html: PLACE, olderThan: undefined, streamed: true, sought: undefined }

/** A page with WHOLE_FEED as its window, rows and all. Rows are read and rendered as fast as the reader takes them: a feed may have any
 *  length, and memory must not. */
export async function* wholeFeed(feed: Feed, { session, version }: SessionWithDoc, guest: boolean, html: string) {
  const { id, lastConversationSequence: newest } = session
  const [head = '', tail = ''] = html.split(PLACE)
  const options = { guest, budget: lineBudget() }
  yield head
  for (let after = 0; after < newest;) {
    const stretch = await stretchAfter(feed.queries, id, after, { until: newest })
    yield await rowsOf(feed, { ...stretch, edits: await editsOf(feed.queries, id, stretch) }, options)
    after = stretch.events.at(-1)?.sequence ?? newest
  }
  yield await rowsOf(feed, await endingOf(feed, newest, version), options)
  yield tail
}

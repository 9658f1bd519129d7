// A session's page: roster, feed, document. What was imported opens as a trace (trace.tsx).
import { renderToStaticMarkup } from 'react-dom/server'
import { SLOTS } from '../../../components/session/lanes.tsx'
import type { SharedDocument } from '../../../components/document/document-pane.tsx'
import { Gap } from '../../../components/session/feed-pane.tsx'
import { SessionPage } from '../../../components/session/session-page.tsx'
import type { FeedWindow, SessionView } from '../../../components/session/session-view.ts'
import { prepareMarkdown } from '../../markdown/render.ts'
import { conclusionOf } from '../../rooms/conclusion.ts'
import { existingSession } from '../../rooms/preconditions.ts'
import type { Services } from '../../process/services.ts'
import { readDocument } from '../../stores/documents.ts'
import { roster, type Seat } from '../../stores/members.ts'
import { sessionsWithDocs, talkOf } from '../../stores/live-state.ts'
import type { Http } from '../../doors/http/http.ts'
import { serverLink } from '../../doors/http/origin.ts'
import { numberIn } from '../../doors/http/query.ts'
import { frameOf, isGuest, page, streamedPage, type Site } from '../respond.tsx'
import { castOf, editsOf, eventUpTo, rowsOf, stretchAfter, stretchBefore, type Cast, type Queries } from './feed.tsx'
import { lineBudget } from './line-counts.ts'
import { lanesOf, messagesOf, stateOf, type Watched } from './state.ts'
import { tracePage } from '../trace/trace.tsx'

const AROUND = 50 // rows on either side of the one that was asked for

/** GET /sessions/:id: the newest of the feed; with ?around=SEQ what was said about then, with ?all=1 everything. What was imported is a trace. */
export const sessionPage = async (c: Http, site: Site): Promise<Response> => {
  const { services } = site
  const { database } = services
  const { id, source } = await existingSession(database, c.req.param('id') ?? '')
  if (source !== 'room') return tracePage(c, site)
  const [[watched], teams] = await Promise.all([sessionsWithDocs(database, [id]), roster(database, id)])
  const all = c.req.query('all') !== undefined
  const guest = isGuest(c, site)
  const view = await viewOf(services, watched!, teams, all ? WHOLE : { around: numberIn(c, 'around'), guest })
  const shown = <SessionPage frame={frameOf(c, site)} session={view} link={serverLink(c, services)} idempotencyKey={crypto.randomUUID()} />
  if (!all) return page(c, shown)
  const [head = '', tail = ''] = renderToStaticMarkup(shown).split(PLACE)
  return streamedPage(c, wholeFeed(database, watched!, castOf(teams), guest, `<!doctype html>${head}`, tail))
}

interface Wished {
  around?: number | undefined
  guest?: boolean
}

/** All that the page shows; of the feed what is around a sequence, or the newest, unless it is given. */
export const viewOf = async (services: Services, watched: Watched, teams: Seat[], part: FeedWindow | Wished = {}): Promise<SessionView> => {
  const { database } = services
  const { session } = watched
  const cast = castOf(teams)
  const [feed, document, talk] = await Promise.all([
    'html' in part ? part : windowOf(database, watched, cast, part),
    documentOf(database, session.id),
    talkOf(database, session.id, SLOTS),
  ])
  return {
    ...stateOf(services, watched, teams),
    startedAt: session.createdAt,
    messages: messagesOf(talk),
    lanes: lanesOf(talk, cast),
    document,
    cursor: session.lastConversationSequence,
    feed,
  }
}

/** The document as it is shown, with its conclusion apart. */
export const documentOf = async (queries: Queries, sessionId: string): Promise<SharedDocument> => {
  const document = await readDocument(queries, sessionId)
  const conclusion = conclusionOf(document.content)
  await Promise.all([prepareMarkdown(document.content), prepareMarkdown(conclusion ?? '')])
  return { ...document, conclusion }
}

// The session and its document's version were read at once: rows go up to both, and an open page follows from there.
const windowOf = async (
  queries: Queries,
  { session, version }: Watched,
  cast: Cast,
  { around, guest = false }: Wished,
): Promise<FeedWindow> => {
  const { id, lastConversationSequence: newest } = session
  const sought = around !== undefined && around <= newest ? around : undefined
  const before = await stretchBefore(queries, id, sought ?? newest + 1, sought === undefined ? undefined : AROUND)
  const after = sought === undefined ? undefined : await stretchAfter(queries, id, sought - 1, { until: newest, rows: AROUND + 1 })
  const stretch = { previous: before.previous, events: [...before.events, ...(after?.events ?? [])] }
  const budget = lineBudget()
  const ending = after?.more ? await endingOf(queries, id, newest, version) : undefined
  const gap = after?.more ? renderToStaticMarkup(<Gap session={id} after={stretch.events.at(-1)!.sequence} until={newest} />) : ''
  const edits = await editsOf(queries, id, stretch, ending ? undefined : version)
  return {
    html:
      (await rowsOf(queries, id, cast, { ...stretch, edits }, { first: true, guest, budget })) +
      gap +
      (ending ? await rowsOf(queries, id, cast, ending, { guest, budget }) : ''),
    olderThan: before.more ? stretch.events[0]!.sequence : undefined,
    sought,
  }
}

// What was written after the last event: it stands at the end, wherever one reads, because that is where it goes on.
const endingOf = async (queries: Queries, id: string, newest: number, version: number) => {
  const ending = { previous: await eventUpTo(queries, id, newest), events: [] }
  return { ...ending, edits: await editsOf(queries, id, ending, version) }
}

const PLACE = '<!-- the rows -->' // no text of an agent can say this: what is written is escaped
const WHOLE: FeedWindow = { html: PLACE, olderThan: undefined, streamed: true, sought: undefined }

// Read and sent bit by bit, as fast as it is taken: a feed may have any length, and memory must not.
async function* wholeFeed(queries: Queries, { session, version }: Watched, cast: Cast, guest: boolean, head: string, tail: string) {
  const { id, lastConversationSequence: newest } = session
  const looks = { guest, budget: lineBudget() }
  yield head
  for (let after = 0; after < newest;) {
    const stretch = await stretchAfter(queries, id, after, { until: newest })
    yield await rowsOf(queries, id, cast, { ...stretch, edits: await editsOf(queries, id, stretch) }, looks)
    after = stretch.events.at(-1)?.sequence ?? newest
  }
  yield await rowsOf(queries, id, cast, await endingOf(queries, id, newest, version), looks)
  yield tail
}

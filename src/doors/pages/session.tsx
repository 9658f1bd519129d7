// A session's page: roster, feed, document. What was imported opens as a trace (trace.tsx).
import { renderToStaticMarkup } from 'react-dom/server'
import { SLOTS } from '../../../components/lanes.tsx'
import type { SharedDocument } from '../../../components/document-pane.tsx'
import { Gap } from '../../../components/feed-pane.tsx'
import { SessionPage } from '../../../components/session-page.tsx'
import type { FeedWindow, SessionView } from '../../../components/session-view.ts'
import { prepareMarkdown } from '../../core/markdown.ts'
import { conclusionOf } from '../../rooms/conclusion.ts'
import { existingSession } from '../../rooms/refusals.ts'
import type { Services } from '../../services.ts'
import { readDocument } from '../../stores/documents.ts'
import { roster, type Seat } from '../../stores/members.ts'
import type { Session } from '../../stores/sessions.ts'
import { sessionsWithDocs, talkOf } from '../../stores/watched.ts'
import type { Http } from '../http.ts'
import { serverLink } from '../origin.ts'
import { frameOf, page, streamedPage, type Site } from './answer.tsx'
import { castOf, rowsOf, stretchAfter, stretchBefore, type Cast, type Queries } from './feed.tsx'
import { lanesOf, messagesOf, stateOf } from './state.ts'
import { tracePage } from './trace.tsx'

const AROUND = 50 // rows on either side of the one that was asked for

/** GET /sessions/:id: the newest of the feed; with ?around=SEQ what was said about then, with ?all=1 everything. What was imported is a trace. */
export const sessionPage = async (c: Http, site: Site): Promise<Response> => {
  const { services } = site
  const session = await existingSession(services.database, c.req.param('id') ?? '')
  if (session.source !== 'room') return tracePage(c, site)
  const teams = await roster(services.database, session.id)
  const all = c.req.query('all') !== undefined
  const view = await viewOf(services, session, teams, all ? WHOLE : c.req.query('around'))
  const shown = <SessionPage frame={frameOf(c, site)} session={view} link={serverLink(c, services)} idempotencyKey={crypto.randomUUID()} />
  if (!all) return page(c, shown)
  const [head = '', tail = ''] = renderToStaticMarkup(shown).split(PLACE)
  return streamedPage(c, wholeFeed(services.database, session, castOf(teams), head, tail))
}

/** All that the page shows; of the feed what is around a sequence, or the newest, unless it is given. */
export const viewOf = async (services: Services, session: Session, teams: Seat[], part?: FeedWindow | string): Promise<SessionView> => {
  const { database } = services
  const cast = castOf(teams)
  const [feed, document, [watched], talk] = await Promise.all([
    typeof part === 'object' ? part : windowOf(database, session, cast, part),
    documentOf(database, session.id),
    sessionsWithDocs(database, [session.id]),
    talkOf(database, session.id, SLOTS),
  ])
  return {
    ...stateOf(services, watched!, teams),
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

const windowOf = async (queries: Queries, session: Session, cast: Cast, around: string | undefined): Promise<FeedWindow> => {
  const { id, lastConversationSequence: newest } = session
  const sought = /^\d{1,15}$/.test(around ?? '') && Number(around) <= newest ? Number(around) : undefined
  const before = await stretchBefore(queries, id, sought ?? newest + 1, sought === undefined ? undefined : AROUND)
  const after = sought === undefined ? undefined : await stretchAfter(queries, id, sought - 1, { until: newest, rows: AROUND + 1 })
  const events = [...before.events, ...(after?.events ?? [])]
  const gap = after?.more ? renderToStaticMarkup(<Gap session={id} after={events.at(-1)!.sequence} until={newest} />) : ''
  return {
    html: (await rowsOf(queries, id, cast, { previous: before.previous, events }, { first: true })) + gap,
    olderThan: before.more ? events[0]!.sequence : undefined,
    sought,
  }
}

const PLACE = '<!-- the rows -->' // no text of an agent can say this: what is written is escaped
const WHOLE: FeedWindow = { html: PLACE, olderThan: undefined, streamed: true, sought: undefined }

// Read and sent bit by bit, as fast as it is taken: a feed may have any length, and memory must not.
async function* wholeFeed(queries: Queries, { id, lastConversationSequence: newest }: Session, cast: Cast, head: string, tail: string) {
  yield head
  for (let after = 0; after < newest;) {
    const stretch = await stretchAfter(queries, id, after, { until: newest })
    yield await rowsOf(queries, id, cast, stretch)
    after = stretch.events.at(-1)?.sequence ?? newest
  }
  yield tail
}

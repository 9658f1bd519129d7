// What an open session page asks for: its stream, rows that it lacks, and the document in a version.
//   GET /sessions/:id/live?after=SEQ&doc=VERSION   server-sent events of markup; Last-Event-ID `<cursor>.<version>` wins
//                                                  HEAD: its status, 204 at the end of a session that is closed
//   GET /sessions/:id/rows?before=SEQ              older rows; ?after=SEQ&until=SEQ: those of a gap
//   GET /sessions/:id/tasks/SEQ                    what a task did, by the sequence of its prompt
//   GET /sessions/:id/family                       the tree of sessions that it belongs to
//   GET /sessions/:id/document?version=N           the document, of that version or newer
import { LRUCache } from 'lru-cache'
import { renderToStaticMarkup } from 'react-dom/server'
import type { Queries } from '../../../db/database.ts'
import { Conclusion, DocumentText } from '../../../components/document/document-pane.tsx'
import { Gap, Older } from '../../../components/session/feed-pane.tsx'
import { refuse } from '../../core/errors.ts'
import { refuseBeyondEnd, unpurgedSession } from '../../rooms/preconditions.ts'
import { roster } from '../../stores/members.ts'
import { openStream, SSE_HEADERS } from '../../doors/http/event-stream.ts'
import { actorOf } from '../../doors/http/cookies.ts'
import { mayRead, mayReadSession, readersOnly } from '../../doors/http/guards.ts'
import { readOnly, type Http } from '../../doors/http/http.ts'
import { partial } from './partial.ts'
import { createHubs, type Hubs } from './hubs.ts'
import { familyPart } from '../agents/family-part.tsx'
import { endedLines } from '../agents/live.tsx'
import { taskTrace } from '../agents/task-trace.tsx'
import { Viewer } from './viewer.ts'
import { pack, takes, type Packed } from '../compress.ts'
import { htmlResponse, isGuest, sendHtml, type Site } from '../respond.tsx'
import { documentOf } from '../session/document.ts'
import { rowsOf, type Feed } from '../session/feed.tsx'
import { editsOf, stretchAfter, stretchBefore } from '../session/stretches.ts'
import { teamLookup } from '../session/team-lookup.ts'
import { wholeNumber } from '../../doors/http/query.ts'
import { whileReadable } from '../../doors/http/revocable-stream.ts'

export const liveRoutes = (site: Site) => {
  const hubs = createHubs(site)
  const documents: DocumentCache = new LRUCache({ max: DOCUMENTS_CACHED })
  const idIn = (c: Http) => c.req.param('id')!
  return readOnly(
    {
      '/sessions/:id/live': (c) => stream(c, site, hubs, idIn(c)),
      '/sessions/:id/rows': (c) => rows(c, site, idIn(c)),
      '/sessions/:id/tasks/:task{\\d{1,15}}': (c) => taskTrace(c, site, idIn(c)),
      '/sessions/:id/family': (c) => familyPart(c, site, idIn(c)),
      '/sessions/:id/document': (c) => documentText(c, site, documents, idIn(c)),
    },
    readersOnly((c) => mayReadSession(c, site.services, idIn(c)), 'Sign in to follow this session.'),
  )
}

const stream = async (c: Http, { services, waiting }: Site, hubs: Hubs, id: string): Promise<Response> => {
  const resumed = c.req.header('last-event-id')
  const [after, version] = resumed === undefined ? [numberOf(c, 'after'), numberOf(c, 'doc')] : resumedAt(resumed)
  const session = await unpurgedSession(services.database, id)
  if (after > session.lastSequence) refuseBeyondEnd('after', session.lastSequence)
  const atTheEnd = session.status === 'closed' && after >= session.lastConversationSequence
  if (atTheEnd && (resumed !== undefined || c.req.method === 'HEAD')) return new Response(null, { status: 204 })
  const left = openStream(c, services)
  if (c.req.method === 'HEAD') return (left(), new Response(null, { headers: SSE_HEADERS }))
  const reading = Promise.all([livingHub(hubs, id), session.agenticTool === null ? '' : endedLines(services, id, after)])
  const [hub, ended] = await reading.catch((error) => (left(), Promise.reject(error)))
  c.env?.untimed?.()
  // Pages show the conversation alone: a cursor among later events of the trace stands for the conversation's last event.
  const cursor = Math.min(after, session.lastConversationSequence)
  const [person, readsAll] = [actorOf(c, services), mayRead(c, services)]
  const { body } = new Viewer(hub, () => (readsAll ? waiting.countFor(person) : 0), cursor, version, ended, left)
  return whileReadable(c, services, id, new Response(body, { headers: SSE_HEADERS }))
}

const livingHub = async (hubs: Hubs, id: string) => {
  for (;;) {
    const hub = await hubs.hubOf(id)
    if (!hub.ended) return hub
  }
}

const numberOf = (c: Http, name: string) => wholeNumber(name, c.req.query(name) ?? '0')

const resumedAt = (id: string): [cursor: number, version: number] => {
  const [, cursor, version] = /^(\d{1,15})\.(\d{1,15})$/.exec(id) ?? []
  if (cursor === undefined)
    refuse('invalid_request', 'Last-Event-ID must be the id of an event of this stream.', { field: 'last-event-id' })
  return [Number(cursor), Number(version)]
}

const rows = async (c: Http, site: Site, id: string): Promise<Response> => {
  const { database } = site.services
  const session = await unpurgedSession(database, id)
  const feed = {
    services: site.services,
    queries: database,
    sessionId: id,
    teams: teamLookup(await roster(database, id)),
    kinds: site.eventKinds,
  }
  const guest = isGuest(c, site)
  if (c.req.query('before') === undefined) return htmlResponse(c, await gapRows(c, feed, guest))
  const stretch = await stretchBefore(database, id, numberOf(c, 'before'))
  const before = stretch.more ? stretch.events[0]!.sequence : undefined
  const older = renderToStaticMarkup(<Older session={id} before={before} startedAt={session.createdAt} />)
  const edits = await editsOf(database, id, stretch)
  const html = await rowsOf(feed, { ...stretch, edits }, { guest })
  return htmlResponse(c, partial('#rows', 'afterbegin', html) + partial('#older', 'outerMorph', older))
}

const gapRows = async (c: Http, feed: Feed, guest: boolean) => {
  const { queries, sessionId: id } = feed
  const until = numberOf(c, 'until')
  const stretch = await stretchAfter(queries, id, numberOf(c, 'after'), { until })
  const last = stretch.events.at(-1)?.sequence
  const gap = stretch.more && last !== undefined ? renderToStaticMarkup(<Gap session={id} after={last} until={until} />) : ''
  const edits = await editsOf(queries, id, stretch)
  return partial('#gap', 'outerHTML', (await rowsOf(feed, { ...stretch, edits }, { guest })) + gap)
}

interface RenderedDocument {
  version: number
  html: string
  packed: Packed
}
/** The document of one session as it was rendered last. */
interface CachedDocument {
  /** The version that was asked for; once the document is rendered, the version that it has. */
  version: number
  rendered: Promise<RenderedDocument>
}
type DocumentCache = LRUCache<string, CachedDocument>
const DOCUMENTS_CACHED = 32

// All viewers of a session ask for the same version at the same time: it is rendered and compressed once.
const documentText = async (c: Http, { services: { database } }: Site, cache: DocumentCache, id: string): Promise<Response> => {
  const version = numberOf(c, 'version')
  await unpurgedSession(database, id)
  let cached = cache.get(id)
  if (!cached || cached.version < version) {
    cached = { version, rendered: renderDocument(database, id) }
    cache.set(id, cached)
  }
  try {
    const { version: actual, html, packed } = await cached.rendered
    cached.version = actual
    return sendHtml(c, takes(c, packed.encoding) ? packed : html)
  } catch (error) {
    cache.delete(id)
    throw error
  }
}

const renderDocument = async (queries: Queries, id: string): Promise<RenderedDocument> => {
  const document = await documentOf(queries, id)
  const html =
    partial('#doc', 'outerMorph', renderToStaticMarkup(<DocumentText document={document} />)) +
    partial('#conclusion', 'outerMorph', renderToStaticMarkup(<Conclusion id={id} document={document} />))
  return { version: document.version, html, packed: await pack(html, 'gzip') }
}

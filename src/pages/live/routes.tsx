// An open session page stays up to date: its stream, the rows that are missing in it, and its document by version.
//   GET /sessions/:id/live?after=SEQ&doc=VERSION   server-sent events of markup; Last-Event-ID `<cursor>.<version>` wins
//   GET /sessions/:id/rows?before=SEQ              older rows; ?after=SEQ&until=SEQ: those of a gap
//   GET /sessions/:id/document?version=N           the document, of that version or newer
import { Hono, type MiddlewareHandler } from 'hono'
import { renderToStaticMarkup } from 'react-dom/server'
import { Conclusion, DocumentText } from '../../../components/document/document-pane.tsx'
import { Gap, Older } from '../../../components/session/feed-pane.tsx'
import { putBounded } from '../../core/bounded.ts'
import { refuse } from '../../core/errors.ts'
import { beyondTheEnd, existingSession } from '../../rooms/preconditions.ts'
import { roster } from '../../stores/members.ts'
import type { Session } from '../../stores/sessions.ts'
import { refuseTooManyStreams, SSE_HEADERS } from '../../doors/http/event-stream.ts'
import { mayReadSession } from '../../doors/http/guards.ts'
import type { Env, Http } from '../../doors/http/http.ts'
import { partial } from './frames.tsx'
import { createHubs, type Hubs } from './hubs.ts'
import { Viewer } from './viewer.ts'
import { answered, gzipped, isGuest, sent, takesGzip, type Gzipped, type Site } from '../respond.tsx'
import { castOf, editsOf, rowsOf, stretchAfter, stretchBefore, type Cast, type Queries } from '../session/feed.tsx'
import { documentOf } from '../session/session.tsx'
import { wholeNumber } from '../../doors/http/query.ts'
import { methodNotAllowed } from '../../doors/rest/routes.ts'
import { whileReadable } from '../../doors/http/revocable-stream.ts'

export const liveRoutes = (site: Site) => {
  const hubs = createHubs(site.services)
  const documents = new Map<string, Kept>()
  const answers: Record<string, (c: Http, session: string) => Promise<Response>> = {
    live: (c, id) => stream(c, site, hubs, id),
    rows: (c, id) => rows(c, site, id),
    document: (c, id) => documentText(c, site, documents, id),
  }
  const app = new Hono<Env>()
  for (const [name, answer] of Object.entries(answers)) {
    app.get(`/sessions/:id/${name}`, readers(site), (c) => answer(c, c.req.param('id')))
    app.all(`/sessions/:id/${name}`, () => methodNotAllowed(['GET']))
  }
  return app
}

// No redirect to the sign-in page, as for a page: a script would put that into its own.
const readers =
  ({ services }: Site): MiddlewareHandler<Env> =>
  async (c, next) =>
    (await mayReadSession(c, services, c.req.param('id') ?? '')) ? next() : refuse('unauthorized', 'Sign in to follow this session.')

const stream = async (c: Http, { services }: Site, hubs: Hubs, id: string): Promise<Response> => {
  const resumed = c.req.header('last-event-id')
  const [after, version] = resumed === undefined ? [numberOf(c, 'after'), numberOf(c, 'doc')] : resumedAt(resumed)
  const session = await existingSession(services.database, id)
  if (after > session.lastSequence) beyondTheEnd('after', session.lastSequence)
  const atTheEnd = session.status === 'closed' && after >= session.lastConversationSequence
  if (atTheEnd && resumed !== undefined) return new Response(null, { status: 204 })
  refuseTooManyStreams(services)
  if (c.req.method === 'HEAD') return new Response(null, { headers: SSE_HEADERS })
  let hub = await hubs.hubOf(id)
  while (hub.ended) hub = await hubs.hubOf(id)
  c.env?.untimed?.()
  services.streams.open++
  // Events of the trace are not shown: a cursor among them stands for the last one that is.
  const cursor = Math.min(after, session.lastConversationSequence)
  const { body } = new Viewer(hub, cursor, version, () => services.streams.open--)
  return whileReadable(c, services, id, new Response(body, { headers: SSE_HEADERS }))
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
  const session = await existingSession(database, id)
  const cast = castOf(await roster(database, id))
  const guest = isGuest(c, site)
  if (c.req.query('before') === undefined) return answered(c, await gapRows(c, session, cast, database, guest))
  const stretch = await stretchBefore(database, id, numberOf(c, 'before'))
  const before = stretch.more ? stretch.events[0]!.sequence : undefined
  const older = renderToStaticMarkup(<Older session={id} before={before} startedAt={session.createdAt} />)
  const edits = await editsOf(database, id, stretch)
  const html = await rowsOf(database, id, cast, { ...stretch, edits }, { guest })
  return answered(c, partial('#rows', 'afterbegin', html) + partial('#older', 'outerMorph', older))
}

const gapRows = async (c: Http, { id }: Session, cast: Cast, queries: Queries, guest: boolean) => {
  const until = numberOf(c, 'until')
  const stretch = await stretchAfter(queries, id, numberOf(c, 'after'), { until })
  const last = stretch.events.at(-1)?.sequence
  const gap = stretch.more && last !== undefined ? renderToStaticMarkup(<Gap session={id} after={last} until={until} />) : ''
  const edits = await editsOf(queries, id, stretch)
  return partial('#gap', 'outerHTML', (await rowsOf(queries, id, cast, { ...stretch, edits }, { guest })) + gap)
}

/** A session's document as it was rendered last. */
interface Shown {
  version: number
  html: string
  packed: Gzipped
}
interface Kept {
  version: number // that was asked for, and then the one that it is
  shown: Promise<Shown>
}
const DOCUMENTS_KEPT = 32

// All viewers of a session ask for the same version at the same time: it is rendered and packed once.
const documentText = async (c: Http, { services: { database } }: Site, known: Map<string, Kept>, id: string): Promise<Response> => {
  const version = numberOf(c, 'version')
  let kept = known.get(id)
  if (!kept || kept.version < version) {
    await existingSession(database, id)
    kept = { version, shown: renderDocument(database, id) }
    known.delete(id)
    putBounded(known, id, kept, DOCUMENTS_KEPT)
  }
  try {
    const { version: actual, html, packed } = await kept.shown
    kept.version = actual
    return sent(c, takesGzip(c) ? packed : html)
  } catch (error) {
    known.delete(id)
    throw error
  }
}

const renderDocument = async (queries: Queries, id: string): Promise<Shown> => {
  const document = await documentOf(queries, id)
  const html =
    partial('#doc', 'outerMorph', renderToStaticMarkup(<DocumentText document={document} />)) +
    partial('#conclusion', 'outerMorph', renderToStaticMarkup(<Conclusion document={document} />))
  return { version: document.version, html, packed: await gzipped(html) }
}

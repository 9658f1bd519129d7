// The trace page: the turns of a session on the left, the events of one turn on the right. An imported session has no other page.
//   GET /sessions/:id/turns, /sessions/:id/turns/:turn     ?event=SEQ: that event unfolded, with all of its text; ?from=N: the turn's events from its Nth on
//       ?part=…                                            a part of that page (components/trace/trace-view.ts, TRACE_PARTS)
//   GET /sessions/:id/events/:sequence.txt                 one event as plain text
import { renderToStaticMarkup } from 'react-dom/server'
import { sourceName } from '../../../components/parts/source.ts'
import { TraceBody } from '../../../components/trace/trace-body.tsx'
import { TraceRows } from '../../../components/trace/trace-event.tsx'
import { TracePage } from '../../../components/trace/trace-page.tsx'
import { EarlierEvents, LaterEvents, TraceTurn } from '../../../components/trace/trace-turn.tsx'
import { TurnRows } from '../../../components/trace/trace-turns.tsx'
import {
  EVENTS_LISTED,
  eventHref,
  TRACE_PARTS,
  TURNS_LISTED,
  type TracePart,
  type TracedSession,
} from '../../../components/trace/trace-view.ts'
import { refuse } from '../../core/errors.ts'
import { isUuid } from '../../core/ids.ts'
import { prepareMarkdown } from '../../markdown/render.ts'
import { pause } from '../../core/runtime/pause.ts'
import { sessionsByIds, type SessionRow } from '../../stores/history.ts'
import { roster } from '../../stores/members.ts'
import { eventAt, eventsFrom, modelsOf, placeInTurn } from '../../stores/trace.ts'
import type { Http } from '../../doors/http/http.ts'
import { numberIn } from '../../doors/http/query.ts'
import { htmlResponse, fragment, frameOf, page, seeOther, wantsPage, type Site } from '../respond.tsx'
import { noSuchSession } from '../../operations/subject.ts'
import type { Queries } from '../../../db/database.ts'
import { teamLookup } from '../session/team-lookup.ts'
import { eventAsText, prepareTexts, traceEvent, traceItems } from './events.ts'
import { pageOfTurns, turnItems, type ListedTurn } from './turns.ts'

/** GET /sessions/:id/turns and /sessions/:id/turns/:turn; of an imported session also GET /sessions/:id. */
export const tracePage = async (c: Http, site: Site): Promise<Response> => {
  const { database } = site.services
  const session = await tracedSession(database, c.req.param('id') ?? '')
  const event = numberIn(c, 'event') || numberIn(c, 'around') || undefined // ?around= is the link into a feed; an imported session has none
  const place = event === undefined ? undefined : ((await placeInTurn(database, session.id, event)) ?? noSuchEvent(event, session))
  const ordinal = turnIn(c) ?? place?.turn ?? 1
  if (place && place.turn !== ordinal) return seeOther(c, eventHref(session.id, place.turn, event!))
  const from = place ? pageStart(place.ordinal) : numberIn(c, 'from') || 1
  const request: TraceRequest = { session, ordinal, from, sought: event }
  const part = TRACE_PARTS.find((name) => name === c.req.query('part'))
  return part ? partResponse(c, site, request, part) : wholePage(c, site, request)
}

/** GET /sessions/:id/events/12.txt: all of one event, as text. */
export const eventFile = async (c: Http, { services: { database } }: Site): Promise<Response> => {
  const session = await tracedSession(database, c.req.param('id') ?? '')
  const sequence = Number.parseInt(c.req.param('file')!, 10)
  const row = (await eventAt(database, session.id, sequence)) ?? noSuchEvent(sequence, session)
  return c.body(eventAsText(row), 200, {
    'content-type': 'text/plain; charset=utf-8',
    'content-disposition': `inline; filename="event-${sequence}.txt"`,
    'cache-control': 'no-store',
  })
}

interface TraceRequest {
  session: SessionRow
  ordinal: number
  /** The place in the turn from which events are shown. */
  from: number
  /** The sequence of the event to show with all of its text. */
  sought: number | undefined
}

const tracedSession = async (queries: Queries, id: string): Promise<SessionRow> => {
  const [session] = isUuid(id) ? await sessionsByIds(queries, [id]) : []
  return session ?? noSuchSession(id)
}

const noSuchEvent = (sequence: number, { last_sequence }: SessionRow) =>
  refuse('not_found', `There is no event ${sequence} in this session: it has ${last_sequence}.`)

const noSuchTurn = (ordinal: number, { turn }: SessionRow) =>
  refuse('not_found', `There is no turn ${ordinal} in this session: it has ${turn}.`)

const turnIn = (c: Http): number | undefined => {
  const text = c.req.param('turn')
  if (text === undefined) return undefined
  return /^[1-9]\d{0,8}$/.test(text) ? Number(text) : refuse('not_found', 'Turns are numbered: 1, 2, 3 and so on.')
}

const pageStart = (ordinal: number) => Math.floor((ordinal - 1) / EVENTS_LISTED) * EVENTS_LISTED + 1

const partResponse = async (c: Http, site: Site, request: TraceRequest, part: TracePart): Promise<Response> => {
  const queries = site.services.database
  const { session, ordinal } = request
  if (ordinal > session.turn) return noSuchTurn(ordinal, session)
  if (part === 'event') return fragment(c, await eventBody(site, request))
  if (part === 'earlier' || part === 'later') {
    const items = (await listedTurns(queries, session, ordinal)).map(({ item }) => item)
    const list = { items, current: 0, total: session.turn }
    return fragment(c, <TurnRows session={session.id} list={list} {...{ [part]: true }} />)
  }
  const turn = (await turnItems(queries, session, ordinal, ordinal))[0] ?? noSuchTurn(ordinal, session)
  const html = await eventRows(site, request, turn, part === 'turn')
  if (part === 'events') return htmlResponse(c, html)
  return fragment(c, <TraceTurn session={tracedView(session, [])} turn={{ ordinal, item: turn.item, html }} />)
}

const wholePage = async (c: Http, site: Site, request: TraceRequest): Promise<Response> => {
  const { database } = site.services
  const { session, ordinal } = request
  const known = ordinal <= session.turn
  if (!known && !wantsPage(c)) return noSuchTurn(ordinal, session)
  const [turns, models] = await Promise.all([
    listedTurns(database, session, known ? ordinal : session.turn),
    modelsOf(database, session.id),
  ])
  const turn = turns.find(({ item }) => item.ordinal === ordinal)
  const html = turn ? await eventRows(site, request, turn, true) : ''
  const list = { items: turns.map(({ item }) => item), current: ordinal, total: session.turn }
  const shown = { ordinal, item: turn?.item, html }
  return page(
    c,
    <TracePage frame={frameOf(c, site)} session={tracedView(session, models)} list={list} turn={shown} />,
    turn || session.turn === 0 ? 200 : 404,
  )
}

const tracedView = (
  { id, title, source, started_at, updated_at, turn, last_sequence, completed }: SessionRow,
  models: string[],
): TracedSession => ({
  id,
  title,
  source: sourceName(source),
  startedAt: started_at,
  updatedAt: updated_at,
  turns: turn,
  events: last_sequence,
  models,
  ended: completed,
})

/** The page of the list that a turn is on. */
const listedTurns = (queries: Queries, session: SessionRow, ordinal: number): Promise<ListedTurn[]> => {
  const { from, to } = pageOfTurns(ordinal, TURNS_LISTED, session.turn)
  return turnItems(queries, session, from, to)
}

const eventBody = async ({ services, eventKinds: kinds }: Site, { session, sought }: TraceRequest) => {
  if (sought === undefined) return refuse('invalid_request', 'Say which event: ?event=SEQUENCE.', { field: 'event' })
  const row = (await eventAt(services.database, session.id, sought)) ?? noSuchEvent(sought, session)
  const event = traceEvent(row, { teams: teamLookup([]), kinds, room: false, terminal: undefined, sought }, true)
  await prepareMarkdown(event.text)
  return <TraceBody session={session.id} event={event} />
}

const SLICE = 10 // rows rendered before other requests get their turn

const eventRows = async (
  { services, eventKinds: kinds }: Site,
  { session, ordinal, from, sought }: TraceRequest,
  { terminal }: ListedTurn,
  first: boolean,
) => {
  const queries = services.database
  const room = session.source === 'room'
  const [read, teams, whole] = await Promise.all([
    eventsFrom(queries, { sessionId: session.id, turn: ordinal, from, limit: EVENTS_LISTED + 1 }),
    room ? roster(queries, session.id) : [],
    sought === undefined ? undefined : eventAt(queries, session.id, sought),
  ])
  const rows = read.slice(0, EVENTS_LISTED).map((row) => (row.sequence === sought && whole ? whole : row))
  const items = traceItems(rows, { teams: teamLookup(teams), kinds, room, terminal, sought })
  const parts = first && from > 1 ? [renderToStaticMarkup(<EarlierEvents session={session.id} turn={ordinal} />)] : []
  for (let i = 0; i < items.length; i += SLICE) {
    const slice = items.slice(i, i + SLICE)
    await prepareTexts(slice)
    if (i > 0) await pause()
    parts.push(renderToStaticMarkup(<TraceRows session={session.id} items={slice} />))
  }
  const next = read.length > EVENTS_LISTED ? read[EVENTS_LISTED]!.ordinal : undefined
  if (next !== undefined) parts.push(renderToStaticMarkup(<LaterEvents session={session.id} turn={ordinal} from={next} />))
  return parts.join('')
}

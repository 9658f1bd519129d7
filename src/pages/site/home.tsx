// The home page: figures, sessions by their newest activity, and the results of a search.
import { renderToStaticMarkup } from 'react-dom/server'
import { Figures, HomePage, Sessions, type Counts } from '../../../components/site/home-page.tsx'
import { ApprovalsLink } from '../../../components/site/approvals-link.tsx'
import type { SessionSummary } from '../../../components/site/session-row.tsx'
import { FILTERS, type Filter } from '../../../components/session/session-search.tsx'
import { sourceName } from '../../../components/parts/source.ts'
import { ago } from '../../../components/parts/time.ts'
import type { SessionMatch } from '../../../components/search/search-hits.tsx'
import type { SearchResults } from '../../../components/search/search-page.tsx'
import type { ErrorBody } from '../../core/errors.ts'
import { eventLine, newTitle, type EventKinds } from '../../core/events/event-kinds.ts'
import { toPlainText } from '../../markdown/plain-text.ts'
import { participantOf } from '../../rooms/roster.ts'
import { aroundSince, isPolling, statusOf, type Status } from '../../rooms/status.ts'
import { conclusionOf } from '../../rooms/document/conclusion.ts'
import type { Services } from '../../process/services.ts'
import { conclusionsOf } from '../../stores/documents.ts'
import { needsOfSessions, type Need } from '../../loops/store.ts'
import { listSessions, titlesOf, type SessionFilter, type Session } from '../../stores/sessions.ts'
import { actorOf } from '../../doors/http/cookies.ts'
import type { Http } from '../../doors/http/http.ts'
import { partial } from '../live/partial.ts'
import { linkOnPages } from './connect.tsx'
import { htmlResponse, frameOf, page, type Site } from '../respond.tsx'
import { searchForPage, problemText } from '../search/search.tsx'
import { familiesOf } from '../agents/family.ts'
import { isQuiet, liveSince } from '../session/state.ts'
import { rostersOf } from '../../stores/members.ts'
import {
  lastEventsOf,
  liveSessions,
  messageCounts,
  messagesSince,
  MOST_MESSAGES,
  MOST_SESSIONS_COUNTED,
  presentTeams,
  PULSE_PARTS,
  pulsesOf,
  totals,
} from '../../stores/home-queries.ts'
import { asText } from '../../core/text/as-text.ts'
import { cutAt } from '../../core/text/cut-at.ts'

const SHOWN = 100
const HITS_SHOWN = 5
const SESSIONS_FOUND = 50
const DAY_MS = 86_400_000

/** GET /: the sessions, filtered by ?q= and ?status=, and messages that match ?q=. With ?part=live only the parts that refresh. */
export const homePage = async (c: Http, site: Site): Promise<Response> => {
  const { services } = site
  const query = cutAt((c.req.query('q') ?? '').trim().replaceAll('\0', '').toWellFormed(), 200)
  const filter = FILTERS.find((name) => name === c.req.query('status')) ?? 'all'
  const [needs, live] = await Promise.all([
    needsOfSessions(services.database, services.wakes.perHour(), SHOWN + 1),
    liveSessions(services.database, liveSince(services)),
  ])
  const needing = new Map(needs.map(({ sessionId, reason }) => [sessionId, reason]))
  const [counts, answer] = await Promise.all([
    countsOf(services, needing.size, live.length),
    query === '' ? {} : searchForPage(c, site, { query: query, hits: HITS_SHOWN, sessions: SESSIONS_FOUND }),
  ])
  const { found, problem, search } = { search: query, found: undefined, problem: undefined, ...shownOf(answer) }
  const matches = new Map(found?.sessions.map((hit) => [hit.id, hit]))
  const conditions = { ...(search && { search, found: [...matches.keys()] }), limit: SHOWN + 1 }
  const first =
    needing.size > 0 ? await listSessions(services.database, { ...conditions, ...wanted(filter, live, [...needing.keys()]) }) : []
  const others = (await listSessions(services.database, { ...conditions, ...wanted(filter, live) })).filter(({ id }) => !needing.has(id))
  const listed = [...first, ...others]
  const sessions = (await summaries(site, listed.slice(0, SHOWN), needing)).map((session) => withMatch(session, matches.get(session.id)))
  const more = listed.length > SHOWN
  const overview = { counts, sessions, more, search, filter, found, problem, link: linkOnPages(c, site) }
  if (c.req.query('part') === 'live') {
    const refreshed = [
      ['#figures', <Figures {...overview} />],
      ['#sessions', <Sessions {...overview} />],
      ['#approvals-link', <ApprovalsLink waiting={site.waiting.countFor(actorOf(c, services))} />],
    ] as const
    return htmlResponse(c, refreshed.map(([place, shown]) => partial(place, 'outerMorph', renderToStaticMarkup(shown))).join(''))
  }
  const frame = { ...frameOf(c, site), ...(search === '' && { path: '/' }) }
  return page(c, <HomePage {...{ frame, overview }} />)
}

// A query with a credential is not shown again.
const shownOf = (answer: { found?: SearchResults; error?: ErrorBody }): { found?: SearchResults; problem?: string; search?: string } => {
  if (!answer.error) return answer
  return { problem: problemText(answer.error), ...(answer.error.code === 'secret_in_text' && { search: '' }) }
}

const withMatch = (session: SessionSummary, match: SessionMatch | undefined): SessionSummary =>
  match?.place === 'document' && match.snippet !== '' ? { ...session, lastLine: `Document: ${match.snippet}` } : session

// `among`: only these.
const wanted = (filter: Filter, live: string[], among?: string[]): Pick<SessionFilter, 'among' | 'without' | 'kind'> => {
  if (filter === 'live') return { among: among ? live.filter((id) => among.includes(id)) : live }
  const kind = filter === 'all' ? undefined : filter === 'idle' ? 'open' : filter
  return { kind, ...(among && { among }), ...(filter === 'idle' && { without: live }) }
}

const countsOf = async (services: Services, needing: number, live: number): Promise<Counts> => {
  const { database, clock } = services
  const [{ sessions, lastEventAt }, teams, messages] = await Promise.all([
    totals(database),
    presentTeams(database, aroundSince(services)),
    messagesSince(database, new Date(clock.now() - DAY_MS).toISOString()),
  ])
  const statuses = teams.map(({ team }) => statusOf(services, team)).filter((status) => status !== 'disconnected')
  return {
    sessions: upTo(sessions, MOST_SESSIONS_COUNTED),
    live,
    listening: teams.filter(({ team }) => isPolling(services, team)).length,
    present: statuses.length,
    asleep: statuses.filter((status) => status === 'asleep').length,
    messages: upTo(messages, MOST_MESSAGES),
    needPerson: needing > SHOWN ? `${SHOWN}+` : needing,
    lastEvent: lastEventAt ? ago(lastEventAt, clock.now()) : undefined,
  }
}

const upTo = (counted: number, most: number) => (counted > most ? `${most.toLocaleString('en')}+` : counted)

const summaries = async ({ services, eventKinds }: Site, sessions: Session[], needing: Map<string, Need>): Promise<SessionSummary[]> => {
  const { database, clock } = services
  const ids = sessions.map(({ id }) => id)
  const concluded = sessions.filter(({ status, source }) => status === 'closed' && source === 'room').map(({ id }) => id)
  const hasAgents = sessions.some(({ agenticTool }) => agenticTool !== null)
  const [rosters, lasts, counts, pulses, conclusions, titles, families] = await Promise.all([
    rostersOf(database, ids),
    lastEventsOf(database, ids),
    messageCounts(database, ids),
    pulsesOf(database, ids, new Date(clock.now()).toISOString()),
    conclusionsOf(database, concluded, 2 * LINE),
    titlesOf(
      database,
      sessions.flatMap((session) => precedingSession(session) ?? []),
    ),
    familiesOf(database, hasAgents ? ids : []),
  ])
  const teamsOf = Map.groupBy(rosters, ({ sessionId }) => sessionId)
  const lastOf = new Map(lasts.map((last) => [last.sessionId, last]))
  return sessions.map((session) => {
    const teams = teamsOf.get(session.id) ?? []
    const seats = teams.map((row) => participantOf(services, row, session))
    const last = lastOf.get(session.id)
    const author = teams.find(({ teamId }) => teamId === last?.teamId)?.teamName ?? last?.by
    return {
      id: session.id,
      title: session.title,
      source: sourceName(session.source),
      state: stateOf(services, session, seats),
      need: needing.get(session.id),
      lastLine:
        conclusionLine(conclusions.get(session.id)) ||
        (last ? lineOf(eventKinds, last.type, last.content, author) : session.description || 'Nothing said yet'),
      teams: teams.map(({ teamName, hue }) => ({ name: teamName, hue })),
      age: ago(session.lastEventAt ?? session.createdAt, clock.now()),
      messages: counts.get(session.id) ?? 0,
      pulses: pulses.get(session.id) ?? Array<number>(PULSE_PARTS).fill(0),
      from: fromOf(session, titles),
      family: families.get(session.id),
    }
  })
}

const stateOf = (services: Services, session: Session, seats: ReturnType<typeof participantOf>[]): SessionSummary['state'] => {
  if (session.archivedAt !== null) return 'archived'
  if (session.status === 'closed') return 'concluded'
  if (!isQuiet(services, session, seats)) return 'live'
  return seats.some(isAsleep) ? 'asleep' : 'idle'
}

const isAsleep = ({ status }: { status: Status }) => status === 'asleep'

const precedingSession = ({ resumedFromSessionId, forkedFromSessionId, parentSessionId }: Session) =>
  resumedFromSessionId ?? forkedFromSessionId ?? parentSessionId ?? undefined

const fromOf = (session: Session, titles: Map<string, string>): SessionSummary['from'] => {
  const title = titles.get(precedingSession(session) ?? '')
  return title === undefined
    ? undefined
    : { how: session.resumedFromSessionId ? 'resumed' : session.forkedFromSessionId ? 'forked' : 'started', title }
}

const LINE = 240 // characters

const conclusionLine = (section: string | undefined) => toPlainText(conclusionOf(section ?? '') ?? '').slice(0, LINE)

const lineOf = (kinds: EventKinds, type: string, content: Record<string, unknown>, author: string | null | undefined): string => {
  if (type === 'system') {
    if (typeof content.text === 'string') return toPlainText(content.text.slice(0, 2 * LINE)).slice(0, LINE)
    const title = newTitle(content)
    return title === undefined ? eventLine(kinds, content) : `${eventLine(kinds, content)} to “${title}”`
  }
  const text = asText(content.text).slice(0, 2 * LINE)
  return `${author ?? 'Somebody'}: ${toPlainText(text).slice(0, LINE)}`
}

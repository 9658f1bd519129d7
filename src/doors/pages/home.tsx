import { HomePage, type Counts } from '../../../components/home-page.tsx'
import type { SessionSummary } from '../../../components/session-row.tsx'
import { FILTERS, type Filter } from '../../../components/session-search.tsx'
import { ago } from '../../../components/time.ts'
import { participantOf } from '../../rooms/roster.ts'
import type { Services } from '../../services.ts'
import { listSessions, type Session } from '../../stores/sessions.ts'
import type { Http } from '../http.ts'
import { frameOf, page, type Site } from './answer.tsx'
import { eventLine } from './event-line.ts'
import { linkOf } from './link.ts'
import { rostersOf } from '../../stores/members.ts'
import { lastEventsOf, messageCounts, presentTeams, PULSES, pulsesOf, totals } from '../../stores/overview.ts'

const SHOWN = 100

/** GET /: the sessions, with ?q= and ?status=. */
export const homePage = async (c: Http, site: Site): Promise<Response> => {
  const { services } = site
  const search = (c.req.query('q') ?? '').trim().replaceAll('\0', '').toWellFormed().slice(0, 200)
  const filter = FILTERS.find((name) => name === c.req.query('status')) ?? 'all'
  const [counts, found] = await Promise.all([
    countsOf(services),
    listSessions(services.database, { ...(search && { search }), ...wanted(services, filter), limit: SHOWN + 1 }),
  ])
  const sessions = await summaries(services, found.slice(0, SHOWN))
  const frame = frameOf(c, site)
  const more = found.length > SHOWN
  return page(c, <HomePage {...{ frame, counts, sessions, more, search, filter }} link={linkOf(c, services)} />)
}

const wanted = ({ clock, config }: Services, filter: Filter): { status?: 'active' | 'closed'; quietSince?: string } => {
  if (filter === 'all') return {}
  if (filter === 'concluded') return { status: 'closed' }
  const quietSince = new Date(clock.now() - config.IDLE_AFTER * 1000).toISOString()
  return { status: 'active', ...(filter === 'idle' && { quietSince }) }
}

const countsOf = async (services: Services): Promise<Counts> => {
  const { database, clock, config } = services
  const since = new Date(clock.now() - config.DISCONNECTED_AFTER * 1000).toISOString()
  const [{ sessions, live, lastEventAt }, present] = await Promise.all([totals(database), presentTeams(database, since)])
  const statuses = present.map(({ team, convenerTeamId }) => participantOf(services, team, { convenerTeamId }).status)
  const having = (status: string) => statuses.filter((one) => one === status).length
  return {
    sessions,
    live,
    listening: having('active'),
    idle: having('idle'),
    lastEvent: lastEventAt ? ago(lastEventAt, clock.now()) : undefined,
  }
}

const summaries = async (services: Services, sessions: Session[]): Promise<SessionSummary[]> => {
  const { database, clock } = services
  const ids = sessions.map(({ id }) => id)
  const [rosters, lasts, counts, pulses] = await Promise.all([
    rostersOf(database, ids),
    lastEventsOf(database, ids),
    messageCounts(database, ids),
    pulsesOf(database, ids, new Date(clock.now()).toISOString()),
  ])
  const teamsOf = Map.groupBy(rosters, ({ sessionId }) => sessionId)
  const lastOf = new Map(lasts.map((last) => [last.sessionId, last]))
  return sessions.map((session) => {
    const teams = teamsOf.get(session.id) ?? []
    const concluded = session.status === 'closed'
    const statuses = teams.map((row) => participantOf(services, row, session).status)
    const last = lastOf.get(session.id)
    const author = teams.find(({ teamId }) => teamId === last?.teamId)?.teamName ?? last?.by
    return {
      id: session.id,
      title: session.title,
      concluded,
      status: concluded ? 'disconnected' : statuses.includes('active') ? 'active' : statuses.includes('idle') ? 'idle' : 'disconnected',
      lastLine: last ? lineOf(last.type, last.content, author) : session.description || 'Nothing said yet',
      teams: teams.map(({ teamName, hue }) => ({ name: teamName, hue })),
      age: ago(session.lastEventAt ?? session.createdAt, clock.now()),
      messages: counts.get(session.id) ?? 0,
      pulses: pulses.get(session.id) ?? Array<number>(PULSES).fill(0),
      from: originOf(session),
    }
  })
}

const originOf = ({ resumedFromSessionId, forkedFromSessionId }: Session): SessionSummary['from'] => {
  if (resumedFromSessionId) return { how: 'resumed', id: resumedFromSessionId }
  return forkedFromSessionId ? { how: 'forked', id: forkedFromSessionId } : undefined
}

const LINE = 240

const lineOf = (type: string, content: Record<string, unknown>, author: string | null | undefined): string => {
  if (type === 'system') return eventLine(content)
  const text = String(content.text ?? '').slice(0, 2 * LINE)
  return `${author ?? 'Somebody'}: ${plain(text).slice(0, LINE)}`
}

// One line of markdown without its marks: only for a glance, so the common ones do.
const plain = (text: string): string =>
  text
    .replace(/^\s*(?:#{1,6}|>|[-*+]|\d+[.)])\s+/gm, '')
    .replace(/(\*\*|__|`+)/g, '')
    .replace(/\s+/g, ' ')
    .trim()

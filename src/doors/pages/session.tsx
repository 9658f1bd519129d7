import { ago } from '../../../components/time.ts'
import type { RosterTeam } from '../../../components/roster.tsx'
import { SessionPage } from '../../../components/session-page.tsx'
import type { SessionView } from '../../../components/session-view.ts'
import { awaited, existingSession, participantOf } from '../../rooms/roster.ts'
import type { Services } from '../../services.ts'
import { documentVersions, readDocument } from '../../stores/documents.ts'
import { roster, type Participant } from '../../stores/members.ts'
import type { Session } from '../../stores/sessions.ts'
import type { Http } from '../http.ts'
import { frameOf, page, type Site } from './answer.tsx'
import { castOf, itemsOf, lanesOf, newestEvents, renderRows } from './feed.tsx'
import { linkOf } from './link.ts'

/** GET /sessions/:id, with ?all=1 for a feed of any length. */
export const sessionPage = async (c: Http, site: Site): Promise<Response> => {
  const { services } = site
  const session = await existingSession(services.database, c.req.param('id') ?? '')
  const view = await sessionView(services, session, c.req.query('all') !== undefined)
  return page(c, <SessionPage frame={frameOf(c, site)} session={view} link={linkOf(c, services)} />)
}

const sessionView = async (services: Services, session: Session, all: boolean): Promise<SessionView> => {
  const { database, clock } = services
  const [teams, { events, cut }, document, [latest]] = await Promise.all([
    roster(database, session.id),
    newestEvents(services, session.id, all),
    readDocument(database, session.id),
    documentVersions(database, session.id, undefined, 1),
  ])
  const cast = castOf(teams)
  const items = itemsOf(events, cast)
  const messages = items.filter(({ kind }) => kind === 'message').length
  return {
    id: session.id,
    title: session.title,
    description: session.description,
    concluded: session.status === 'closed',
    startedAt: session.createdAt,
    teams: rosterTeams(services, session, teams),
    waitingFor: session.status === 'closed' ? 0 : awaited(session, teams),
    lanes: messages > 1 ? lanesOf(items) : [],
    document: {
      ...document,
      by: latest && (cast.team(latest.teamId) ?? { name: latest.by, hue: undefined }),
      at: latest?.at,
      age: latest ? ago(latest.at, clock.now()) : '',
    },
    feed: { html: await renderRows(items), shown: items.length, cut },
  }
}

const ORDER = { active: 0, idle: 1, disconnected: 2 }

const rosterTeams = (services: Services, session: Session, teams: Participant[]): RosterTeam[] =>
  teams
    .map((row): RosterTeam => {
      const { status, last_seen_at, is_convener, left_at } = participantOf(services, row, session)
      const seen = ago(left_at ?? last_seen_at, services.clock.now())
      return { id: row.teamId, name: row.teamName, hue: row.hue, status, seen, convener: is_convener, left: left_at !== null }
    })
    .toSorted((a, b) => Number(b.convener) - Number(a.convener) || ORDER[a.status] - ORDER[b.status])

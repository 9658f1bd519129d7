// What a session is right now, for its page: teams and their dots, the document's head, who spoke when.
import { SLOTS, type Lane } from '../../../components/session/lanes.tsx'
import type { RosterTeam } from '../../../components/session/roster.tsx'
import type { SessionState } from '../../../components/session/session-view.ts'
import type { Status } from '../../../components/parts/status-dot.tsx'
import { ago, agoRoughly } from '../../../components/parts/time.ts'
import { receiptOf } from '../../rooms/receipts.ts'
import { awaited, isPolling, participantOf } from '../../rooms/roster.ts'
import { LONGEST_WAIT_S } from '../../rooms/waits.ts'
import type { Services } from '../../process/services.ts'
import type { Seat } from '../../stores/members.ts'
import type { Session } from '../../stores/sessions.ts'
import type { Since } from '../../stores/home-queries.ts'
import { SAID, type SaidRow, type sessionsWithDocs, type Talk } from '../../stores/live-state.ts'
import { castOf, type Cast } from './feed.tsx'

export type Watched = Awaited<ReturnType<typeof sessionsWithDocs>>[number]

const LANES = 8

export const stateOf = (services: Services, { session, version, loopSince, said, ...written }: Watched, rows: Seat[]): SessionState => {
  const now = services.clock.now()
  const concluded = session.status === 'closed'
  const teams = rosterTeams(services, session, rows, said)
  const cast = castOf(rows)
  return {
    id: session.id,
    title: session.title,
    description: session.description,
    concluded,
    teams,
    waitingFor: concluded ? 0 : awaited(session, rows),
    loop: loopSince && !concluded ? { teams: repeating(said, teams, services.loops.settings().posts), since: loopSince } : undefined,
    quietFor: concluded ? undefined : quietFor(services, session, teams),
    written: {
      version,
      by: written.writtenBy === null ? undefined : (cast.team(written.writtenByTeamId) ?? cast.named(written.writtenBy)),
      at: written.writtenAt ?? undefined,
      age: written.writtenAt ? agoRoughly(written.writtenAt, now) : '',
    },
  }
}

// Those whose posts these are: a loop is nearly all that is said in it.
const repeating = (said: SaidRow[], teams: RosterTeam[], posts: number): string[] => {
  const messages = said.filter(([, , isMessage]) => isMessage).slice(0, posts)
  return teams.filter(({ id }) => messages.some(([, team]) => team === id)).map(({ name }) => name)
}

const quietFor = (services: Services, session: Session, teams: RosterTeam[]): string | undefined =>
  isQuiet(services, session, teams) ? ago(session.lastEventAt ?? session.createdAt, services.clock.now()) : undefined

/** Whether an open session is idle, and not live: on its page and at home. An agent gives a session up after IDLE_LIMIT empty waits.
 *  Nothing said for as long, and nobody there: it will hardly go on by itself. */
export const isQuiet = (
  services: Pick<Services, 'config' | 'clock'>,
  { lastEventAt, createdAt }: Pick<Session, 'lastEventAt' | 'createdAt'>,
  teams: { status: Status }[],
): boolean => (lastEventAt ?? createdAt) < liveSince(services).said && teams.every(({ status }) => status === 'disconnected')

/** The same for the database, which counts and lists the sessions. */
export const liveSince = ({ config, clock }: Pick<Services, 'config' | 'clock'>): Since => {
  const before = (seconds: number) => new Date(clock.now() - seconds * 1000).toISOString()
  return { said: before(config.IDLE_LIMIT * LONGEST_WAIT_S), seen: before(config.DISCONNECTED_AFTER), now: before(0) }
}

const ORDER = { active: 0, idle: 1, disconnected: 2 }

const rosterTeams = (services: Services, session: Session, teams: Seat[], said: SaidRow[]): RosterTeam[] => {
  const now = services.clock.now()
  const spoke = new Map<string | null, string>()
  for (const [, team, isMessage, at] of said) if (isMessage && !spoke.has(team)) spoke.set(team, at)
  return teams
    .map((row): RosterTeam => {
      const { status, last_seen_at, is_convener, left_at } = participantOf(services, row, session)
      const { delivered, acknowledged } = receiptOf(services, row)
      const spokeAt = spoke.get(row.teamId) ?? ''
      const isLastWord = left_at === null && spokeAt > last_seen_at
      // A team that polls now is handed what is new within milliseconds: to show that would make the page flicker.
      const isAway = status !== 'active' && left_at === null && session.status === 'active'
      return {
        id: row.teamId,
        name: row.teamName,
        hue: row.hue,
        status,
        polling: isPolling(services, row),
        seen: isLastWord ? spokenAgo(spokeAt, now) : `${agoRoughly(left_at ?? last_seen_at, now)} ago`,
        spoke: isLastWord,
        convener: is_convener,
        left: left_at !== null,
        unread: isAway ? unreadAmong(said, row.teamId, Math.max(delivered, acknowledged)) : undefined,
        acknowledged,
      }
    })
    .toSorted((a, b) => Number(b.convener) - Number(a.convener) || ORDER[a.status] - ORDER[b.status])
}

const NOW_MS = 10_000 // each second of it would be sent to all who watch

const spokenAgo = (at: string, now: number) => (now - Date.parse(at) < NOW_MS ? 'just now' : `${agoRoughly(at, now)} ago`)

// What others said beyond what the team has, as `peek` counts it.
const unreadAmong = (said: SaidRow[], team: string, has: number): RosterTeam['unread'] => {
  const count = said.filter(([sequence, by]) => sequence > has && by !== team).length
  return { count, more: said.length === SAID && said.at(-1)![0] > has + 1 }
}

export const messagesOf = (talk: Talk[]): number => talk.reduce((sum, { messages }) => sum + messages, 0)

/** One lane for each author who spoke, the busiest first; from the ninth on they share one. None for a single message. */
export const lanesOf = (talk: Talk[], cast: Cast): Lane[] => {
  if (messagesOf(talk) < 2) return []
  const byAuthor = [...Map.groupBy(talk, ({ team_id, name }) => team_id ?? name ?? '')]
  const busiest = byAuthor.toSorted(([, a], [, b]) => messagesOf(b) - messagesOf(a))
  const shown = busiest.length === LANES + 1 ? LANES + 1 : LANES // a shared lane for one would be its own
  const nameOf = ({ team_id, name }: Talk) => cast.team(team_id) ?? { name: name ?? 'Somebody', hue: undefined }
  const lanes = busiest.slice(0, shown).map(([id, said]) => ({ ...nameOf(said[0]!), id, ...stretchOf(said) }))
  const others = busiest.slice(shown)
  if (others.length === 0) return lanes
  const names = others.map(([, said]) => nameOf(said[0]!).name)
  const theirs = stretchOf(others.flatMap(([, said]) => said))
  return [...lanes, { id: 'others', name: `${names.length} more`, hue: undefined, others: names, ...theirs }]
}

const stretchOf = (talk: Talk[]): Pick<Lane, 'messages' | 'spoke' | 'from' | 'to'> => {
  const inSlots = new Set(talk.map(({ slot }) => slot))
  const spoke: Lane['spoke'] = []
  for (let slot = 0; slot < SLOTS; slot++) {
    if (!inSlots.has(slot)) continue
    if (inSlots.has(slot - 1)) spoke.at(-1)![1]++
    else spoke.push([slot, 1])
  }
  const from = talk.map((said) => said.from).toSorted()[0]!
  const to = talk
    .map((said) => said.to)
    .toSorted()
    .at(-1)!
  return { messages: messagesOf(talk), spoke, from, to }
}

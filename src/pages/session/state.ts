// The state of a session for its page: the teams and their status, the document's newest version, whether the session is idle, loops or has
// used up its wakes.
import type { RosterTeam, SessionState } from '../../../components/session/session-view.ts'
import { ago, agoInWords, agoRoughly, clockOrMoment } from '../../../components/parts/time.ts'
import { receiptOf } from '../../rooms/feed/receipts.ts'
import { missingTeams, participantOf } from '../../rooms/roster.ts'
import { isPolling } from '../../rooms/status.ts'
import { LONGEST_WAIT_S } from '../../rooms/feed/waits.ts'
import type { Services } from '../../process/services.ts'
import type { RosterRow } from '../../stores/members.ts'
import type { Session } from '../../stores/sessions.ts'
import type { LiveThresholds } from '../../stores/home-queries.ts'
import { LOOKED_THROUGH, RECENT_EVENTS, type RecentEvent, type sessionsWithDocs } from '../../stores/live-state.ts'
import { holdsOf, NO_SIDES, sideCounts, sideMarks, type Sides } from '../board/sides.ts'
import { teamLookup } from './team-lookup.ts'

/** A session's row with its document's newest version, its warnings and what was said last. */
export type SessionWithDoc = Awaited<ReturnType<typeof sessionsWithDocs>>[number]
type ShownParticipant = ReturnType<typeof participantOf>

export const sessionStateOf = (
  services: Services,
  { session, version, loopSince, wakesSince, recent, ...written }: SessionWithDoc,
  rows: RosterRow[],
  sides = NO_SIDES,
): SessionState => {
  const now = services.clock.now()
  const [concluded, archived] = [session.status === 'closed', session.archivedAt !== null]
  const over = concluded || archived
  const participants = rows.map((row) => participantOf(services, row, session))
  const teams = rosterTeams(services, session, rows, participants, recent, sides)
  const lookup = teamLookup(rows)
  return {
    id: session.id,
    title: session.title,
    description: session.description,
    concluded,
    archived,
    teams,
    waitingFor: over ? 0 : missingTeams(session, rows),
    loop:
      loopSince && !over
        ? { teams: repeating(recent, teams, services.loops.settings().posts), since: clockOrMoment(loopSince, now) }
        : undefined,
    wakes: over ? undefined : wakesOf(services, wakesSince, teams),
    quietFor: over ? undefined : quietFor(services, session, participants),
    written: {
      version,
      by: written.writtenBy === null ? undefined : (lookup.team(written.writtenByTeamId) ?? lookup.named(written.writtenBy)),
      at: written.writtenAt ?? undefined,
      age: written.writtenAt ? agoInWords(written.writtenAt, now) : '',
    },
    counts: sideCounts(sides),
    marks: sideMarks(sides),
  }
}

// The teams that wrote the newest posts: while teams loop, hardly anybody else speaks.
const repeating = (recent: RecentEvent[], teams: RosterTeam[], posts: number): string[] => {
  const messages = recent.filter(([, , isMessage]) => isMessage).slice(0, posts)
  return teams.filter(({ id }) => messages.some(([, team]) => team === id)).map(({ name }) => name)
}

// Where messages may wake nobody at all, that matters to a reader while a team sleeps.
const wakesOf = ({ wakes }: Services, since: string | null, teams: RosterTeam[]): SessionState['wakes'] => {
  const perHour = wakes.perHour()
  if (since) return { perHour, since }
  return perHour === 0 && teams.some(({ status }) => status === 'asleep') ? { perHour, since: undefined } : undefined
}

const quietFor = (services: Services, session: Session, participants: ShownParticipant[]): string | undefined =>
  isQuiet(services, session, participants) ? ago(session.lastEventAt ?? session.createdAt, services.clock.now()) : undefined

/** Whether pages call an open session idle instead of live: no team is there or all sleep, and nothing was said for as long as an agent stays
 *  without news (IDLE_LIMIT empty waits), so that it will hardly go on by itself. */
export const isQuiet = (
  services: Pick<Services, 'config' | 'clock'>,
  { lastEventAt, createdAt }: Pick<Session, 'lastEventAt' | 'createdAt'>,
  participants: ShownParticipant[],
): boolean => {
  const { eventSince, seenSince } = liveSince(services)
  const isThere = ({ status, last_seen_at }: ShownParticipant) =>
    status === 'active' || (status !== 'disconnected' && last_seen_at >= seenSince)
  return (lastEventAt ?? createdAt) < eventSince && !participants.some(isThere)
}

/** Since when a session counts as live, by its last event and by its teams' polls: for the database, which counts and lists sessions. */
export const liveSince = ({ config, clock }: Pick<Services, 'config' | 'clock'>): LiveThresholds => {
  const before = (seconds: number) => new Date(clock.now() - seconds * 1000).toISOString()
  return { eventSince: before(config.IDLE_LIMIT * LONGEST_WAIT_S), seenSince: before(config.DISCONNECTED_AFTER), now: before(0) }
}

const ORDER = { active: 0, asleep: 1, idle: 2, disconnected: 3 }

const rosterTeams = (
  services: Services,
  session: Session,
  teams: RosterRow[],
  participants: ShownParticipant[],
  recent: RecentEvent[],
  sides: Sides,
): RosterTeam[] => {
  const now = services.clock.now()
  const spoke = new Map<string | null, string>()
  for (const [, team, isMessage, at] of recent) if (isMessage && !spoke.has(team)) spoke.set(team, at)
  return teams
    .map((row, i): RosterTeam => {
      const { status, last_seen_at, is_convener, left_at } = participants[i]!
      const { delivered, acknowledged } = receiptOf(services, row)
      const spokeAt = spoke.get(row.teamId) ?? ''
      const isLastWord = left_at === null && spokeAt > last_seen_at
      // A team that polls now gets a new message within milliseconds: a count that appears and vanishes would make the page flicker.
      const isAway = status !== 'active' && !row.agent && left_at === null && session.status === 'active'
      return {
        id: row.teamId,
        name: row.teamName,
        hue: row.hue,
        status,
        polling: isPolling(services, row),
        seen: isLastWord ? agoInWords(spokeAt, now) : `${agoRoughly(left_at ?? last_seen_at, now)} ago`,
        spoke: isLastWord,
        convener: is_convener,
        left: left_at !== null,
        agent: Boolean(row.agent),
        unread: isAway ? unreadAmong(recent, row.teamId, Math.max(delivered, acknowledged), session.lastConversationSequence) : undefined,
        acknowledged,
        holds: session.status === 'active' ? holdsOf(sides, row.teamId, now) : [],
      }
    })
    .toSorted((a, b) => Number(b.convener) - Number(a.convener) || ORDER[a.status] - ORDER[b.status])
}

// What others said and did that the team was not handed, counted as `peek` counts it.
const unreadAmong = (recent: RecentEvent[], team: string, has: number, last: number): RosterTeam['unread'] => {
  const count = recent.filter(([sequence, by]) => sequence > has && by !== team).length
  const goesOn = recent.length === RECENT_EVENTS && recent.at(-1)![0] > has + 1
  return { count, more: goesOn || last - LOOKED_THROUGH > has }
}

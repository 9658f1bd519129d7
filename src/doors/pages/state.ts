// What a session is right now, for its page: teams and their dots, the document's head, who spoke when.
import type { Lane } from '../../../components/lanes.tsx'
import type { RosterTeam } from '../../../components/roster.tsx'
import type { SessionState } from '../../../components/session-view.ts'
import { ago, agoRoughly } from '../../../components/time.ts'
import { receiptOf } from '../../rooms/receipts.ts'
import { awaited, participantOf } from '../../rooms/roster.ts'
import type { Services } from '../../services.ts'
import type { Seat } from '../../stores/members.ts'
import type { Session } from '../../stores/sessions.ts'
import type { sessionsWithDocs, Talk } from '../../stores/watched.ts'
import { castOf, type Cast } from './feed.tsx'

export type Watched = Awaited<ReturnType<typeof sessionsWithDocs>>[number]

const LONGEST_WAIT_S = 30
const LANES = 8

export const stateOf = (services: Services, { session, version, loopSince, ...written }: Watched, rows: Seat[]): SessionState => {
  const now = services.clock.now()
  const concluded = session.status === 'closed'
  const teams = rosterTeams(services, session, rows)
  const cast = castOf(rows)
  return {
    id: session.id,
    title: session.title,
    description: session.description,
    concluded,
    teams,
    waitingFor: concluded ? 0 : awaited(session, rows),
    needsPerson: loopSince !== null && !concluded,
    quietFor: concluded ? undefined : quietFor(services, session, teams),
    written: {
      version,
      by: written.writtenBy === null ? undefined : (cast.team(written.writtenByTeamId) ?? cast.named(written.writtenBy)),
      at: written.writtenAt ?? undefined,
      age: written.writtenAt ? agoRoughly(written.writtenAt, now) : '',
    },
  }
}

// An agent gives a session up after IDLE_LIMIT empty waits. Nothing said for as long, and nobody there: it will hardly go on by itself.
const quietFor = ({ config, clock }: Services, session: Session, teams: RosterTeam[]): string | undefined => {
  const last = session.lastEventAt ?? session.createdAt
  const quiet = clock.now() - Date.parse(last) > config.IDLE_LIMIT * LONGEST_WAIT_S * 1000
  return quiet && teams.every(({ status }) => status === 'disconnected') ? ago(last, clock.now()) : undefined
}

const ORDER = { active: 0, idle: 1, disconnected: 2 }

const rosterTeams = (services: Services, session: Session, teams: Seat[]): RosterTeam[] =>
  teams
    .map((row): RosterTeam => {
      const { status, last_seen_at, is_convener, left_at } = participantOf(services, row, session)
      const { delivered, acknowledged } = receiptOf(services, row)
      // Whoever polls now is handed what is new within milliseconds: to show that would make the page flicker.
      const behind = status !== 'active' && delivered < session.lastConversationSequence
      return {
        id: row.teamId,
        name: row.teamName,
        hue: row.hue,
        status,
        seen: agoRoughly(left_at ?? last_seen_at, services.clock.now()),
        convener: is_convener,
        left: left_at !== null,
        delivered: behind ? delivered : undefined,
        acknowledged,
      }
    })
    .toSorted((a, b) => Number(b.convener) - Number(a.convener) || ORDER[a.status] - ORDER[b.status])

export const messagesOf = (talk: Talk[]): number => talk.reduce((sum, { messages }) => sum + messages, 0)

/** One lane for each author who spoke, the busiest eight; none for a single message. */
export const lanesOf = (talk: Talk[], cast: Cast): Lane[] => {
  if (messagesOf(talk) < 2) return []
  const lanes = new Map<string, Lane>()
  for (const { team_id, name, slot, messages, from, to } of talk) {
    const id = team_id ?? name ?? ''
    const team = cast.team(team_id) ?? { name: name ?? 'Somebody', hue: undefined }
    const lane = lanes.get(id) ?? { ...team, id, messages: 0, spoke: [], from, to }
    const last = lane.spoke.at(-1)
    if (last && last[0] + last[1] === slot) last[1]++
    else lane.spoke.push([slot, 1])
    lane.messages += messages
    lane.to = to
    lanes.set(id, lane)
  }
  return [...lanes.values()].toSorted((a, b) => b.messages - a.messages).slice(0, LANES)
}

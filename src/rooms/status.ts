// A team's status, from its row and from what this process has seen since presence was last written. A wait is a team's heartbeat; a held
// peek says that its agent has ended its turn and that a message wakes it, and nothing else: `last_seen_at` is the time of the last poll.
import type { Services } from '../process/services.ts'
import type { AgentPresence, AroundThresholds, Participant } from '../stores/members.ts'

export const STATUSES = ['active', 'asleep', 'idle', 'disconnected'] as const
export type Status = (typeof STATUSES)[number]

type Known = Pick<Services, 'presence' | 'clock' | 'config'>

const OF_AGENTS = { working: 'active', ready: 'idle', away: 'disconnected' } as const

/** The first of these that is true: active (it polls, or did within IDLE_AFTER), asleep (the same of held peeks), idle (it polled within
 *  DISCONNECTED_AFTER). Otherwise, and once it has left, it is disconnected. A team that is the session's agent polls nothing: it is active
 *  while a task runs, else idle while its runner is online. */
export const statusOf = (services: Known, row: Participant & { agent?: AgentPresence | null }): Status => {
  if (row.leftAt) return 'disconnected'
  if (row.agent) return OF_AGENTS[row.agent]
  const { clock, config } = services
  const silentSeconds = (clock.now() - lastSeenMs(services, row)) / 1000
  if (isPolling(services, row) || silentSeconds <= config.IDLE_AFTER) return 'active'
  if (isAsleep(services, row)) return 'asleep'
  return silentSeconds <= config.DISCONNECTED_AFTER ? 'idle' : 'disconnected'
}

/** When the team last polled. */
export const lastSeenMs = ({ presence }: Pick<Known, 'presence'>, { teamId, lastSeenAt }: Participant): number =>
  Math.max(Date.parse(lastSeenAt), presence.of(teamId)?.lastSeenMs ?? 0)

/** Up to where the team has read the feed. What a wait has handed it last is not counted yet: the answer may have been lost. */
export const seenCursorOf = (
  { presence }: Pick<Known, 'presence'>,
  { teamId, lastSeenCursor }: Pick<Participant, 'teamId' | 'lastSeenCursor'>,
): number => Math.max(lastSeenCursor, presence.of(teamId)?.seenCursor ?? 0)

/** Whether the team has a wait open now. An active team may be at work instead. */
export const isPolling = ({ presence, clock }: Pick<Known, 'presence' | 'clock'>, row: Participant): boolean => {
  if (row.leftAt) return false
  const seen = presence.of(row.teamId)
  const written = { at: Date.parse(row.lastSeenAt), until: timeOf(row.pollingUntil) }
  return inFlightUntil({ at: seen?.lastSeenMs, until: seen?.pollingUntilMs }, written) > clock.now()
}

// Asked only about teams that are not active: a team at work may hold peeks, too.
const isAsleep = ({ presence, clock, config }: Known, row: Participant): boolean => {
  const seen = presence.of(row.teamId)
  const written = { at: timeOf(row.sleptAt), until: timeOf(row.sleepingUntil) }
  const sleptMs = Math.max(seen?.sleptMs ?? 0, written.at)
  const until = inFlightUntil({ at: seen?.sleptMs, until: seen?.sleepingUntilMs }, written)
  return until > clock.now() || clock.now() - sleptMs <= config.IDLE_AFTER * 1000
}

// Until when a call is in flight, as this process knows and as the row says, which another instance may have written later.
const inFlightUntil = (known: { at: number | undefined; until: number | undefined }, written: { at: number; until: number }): number =>
  known.at !== undefined && known.at >= written.at ? (known.until ?? 0) : Math.max(known.until ?? 0, written.until)

const timeOf = (text: string | null): number => (text === null ? 0 : Date.parse(text))

/** Since when a team counts as around: for the database, which counts teams and finds those of a name. */
export const aroundSince = ({ clock, config }: Pick<Known, 'clock' | 'config'>): AroundThresholds => {
  const before = (seconds: number) => new Date(clock.now() - seconds * 1000).toISOString()
  return { seenSince: before(config.DISCONNECTED_AFTER), sleptSince: before(config.IDLE_AFTER), now: before(0) }
}

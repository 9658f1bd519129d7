// Whether a message may wake a team that sleeps, which costs its user a model's call: a session takes so many wakes an hour without a
// person's word. Past that, only what is addressed to the team or said by a person wakes it. Counted in the database (stores/wakes.ts).
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import type { Database } from '../../db/database.ts'
import { unauthorized } from '../core/errors.ts'
import { createBatchLoader } from '../core/runtime/batch-loader.ts'
import type { Metrics } from '../core/runtime/metrics.ts'
import { MOST_WAKES, type Config } from '../config.ts'
import { peekedBy, type Peeked, type PeekKey } from '../stores/peeks.ts'
import { claimWakes, ensureWakes, type WakeClaim } from '../stores/wakes.ts'

/** What a person can save on the settings page. Until then WAKES_PER_HOUR gives it. */
export const wakesPerHour = z
  .string()
  .regex(/^\d{1,9}$/, 'must be a whole number, 0 or more')
  .transform(Number)
  .refine((wakes) => wakes <= MOST_WAKES, `must be at most ${MOST_WAKES}`)

/** The number in force, from the saved text. */
export const wakesPerHourOf = (config: Pick<Config, 'WAKES_PER_HOUR'>, saved: string | undefined): number =>
  saved === undefined ? config.WAKES_PER_HOUR : wakesPerHour.parse(saved)

export interface PeekRequest extends PeekKey {
  /** Only what is addressed to the team may wake it. */
  addressedOnly: boolean
  /** The caller is held and waits for it: a wake is counted. Otherwise the answer says what would be. */
  claims: boolean
}

export interface PeekAnswer extends Peeked {
  wake: boolean
}

const SESSIONS_KEPT = 10_000
const REMEMBERED_MS = 1_000 // a session whose wakes are used up is not asked about at every message, but a person may release it elsewhere

/** Peeks of this process, answered in batches: a statement for what there is, and one for each session whose sleepers it wakes. */
export class Wakes {
  #usedUp = new LRUCache<string, true>({ max: SESSIONS_KEPT, ttl: REMEMBERED_MS })

  constructor(
    readonly database: Database,
    readonly metrics: Metrics,
    readonly perHour: () => number,
  ) {}

  /** What a team has not been told, and whether it may wake it. Refuses a team whose session was purged. */
  ask = (request: PeekRequest): Promise<PeekAnswer> => this.#load(request).then((answer) => answer ?? unauthorized())

  #load = createBatchLoader((requests: PeekRequest[]) => this.#answers(requests))

  /** Whether this session's wakes were found to be used up within the last second. */
  wereUsedUp = (session: string): boolean => this.#usedUp.has(session)

  /** Forgets that they were: a person has released the session. */
  forget = (session: string): void => void this.#usedUp.delete(session)

  /** Counts teams that a message would have woken, had there been a wake left. */
  refused = (teams: number): void => this.metrics.wakes.inc({ outcome: 'refused' }, teams)

  async #answers(requests: PeekRequest[]): Promise<(PeekAnswer | undefined)[]> {
    const perHour = this.perHour()
    const peeked = await peekedBy(this.database, requests)
    const answers = requests.map((request, i): PeekAnswer | undefined => {
      const there = peeked[i]
      return there && { ...there, wake: wouldWake(request, there, perHour) }
    })
    const claiming = answers.flatMap((answer, i) => (answer ? [{ request: requests[i]!, answer }] : [])).filter(isClaim)
    const bySession = Map.groupBy(claiming, ({ request }) => request.sessionId)
    await Promise.all([...bySession].map(([session, asked]) => this.#claim(session, asked, perHour)))
    return answers
  }

  async #claim(session: string, asked: Asked[], perHour: number) {
    if (asked.some(({ answer }) => answer.taken === null)) await ensureWakes(this.database, session)
    const granted = await claimWakes(this.database, session, [...claimsOf(asked)], perHour)
    const teams = new Set(granted.map(({ team_id }) => team_id))
    for (const { request, answer } of asked) answer.wake = teams.has(request.teamId)
    this.metrics.wakes.inc({ outcome: 'allowed' }, granted.filter(({ fresh }) => fresh).length)
    if (asked.some(({ answer }) => !answer.wake)) this.#usedUp.set(session, true)
  }
}

interface Asked {
  request: PeekRequest
  answer: PeekAnswer
}

const hasNews = ({ addressedOnly }: PeekRequest, { unread, addressed }: Peeked) => (addressedOnly ? addressed : unread) > 0

const wouldWake = (request: PeekRequest, there: Peeked, perHour: number): boolean =>
  hasNews(request, there) && (there.byPerson || there.addressed > 0 || there.counted || (there.taken ?? 0) < perHour)

const isClaim = ({ request, answer }: Asked): boolean => request.claims && hasNews(request, answer)

// One for each team, however many peeks it holds: the one for the most.
const claimsOf = (asked: Asked[]) => {
  const claims = new Map<string, WakeClaim>()
  for (const { request, answer } of asked) {
    const { teamId } = request
    const earlier = claims.get(teamId)
    claims.set(teamId, {
      teamId,
      through: Math.max(earlier?.through ?? 0, answer.lastCursor),
      always: (earlier?.always ?? false) || answer.addressed > 0,
      free: (earlier?.free ?? false) || answer.byPerson,
    })
  }
  return claims.values()
}

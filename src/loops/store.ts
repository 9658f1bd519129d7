// The mark on sessions that look like a loop. It stays until a person releases the session or its teams go on to something else. And which
// sessions need a person, for this or because their wakes are used up.
import { and, desc, eq, gte, inArray, isNotNull, isNull, sql } from 'drizzle-orm'
import { unionAll } from 'drizzle-orm/pg-core'
import type { Queries } from '../../db/database.ts'
import { sessions } from '../../db/schema.ts'
import { loops, wakes } from '../../db/session-schema.ts'
import type { LoopPost } from './detector.ts'
import { CONVERSATION } from '../stores/events.ts'
import { usedUpSince } from '../stores/wakes.ts'

export interface RecentPosts {
  posts: LoopPost[] // the oldest first
  newest: number // sequence
  suspected: boolean
}

const RECENT = `
select e.sequence, e.posted_by_team_id as by, e.content ->> 'text' as text, l.suspected_at is not null as suspected
from (select session_id, sequence, type, posted_by_team_id, content from events
  where session_id = $1 and ${CONVERSATION} order by sequence desc limit $2) e
left join loops l on l.session_id = e.session_id
where e.type <> 'system' and e.sequence > coalesce(l.released_through, 0) order by e.sequence`

/** The session's last `limit` posts, but none from before a person released it. */
export const recentPosts = async ({ query }: Queries, sessionId: string, limit: number): Promise<RecentPosts> => {
  const rows = await query<{ sequence: number; by: string | null; text: string | null; suspected: boolean }>(RECENT, [sessionId, limit])
  const posts = rows.map(({ by, text }) => ({ by: by ?? undefined, text: text ?? '' }))
  return { posts, newest: rows.at(-1)?.sequence ?? 0, suspected: rows[0]?.suspected ?? false }
}

/** Marks the session, unless a person has released it since `newest` was read. */
export const suspect = async ({ query }: Queries, sessionId: string, newest: number): Promise<void> =>
  void (await query(
    `insert into loops (session_id, suspected_at) values ($1, now())
     on conflict (session_id) do update set suspected_at = coalesce(loops.suspected_at, now()) where loops.released_through < $2`,
    [sessionId, newest],
  ))

export const unsuspect = async ({ db }: Queries, sessionId: string): Promise<void> =>
  void (await db.update(loops).set({ suspectedAt: null }).where(eq(loops.sessionId, sessionId)))

/** Removes the mark from all sessions. */
export const unsuspectAll = async ({ query }: Queries): Promise<void> =>
  void (await query('update loops set suspected_at = null where suspected_at is not null'))

/** Removes the mark for a person: posts up to `lastSequence` no longer count. Returns whether the session was marked. */
export const release = async ({ db }: Queries, sessionId: string, lastSequence: number): Promise<boolean> => {
  const released = { suspectedAt: null, releasedThrough: lastSequence }
  const [before] = await db.select({ at: loops.suspectedAt }).from(loops).where(eq(loops.sessionId, sessionId))
  await db
    .insert(loops)
    .values({ sessionId, ...released })
    .onConflictDoUpdate({ target: loops.sessionId, set: released })
  return before?.at != null
}

export const NEEDS = ['loop_suspected', 'wakes_used_up'] as const
export type Need = (typeof NEEDS)[number]

/** Why a session needs a person, and since when: its teams loop, or messages wake those that sleep no more. A loop is told first, as it is what
 *  used the wakes up. */
export const needOf = (loopSince: string | null, wakesSince: string | null): { reason: Need; since: string } | null => {
  if (loopSince) return { reason: 'loop_suspected', since: loopSince }
  return wakesSince ? { reason: 'wakes_used_up', since: wakesSince } : null
}

export interface SessionNeed {
  sessionId: string
  reason: Need
  since: string
}

/** The open sessions that need a person, archived ones left out, the newest need first. `perHour`: the wakes that a session has. */
export const needsOfSessions = async ({ db }: Queries, perHour: number, limit: number): Promise<SessionNeed[]> => {
  const wakesSince = usedUpSince(perHour)
  const marked = db.select({ id: loops.sessionId }).from(loops).where(isNotNull(loops.suspectedAt))
  const silenced = db
    .select({ id: wakes.sessionId })
    .from(wakes)
    .where(and(gte(wakes.since, sql`now() - interval '1 hour'`), isNotNull(wakesSince))) // an hour that is over needs no look at its session
  const rows = await db
    .select({ id: sessions.id, loopSince: loops.suspectedAt, wakesSince })
    .from(sessions)
    .leftJoin(loops, eq(loops.sessionId, sessions.id))
    .leftJoin(wakes, eq(wakes.sessionId, sessions.id))
    .where(and(inArray(sessions.id, unionAll(marked, silenced)), eq(sessions.status, 'active'), isNull(sessions.archivedAt)))
    .orderBy(desc(sql`coalesce(${loops.suspectedAt}, ${wakes.since})`))
    .limit(limit)
  return rows.map(({ id, loopSince, wakesSince: since }) => ({ sessionId: id, ...needOf(loopSince, since)! }))
}

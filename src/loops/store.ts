// Sessions that look like a loop, until a person releases them or the teams go on to something else.
import { and, desc, eq, isNotNull } from 'drizzle-orm'
import type { Queries } from '../../db/database.ts'
import { loops, sessions } from '../../db/schema.ts'
import type { Said } from './detector.ts'
import { CONVERSATION } from '../stores/events.ts'

export interface Recent {
  said: Said[] // oldest first
  newest: number
  suspected: boolean
}

const RECENT = `
select e.sequence, e.posted_by_team_id as by, e.content ->> 'text' as text, l.suspected_at is not null as suspected
from (select session_id, sequence, type, posted_by_team_id, content from events
  where session_id = $1 and ${CONVERSATION} order by sequence desc limit $2) e
left join loops l on l.session_id = e.session_id
where e.type <> 'system' and e.sequence > coalesce(l.released_through, 0) order by e.sequence`

/** What was said last, since a person released the session. One read of the end of the feed's index. */
export const recentlySaid = async ({ query }: Queries, sessionId: string, posts: number): Promise<Recent> => {
  const rows = await query<{ sequence: number; by: string | null; text: string | null; suspected: boolean }>(RECENT, [sessionId, posts])
  const said = rows.map(({ by, text }) => ({ by: by ?? undefined, text: text ?? '' }))
  return { said, newest: rows.at(-1)?.sequence ?? 0, suspected: rows[0]?.suspected ?? false }
}

/** Unless a person has released it since `newest` was read. */
export const suspect = async ({ query }: Queries, sessionId: string, newest: number): Promise<void> =>
  void (await query(
    `insert into loops (session_id, suspected_at) values ($1, now())
     on conflict (session_id) do update set suspected_at = coalesce(loops.suspected_at, now()) where loops.released_through < $2`,
    [sessionId, newest],
  ))

export const unsuspect = async ({ db }: Queries, sessionId: string): Promise<void> =>
  void (await db.update(loops).set({ suspectedAt: null }).where(eq(loops.sessionId, sessionId)))

/** Of all sessions: nobody looks for loops now. */
export const unsuspectAll = async ({ query }: Queries): Promise<void> =>
  void (await query('update loops set suspected_at = null where suspected_at is not null'))

/** A person says that it may go on: what was said so far no longer counts. Returns whether it was suspected. */
export const release = async ({ db }: Queries, sessionId: string, lastSequence: number): Promise<boolean> => {
  const released = { suspectedAt: null, releasedThrough: lastSequence }
  const [before] = await db.select({ at: loops.suspectedAt }).from(loops).where(eq(loops.sessionId, sessionId))
  await db
    .insert(loops)
    .values({ sessionId, ...released })
    .onConflictDoUpdate({ target: loops.sessionId, set: released })
  return before?.at != null
}

/** The open sessions that need a person, the newest first. */
export const suspectedSessions = async ({ db }: Queries, limit: number): Promise<string[]> => {
  const rows = await db
    .select({ id: loops.sessionId })
    .from(loops)
    .innerJoin(sessions, eq(sessions.id, loops.sessionId))
    .where(and(isNotNull(loops.suspectedAt), eq(sessions.status, 'active')))
    .orderBy(desc(loops.suspectedAt))
    .limit(limit)
  return rows.map(({ id }) => id)
}

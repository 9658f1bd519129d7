// What an open page shows beside the feed, read for all sessions that are watched at once.
import { and, eq, inArray, sql } from 'drizzle-orm'
import type { Queries } from '../../db/database.ts'
import { loops, sessionDocHistory, sessionDocs, sessions } from '../../db/schema.ts'

/** Sessions, each with its document's version and who wrote that, and since when it looks like a loop. */
export const sessionsWithDocs = ({ db }: Queries, ids: string[]) =>
  ids.length === 0
    ? []
    : db
        .select({
          session: sessions,
          version: sql<number>`coalesce(${sessionDocs.version}, 0)`,
          writtenBy: sessionDocHistory.writtenBy,
          writtenByTeamId: sessionDocHistory.writtenByTeamId,
          writtenAt: sessionDocHistory.writtenAt,
          loopSince: loops.suspectedAt,
        })
        .from(sessions)
        .leftJoin(sessionDocs, eq(sessionDocs.sessionId, sessions.id))
        .leftJoin(sessionDocHistory, and(eq(sessionDocHistory.sessionId, sessions.id), eq(sessionDocHistory.version, sessionDocs.version)))
        .leftJoin(loops, eq(loops.sessionId, sessions.id))
        .where(inArray(sessions.id, ids))

/** What one author said in one slot of a session's time. */
export interface Talk {
  team_id: string | null
  name: string | null
  slot: number
  messages: number
  from: string
  to: string
}

// By hand: one pass over the session's messages, whose time from first to last is cut into `slots`.
const TALK = `
select team_id, name, slot, count(*)::int as messages, min(at) as "from", max(at) as "to" from (
  select posted_by_team_id as team_id, author_name as name, at, coalesce(least(floor(
    extract(epoch from at - min(at) over ()) / nullif(extract(epoch from max(at) over () - min(at) over ()), 0) * $2::int), $2::int - 1), 0)::int as slot
  from events where session_id = $1 and type in ('chat', 'user_input')
) said group by 1, 2, 3 order by slot`

export const talkOf = ({ query }: Queries, sessionId: string, slots: number): Promise<Talk[]> => query<Talk>(TALK, [sessionId, slots])

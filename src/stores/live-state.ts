// What an open page shows beside the feed, read for all sessions that are watched at once.
import { and, eq, sql } from 'drizzle-orm'
import { rfc3339, type Queries } from '../../db/database.ts'
import { loops, sessionDocHistory, sessionDocs, sessions } from '../../db/schema.ts'
import { isAmong } from '../../db/arrays.ts'
import { CONVERSATION, isMessage, MESSAGE } from './events.ts'

/** Where in a feed something was said, by which team (null: a person or the system), whether that was a message, and when. */
export type SaidRow = [sequence: number, team: string | null, message: boolean, at: string]

/** How much of a feed's end is looked at each second to tell what a team that is away has not read: beyond it "99+" is enough to know. */
export const SAID = 99

// As texts, because to make JSON of numbers and times takes PGlite longer than to find them: 0.2 ms for a session, else 0.6.
const newestSaid = sql`(select coalesce(json_agg(to_json(array[sequence::text, posted_by_team_id::text, type, at::text])), '[]')
  from (select sequence, posted_by_team_id, type, at from events where session_id = ${sessions.id} and ${sql.raw(CONVERSATION)}
    order by sequence desc limit ${sql.raw(String(SAID))}) newest)`.mapWith((rows: [string, string | null, string, string][]) =>
  rows.map(([sequence, team, type, at]): SaidRow => [Number(sequence), team, isMessage(type), rfc3339(at)]),
)

/** Sessions, each with its document's version and who wrote that, since when it looks like a loop, and what was said last, the newest
 *  first. */
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
          said: newestSaid,
        })
        .from(sessions)
        .leftJoin(sessionDocs, eq(sessionDocs.sessionId, sessions.id))
        .leftJoin(sessionDocHistory, and(eq(sessionDocHistory.sessionId, sessions.id), eq(sessionDocHistory.version, sessionDocs.version)))
        .leftJoin(loops, eq(loops.sessionId, sessions.id))
        .where(isAmong(sessions.id, ids))

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
  from events where session_id = $1 and ${MESSAGE}
) said group by 1, 2, 3 order by slot`

export const talkOf = ({ query }: Queries, sessionId: string, slots: number): Promise<Talk[]> => query<Talk>(TALK, [sessionId, slots])

// The state that an open page shows beside the feed, read once a second for all watched sessions together.
import { and, eq, sql } from 'drizzle-orm'
import { rfc3339, type Queries } from '../../db/database.ts'
import { sessionDocHistory, sessionDocs, sessions } from '../../db/schema.ts'
import { loops, wakes } from '../../db/session-schema.ts'
import { isAmong } from '../../db/arrays.ts'
import { CONVERSATION, doerOf, isMessage, MESSAGE } from './events.ts'
import { usedUpSince } from './wakes.ts'

/** An event near the end of a feed. `team`: who posted it, or whose doing it is; null for a person or the server. */
export type RecentEvent = [sequence: number, team: string | null, message: boolean, at: string]

/** How many events at the end of a feed are read to count what an absent team has not read: beyond it the page shows "99+". */
export const RECENT_EVENTS = 99
/** In a trace they may stand far apart: no more rows than these, up to the last of them, are looked through. */
export const LOOKED_THROUGH = 2_000

// As texts: PGlite takes longer to turn numbers and times into JSON than to find them (0.6 ms for a session instead of 0.2).
const recentEvents = sql`(select coalesce(json_agg(to_json(array[sequence::text, team::text, type, at::text])), '[]')
  from (select sequence, ${sql.raw(doerOf('events'))} as team, type, at from events
    where session_id = ${sessions.id} and sequence <= ${sessions.lastConversationSequence}
      and sequence > ${sessions.lastConversationSequence} - ${sql.raw(String(LOOKED_THROUGH))} and ${sql.raw(CONVERSATION)}
    order by sequence desc limit ${sql.raw(String(RECENT_EVENTS))}) newest)`.mapWith((rows: [string, string | null, string, string][]) =>
  rows.map(([sequence, team, type, at]): RecentEvent => [Number(sequence), team, isMessage(type), rfc3339(at)]),
)

/** Sessions, each with its document's newest version and author, the time since which it looks like a loop, when the hour began whose
 *  wakes are used up, and its last events, the newest first. `perHour`: the wakes that a session has. */
export const sessionsWithDocs = ({ db }: Queries, ids: string[], perHour: number) =>
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
          wakesSince: usedUpSince(perHour),
          recent: recentEvents,
        })
        .from(sessions)
        .leftJoin(sessionDocs, eq(sessionDocs.sessionId, sessions.id))
        .leftJoin(sessionDocHistory, and(eq(sessionDocHistory.sessionId, sessions.id), eq(sessionDocHistory.version, sessionDocs.version)))
        .leftJoin(loops, eq(loops.sessionId, sessions.id))
        .leftJoin(wakes, eq(wakes.sessionId, sessions.id))
        .where(isAmong(sessions.id, ids))

/** The messages of one author in one slot of a session's time. */
export interface AuthorActivity {
  team_id: string | null
  name: string | null
  slot: number
  messages: number
  from: string
  to: string
}

// One pass over the session's messages; the time from the first to the last is divided into $2 slots.
const ACTIVITY = `
select team_id, name, slot, count(*)::int as messages, min(at) as "from", max(at) as "to" from (
  select posted_by_team_id as team_id, author_name as name, at, coalesce(least(floor(
    extract(epoch from at - min(at) over ()) / nullif(extract(epoch from max(at) over () - min(at) over ()), 0) * $2::int), $2::int - 1), 0)::int as slot
  from events where session_id = $1 and ${MESSAGE}
) message group by 1, 2, 3 order by slot`

export const activityOf = ({ query }: Queries, sessionId: string, slots: number): Promise<AuthorActivity[]> =>
  query<AuthorActivity>(ACTIVITY, [sessionId, slots])

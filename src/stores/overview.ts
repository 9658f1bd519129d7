// What the home page reads beside the sessions themselves: four statements, however many sessions there are.
import { and, count, desc, eq, gt, inArray, isNull, max, sql } from 'drizzle-orm'
import type { Queries } from '../../db/database.ts'
import { CONVERSATION_TYPES, events, participants, sessions } from '../../db/schema.ts'

export const rostersOf = ({ db }: Queries, ids: string[]) =>
  ids.length === 0 ? [] : db.select().from(participants).where(inArray(participants.sessionId, ids)).orderBy(participants.joinedAt)

/** The newest event of each conversation, by primary key: the session's row knows its sequence. */
export const lastEventsOf = ({ db }: Queries, ids: string[]) =>
  ids.length === 0
    ? []
    : db
        .select({
          sessionId: events.sessionId,
          type: events.type,
          by: events.authorName,
          teamId: events.postedByTeamId,
          content: events.content,
        })
        .from(sessions)
        .innerJoin(events, and(eq(events.sessionId, sessions.id), eq(events.sequence, sessions.lastConversationSequence)))
        .where(inArray(sessions.id, ids))

export const messageCounts = async ({ db }: Queries, ids: string[]): Promise<Map<string, number>> => {
  if (ids.length === 0) return new Map()
  const rows = await db
    .select({ id: events.sessionId, n: count() })
    .from(events)
    .where(and(inArray(events.sessionId, ids), inArray(events.type, [...CONVERSATION_TYPES]), sql`${events.type} <> 'system'`))
    .groupBy(events.sessionId)
  return new Map(rows.map(({ id, n }) => [id, n]))
}

export const totals = async ({ db }: Queries) => {
  const [row] = await db
    .select({
      sessions: count(),
      live: sql<number>`(count(*) filter (where ${sessions.status} = 'active'))::int`,
      lastEventAt: max(sessions.lastEventAt),
    })
    .from(sessions)
  return row!
}

/** Teams present in open sessions that were seen, or are polling, after `since`. */
export const presentTeams = ({ db }: Queries, since: string) =>
  db
    .select({ team: participants, createdByTeamId: sessions.createdByTeamId })
    .from(participants)
    .innerJoin(sessions, eq(sessions.id, participants.sessionId))
    .where(
      and(
        isNull(participants.leftAt),
        eq(sessions.status, 'active'),
        gt(sql`greatest(${participants.lastSeenAt}, ${participants.pollingUntil})`, since),
      ),
    )
    .orderBy(desc(participants.lastSeenAt))

// What the home page reads beside the sessions themselves: as many statements for one session as for a hundred.
import { and, count, desc, eq, gt, gte, inArray, isNull, max, or, sql, type SQL } from 'drizzle-orm'
import type { Queries } from '../../db/database.ts'
import { events, participants, sessions } from '../../db/schema.ts'
import { kindNumber } from '../core/event-types.ts'
import { isAmong, plainArray } from '../../db/arrays.ts'
import { MESSAGE } from './events.ts'
import { isAround } from './members.ts'

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
        .where(isAmong(sessions.id, ids))

/** How many messages each session has: what the index has counted, and those that it has not come to. */
export const messageCounts = async ({ query }: Queries, ids: string[]): Promise<Map<string, number>> => {
  if (ids.length === 0) return new Map()
  const rows = await query<{ id: string; messages: number }>(
    `select i.session_id as id, i.messages + (select count(*)::int from events e
       where e.session_id = i.session_id and e.sequence > i.indexed_sequence and ${MESSAGE}) as messages
     from session_index i where i.session_id = any($1::uuid[])`,
    [plainArray(ids)],
  )
  return new Map(rows.map(({ id, messages }) => [id, messages]))
}

export const PULSES = 20
const SAMPLES = 60

/** When each session was lively: its time so far in twenty parts, and how many of sixty events, evenly chosen from its log, fall into
 *  each. By primary key, so that a session of 100,000 events costs what one of 60 does. */
export const pulsesOf = async ({ query }: Queries, ids: string[], now: string): Promise<Map<string, number[]>> => {
  if (ids.length === 0) return new Map()
  const rows = await query<{ id: string; pulse: number; n: number }>(
    `select s.id, least(${PULSES}, width_bucket(extract(epoch from e.at)::float8, s.began, greatest(s.ended, s.began + 1), ${PULSES})) as pulse, count(*)::int as n
     from (
       select id, last_sequence, extract(epoch from created_at)::float8 as began, extract(epoch from coalesce(closed_at, $2))::float8 as ended
       from sessions where id = any($1::uuid[]) and last_sequence > 0
     ) s
     cross join lateral (
       select distinct ceil(s.last_sequence * k / ${SAMPLES}.0)::int8 as sequence from generate_series(1, ${SAMPLES}) k
     ) sample
     join events e on e.session_id = s.id and e.sequence = sample.sequence
     group by 1, 2`,
    [plainArray(ids), now],
  )
  const pulses = new Map<string, number[]>()
  for (const { id, pulse, n } of rows) {
    const counts = pulses.get(id) ?? Array<number>(PULSES).fill(0)
    counts[Math.max(1, pulse) - 1]! += n
    pulses.set(id, counts)
  }
  return pulses
}

/** Counting ends here: so many take 20 ms already, each time the page is opened. */
export const MOST_COUNTED = 100_000
const MESSAGES = (['user_input', 'assistant_response'] as const).map(kindNumber).join(',')

/** What was asked and said since then, in sessions and transcripts, as far as it is indexed: by an index of times, up to a limit. */
export const messagesSince = async ({ query }: Queries, since: string): Promise<number> => {
  const [row] = await query<{ n: number }>(
    `select count(*)::int as n from (select from event_search where at >= $1 and kind in (${MESSAGES}) limit ${MOST_COUNTED + 1}) recent`,
    [since],
  )
  return row!.n
}

/** When something last happened in a session. */
export const lastActivity = sql<string>`coalesce(${sessions.lastEventAt}, ${sessions.createdAt})`

/** What makes an open session live: something was said since then, or a team was there since. */
export interface Since {
  said: string
  seen: string
  now: string
}

/** In SQL what pages/session/state.ts says of one session. One pass over the teams, however many sessions are asked about. */
export const isLive = ({ db }: Queries, { said, seen, now }: Since): SQL => {
  const { sessionId, leftAt, lastSeenAt, pollingUntil } = participants
  const isThere = and(isNull(leftAt), or(gte(lastSeenAt, seen), gt(pollingUntil, now)))
  const attended = db.select({ id: sessionId }).from(participants).where(isThere)
  const isFresh = gte(lastActivity, said)
  return and(eq(sessions.status, 'active'), or(isFresh, inArray(sessions.id, attended)))!
}

export const totals = async (queries: Queries, since: Since) => {
  const [row] = await queries.db
    .select({
      sessions: count(),
      live: sql<number>`(count(*) filter (where ${isLive(queries, since)}))::int`,
      lastEventAt: max(sessions.lastEventAt),
    })
    .from(sessions)
  return row!
}

/** The teams that are around in any session, the last to be seen first. */
export const presentTeams = ({ db }: Queries, since: string) =>
  db
    .select({ team: participants, convenerTeamId: sessions.convenerTeamId })
    .from(participants)
    .innerJoin(sessions, eq(sessions.id, participants.sessionId))
    .where(isAround(since))
    .orderBy(desc(participants.lastSeenAt))

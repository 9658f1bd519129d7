// What the home page reads beside the sessions' rows. Each takes one statement, for one session as for a hundred.
import { and, desc, eq } from 'drizzle-orm'
import type { Queries } from '../../db/database.ts'
import { events, participants, sessions } from '../../db/schema.ts'
import { eventTypeNumber } from '../core/events/event-types.ts'
import { isAmong, plainArray } from '../../db/arrays.ts'
import { MESSAGE } from './events.ts'
import { LAST_EVENT_AT } from './last-event-at.ts'
import { isAround, type AroundThresholds } from './members.ts'

/** The newest event of each conversation, found by primary key: the session's row has its sequence. */
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

/** SQL: the number of messages of a session `i` of the index: the indexer's count, and the messages that it has not reached yet. */
export const MESSAGE_COUNT = `(i.messages + (select count(*) from events e
  where e.session_id = i.session_id and e.sequence > i.indexed_sequence and ${MESSAGE}))::int`

/** The number of messages of each session. */
export const messageCounts = async ({ query }: Queries, ids: string[]): Promise<Map<string, number>> => {
  if (ids.length === 0) return new Map()
  const rows = await query<{ id: string; messages: number }>(
    `select i.session_id as id, ${MESSAGE_COUNT} as messages from session_index i where i.session_id = any($1::uuid[])`,
    [plainArray(ids)],
  )
  return new Map(rows.map(({ id, messages }) => [id, messages]))
}

export const PULSE_PARTS = 20
const PULSE_SAMPLES = 60

/** How active each session was over its time: 60 events, evenly chosen from its log, counted in each of 20 equal parts of its time. They
 *  are read by primary key, so that a session of 100,000 events costs as much as one of 60. */
export const pulsesOf = async ({ query }: Queries, ids: string[], now: string): Promise<Map<string, number[]>> => {
  if (ids.length === 0) return new Map()
  const rows = await query<{ id: string; pulse: number; n: number }>(
    `select s.id, least(${PULSE_PARTS}, width_bucket(extract(epoch from e.at)::float8, s.began, greatest(s.ended, s.began + 1), ${PULSE_PARTS})) as pulse, count(*)::int as n
     from (
       select id, last_sequence, extract(epoch from created_at)::float8 as began, extract(epoch from coalesce(closed_at, $2))::float8 as ended
       from sessions where id = any($1::uuid[]) and last_sequence > 0
     ) s
     cross join lateral (
       select distinct ceil(s.last_sequence * k / ${PULSE_SAMPLES}.0)::int8 as sequence from generate_series(1, ${PULSE_SAMPLES}) k
     ) sample
     join events e on e.session_id = s.id and e.sequence = sample.sequence
     group by 1, 2`,
    [plainArray(ids), now],
  )
  const pulses = new Map<string, number[]>()
  for (const { id, pulse, n } of rows) {
    const counts = pulses.get(id) ?? Array<number>(PULSE_PARTS).fill(0)
    counts[Math.max(1, pulse) - 1]! += n
    pulses.set(id, counts)
  }
  return pulses
}

/** Counting stops at this number: it takes 20 ms, each time the page is opened. */
export const MOST_MESSAGES = 100_000
const MESSAGES = (['user_input', 'assistant_response'] as const).map(eventTypeNumber).join(',')

/** The number of messages since a time, in sessions and transcripts, as far as they are indexed, up to MOST_MESSAGES + 1. */
export const messagesSince = async ({ query }: Queries, since: string): Promise<number> => {
  const [row] = await query<{ n: number }>(
    `select count(*)::int as n from (select from event_search where at >= $1 and kind in (${MESSAGES}) limit ${MOST_MESSAGES + 1}) recent`,
    [since],
  )
  return row!.n
}

/** An open session is live if it has an event since `eventSince`, or a team that was seen since `seenSince` or is polling `now`. */
export interface LiveThresholds {
  eventSince: string
  seenSince: string
  now: string
}

// A row later than a time has an hour later than that time less an hour: the indexes on hours leave few rows for a closer look.
const LIVE = `
select id from sessions s
where status = 'active' and archived_at is null and active_hour > $1::timestamptz - interval '1 hour' and ${LAST_EVENT_AT} >= $1
union
select session_id from participants p
where left_at is null and seen_hour > $2::timestamptz - interval '1 hour' and (last_seen_at >= $2 or polling_until > $3)
  and (select status = 'active' and archived_at is null from sessions where id = p.session_id)`

/** The live sessions; pages/session/state.ts decides the same for one session. */
export const liveSessions = async ({ query }: Queries, { eventSince, seenSince, now }: LiveThresholds): Promise<string[]> => {
  const rows = await query<{ id: string }>(LIVE, [eventSince, seenSince, now])
  return rows.map(({ id }) => id)
}

/** Counting sessions stops at this number: it takes reading so many rows. */
export const MOST_SESSIONS_COUNTED = 10_000

/** The number of sessions, up to MOST_SESSIONS_COUNTED + 1, and when something was last said in any of them. */
export const totals = async ({ query }: Queries): Promise<{ sessions: number; lastEventAt: string | null }> => {
  const [row] = await query<{ sessions: number; lastEventAt: string | null }>(
    `select (select count(*)::int from (select from sessions where purged_at is null limit ${MOST_SESSIONS_COUNTED + 1}) counted) as sessions,
       (select last_event_at from sessions where last_event_at is not null order by active_hour desc, last_event_at desc limit 1) as "lastEventAt"`,
  )
  return row!
}

/** The teams that are around in any session, the one seen last first. */
export const presentTeams = ({ db }: Queries, since: AroundThresholds) =>
  db.select({ team: participants }).from(participants).where(isAround(since)).orderBy(desc(participants.lastSeenAt))

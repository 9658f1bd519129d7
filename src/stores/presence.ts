// Writes which teams were seen polling or asleep: once a second, for all teams of this process (core/presence.ts).
import type { Queries } from '../../db/database.ts'
import type { Seen } from '../core/presence.ts'
import { endLapsedOf } from './records/leases.ts'

// One statement for all teams of a second. If two instances saw a team, the later poll counts, and the later held peek. Rows are locked in one
// order, so that two instances cannot deadlock. No cursor goes beyond the end of the log, which is an older copy's after a failover. A claim
// on the board whose lease was over before its team came back stays over. The time is read after all rows are written.
const WRITE = `
with seen as (
  select session_id, team_id, to_timestamp(last_seen_ms / 1000.0)::timestamptz(3) as at,
    to_timestamp(polling_until_ms / 1000.0)::timestamptz(3) as polling_until, seen_cursor, delivered_cursor, addressed_cursor,
    to_timestamp(slept_ms / 1000.0)::timestamptz(3) as slept_at, to_timestamp(sleeping_until_ms / 1000.0)::timestamptz(3) as sleeping_until
  from json_to_recordset($1::json) as s(session_id uuid, team_id uuid, last_seen_ms float8, polling_until_ms float8,
    seen_cursor bigint, delivered_cursor bigint, addressed_cursor bigint, slept_ms float8, sleeping_until_ms float8)
), held as materialized (
  select s.*, e.last_sequence from seen s join participants p on p.session_id = s.session_id and p.team_id = s.team_id
  join sessions e on e.id = s.session_id
  order by p.session_id, p.team_id for no key update of p
), written as (
  update participants p set
    last_seen_at = greatest(p.last_seen_at, s.at),
    polling_until = case when s.at >= p.last_seen_at then s.polling_until else p.polling_until end,
    last_seen_cursor = greatest(p.last_seen_cursor, least(s.seen_cursor, s.last_sequence)),
    delivered_cursor = greatest(p.delivered_cursor, least(s.delivered_cursor, s.last_sequence)),
    addressed_cursor = greatest(p.addressed_cursor, least(s.addressed_cursor, s.last_sequence)),
    slept_at = greatest(p.slept_at, s.slept_at),
    sleeping_until = case when s.slept_at >= coalesce(p.slept_at, '-infinity') then s.sleeping_until else p.sleeping_until end
  from held s where p.session_id = s.session_id and p.team_id = s.team_id
  returning 1
), lapsed as (${endLapsedOf('held', '$2')})
select clock_timestamp() as now from (select count(*) from written) done`

/** Writes what changed, and returns the database's time. `leaseS`: how long a claim outlives its team's silence. */
export const writePresence = async ({ query }: Queries, seen: Seen[], leaseS: number): Promise<string> => {
  const rows = seen.map((entry) => ({
    session_id: entry.sessionId,
    team_id: entry.teamId,
    last_seen_ms: entry.lastSeenMs,
    polling_until_ms: entry.pollingUntilMs,
    seen_cursor: entry.seenCursor,
    delivered_cursor: entry.deliveredCursor,
    addressed_cursor: entry.addressedCursor,
    slept_ms: entry.sleptMs,
    sleeping_until_ms: entry.sleepingUntilMs,
  }))
  const [row] = await query<{ now: string }>(WRITE, [JSON.stringify(rows), leaseS])
  return row!.now
}

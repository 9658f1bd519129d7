// What cards of proposals show beside the proposals themselves: each takes one statement, however many cards there are.
import type { Queries } from '../../../db/database.ts'
import { plainArray } from '../../../db/arrays.ts'

/** The hues of teams, by their handles. */
export const huesOf = async ({ query }: Queries, handles: string[]): Promise<Map<string, number>> => {
  if (handles.length === 0) return new Map()
  const rows = await query<{ team_id: string; hue: number }>('select team_id, hue from participants where team_id = any($1::uuid[])', [
    plainArray(handles),
  ])
  return new Map(rows.map(({ team_id, hue }) => [team_id, hue]))
}

// What a team dropped is not withdrawn. A decision is withdrawn once; an item can be brought back, and changes each time.
const RECORDS = `
select id, case when withdrawn_at is not null then coalesce(withdrawn_reason, '') end as withdrawn, at as changed
from decisions where id = any($1::uuid[])
union all select id, case when status = 'dropped' and withdrawn_at is not null then coalesce(note, '') end, updated_at
from items where id = any($1::uuid[])`

/** What became of a record: why it is in force no more, null while it is, and when it changed last. */
export interface RecordNow {
  withdrawn: string | null
  changed: string
}

/** What became of these records, by their ids. */
export const recordsNow = async ({ query }: Queries, recordIds: string[]): Promise<Map<string, RecordNow>> => {
  if (recordIds.length === 0) return new Map()
  const rows = await query<RecordNow & { id: string }>(RECORDS, [plainArray(recordIds)])
  return new Map(rows.map(({ id, ...now }) => [id, now]))
}

/** The names of each session's teams, by its id. */
export const teamNamesOf = async ({ query }: Queries, sessionIds: string[]): Promise<Map<string, string[]>> => {
  if (sessionIds.length === 0) return new Map()
  const rows = await query<{ session_id: string; names: string[] }>(
    `select session_id, json_agg(team_name order by joined_at, team_id) as names from participants
     where session_id = any($1::uuid[]) group by session_id`,
    [plainArray(sessionIds)],
  )
  return new Map(rows.map(({ session_id, names }) => [session_id, names]))
}

/** How many proposals were approved and rejected since a moment. */
export const decidedSince = async ({ query }: Queries, since: string): Promise<{ approved: number; rejected: number }> => {
  const [row] = await query<{ approved: number; rejected: number }>(
    `select count(*) filter (where status = 'approved')::int as approved, count(*) filter (where status = 'rejected')::int as rejected
     from proposals where resolved_at >= $1`,
    [since],
  )
  return row!
}

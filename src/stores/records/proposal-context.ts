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

const WITHDRAWN = `
select id, coalesce(withdrawn_reason, '') as reason from decisions where id = any($1::uuid[]) and withdrawn_at is not null
union all select id, coalesce(note, '') from items where id = any($1::uuid[]) and status = 'dropped'`

/** Why records are in force no more, by their ids; those that are in force are left out. */
export const withdrawnAmong = async ({ query }: Queries, recordIds: string[]): Promise<Map<string, string>> => {
  if (recordIds.length === 0) return new Map()
  const rows = await query<{ id: string; reason: string }>(WITHDRAWN, [plainArray(recordIds)])
  return new Map(rows.map(({ id, reason }) => [id, reason]))
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

// The items of boards. A row is changed under its session's lock alone, but for the renewal of its claim (leases.ts).
import { eq, sql } from 'drizzle-orm'
import { isAmong } from '../../../db/arrays.ts'
import type { Queries } from '../../../db/database.ts'
import { items, type Named } from '../../../db/records-schema.ts'
import { EXPIRES_AT, HOLDER, HOLDS } from './leases.ts'

export type Item = typeof items.$inferSelect

/** What of an item is needed to judge about others. */
export interface BoardRow {
  id: string
  kind: Item['kind']
  title: string
  status: Item['status']
  priority: Item['priority']
  place: number
  dependsOn: string[]
  paths: string[]
  ownerId: string | null
  plannedByTeamId: string | null
  claimedTeamId: string | null
  claimedTeamName: string | null
  claimedAt: string | null
  expiresAt: string | null
  overlapAllowed: boolean
  /** Its claim is over, and that is not written down yet. */
  lapsed: boolean
}

/** All items of a session, in the order of planning, without their long texts. A claim whose lease is over reads as open. */
export const boardRows = async ({ query }: Queries, sessionId: string, leaseS: number): Promise<BoardRow[]> => {
  const [found] = await query<{ rows: BoardRow[] }>(
    `select coalesce(json_agg(json_build_object('id', id, 'kind', kind, 'title', title, 'status', now_status, 'priority', priority,
       'place', place, 'dependsOn', depends_on, 'paths', paths, 'ownerId', owner_id, 'plannedByTeamId', planned_by_team_id,
       'claimedTeamId', case when now_status <> 'open' then claimed_team_id end,
       'claimedTeamName', case when now_status <> 'open' then claimed_team_name end,
       'claimedAt', case when now_status = 'claimed' then to_char(claimed_at at time zone 'UTC', ${ISO}) end,
       'expiresAt', case when now_status = 'claimed' then to_char(expires_at at time zone 'UTC', ${ISO}) end,
       'overlapAllowed', overlap_allowed, 'lapsed', now_status <> status) order by place), '[]') as rows
     from (select i.*, ${EXPIRES_AT} as expires_at, case when i.status = 'claimed' and ${HOLDS} is not true then 'open' else i.status end as now_status
       from items i left join ${HOLDER} where i.session_id = $1) board`,
    [sessionId, leaseS],
  )
  return found!.rows
}
const ISO = `'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'`

/** Items with all their texts, by id. */
export const itemsById = async ({ db }: Queries, ids: readonly string[]): Promise<Map<string, Item>> => {
  if (ids.length === 0) return new Map()
  const rows = await db.select().from(items).where(isAmong(items.id, ids))
  return new Map(rows.map((row) => [row.id, row]))
}

/** A new item of work. */
export interface NewItem {
  id: string
  title: string
  description: string
  priority: Item['priority']
  depends_on: string[]
  paths: string[]
  owner: Named | null
  owner_id: string | null
  place: number
}

export interface Holder {
  teamId: string
  teamName: string
}

/** Inserts items of work, all claimed by the holder where one is given. */
export const insertItems = async (
  { query }: Queries,
  sessionId: string,
  added: readonly NewItem[],
  planned: { by: Named; teamId: string | undefined; holder: Holder | undefined; overlapAllowed: boolean },
): Promise<void> =>
  void (await query(
    `insert into items (id, session_id, kind, title, description, status, priority, depends_on, paths, owner, owner_id, planned_by,
       planned_by_team_id, place, claimed_team_id, claimed_team_name, claimed_at, claim_renewed_at, overlap_allowed, created_at, updated_at)
     select id, $1, 'work', title, description, case when $5::uuid is null then 'open' else 'claimed' end, priority,
       array(select json_array_elements_text(depends_on)::uuid), paths, owner, owner_id, $3::text::jsonb, $4::uuid, place, $5, $6::text,
       case when $5 is not null then statement_timestamp() end, case when $5 is not null then statement_timestamp() end, $7::boolean,
       statement_timestamp(), statement_timestamp()
     from json_to_recordset($2::json) as added(id uuid, title text, description text, priority text, depends_on json, paths jsonb,
       owner jsonb, owner_id uuid, place int)`,
    [
      sessionId,
      JSON.stringify(added),
      JSON.stringify(planned.by),
      planned.teamId ?? null,
      planned.holder?.teamId ?? null,
      planned.holder?.teamName ?? null,
      planned.overlapAllowed,
    ],
  ))

/** Changes an item. The caller holds its session's lock. */
export const setItem = async ({ db }: Queries, id: string, values: Partial<Item>): Promise<void> =>
  void (await db
    .update(items)
    .set({ ...values, updatedAt: NOW })
    .where(eq(items.id, id)))

/** Gives an item to a team, or renews its claim. The caller holds the session's lock and has judged that it may. */
export const claimItem = async ({ db }: Queries, id: string, { teamId, teamName }: Holder, overlapAllowed: boolean): Promise<void> =>
  void (await db
    .update(items)
    .set({
      status: 'claimed',
      claimedTeamId: teamId,
      claimedTeamName: teamName,
      claimedAt: NOW,
      claimRenewedAt: NOW,
      overlapAllowed,
      updatedAt: NOW,
    })
    .where(eq(items.id, id)))

export const renewClaim = async ({ db }: Queries, id: string): Promise<void> =>
  void (await db.update(items).set({ claimRenewedAt: NOW }).where(eq(items.id, id)))

const NOW = sql`statement_timestamp()`

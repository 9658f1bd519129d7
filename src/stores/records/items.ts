// The items of boards. A row is changed under its session's lock alone, but for the renewal of its claim (leases.ts).
import { eq, sql } from 'drizzle-orm'
import type { PgUpdateSetSource } from 'drizzle-orm/pg-core'
import { isAmong } from '../../../db/arrays.ts'
import type { Queries } from '../../../db/database.ts'
import { items, type Named } from '../../../db/records-schema.ts'
import { expiresAt, HOLDER, holds } from './leases.ts'

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
  /** A person took it back, and only a person brings it back. */
  withdrawn: boolean
  /** When it was changed last, in seconds. */
  changedAt: number
  /** Its claim is over, and that is not written down yet. */
  lapsed: boolean
}

type Listed = [
  ...[id: string, kind: Item['kind'], title: string, stored: Item['status'], priority: Item['priority'], place: number],
  ...[dependsOn: string[], paths: string[], ownerId: string | null, plannedByTeamId: string | null],
  ...[claimedTeamId: string | null, claimedTeamName: string | null, changedAt: number],
  ...[withdrawn: boolean, holds: boolean | null, claimedAt: string | null, expiresAt: string | null],
]

const ISO = `'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'`

// Each call of the board reads it whole: rows without names, and leases of what is claimed alone, take a third of the time.
const BOARD = `
with claims as materialized (
  select i.id, ${holds('$2')} as holds, to_char(i.claimed_at at time zone 'UTC', ${ISO}) as since,
    to_char(${expiresAt('$2')} at time zone 'UTC', ${ISO}) as until
  from items i left join ${HOLDER} where i.session_id = $1 and i.status = 'claimed'
)
select coalesce(json_agg(json_build_array(i.id, i.kind, i.title, i.status, i.priority, i.place, i.depends_on, i.paths, i.owner_id,
  i.planned_by_team_id, i.claimed_team_id, i.claimed_team_name, extract(epoch from i.updated_at),
  i.status = 'dropped' and i.withdrawn_at is not null, c.holds, c.since, c.until) order by i.place), '[]') as rows
from items i left join claims c on c.id = i.id where i.session_id = $1`

/** All items of a session, in the order of planning, without their long texts. A claim whose lease is over reads as open. */
export const boardRows = async ({ query }: Queries, sessionId: string, leaseS: number): Promise<BoardRow[]> => {
  const [found] = await query<{ rows: Listed[] }>(BOARD, [sessionId, leaseS])
  return found!.rows.map(rowOf)
}

const rowOf = ([id, kind, title, stored, priority, place, dependsOn, paths, ownerId, plannedByTeamId, ...claim]: Listed): BoardRow => {
  const [claimedTeamId, claimedTeamName, changedAt, withdrawn, holds, claimedAt, expiresAt] = claim
  const lapsed = stored === 'claimed' && holds !== true
  const status = lapsed ? 'open' : stored
  const about = { id, kind, title, status, priority, place, dependsOn, paths, ownerId, plannedByTeamId, withdrawn, changedAt, lapsed }
  return lapsed
    ? { ...about, claimedTeamId: null, claimedTeamName: null, claimedAt: null, expiresAt: null }
    : { ...about, claimedTeamId, claimedTeamName, claimedAt, expiresAt }
}

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
  planned: { by: Named; teamId: string | undefined; holder: Holder | undefined },
): Promise<void> =>
  void (await query(
    `insert into items (id, session_id, kind, title, description, status, priority, depends_on, paths, owner, owner_id, planned_by,
       planned_by_team_id, place, claimed_team_id, claimed_team_name, claimed_at, claim_renewed_at, created_at, updated_at)
     select id, $1, 'work', title, description, case when $5::uuid is null then 'open' else 'claimed' end, priority,
       array(select json_array_elements_text(depends_on)::uuid), paths, owner, owner_id, $3::text::jsonb, $4::uuid, place, $5, $6::text,
       case when $5 is not null then statement_timestamp() end, case when $5 is not null then statement_timestamp() end,
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
    ],
  ))

/** The columns of an item that nobody holds. */
export const UNCLAIMED = { claimedTeamId: null, claimedTeamName: null, claimedAt: null, claimRenewedAt: null }

/** Changes an item. The caller holds its session's lock. */
export const setItem = async ({ db }: Queries, id: string, values: PgUpdateSetSource<typeof items>): Promise<void> =>
  void (await db
    .update(items)
    .set({ ...values, updatedAt: NOW })
    .where(eq(items.id, id)))

// What a program from before these columns may have left in them.
const NOT_LEFT = { untold: null, withdrawnAt: null }

/** Gives an item to a team, or renews its claim. Returns the time. The caller holds the session's lock and has judged that it may. */
export const claimItem = async ({ db }: Queries, id: string, { teamId, teamName }: Holder): Promise<string> => {
  const claimed = {
    status: 'claimed',
    claimedTeamId: teamId,
    claimedTeamName: teamName,
    claimedAt: NOW,
    claimRenewedAt: NOW,
    ...NOT_LEFT,
  } as const
  const [row] = await db
    .update(items)
    .set({ ...claimed, updatedAt: NOW })
    .where(eq(items.id, id))
    .returning({ at: items.claimRenewedAt })
  return row!.at!
}

export const renewClaim = async ({ db }: Queries, id: string): Promise<string> => {
  const [row] = await db.update(items).set({ claimRenewedAt: NOW }).where(eq(items.id, id)).returning({ at: items.claimRenewedAt })
  return row!.at!
}

const NOW = sql`statement_timestamp()`

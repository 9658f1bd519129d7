// Action items with the proposals that they were and the sessions that they are for, in lists.
import { and, desc, eq, getTableColumns, gte, lte, sql, type SQL } from 'drizzle-orm'
import type { Queries } from '../../../db/database.ts'
import { items, proposals } from '../../../db/records-schema.ts'
import { sessions } from '../../../db/schema.ts'
import type { ActionItem } from './action-items.ts'
import { HOLDER, holds } from './leases.ts'
import { OF_SESSION, type ListedProposal } from './proposal-list.ts'
import type { ListPosition } from '../list-position.ts'

export interface ListedActionItem extends ListedProposal {
  item: ActionItem
}

export interface ActionItemFilter {
  status?: ActionItem['status'] | undefined
  ownerId?: string | undefined
  sessionId?: string | undefined
  dueFrom?: string | undefined
  dueTo?: string | undefined
  /** Where the page before ended. */
  after?: ListPosition | undefined
  limit: number
}

// The claim of an item of the outer query: null when nobody holds it.
const held = (leaseS: number) =>
  sql`(select ${sql.raw(holds(String(leaseS)))} from items i join ${sql.raw(HOLDER)} where i.id = ${items.id})`

const inStatus = (status: ActionItem['status'], leaseS: number): SQL => {
  if (status === 'claimed') return sql`${items.status} = 'claimed' and ${held(leaseS)}`
  if (status === 'open') return sql`(${items.status} = 'open' or (${items.status} = 'claimed' and ${held(leaseS)} is not true))`
  return eq(items.status, status)
}

/** The newest first. A claim whose lease is over reads as open. */
export const listActionItems = async ({ db }: Queries, filter: ActionItemFilter, leaseS: number): Promise<ListedActionItem[]> => {
  const { status, ownerId, sessionId, dueFrom, dueTo, after, limit } = filter
  const rows = await db
    .select({
      item: getTableColumns(items),
      lapsed: sql<boolean>`${items.status} = 'claimed' and ${held(leaseS)} is not true`,
      proposal: getTableColumns(proposals),
      ...OF_SESSION,
    })
    .from(items)
    .innerJoin(proposals, eq(proposals.id, items.proposalId))
    .innerJoin(sessions, eq(sessions.id, items.sessionId))
    .where(
      and(
        eq(items.kind, sql`'action'`),
        sessionId ? eq(items.sessionId, sessionId) : undefined,
        ownerId ? eq(items.ownerId, ownerId) : undefined,
        dueFrom ? gte(items.dueDate, dueFrom) : undefined,
        dueTo ? lte(items.dueDate, dueTo) : undefined,
        status && inStatus(status, leaseS),
        after && sql`(${items.createdAt}, ${items.id}) < (${after.at}::timestamptz, ${after.id}::uuid)`,
      ),
    )
    .orderBy(desc(items.createdAt), desc(items.id))
    .limit(limit)
  return rows.map(({ lapsed, item, ...row }) => ({ ...row, item: lapsed ? { ...item, status: 'open', claimedTeamId: null } : item }))
}

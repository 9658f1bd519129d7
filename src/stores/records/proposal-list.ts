// Proposals with the sessions that they are for, in lists.
import { and, asc, desc, eq, getTableColumns, sql, type SQL } from 'drizzle-orm'
import { isAmong } from '../../../db/arrays.ts'
import type { Queries } from '../../../db/database.ts'
import { proposals, type PROPOSAL_STATUSES, type PROPOSAL_TYPES } from '../../../db/records-schema.ts'
import { sessions } from '../../../db/schema.ts'
import { isOverdue, RESOLVED_AT, STATUS } from './overdue.ts'
import type { Proposal } from './proposals.ts'
import type { ListPosition } from '../list-position.ts'

export interface ListedProposal {
  proposal: Proposal
  meeting: { meeting_id: string; title: string; date: string }
  /** Its session is: it can be decided once that is brought back. */
  archived: boolean
}

export interface ProposalFilter {
  id?: string | undefined
  sessionId?: string | undefined
  status?: (typeof PROPOSAL_STATUSES)[number] | undefined
  type?: (typeof PROPOSAL_TYPES)[number] | undefined
  /** Where the page before ended. */
  after?: ListPosition | undefined
  limit: number
}

// What an archived session proposed waits for nobody, until that is brought back.
const inStatus = (status: Proposal['status']): SQL => {
  if (status === 'pending')
    return sql`${proposals.status} = 'pending' and ${proposals.expiresAt} > clock_timestamp() and ${sessions.archivedAt} is null`
  if (status === 'expired') return sql`(${proposals.status} = 'expired' or (${isOverdue}))`
  return eq(proposals.status, status)
}

/** The columns of the session that is joined, as lists have them. */
export const OF_SESSION = {
  meeting: { meeting_id: sessions.id, title: sessions.title, date: sessions.createdAt },
  archived: sql<boolean>`${sessions.archivedAt} is not null`,
}

const listed = (db: Queries['db']) =>
  db
    .select({
      proposal: { ...getTableColumns(proposals), status: STATUS, resolvedAt: RESOLVED_AT },
      ...OF_SESSION,
    })
    .from(proposals)
    .innerJoin(sessions, eq(sessions.id, proposals.sessionId))

/** Those of these ids, in no order. */
export const proposalsByIds = async ({ db }: Queries, ids: string[]): Promise<ListedProposal[]> =>
  ids.length === 0 ? [] : listed(db).where(isAmong(proposals.id, ids))

/** What people and proposers decided, the newest outcome first. */
export const decidedProposals = (
  { db }: Queries,
  { sessionId, after, limit }: Pick<ProposalFilter, 'sessionId' | 'after' | 'limit'>,
): Promise<ListedProposal[]> =>
  listed(db)
    .where(
      and(
        sql`${proposals.status} in ('approved', 'rejected', 'cancelled')`,
        sessionId ? eq(proposals.sessionId, sessionId) : undefined,
        after && sql`(${proposals.resolvedAt}, ${proposals.id}) < (${after.at}::timestamptz, ${after.id}::uuid)`,
      ),
    )
    .orderBy(desc(proposals.resolvedAt), desc(proposals.id))
    .limit(limit)

/** Pending ones oldest first, others newest first. */
export const listProposals = ({ db }: Queries, filter: ProposalFilter): Promise<ListedProposal[]> => {
  const { id, sessionId, status, type, after, limit } = filter
  const oldestFirst = status === 'pending'
  const place = sql`(${proposals.createdAt}, ${proposals.id})`
  const from = after && sql`(${after.at}::timestamptz, ${after.id}::uuid)`
  const order = oldestFirst ? asc : desc
  return listed(db)
    .where(
      and(
        id ? eq(proposals.id, id) : undefined,
        sessionId ? eq(proposals.sessionId, sessionId) : undefined,
        status && inStatus(status),
        type && eq(proposals.type, type),
        from && (oldestFirst ? sql`${place} > ${from}` : sql`${place} < ${from}`),
      ),
    )
    .orderBy(order(proposals.createdAt), order(proposals.id))
    .limit(limit)
}

// What a team must know of its own proposals when it comes back.
import { and, desc, eq, getTableColumns, sql } from 'drizzle-orm'
import type { Queries } from '../../../db/database.ts'
import { proposals } from '../../../db/records-schema.ts'
import { RESOLVED_AT, STATUS } from './overdue.ts'
import type { Proposal } from './proposals.ts'

const MOST = 100

/** The team's proposals that are pending, and those whose outcome is told after `cursor`, or not yet. The outcomes are found in the log,
 *  because what is overdue may be written down long after it expired. */
export const newsOfProposals = ({ db }: Queries, sessionId: string, teamId: string, cursor: number): Promise<Proposal[]> =>
  db
    .select({ ...getTableColumns(proposals), status: STATUS, resolvedAt: RESOLVED_AT })
    .from(proposals)
    .where(
      and(
        eq(proposals.teamId, teamId),
        sql`(${proposals.status} = 'pending' or ${proposals.id}::text in (
          select content->>'proposal_id' from events where session_id = ${sessionId} and sequence > ${cursor} and type = 'system'
            and to_team_ids is not null and to_team_ids @> array[${teamId}::uuid]
            and content->>'event' in ('proposal_approved', 'proposal_rejected', 'proposal_expired', 'proposal_cancelled')))`,
      ),
    )
    .orderBy(desc(proposals.createdAt), desc(proposals.id))
    .limit(MOST)

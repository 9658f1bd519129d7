// Decisions that people approved. Changed under the session's lock alone.
import { and, asc, eq, isNull, sql } from 'drizzle-orm'
import type { Queries } from '../../../db/database.ts'
import { decisions, proposals, type Named } from '../../../db/records-schema.ts'

export type Decision = typeof decisions.$inferSelect

export const insertDecision = async ({ db }: Queries, values: Omit<typeof decisions.$inferInsert, 'at'>): Promise<Decision> => {
  const [row] = await db
    .insert(decisions)
    .values({ ...values, at: sql`clock_timestamp()` })
    .returning()
  return row!
}

export const decisionById = async ({ db }: Queries, id: string): Promise<Decision | undefined> => {
  const [row] = await db.select().from(decisions).where(eq(decisions.id, id))
  return row
}

/** Takes back a decision that is in force; undefined for one that is not. */
export const withdrawDecision = async ({ db }: Queries, id: string, by: Named, reason: string): Promise<Decision | undefined> => {
  const [row] = await db
    .update(decisions)
    .set({ withdrawnAt: sql`clock_timestamp()`, withdrawnBy: by, withdrawnReason: reason })
    .where(and(eq(decisions.id, id), isNull(decisions.withdrawnAt)))
    .returning()
  return row
}

export interface DecisionInForce {
  id: string
  proposalId: string
  title: string
  description: string
  at: string
  proposedBy: Named
  approvedBy: Named | null
}

/** The decisions of a session that are in force, the oldest first. */
export const decisionsInForce = ({ db }: Queries, sessionId: string, limit: number): Promise<DecisionInForce[]> =>
  db
    .select({
      id: decisions.id,
      proposalId: decisions.proposalId,
      title: decisions.title,
      description: decisions.description,
      at: decisions.at,
      proposedBy: proposals.proposedBy,
      approvedBy: proposals.resolvedBy,
    })
    .from(decisions)
    .innerJoin(proposals, eq(proposals.id, decisions.proposalId))
    .where(and(eq(decisions.sessionId, sessionId), isNull(decisions.withdrawnAt)))
    .orderBy(asc(decisions.at), asc(decisions.id))
    .limit(limit)

// Decisions that people approved. Changed under the session's lock alone.
import { and, desc, eq, isNull, sql } from 'drizzle-orm'
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

/** A decision with who proposed and who approved it. */
export interface SessionDecision extends Decision {
  proposedBy: Named
  approvedBy: Named
}

/** The decisions of a session, the newest first: those in force, and those withdrawn. */
export const decisionsOf = async ({ db }: Queries, sessionId: string, limit?: number): Promise<SessionDecision[]> => {
  const found = db
    .select({ decision: decisions, proposedBy: proposals.proposedBy, approvedBy: proposals.resolvedBy })
    .from(decisions)
    .innerJoin(proposals, eq(proposals.id, decisions.proposalId))
    .where(eq(decisions.sessionId, sessionId))
    .orderBy(desc(decisions.at), desc(decisions.id))
  const rows = await (limit === undefined ? found : found.limit(limit))
  return rows.map(({ decision, proposedBy, approvedBy }) => ({ ...decision, proposedBy, approvedBy: approvedBy! }))
}

export const isInForce = ({ withdrawnAt }: Pick<Decision, 'withdrawnAt'>): boolean => withdrawnAt === null

// Proposals: what agents suggest and people decide. A row is changed under its session's lock alone.
import { eq } from 'drizzle-orm'
import type { Queries } from '../../../db/database.ts'
import { proposals } from '../../../db/records-schema.ts'

export type Proposal = typeof proposals.$inferSelect

export const proposalById = async ({ db }: Queries, id: string): Promise<Proposal | undefined> => {
  const [row] = await db.select().from(proposals).where(eq(proposals.id, id))
  return row
}

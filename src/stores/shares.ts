// The read-only link of a session: one at a time. Only a hash of its secret is stored.
import { eq, sql } from 'drizzle-orm'
import type { Queries } from '../../db/database.ts'
import { shares } from '../../db/session-schema.ts'
import { sameText, sha256, type Token } from '../core/ids.ts'

/** Saves a new link. It replaces the previous one, which stops working. */
export const putShare = async ({ db }: Queries, sessionId: string, { handle: id, secret }: Token, sharedBy: string): Promise<void> => {
  const values = { id, tokenHash: sha256(secret), sharedBy, sharedAt: sql`clock_timestamp()` }
  await db
    .insert(shares)
    .values({ sessionId, ...values })
    .onConflictDoUpdate({ target: shares.sessionId, set: values })
}

export const dropShare = async ({ db }: Queries, sessionId: string): Promise<void> =>
  void (await db.delete(shares).where(eq(shares.sessionId, sessionId)))

/** Who shared a session, and when. */
export const shareOf = async ({ db }: Queries, sessionId: string): Promise<{ by: string; at: string } | undefined> => {
  const [row] = await db.select({ by: shares.sharedBy, at: shares.sharedAt }).from(shares).where(eq(shares.sessionId, sessionId))
  return row
}

/** The session that a link opens, as long as the link is valid. */
export const sharedBy = async ({ db }: Queries, { handle, secret }: Token): Promise<string | undefined> => {
  const [row] = await db.select({ sessionId: shares.sessionId, hash: shares.tokenHash }).from(shares).where(eq(shares.id, handle))
  return row && sameText(row.hash, sha256(secret)) ? row.sessionId : undefined
}

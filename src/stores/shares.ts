// The read-only link of a session: one at a time. Only a hash of its secret is stored.
import { eq, sql } from 'drizzle-orm'
import { isAmong } from '../../db/arrays.ts'
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

export type Share = Pick<typeof shares.$inferSelect, 'id' | 'sessionId' | 'tokenHash'>

/** The links of these ids that are valid; undefined for each other. */
export const findShares = async ({ db }: Queries, ids: string[]): Promise<(Share | undefined)[]> => {
  const { id, sessionId, tokenHash } = shares
  const rows = await db.select({ id, sessionId, tokenHash }).from(shares).where(isAmong(id, ids))
  const byId = new Map(rows.map((row) => [row.id, row]))
  return ids.map((one) => byId.get(one))
}

/** The session that a link opens. */
export const openedBy = ({ secret }: Token, share: Share | undefined): string | undefined =>
  share && sameText(share.tokenHash, sha256(secret)) ? share.sessionId : undefined

// The answers of writes that had an idempotency key. Only the key's hash is stored.
import { and, eq } from 'drizzle-orm'
import type { Queries } from '../../db/database.ts'
import { idempotency } from '../../db/schema.ts'

/** The scope of answers to calls that are about nothing that there was before, or whose key itself is the caller's secret. */
export const NO_SUBJECT = 'open'

export type SavedAnswer = typeof idempotency.$inferSelect
export type AnswerId = Pick<SavedAnswer, 'scope' | 'caller' | 'keyHash'>

export const findAnswer = async ({ db }: Queries, { scope, caller, keyHash }: AnswerId): Promise<SavedAnswer | undefined> => {
  const [row] = await db
    .select()
    .from(idempotency)
    .where(and(eq(idempotency.scope, scope), eq(idempotency.caller, caller), eq(idempotency.keyHash, keyHash)))
  return row
}

export const saveAnswer = async ({ db }: Queries, row: typeof idempotency.$inferInsert): Promise<void> =>
  void (await db.insert(idempotency).values(row))

/** Adds to a kept answer how much its caller had missed, so that a retry is told the same. */
export const noteMissed = async ({ query }: Queries, { scope, caller, keyHash }: AnswerId, missed: number): Promise<void> =>
  void (await query(
    `update idempotency set answer = answer || jsonb_build_object('missed', $4::int) where scope = $1 and caller = $2 and key_hash = $3`,
    [scope, caller, keyHash, missed],
  ))

/** Saves an answer where no lock guards the key. Undefined when it was saved, else the answer that was there before. */
export const saveFirstAnswer = async (queries: Queries, row: typeof idempotency.$inferInsert): Promise<SavedAnswer | undefined> => {
  const mine = await queries.db.insert(idempotency).values(row).onConflictDoNothing().returning({ keyHash: idempotency.keyHash })
  return mine.length > 0 ? undefined : findAnswer(queries, row)
}

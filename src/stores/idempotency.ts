// What writes answered, by their idempotency keys. Of a key only its hash is stored.
import { and, eq } from 'drizzle-orm'
import type { Queries } from '../../db/database.ts'
import { idempotency } from '../../db/schema.ts'

export type Remembered = typeof idempotency.$inferSelect
export type KeyOf = Pick<Remembered, 'scope' | 'caller' | 'keyHash'>

export const findAnswer = async ({ db }: Queries, { scope, caller, keyHash }: KeyOf): Promise<Remembered | undefined> => {
  const [row] = await db
    .select()
    .from(idempotency)
    .where(and(eq(idempotency.scope, scope), eq(idempotency.caller, caller), eq(idempotency.keyHash, keyHash)))
  return row
}

export const remember = async ({ db }: Queries, row: typeof idempotency.$inferInsert): Promise<void> =>
  void (await db.insert(idempotency).values(row))

/** The same where no lock guards the key. Undefined when this answer was kept, else the one that was there first. */
export const rememberFirst = async (queries: Queries, row: typeof idempotency.$inferInsert): Promise<Remembered | undefined> => {
  const mine = await queries.db.insert(idempotency).values(row).onConflictDoNothing().returning({ keyHash: idempotency.keyHash })
  return mine.length > 0 ? undefined : findAnswer(queries, row)
}

// Locks on something that has no row yet.
import type { Queries } from './database.ts'

/** Locks a text (an id, a name, the hash of an idempotency key) until the transaction ends. */
export const lockText = async ({ query }: Queries, text: string): Promise<void> =>
  void (await query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [text]))

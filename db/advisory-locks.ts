// Locks on what has no row yet.
import type { Queries } from './database.ts'

/** One holder of this text at a time (an id, a name, a key's hash), until the transaction ends. */
export const lockText = async ({ query }: Queries, text: string): Promise<void> =>
  void (await query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [text]))

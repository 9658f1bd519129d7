import type { Database, Queries } from '../../db/database.ts'

const HELD_AT_MOST_MS = 120_000

/** Takes a lock in a transaction of its own, by a statement or whatever does so. Resolves, once the lock is held, with the function that ends
 *  the transaction. */
export const holdLock = async (
  database: Database,
  statement: string | ((tx: Queries) => Promise<unknown>),
): Promise<() => Promise<void>> => {
  const [taken, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const held = database.transaction(async (tx) => {
    await (typeof statement === 'string' ? tx.query(statement) : statement(tx))
    taken.resolve()
    await over.promise
  }, HELD_AT_MOST_MS)
  await Promise.race([taken.promise, held])
  return () => {
    over.resolve()
    return held
  }
}

/** How many connections to this Postgres database wait for a lock. */
export const waitingForLocks = async ({ query }: Database): Promise<number> => {
  const [row] = await query<{ n: number }>(
    "select count(*)::int as n from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()",
  )
  return row!.n
}

// Empties tables of the index. TRUNCATE waits until nobody reads them, and whoever wants to read them waits behind TRUNCATE. A rebuild gives
// way, so that searches go on beside a backup, which reads the tables for minutes.
import type { Database, Queries } from '../../db/database.ts'
import { CannotOpen, isLockTimeout, isUndone } from '../../db/errors.ts'
import { pause } from '../core/runtime/pause.ts'

const GIVES_WAY_MS = 1_500 // for so long a search may wait; after 1 s Postgres ends an autovacuum that is in the way
const PAUSE_MS = 3_000 // in which searches go on
const TRIES_FOR_MS = 120_000
const MAY_TAKE_MS = 120_000

/** Runs a transaction whose last statement is `truncate`, and begins it anew while something reads the tables, for two minutes: then it throws
 *  CannotOpen, with a sentence for the operator. A statement in it has no time limit of its own. */
export const untilEmptied = async <T>(database: Database, work: (tx: Queries) => Promise<T>): Promise<T> => {
  const end = performance.now() + TRIES_FOR_MS
  for (;;) {
    try {
      return await database.unhurried(work, MAY_TAKE_MS)
    } catch (error) {
      if (!isLockTimeout(error) && !isUndone(error)) throw error
      if (performance.now() > end) throw new CannotOpen(IN_USE, { cause: error })
      await pause(PAUSE_MS)
    }
  }
}

const IN_USE =
  'The search index cannot be emptied: something has read it for two minutes without a pause, a backup, a vacuum or a transaction that was left open. Nothing was changed. Try again when it is over.'

/** Empties these tables, or fails soon while something reads them. */
export const truncate = async ({ query }: Queries, tables: string): Promise<void> => {
  await query(`set local lock_timeout = ${GIVES_WAY_MS}`)
  await query(`truncate ${tables}`)
}

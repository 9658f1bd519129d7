// The embedded database has no autovacuum: this stands in for it.
import { DatabaseTimeout, SPARE_BYTES, type Database } from './database.ts'

const AFTER_EVENTS = 20_000
const AFTER_START_MS = 5 * 60_000 // one that is started anew each day may never see that many events

/** What an operator must know. */
type Warn = (message: string) => void

/** A job that vacuums PGlite once some minutes after the start and after every AFTER_EVENTS events, and does nothing on Postgres. `now`: in
 *  milliseconds. */
export const createVacuum = (database: Database, appended: () => number, warn: Warn, now = () => performance.now()) => {
  const startedAt = now()
  let vacuumedAt: number | undefined
  const isDue = () => appended() - (vacuumedAt ?? 0) >= AFTER_EVENTS || (vacuumedAt === undefined && now() - startedAt >= AFTER_START_MS)
  return async function vacuum() {
    if (database.engine !== 'pglite' || !isDue()) return
    const before = vacuumedAt
    vacuumedAt = appended()
    await vacuumAll(database, warn).catch((error) => {
      vacuumedAt = before // it is due still
      throw error
    })
  }
}

// A vacuum that takes long is no longer waited for, and goes on.
const unlessUnderWay = (error: unknown) => {
  if (!(error instanceof DatabaseTimeout)) throw error
}

/** Makes what was deleted room for what comes, on PGlite; Postgres does that by itself. */
export const vacuumAll = async ({ engine, query, checkpoint, freeBytes }: Database, warn: Warn): Promise<void> => {
  if (engine !== 'pglite') return
  const tables = await query<{ name: string; bytes: number }>(
    `select relname as name, pg_total_relation_size(oid)::int8 as bytes from pg_class where relkind = 'r' and relnamespace = current_schema()::regnamespace order by name`,
  )
  // One table at a time, so that other statements can run in between.
  const leftOut: typeof tables = []
  for (const table of tables) {
    await checkpoint?.() // a vacuum may write as much journal as its table is large
    // The database ends for good when its disk is full while it writes.
    if ((freeBytes?.() ?? Infinity) - SPARE_BYTES < table.bytes) leftOut.push(table)
    else await query(`vacuum (analyze) ${table.name}`).catch(unlessUnderWay)
  }
  if (leftOut.length > 0) warn(tooLittleSpaceFor(leftOut))
}

const tooLittleSpaceFor = (tables: { name: string; bytes: number }[]) => {
  const needed = Math.ceil((Math.max(...tables.map(({ bytes }) => bytes)) + SPARE_BYTES) / 1024 ** 2)
  const names = tables.map(({ name }) => name).join(', ')
  return `The disk of DATA_DIR has too little space left to vacuum ${names}: what was deleted there makes no room for what comes, and searches may become slow. Free space, until ${needed} MiB are left.`
}

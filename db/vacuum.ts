// The embedded database has no autovacuum: this stands in for it.
import { DatabaseTimeout, type Database } from './database.ts'

const AFTER_EVENTS = 20_000
/** A job that vacuums PGlite after every AFTER_EVENTS events, and does nothing on Postgres. */
export const createVacuum = (database: Database, appended: () => number) => {
  let vacuumedAt = 0
  return async function vacuum() {
    if (database.engine !== 'pglite' || appended() - vacuumedAt < AFTER_EVENTS) return
    vacuumedAt = appended()
    await vacuumAll(database)
  }
}

// A vacuum that takes long is no longer waited for, and goes on.
const unlessUnderWay = (error: unknown) => {
  if (!(error instanceof DatabaseTimeout)) throw error
}

/** Makes what was deleted room for what comes, on PGlite; Postgres does that by itself. */
export const vacuumAll = async ({ engine, query, checkpoint }: Database): Promise<void> => {
  if (engine !== 'pglite') return
  const tables = await query<{ name: string }>(
    `select relname as name from pg_class where relkind = 'r' and relnamespace = current_schema()::regnamespace order by name`,
  )
  // One table at a time, so that other statements can run in between.
  for (const { name } of tables) {
    await checkpoint?.() // a vacuum may write as much journal as its table is large
    await query(`vacuum (analyze) ${name}`).catch(unlessUnderWay)
  }
}

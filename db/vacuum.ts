// The embedded database has no autovacuum: this stands in for it.
import type { Database } from './database.ts'

const AFTER_EVENTS = 20_000
const TABLES = [
  'sessions',
  'participants',
  'events',
  'session_docs',
  'idempotency',
  'event_search',
  'search_terms',
  'session_index',
  'session_search',
]

/** A job that vacuums PGlite after every AFTER_EVENTS events, and does nothing on Postgres. */
export const createVacuum = (database: Database, appended: () => number) => {
  let vacuumedAt = 0
  return async function vacuum() {
    if (database.engine !== 'pglite' || appended() - vacuumedAt < AFTER_EVENTS) return
    vacuumedAt = appended()
    // One table at a time, so that other statements can run in between.
    for (const table of TABLES) await database.query(`vacuum (analyze) ${table}`)
  }
}

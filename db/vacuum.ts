// What Postgres' autovacuum does, for the embedded database, which has none.
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

/** PGlite has no autovacuum: this vacuums it after every AFTER_EVENTS events. Postgres does it by itself. */
export const tidier = (database: Database, appended: () => number) => {
  let tidiedAt = 0
  return async function tidy() {
    if (database.engine !== 'pglite' || appended() - tidiedAt < AFTER_EVENTS) return
    tidiedAt = appended()
    for (const table of TABLES) await database.query(`vacuum (analyze) ${table}`) // one at a time: others get their turn between
  }
}

// The schema's steps, as drizzle-kit wrote them (db/migrations), applied under a lock that instances share.
import { readMigrationFiles } from 'drizzle-orm/migrator'
import { fileURLToPath } from 'node:url'
import type { Database } from './database.ts'
import { CannotOpen, reasonOf } from './open.ts'
import { DiskFull } from './pglite.ts'

const FOLDER = fileURLToPath(new URL('./migrations', import.meta.url))
const LOCK = 7_423_000_001 // any number that nobody else takes: several instances may start at once
const MAY_TAKE_MS = 60 * 60_000 // a later migration may rewrite a large table

/** Brings the database up to date: all pending migrations in one transaction, by one instance at a time. Returns how many ran. Throws
 *  with a sentence for the operator when that cannot be. */
export const migrate = (database: Database): Promise<number> => applyPending(database).catch((error) => refused(database, error))

const RIGHTS =
  ' The user in DATABASE_URL needs the right to create and alter them: it owns the database, or was granted create on its schema.'

const refused = ({ engine }: Database, error: unknown): never => {
  if (error instanceof DiskFull) throw error
  throw new CannotOpen(
    `The tables in the database could not be brought up to date: ${reasonOf(error)}. Nothing was changed.${engine === 'postgres' ? RIGHTS : ''}`,
    { cause: error },
  )
}

// drizzle-kit writes `public` into references. The tables are wherever the search_path puts them.
const inSearchPath = (statement: string) => statement.replaceAll('"public".', '')

const applyPending = (database: Database): Promise<number> =>
  database.unhurried(async ({ query }) => {
    await query('set local statement_timeout = 0')
    await query('select pg_advisory_xact_lock($1)', [LOCK])
    await query(
      'create table if not exists parley_migrations (made bigint primary key, hash text not null, applied_at timestamptz not null default now())',
    )
    const [{ newest } = { newest: 0 }] = await query<{ newest: number }>('select coalesce(max(made), 0) as newest from parley_migrations')
    const pending = readMigrationFiles({ migrationsFolder: FOLDER }).filter(({ folderMillis }) => folderMillis > newest)
    for (const { sql, folderMillis, hash } of pending) {
      for (const statement of sql) await query(inSearchPath(statement))
      await query('insert into parley_migrations (made, hash) values ($1, $2)', [folderMillis, hash])
    }
    return pending.length
  }, MAY_TAKE_MS)

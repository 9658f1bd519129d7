// Applies the migrations that drizzle-kit has written (db/migrations), one instance at a time.
import { readMigrationFiles } from 'drizzle-orm/migrator'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Database, Queries } from './database.ts'
import { CannotOpen, DiskFull, isLockTimeout, isThere, isUndone, reasonOf } from './errors.ts'

const FOLDER = fileURLToPath(new URL('./migrations', import.meta.url))
const LOCK = 7_423_000_001 // an arbitrary advisory lock: several instances may start at once
const MAY_TAKE_MS = 60 * 60_000 // a later migration may rewrite a large table

// Instances may serve meanwhile. Posts lock `sessions` before any other table, and so does a migration: a post that comes then waits there and
// holds nothing. Calls that lock the tables in another order and the migration can still wait for each other. Postgres would end one of the two
// after its deadlock_timeout, a second unless changed: the migration gives way before that, and begins anew.
const LOCKED_FIRST = 'sessions'
// An autovacuum gives way only to who has waited for that long: now and then it waits longer.
const GIVES_WAY_MS = 300
const ENDS_VACUUMS_MS = 1_500
const ENDS_VACUUMS_EVERY = 4 // tries
const PAUSE_MS = 300 // between two tries, in which the others go on; up to twice as long, by chance
const TRIES_FOR_MS = 5 * 60_000

type Say = (level: 'info' | 'warn', line: string) => void

/** Runs all pending migrations in one transaction, one instance at a time, also while others use the tables. Returns how many ran. `say` is
 *  told when it has to wait for them, and that it ran some. Throws CannotOpen with a sentence for the operator. */
export const migrate = async (database: Database, say: Say = () => {}): Promise<number> => {
  const ran = await untilDone(database, say).catch((error) => cannotMigrate(database, error))
  if (ran > 0) say('info', `${ran === migrations().length ? 'A new database' : 'The database was updated'}: ${ran} migration(s) ran.`)
  return ran
}

const untilDone = async (database: Database, say: Say): Promise<number> => {
  const end = performance.now() + TRIES_FOR_MS
  for (let tries = 1; ; tries++) {
    try {
      return await applyPending(database, tries % ENDS_VACUUMS_EVERY === 0 ? ENDS_VACUUMS_MS : GIVES_WAY_MS)
    } catch (error) {
      const inUse = isLockTimeout(error) || isUndone(error)
      if (!inUse || performance.now() > end) throw error
      if (tries === 1) say('warn', BUSY)
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS * (1 + Math.random())))
    }
  }
}

const BUSY = 'The tables are in use, and cannot be brought up to date at this moment. It is tried again for five minutes.'

const RIGHTS =
  ' The user in DATABASE_URL needs the right to create and alter them: it owns the database, or was granted create on its schema. The extension pg_trgm comes with Postgres (on some systems in the package postgresql-contrib); where that user may not create it, an administrator does once, in this database: create extension pg_trgm.'

const IN_USE =
  ' Something held them for five minutes without a pause: a backup, a vacuum, or a transaction that was left open. Start again when it is over.'

const FOREIGN =
  ' The schema has tables of another program. Name an empty database in DATABASE_URL, or give its user a schema of its own in this one: create schema parley authorization USER; alter role USER set search_path = parley, public.'

const cannotMigrate = ({ engine }: Database, error: unknown): never => {
  if (error instanceof DiskFull || error instanceof CannotOpen) throw error
  const ofPostgres = () => (isThere(error) ? FOREIGN : RIGHTS)
  const todo = isLockTimeout(error) ? IN_USE : engine === 'postgres' ? ofPostgres() : ''
  throw new CannotOpen(`The tables in the database could not be brought up to date: ${reasonOf(error)}. Nothing was changed.${todo}`, {
    cause: error,
  })
}

// drizzle-kit writes the schema `public` into references, but the tables are in the first schema of the search_path.
const inSearchPath = (statement: string) => statement.replaceAll('"public".', '')

interface Migration {
  made: number
  hash: string
  statements: string[]
  /** `made` of the newest migration that the oldest program has which may run on the schema after this migration. */
  oldestProgram: number
}

interface Journal {
  entries: { when: number; tag: string }[]
}

// Written by hand into the SQL of a migration; it names the newest migration that the program has.
const DECLARATION = /^-- oldest program: (\S+)$/m

/** The oldest program that may run beside this migration, as its SQL declares. Without a declaration, only programs that have the migration
 *  may. Throws when the declaration names an unknown migration. */
export const oldestProgramOf = (sql: string, made: number, { entries }: Journal): number => {
  const tag = DECLARATION.exec(sql)?.[1]
  if (tag === undefined) return made
  const named = entries.find((entry) => entry.tag === tag)
  if (!named) throw new Error(`"-- oldest program: ${tag}" names no migration of db/migrations.`)
  return named.when
}

const migrations = (): Migration[] => {
  const journal = JSON.parse(readFileSync(`${FOLDER}/meta/_journal.json`, 'utf8')) as Journal
  return readMigrationFiles({ migrationsFolder: FOLDER }).map(({ sql, folderMillis: made, hash }) => ({
    made,
    hash,
    statements: sql,
    oldestProgram: oldestProgramOf(sql.join('\n'), made, journal),
  }))
}

const TOO_OLD =
  'The database was brought up to date by a newer Parley, and this program is too old to run on it. Update this program, or restore a backup from before the update.'

let newest: number | undefined // this program's newest migration: read once, since an instance asks every few seconds

// Whether a newer program has changed the schema so that this program must not run on it.
const isTooOldFor = async ({ query }: Queries): Promise<boolean> => {
  newest ??= migrations().at(-1)!.made
  // Read through JSON, because older programs made the table without the column.
  const rows = await query(
    `select from parley_migrations m where made > $1::int8 and coalesce((to_jsonb(m)->>'oldest_program')::int8, made) > $1::int8 limit 1`,
    [newest],
  )
  return rows.length > 0
}

const applyPending = (database: Database, givesWayMs: number): Promise<number> =>
  database.unhurried(async (tx) => {
    const { query } = tx
    await query('select pg_advisory_xact_lock($1)', [LOCK])
    await query(`set local lock_timeout = ${givesWayMs}`)
    await query(
      'create table if not exists parley_migrations (made bigint primary key, hash text not null, applied_at timestamptz not null default now())',
    )
    if (await isTooOldFor(tx)) throw new CannotOpen(`${TOO_OLD} Nothing was changed.`)
    const [{ applied } = { applied: 0 }] = await query<{ applied: number }>(
      'select coalesce(max(made), 0) as applied from parley_migrations',
    )
    const isApplied = ({ made }: Migration) => made <= applied
    const pending = migrations().filter((one) => !isApplied(one))
    if (pending.length === 0) return 0 // without a lock that a backup would hold up
    await query('alter table parley_migrations add column if not exists oldest_program bigint')
    await lockTables(query, migrations().filter(isApplied))
    for (const { statements, made, hash, oldestProgram } of pending) {
      for (const statement of statements) await query(inSearchPath(statement))
      await query('insert into parley_migrations (made, hash, oldest_program) values ($1, $2, $3)', [made, hash, oldestProgram])
    }
    return pending.length
  }, MAY_TAKE_MS)

// Tables of the applied migrations that are still there. The schema may have others, which belong to somebody else.
const lockTables = async (query: Queries['query'], applied: Migration[]): Promise<void> => {
  const made = applied.flatMap(({ statements }) => [...statements.join().matchAll(CREATED)].map(([, name]) => name!))
  const there = await query<{ name: string }>('select name from unnest($1::text[]) as name where to_regclass(name) is not null', [made])
  const names = there.map(({ name }) => name).toSorted((a, b) => Number(b === LOCKED_FIRST) - Number(a === LOCKED_FIRST))
  if (names.length > 0) await query(`lock table ${names.join(', ')} in access exclusive mode`)
}
const CREATED = /\bcreate table "(\w+)"/gi

/** Throws CannotOpen, with a sentence for the operator, once a newer program has changed the schema so that this one must stop. */
export const assertNotTooOld = async (queries: Queries): Promise<void> => {
  if (await isTooOldFor(queries)) throw new CannotOpen(TOO_OLD)
}

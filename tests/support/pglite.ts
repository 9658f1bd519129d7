// Embedded databases in memory, migrated. Making one takes three seconds of processor time, loading a copy a tenth of one: all are copies
// of the first, which `bun run test` makes for all its processes.
import { PGlite } from '@electric-sql/pglite'
import type { Database } from '../../db/database.ts'
import { migrate } from '../../db/migrate.ts'
import { databaseOn, OPTIONS } from '../../db/pglite.ts'
import { madeForAll } from './empty.ts'

/** A new embedded database. */
export const embeddedDatabase = async (hasSpace?: () => boolean): Promise<Database> => databaseOn(await copyOfEmpty(), hasSpace)

/** One that holds what the SQL makes, and nothing else. */
export const embeddedFrom = async (sql: string): Promise<Database> => {
  const client = await copyOfEmpty()
  await client.exec('drop schema public cascade; create schema public')
  await client.exec(`${sql}; reset all`) // pg_dump leaves an empty search_path
  return databaseOn(client)
}

const copyOfEmpty = async (): Promise<PGlite> => {
  template ??= madeForAll ? Bun.file(madeForAll.dump) : dumpOfEmpty()
  return PGlite.create({ ...OPTIONS, loadDataDir: await template })
}

let template: Blob | Promise<Blob> | undefined

/** What an empty database is loaded from; the database itself is left in `dataDir`, if there is one. */
export const dumpOfEmpty = async (dataDir?: string): Promise<Blob> => {
  const client = await makeEmpty(dataDir)
  const copy = await client.dumpDataDir('none')
  await client.close()
  return copy
}

// A copy is read and written whole, and a process zeroes all the memory that its buffers take: with 128 MB of buffers, 16 MB of journal and
// two databases more, from which nobody makes new ones, a copy is 42 MB, not 11, and to load it takes twice the time.
const SMALL = ['--wal-segsize=1', '-c', 'shared_buffers=8MB', '-c', 'wal_recycle=off']
const NOBODY_ELSES = `update pg_database set datistemplate = false; drop database template0; drop database template1; checkpoint`

// A small embedded database, migrated, in a folder or in memory.
const makeEmpty = async (dataDir?: string): Promise<PGlite> => {
  const client = await PGlite.create({ ...OPTIONS, ...(dataDir && { dataDir }), initDbStartParams: SMALL })
  await migrate(await databaseOn(client))
  for (const statement of NOBODY_ELSES.split('; ')) await client.query(statement)
  return client
}

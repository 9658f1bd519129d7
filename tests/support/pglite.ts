// Embedded databases in memory, migrated. Making one takes three seconds of processor time, loading a copy a quarter of one: all are copies
// of the first, which `bun run test` makes for all its processes.
import { PGlite } from '@electric-sql/pglite'
import type { Database } from '../../db/database.ts'
import { migrate } from '../../db/migrate.ts'
import { databaseOn, OPTIONS } from '../../db/pglite.ts'
import { madeForAll } from './empty.ts'

/** A new embedded database. */
export const embeddedDatabase = async (hasSpace?: () => boolean): Promise<Database> => {
  template ??= madeForAll ? Bun.file(madeForAll.dump) : dumpOfEmpty()
  return databaseOn(await PGlite.create({ ...OPTIONS, loadDataDir: await template }), hasSpace)
}

let template: Blob | Promise<Blob> | undefined

/** What an empty database is loaded from. */
export const dumpOfEmpty = async (): Promise<Blob> => {
  const client = await PGlite.create(OPTIONS)
  await migrate(await databaseOn(client))
  const copy = await client.dumpDataDir('none')
  await client.close()
  return copy
}

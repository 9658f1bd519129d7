// Embedded databases in memory, migrated. Making one takes a second, copying it a fifth of that: all are copies of the first.
import { PGlite } from '@electric-sql/pglite'
import type { Database } from '../../db/database.ts'
import { migrate } from '../../db/migrate.ts'
import { databaseOn, OPTIONS } from '../../db/pglite.ts'

/** A new embedded database. */
export const embeddedDatabase = async (hasSpace?: () => boolean): Promise<Database> => {
  template ??= made()
  return databaseOn(await PGlite.create({ ...OPTIONS, loadDataDir: await template }), hasSpace)
}

let template: Promise<Blob> | undefined
const made = async (): Promise<Blob> => {
  const client = await PGlite.create(OPTIONS)
  await migrate(await databaseOn(client))
  const copy = await client.dumpDataDir('none')
  await client.close()
  return copy
}

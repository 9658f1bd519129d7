// Two instances with their pages, on one Postgres, for all tests of a file.
import { afterAll, beforeAll } from 'bun:test'
import { migrate } from '../../db/migrate.ts'
import { openPostgres } from '../../db/postgres.ts'
import { freshDatabase, startPostgres } from './postgres.ts'
import { serveSite, type Site } from './site.ts'

/** Returns how a test gets the two. */
export const withTwoSites = (): (() => [here: Site, there: Site]) => {
  let instances: [Site, Site]
  let drop = async () => {}
  beforeAll(async () => {
    const server = await startPostgres()
    const fresh = await freshDatabase(server.url)
    const database = await openPostgres(fresh.url)
    await migrate(database)
    instances = [await serveSite({}, { database }), await serveSite({}, { database: { ...database, close: async () => {} } })]
    drop = async () => {
      for (const one of instances.toReversed()) await one.stop()
      await fresh.drop()
      await server.stop()
    }
  }, 120_000)
  afterAll(() => drop(), 180_000)
  return () => instances
}

// The two engines under a real server process, and the app without a port.
import { afterAll, beforeAll, describe } from 'bun:test'
import type { Database } from '../../db/database.ts'
import { migrate } from '../../db/migrate.ts'
import { openPostgres } from '../../db/postgres.ts'
import { createApp } from '../../src/app.ts'
import { readConfig } from '../../src/config.ts'
import { createServices, type Options } from '../../src/process/services.ts'
import { FULL } from '../support/full.ts'
import { freshDatabase, startPostgres } from '../support/postgres.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { serveSite } from '../support/site.ts'
import type { Send } from './rooms.ts'
import { embeddedDatabase } from '../support/pglite.ts'

export const ENGINES = ['pglite', 'postgres'] as const
/** Where faults are tried in their short form that both engines meet alike: on Postgres, where there are several instances. */
export const HERE: readonly Engine[] = FULL ? ENGINES : ['postgres']
export type Engine = (typeof ENGINES)[number]

/** The environment variables that give a server process its database, and `drop`, which removes that database again. */
export const databaseOf = async (engine: Engine): Promise<{ environment: Record<string, string>; drop(): Promise<void> }> => {
  if (engine === 'pglite') return { environment: {}, drop: async () => {} }
  const postgres = await startPostgres()
  const { url, drop } = await freshDatabase(postgres.url)
  return {
    environment: { DATABASE_URL: url },
    drop: async () => {
      await drop()
      await postgres.stop()
    },
  }
}

export type Reachable = Pick<TestServer, 'url' | 'port' | 'remove'>

/** A server behind a port, for tests whose subject is not its process. In the short form it is in this process: to start one, and the first
 *  hundreds of requests of one that has compiled nothing yet, would take most of such a test's processor time. */
export const serverOn = async ({ DATABASE_URL: url, ...environment }: Record<string, string>): Promise<Reachable> => {
  if (FULL || url === undefined) return startServer({ ...environment, ...(url !== undefined && { DATABASE_URL: url }) })
  const database = await openPostgres(url)
  await migrate(database)
  const site = await serveSite(environment, { database })
  return { url: site.url, port: site.port, remove: site.stop }
}

/** One server on this engine, for all tests of a file or of a `describe`; returns how a test gets it. */
export const withServer = (engine: Engine): (() => Reachable) => {
  let server: Reachable
  let drop: () => Promise<void>
  beforeAll(async () => {
    const database = await databaseOf(engine)
    drop = database.drop
    server = await serverOn(database.environment)
  }, 180_000)
  afterAll(async () => {
    await server?.remove()
    await drop?.()
  }, 60_000)
  return () => server
}

/** The body's tests with one server for all of them, in the long form on each engine. */
export const onEveryServer = (body: (server: () => Reachable) => void) => describe.each(HERE)('on %s', (engine) => body(withServer(engine)))

export const LOCAL = 'http://localhost'

/** The whole server in this process, on a database in memory or on one that is given, which it closes at the end. */
export const openInProcess = async (environment: Record<string, string> = {}, given?: Database, options: Options = {}) => {
  const database = given ?? (await embeddedDatabase())
  const logged: object[] = []
  const log = (level: string, message: string, more?: object) => void logged.push({ level, message, ...more })
  const services = await createServices(database, readConfig(environment), log, options)
  const app = await createApp(services)
  const send: Send = (request) => app.fetch(request)
  return { app, services, database, send, logged, close: () => services.close() }
}

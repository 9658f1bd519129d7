// Three instances on one Postgres, each behind a network of its own, and what befalls them, one thing after another.
import { join } from 'node:path'
import { FULL } from '../../support/full.ts'
import { freshDatabase, startPostgres, type TestPostgres } from '../../support/postgres.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { thatCanStall, type StallingProxy } from '../../support/stalling-proxy.ts'
import { standbyOf } from '../../support/standby.ts'
import { until } from '../rooms.ts'

export const OPERATOR_KEY = 'chosen by a person'

/** How long a claim lasts without a call of its team, and a proposal without a decision. */
export const LEASE_S = 6
export const EXPIRES_AFTER_S = 5

const INSTANCES = 3
const STEPPING = `--preload=${join(import.meta.dir, '../../support/stepping-clock.mjs')}`
const FAILOVER_WITHIN_MS = 120_000 // for what hangs

export interface Instance {
  server: TestServer
  networks: StallingProxy[] // to the primary, and to its standby
}

export interface Cluster {
  instances: Instance[]
  urls: string[]
  /** Of the database that is written to now: past the networks. */
  databaseUrl(): string
  database: TestPostgres
  /** Kills the primary with -9 and has the standby take its place; instances find it by the second host of their URL. */
  failOver?: () => Promise<void>
  close(): Promise<void>
}

/** With a standby the database can fail over, once. */
export const startCluster = async ({ standby }: { standby: boolean }): Promise<Cluster> => {
  const primary = await startPostgres({ own: FULL }) // nothing befalls it in the short form
  const second = standby ? await standbyOf(primary) : undefined
  const { url, drop } = await freshDatabase(primary.url)
  const elsewhere = (port: number) => Object.assign(new URL(url), { port: String(port) }).href
  const instances = await Promise.all(
    Array.from({ length: INSTANCES }, async (): Promise<Instance> => {
      const networks = [await thatCanStall(url), ...(second ? [await thatCanStall(elsewhere(second.port!))] : [])]
      const hosts = networks.map((network) => new URL(network.url).host)
      const server = await startServer({
        DATABASE_URL: url.replace(new URL(url).host, hosts.join()),
        OPERATOR_KEY,
        CLAIM_LEASE: String(LEASE_S),
        PROPOSAL_EXPIRES_AFTER: String(EXPIRES_AFTER_S),
        BUN_OPTIONS: STEPPING,
      })
      return { server, networks }
    }),
  )
  let at = url
  const urls = instances.map(({ server }) => server.url)
  const failOver = async () => {
    await primary.kill('SIGKILL')
    await second!.promote()
    at = elsewhere(second!.port!)
    await until('an instance has found the new primary', FAILOVER_WITHIN_MS, () => isReady(urls[0]!))
  }
  return {
    instances,
    urls,
    database: primary,
    databaseUrl: () => at,
    ...(second && { failOver }),
    async close() {
      for (const { server, networks } of instances) {
        if (server.running) process.kill(server.pid, 'SIGCONT')
        await server.remove()
        for (const network of networks) await network.close()
      }
      if (!FULL) await drop()
      await second?.stop()
      await primary.stop()
    },
  }
}

const isReady = (url: string) =>
  fetch(`${url}/readyz`, { signal: AbortSignal.timeout(2_000) }).then(
    ({ ok }) => ok,
    () => false,
  )

const between = (from: number, to: number) => from + Math.random() * (to - from)

/** What may befall one instance; each resolves when it is over. Frozen and stalled for longer than a proof of hearing lasts (2 s), at times. */
export const DISTURBANCES = {
  async killed({ server }: Instance) {
    await server.kill()
    await Bun.sleep(between(0, 500))
    await server.restart()
  },
  async frozen({ server }: Instance) {
    process.kill(server.pid, 'SIGSTOP')
    await Bun.sleep(between(500, 4_000))
    process.kill(server.pid, 'SIGCONT')
  },
  async stalledThere({ networks }: Instance) {
    for (const network of networks) network.stall('there')
    await Bun.sleep(between(500, 4_000))
    for (const network of networks) network.flow()
  },
  async stalledBack({ networks }: Instance) {
    for (const network of networks) network.stall('back')
    await Bun.sleep(between(500, 4_000))
    for (const network of networks) network.flow()
  },
  async clockStepped({ server }: Instance) {
    process.kill(server.pid, 'SIGUSR2')
    await Bun.sleep(between(100, 500))
  },
}
export type Disturbance = keyof typeof DISTURBANCES

/** What may befall the database; in the long form alone. */
export const databaseFrozen = async ({ database }: Cluster) => {
  await database.freeze()
  await Bun.sleep(between(500, 4_000))
  database.thaw()
}
export const databaseKilled = async ({ database }: Cluster) => {
  await database.kill('SIGKILL')
  await Bun.sleep(between(0, 1_000))
  await database.start()
}

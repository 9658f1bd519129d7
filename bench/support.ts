// How every benchmark here measures: warmed up, variants in turn within one run, percentiles and ratios, never a verdict by time alone.
import { startPostgres, freshDatabase } from '../tests/support/postgres.ts'
import { migrate } from '../db/migrate.ts'
import { openPostgres } from '../db/postgres.ts'
import { createApp } from '../src/app.ts'
import { readConfig } from '../src/config.ts'
import { silent } from '../src/core/runtime/log.ts'
import { createServices } from '../src/process/services.ts'
import { loadavg } from 'node:os'

export const sorted = (samples: number[]) => samples.toSorted((a, b) => a - b)
export const percentile = (samples: number[], part: number) =>
  sorted(samples)[Math.min(samples.length - 1, Math.floor(samples.length * part))]!
export const median = (samples: number[]) => percentile(samples, 0.5)
export const spread = (samples: number[], digits = 2) =>
  [0.5, 0.95, 0.99].map((part) => `p${part * 100} ${percentile(samples, part).toFixed(digits)}`).join('  ')

/** The median of some rounds, and the least and the most of them. */
export const range = (rounds: number[], digits = 0) =>
  `${median(rounds).toFixed(digits)} (${Math.min(...rounds).toFixed(digits)} to ${Math.max(...rounds).toFixed(digits)})`

/** How often a second each variant was done, per round, and how often beside `base` in the same round; and how long each call took, in ms. */
export const printRates = (rates: Record<string, number[]>, times: Record<string, number[]>, base: string) => {
  for (const [name, perSecond] of Object.entries(rates)) {
    const ratios = perSecond.map((rate, i) => rate / rates[base]![i]!)
    row(name, `${range(perSecond)}/s  ratio ${range(ratios, 2)}  ${spread(times[name]!)} ms`)
  }
}

export const row = (name: string, text: string) => console.log(`${name.padEnd(44)} ${text}`)
export const load = () => row('load of the machine (1 min)', loadavg()[0]!.toFixed(1))

/** A fresh database on a real Postgres of its own, with a server in this process on any free port. */
export const bench = async (work: (at: { url: string; databaseUrl: string; services: Services; app: App }) => Promise<void>) => {
  const postgres = await startPostgres()
  const { url: databaseUrl, drop } = await freshDatabase(postgres.url)
  const { url, services, app, close } = await serveHere(databaseUrl)
  console.log(`Bun ${Bun.version}, PostgreSQL ${postgres.version}`)
  load()
  try {
    await work({ url, databaseUrl, services, app })
  } finally {
    load()
    await close()
    await drop()
    await postgres.stop()
  }
  process.exit(0)
}
/** One instance in this process, on any free port: several of them share a database as several servers would. */
export const serveHere = async (databaseUrl: string) => {
  const database = await openPostgres(databaseUrl)
  await migrate(database)
  const services = await createServices(database, readConfig({ DATABASE_URL: databaseUrl }), silent)
  const app = await createApp(services)
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 60,
    fetch: (request, own) => app.fetch(request, { untimed: () => own.timeout(request, 0) }),
  })
  const close = async () => {
    services.drain()
    await server.stop(true)
    await services.close()
  }
  return { url: `http://127.0.0.1:${server.port}`, services, app, close }
}

type Services = Awaited<ReturnType<typeof createServices>>
type App = Awaited<ReturnType<typeof createApp>>

export interface Room {
  session_id: string
  team_id: string
  handle: string
}

export const newRoom = async (url: string): Promise<Room> => {
  const body = JSON.stringify({ title: 'Bench', description: '', creator_team_name: "Alex's Team" })
  return (await (await fetch(`${url}/api/sessions`, { method: 'POST', body })).json()) as Room
}

/** Calls `work` from `callers` loops until the time is up; answers per second, and each one's milliseconds. */
export const throughput = async (callers: number, seconds: number, work: (caller: number) => Promise<unknown>) => {
  const took: number[] = []
  const begin = performance.now()
  const end = begin + seconds * 1000
  await Promise.all(
    Array.from({ length: callers }, async (_, caller) => {
      while (performance.now() < end) {
        const start = performance.now()
        await work(caller)
        took.push(performance.now() - start)
      }
    }),
  )
  return { perSecond: (took.length / (performance.now() - begin)) * 1000, took }
}

/** What a server's /metrics says, by name. */
export const metricsOf = async (url: string): Promise<Record<string, number>> => {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Object.fromEntries([...text.matchAll(/^parley_(\w+) (\S+)$/gm)].map(([, name, value]) => [name, Number(value)]))
}

/** A server on this database as a process of its own; resolves when it is open. */
export const serverProcess = async (databaseUrl: string, environment: Record<string, string> = {}) => {
  const child = Bun.spawn([process.execPath, 'src/server.ts'], {
    env: { ...process.env, DATABASE_URL: databaseUrl, PORT: '0', NODE_ENV: 'production', ...environment },
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const url = await addressOf(child.stdout)
  const stop = async () => {
    child.kill('SIGTERM')
    await child.exited
  }
  return { url, pid: child.pid, stop }
}

/** Where a server that is a process of its own says that it is open. */
export const addressOf = async (output: ReadableStream<Uint8Array>): Promise<string> => {
  let said = ''
  for await (const chunk of output as unknown as AsyncIterable<Uint8Array>) {
    said += new TextDecoder().decode(chunk)
    const address = /open at (http:\S+)/.exec(said)?.[1]
    if (address) return address
  }
  throw new Error(`the server did not start: ${said}`)
}

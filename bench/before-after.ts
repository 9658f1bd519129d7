// What posts, waits and lists of tools cost that ask for nothing new, before a change and after it: two servers of two checkouts on one
// machine, each on a fresh database of the same Postgres, take turns.
// `bun bench/before-after.ts BEFORE [VARIANT]…` (a checkout with its node_modules; after: this one; all variants unless named)
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { freshDatabase, startPostgres } from '../tests/support/postgres.ts'
import { loadFrom, type Plan } from './client.ts'
import { addressOf, load, median, metricsOf, newRoom, percentile, row, type Room } from './support.ts'

const ROUNDS = 10
const SECONDS = 2
const POSTERS = 32
const SETTLES_WITHIN_MS = 30_000
const TEXT = 'We split the task: Alex takes the parser, Bea the storage layer. '.repeat(4)

const [before, ...only] = process.argv.slice(2)
if (!before) throw new Error('name the checkout of the commit before: bun bench/before-after.ts BEFORE')
const postgres = await startPostgres()

// Of the server alone, in ticks of 10 ms: on a busy machine it says more than the rate.
const cpuMsOf = (pid: number): number => {
  const afterName = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  return 10 * (Number(afterName[11]) + Number(afterName[12]))
}

const VARIANTS = {
  apart: '32 posters, a room each',
  together: '32 posters in one room, who read nothing',
  waits: '32 waits that answer at once',
  lists: '32 lists of the tools of /mcp',
}
type Variant = keyof typeof VARIANTS

const LIST = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })

type Seat = Pick<Room, 'session_id' | 'team_id'>

const joined = async (url: string, session_id: string): Promise<Seat> => {
  const body = JSON.stringify({ team_name: 'A team' })
  const answer = (await (await fetch(`${url}/api/sessions/${session_id}/join`, { method: 'POST', body })).json()) as Seat
  return { ...answer, session_id }
}

const serve = async (checkout: string) => {
  const { url: DATABASE_URL } = await freshDatabase(postgres.url)
  const env = { ...process.env, DATABASE_URL, PORT: '0', NODE_ENV: 'production' }
  const child = Bun.spawn([process.execPath, 'src/server.ts'], { cwd: checkout, env, stdout: 'pipe', stderr: 'inherit' })
  const url = await addressOf(child.stdout)
  const rooms = await Promise.all(Array.from({ length: POSTERS }, () => newRoom(url)))
  const seats = await Promise.all(rooms.map(() => joined(url, rooms[0]!.session_id)))
  const requestOf = ({ session_id, team_id }: Seat): Plan['requests'][number] => ({
    method: 'POST',
    path: `/api/sessions/${session_id}/messages`,
    headers: { 'x-team-id': team_id },
    body: JSON.stringify({ content: { text: TEXT } }),
  })
  const seated = ({ team_id }: Seat) => ({ accept: 'application/json', 'x-team-id': team_id })
  const waitOf = (seat: Seat): Plan['requests'][number] => ({
    method: 'GET',
    path: `/api/sessions/${seat.session_id}/wait?since_cursor=0&timeout=0`,
    headers: seated(seat),
  })
  const list = { method: 'POST', path: '/mcp', headers: { accept: 'application/json' }, body: LIST }
  const variants: Record<Variant, Plan['requests']> = {
    apart: rooms.map(requestOf),
    together: seats.map(requestOf),
    waits: rooms.map(waitOf),
    lists: rooms.map(() => list),
  }
  const ask = (seconds: number, which: Variant) => loadFrom({ url, requests: variants[which], connections: POSTERS, seconds })
  /** What it still has to index would be the other one's burden. */
  const settle = async () => {
    for (const until = performance.now() + SETTLES_WITHIN_MS; performance.now() < until; await Bun.sleep(100))
      if ((await metricsOf(url)).search_index_lag_seconds === 0) return
  }
  const cpuMs = () => cpuMsOf(child.pid)
  return { cpuMs, ask, settle, end: async () => (child.kill(), child.exited) }
}

type Server = Awaited<ReturnType<typeof serve>>

/** Of one turn of a server: calls a second, and microseconds of its processor for each. */
const turnOf = async (server: Server, which: Variant, seconds: number) => {
  const from = server.cpuMs()
  const { perSecond, took } = await server.ask(seconds, which)
  const cpu = ((server.cpuMs() - from) * 1_000) / took.length
  await server.settle()
  return { perSecond, cpu }
}

const compare = async (servers: Server[], which: Variant) => {
  const turns = servers.map((): Awaited<ReturnType<typeof turnOf>>[] => [])
  for (let round = -1; round < ROUNDS; round++)
    for (const place of round % 2 === 0 ? [0, 1] : [1, 0]) {
      const turn = await turnOf(servers[place]!, which, round < 0 ? 1 : SECONDS)
      if (round >= 0) turns[place]!.push(turn)
    }
  const [was, is] = turns as [(typeof turns)[0], (typeof turns)[0]]
  const ratios = is.map(({ perSecond }, i) => perSecond / was[i]!.perSecond)
  const spread = [0, 0.25, 0.75, 1].map((part) => percentile(ratios, part).toFixed(2)).join(' ')
  const rates = [was, is].map((each) => median(each.map(({ perSecond }) => perSecond)).toFixed(0)).join(' → ')
  const cpu = [was, is].map((each) => median(each.map((turn) => turn.cpu)).toFixed(0)).join(' → ')
  row(
    VARIANTS[which],
    `${rates} a second, ratio ${median(ratios).toFixed(3)} (least, quartiles, most: ${spread}); ${cpu} µs of the server's processor`,
  )
}

load()
const servers = [await serve(before), await serve(join(import.meta.dir, '..'))]
try {
  for (const which of Object.keys(VARIANTS) as Variant[]) if (only.length === 0 || only.includes(which)) await compare(servers, which)
} finally {
  load()
  for (const server of servers) await server.end()
  await postgres.stop()
}
process.exit(0)

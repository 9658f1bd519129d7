// A client that goes away ends its wait at once, through whichever door it came.
//   FULL=1 bun test tests/faults/disconnects.test.ts    25 times as many, 10,000 in all
import { afterAll, beforeAll, expect, test } from 'bun:test'
import postgres from 'postgres'
import { startServer, type TestServer } from '../support/server.ts'
import { databaseOf } from './engines.ts'
import { call, gauge, numbers, openRoom, until, type Room } from './rooms.ts'
import { dial, requestText } from './sockets.ts'
import { whileBusy } from '../support/cpu.ts'
import { FULL } from '../support/full.ts'

const IDLE_AFTER_S = 1
const CONNECTIONS = 17 // of an instance: the pool's, and the one that listens
const LEFT_MS = 4_000 // the database itself ends a statement after 5 s, and a transaction that somebody has left after 10 s

let server: TestServer
let admin: postgres.Sql
let drop: () => Promise<void>
beforeAll(async () => {
  const database = await databaseOf('postgres')
  drop = database.drop
  admin = postgres(database.environment.DATABASE_URL!, { max: 1, onnotice() {} })
  server = await startServer({ ...database.environment, IDLE_AFTER: String(IDLE_AFTER_S) })
}, 180_000)
afterAll(async () => {
  await server?.remove()
  await admin?.end()
  await drop?.()
}, 180_000)

/** The server's connections to its database, and how many of them somebody holds. */
const connections = async () => {
  const [row] = await admin<{ open: number; held: number }[]>`
    select count(*)::int as open, count(*) filter (where state <> 'idle')::int as held
    from pg_stat_activity where datname = current_database() and application_name = 'parley'`
  return row!
}

const statusesIn = async (rooms: Room[]): Promise<string[]> => {
  const asked = rooms.map(({ url, session, teams }) => call(url, 'GET', `/api/sessions/${session}/participants`, { team: teams[0]! }))
  return (await Promise.all(asked)).flatMap(({ body }) => body.participants.map(({ status }: { status: string }) => status))
}

const LAST = 7 // eight teams joined, the convener without an event
const BOTH = 'application/json, text/event-stream'

const mcpCall = (name: string, args: object, accept: string) => {
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }
  return requestText('POST', '/mcp', { accept, 'content-type': 'application/json' }, JSON.stringify(message))
}
const entry = (room: Room, team: string) => ({ session_id: room.session, team_id: team, since_cursor: LAST })
const mcpWait = (room: Room, team: string, accept: string) => mcpCall('wait_for_messages', { ...entry(room, team), timeout: 30 }, accept)
const anyOf = (room: Room, team: string) => ({ waits: [entry(room, team), entry(room, room.teams[0]!)], timeout: 30 })
const mcpAny = (room: Room, team: string, accept: string) => mcpCall('wait_for_any', anyOf(room, team), accept)
const restAny = (room: Room, team: string, accept: string) =>
  requestText('POST', '/api/sessions/wait', { accept }, JSON.stringify(anyOf(room, team)))
const restWait = (room: Room, team: string, accept: string) =>
  requestText('GET', `/api/sessions/${room.session}/wait?since_cursor=${LAST}&timeout=30`, { 'x-team-id': team, accept })
const stream = (room: Room, team: string) =>
  requestText('GET', `/api/sessions/${room.session}/stream?after=${LAST}`, { 'x-team-id': team, accept: 'text/event-stream' })

const DOORS: [name: string, accept: string, ask: typeof restWait][] = [
  ['REST as JSON', 'application/json', restWait],
  ['REST as an event', 'text/event-stream', restWait],
  ['MCP as JSON', 'application/json', mcpWait],
  ['MCP as a stream', BOTH, mcpWait],
]

const ROUNDS = FULL ? 25 : 1

test.each(numbers(ROUNDS))(
  'three hundred waits and a hundred streams whose clients vanish leave no waiter behind: %s',
  async () => {
    const rooms = [await openRoom(server.url, 8), await openRoom(server.url, 8)]
    const seats = rooms.flatMap((room) => room.teams.map((team) => ({ room, team })))
    const waits = DOORS.flatMap(([, accept, ask], door) =>
      numbers(75).map((n) => {
        const { room, team } = seats[(n + door) % seats.length]!
        return dial(server.port, ask(room, team, accept))
      }),
    )
    const streams = numbers(100).map((n) => dial(server.port, stream(seats[n % seats.length]!.room, seats[n % seats.length]!.team)))
    await until(
      'all are held',
      25_000,
      async () => (await gauge(server.url, 'waits_held')) === 300 && (await gauge(server.url, 'streams_open')) === 100,
    )
    expect(await gauge(server.url, 'waiters')).toBe(400)
    await Bun.sleep(IDLE_AFTER_S * 1_000 + 500) // what was before the waits counts no more
    expect(await statusesIn(rooms)).toEqual(seats.map(() => 'active'))
    for (const { socket } of [...waits, ...streams]) socket.destroy()
    const freed = await until('no waiter is left', 10_000, async () => (await gauge(server.url, 'waiters')) === 0)
    await until(
      'nothing is counted as held',
      whileBusy(1_000),
      async () => (await gauge(server.url, 'waits_held')) + (await gauge(server.url, 'streams_open')) === 0,
    )
    await until('no connection to the database is held', LEFT_MS, async () => (await connections()).held === 0)
    expect((await connections()).open).toBeLessThanOrEqual(CONNECTIONS)
    // Well before the waits would have ended by themselves.
    await until('no team is shown as active', 15_000, async () => {
      await Bun.sleep(100)
      return !(await statusesIn(rooms)).includes('active')
    })
    console.log(`400 callers vanished: no waiter left after ${freed.toFixed(0)} ms`)
  },
  180_000,
)

const SEVERAL: typeof DOORS = [
  ['REST for several sessions', 'application/json', restAny],
  ['MCP for several sessions', BOTH, mcpAny],
]

test.each([...DOORS, ...SEVERAL])(
  'a single wait over %s ends when its client closes the connection',
  async (_, accept, ask) => {
    const room = await openRoom(server.url, 8)
    const line = dial(server.port, ask(room, room.teams[3]!, accept))
    await until('it is held', 25_000, async () => (await gauge(server.url, 'waits_held')) > 0)
    line.socket.end()
    line.socket.destroy()
    await until('no waiter is left', 10_000, async () => (await gauge(server.url, 'waiters')) === 0)
  },
  180_000,
)

test('a client that vanishes in the middle of its body is no fault of the server, and not logged as one', async () => {
  for (const path of ['/api/sessions', '/mcp', '/api/traces']) {
    const line = dial(
      server.port,
      requestText('POST', path, { accept: BOTH, 'content-type': 'application/json' }, '{"title":1}').slice(0, -5),
    )
    await Bun.sleep(200) // the server is reading the body by now
    line.socket.destroy()
  }
  await Bun.sleep(300)
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
  expect(server.output()).not.toContain('"level":"error"')
})

// What an open session page costs: rendering it, rendering one event for those who watch, and 2,000 viewers of one session at 50 events
// a second for 30 s. The server is then a process of its own, its viewers are raw sockets in this one. `bun bench/pages.ts`
import { connect, type Socket } from 'node:net'
import { freshDatabase, startPostgres } from '../tests/support/postgres.ts'
import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { SessionPage } from '../components/session/session-page.tsx'
import { rowsOf } from '../src/pages/session/feed.tsx'
import { stretchBefore } from '../src/pages/session/stretches.ts'
import { teamLookup } from '../src/pages/session/team-lookup.ts'
import { windowOf } from '../src/pages/session/window.tsx'
import { eventKindsOf } from '../src/core/events/event-kinds.ts'
import { toolsets } from '../src/toolsets.ts'
import { sessionViewOf } from '../src/pages/session/session.tsx'
import { existingSession } from '../src/rooms/preconditions.ts'
import { roster } from '../src/stores/members.ts'
import { sessionsWithDocs } from '../src/stores/live-state.ts'
import { load, metricsOf, newRoom, row, serveHere, serverProcess, spread, type Room } from './support.ts'

const VIEWERS = 2_000
const EVENTS_A_SECOND = 50
const SECONDS = 30
const MESSAGES = 100
const ROUNDS = 300
const FRAME = { theme: 'system', person: undefined, waiting: 0, path: '/', hrefOf: (name: string) => `/${name}` } as const
const TEXT = 'The relay stays as a **shadow** for seven days: it records with `processed_events`, and delivers nothing. '

// React is another one in production, and chosen when it is first imported.
if (process.env.NODE_ENV !== 'production') {
  const again = Bun.spawn([process.execPath, import.meta.path], {
    env: { ...process.env, NODE_ENV: 'production' },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  process.exit(await again.exited)
}

const postgres = await startPostgres()
load()
await rendering()
await viewers()
load()
await postgres.stop()
process.exit(0)

async function rendering() {
  const database = await freshDatabase(postgres.url)
  const { url, services, app, close } = await serveHere(database.url)
  const room = await newRoom(url)
  for (let n = 0; n < MESSAGES; n++) await say(url, room, `${n}. ${TEXT.repeat(1 + (n % 3))}`)
  const headers = { host: new URL(url).host, 'accept-encoding': 'gzip' }
  const answer = async () => (await app.fetch(new Request(`${url}/sessions/${room.session_id}`, { headers }))).arrayBuffer()
  const session = await existingSession(services.database, room.session_id)
  const teams = await roster(services.database, room.session_id)
  const feed = {
    services,
    queries: services.database,
    sessionId: room.session_id,
    teams: teamLookup(teams),
    kinds: eventKindsOf(toolsets),
  }
  const [watched] = await sessionsWithDocs(services.database, [room.session_id], 30)
  const view = await sessionViewOf(services, watched!, teams, windowOf(feed, watched!))
  const newest = await stretchBefore(services.database, room.session_id, session.lastSequence + 1)
  const render = async () => {
    const html = await rowsOf(feed, newest)
    const link = { url, base: url, token: false }
    renderToStaticMarkup(
      createElement(SessionPage, {
        frame: FRAME,
        session: { ...view, feed: { ...view.feed, html } },
        link,
        composer: { idempotencyKey: '' },
      }),
    )
  }
  row(`the page with ${MESSAGES} messages: rendered, ms`, `${spread(await timed(render))}  (aim: p50 5)`)
  row('read, rendered and packed, ms', spread(await timed(answer)))
  const { events } = newest
  let n = 0
  const one = async () => {
    const event = { ...events[1 + (n % (MESSAGES - 1))]!, content: { text: `${n++} ${TEXT}` } } // never the same text: the markdown is parsed each time
    await rowsOf(feed, { previous: events[0], events: [event] })
  }
  row("one event's row, ms", `${spread(await timed(one, 3_000), 3)}  (aim: p50 0.1)`)
  await close()
  await database.drop()
}

async function viewers() {
  const database = await freshDatabase(postgres.url)
  const server = await serverProcess(database.url)
  try {
    await watched(server.url)
  } finally {
    await server.stop()
    await database.drop()
  }
}

async function watched(url: string) {
  const room = await newRoom(url)
  await say(url, room, 'begin')
  await warmUp(url, room)
  const before = await metricsOf(url)
  const newest: number[] = []
  const oldest: number[] = []
  const watching = await Promise.all(Array.from({ length: VIEWERS }, () => watch(url, room, newest, oldest)))
  while ((await metricsOf(url)).streams_open! < VIEWERS) await Bun.sleep(100)
  await Bun.sleep(2_000)
  const open = await metricsOf(url)
  let last = 0
  const begin = performance.now()
  const posting: Promise<void>[] = []
  for (let n = 0; n < EVENTS_A_SECOND * SECONDS; n++) {
    await Bun.sleep(Math.max(0, begin + (n * 1000) / EVENTS_A_SECOND - performance.now()))
    posting.push(say(url, room, `${n} ${TEXT} at=${performance.now().toFixed(1)};`).then((cursor) => void (last = Math.max(last, cursor))))
  }
  await Promise.all(posting)
  const took = (performance.now() - begin) / 1000
  const after = await metricsOf(url)
  await Bun.sleep(2_000)
  const whole = watching.filter(({ cursor }) => cursor() === last).length
  row(
    `${VIEWERS} viewers, ${((EVENTS_A_SECOND * SECONDS) / took).toFixed(0)} events a second for ${took.toFixed(0)} s`,
    `${whole} have all of them, ${after.viewers_cut_total ?? 0} were cut`,
  )
  row('from the post to the newest event on the wire, ms', `${spread(newest, 0)}  (aim: p99 250)`)
  row('to the oldest one that came with it, ms', spread(oldest, 0))
  row(
    'memory for them, and more after the 30 s',
    `${mebibytes(open.resident_bytes! - before.resident_bytes!)} and ${mebibytes(after.resident_bytes! - open.resident_bytes!)} MiB  (aim: together at most 100)`,
  )
  for (const { socket } of watching) socket.destroy()
}

// The first connections pay for what is then there for all.
async function warmUp(url: string, room: Room) {
  const first = await Promise.all(Array.from({ length: VIEWERS / 10 }, () => watch(url, room, [], [])))
  await Bun.sleep(2_000)
  for (const { socket } of first) socket.destroy()
  while ((await metricsOf(url)).streams_open! > 0) await Bun.sleep(100)
}

function mebibytes(bytes: number) {
  return (bytes / 1024 / 1024).toFixed(0)
}

function watch(url: string, { session_id }: Room, newest: number[], oldest: number[]) {
  const { hostname, port, host } = new URL(url)
  let cursor = 0
  return new Promise<{ socket: Socket; cursor: () => number }>((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port) }, () =>
      socket.write(`GET /sessions/${session_id}/live?after=1 HTTP/1.1\r\nhost: ${host}\r\n\r\n`, () =>
        resolve({ socket, cursor: () => cursor }),
      ),
    )
    socket.on('data', (data: Buffer) => {
      const now = performance.now()
      const [first, final] = [timeAt(data, data.indexOf('at=')), timeAt(data, data.lastIndexOf('at='))]
      if (first !== undefined) oldest.push(now - first)
      if (final !== undefined) newest.push(now - final)
      const id = data.lastIndexOf('id: ')
      if (id >= 0) cursor = Number.parseInt(data.toString('latin1', id + 4, id + 20), 10)
    })
    socket.on('error', reject)
  })
}

// A mark may be cut in two by the network: it is then not counted.
function timeAt(data: Buffer, at: number): number | undefined {
  const time = at < 0 ? undefined : /^at=([\d.]+);/.exec(data.toString('latin1', at, at + 24))?.[1]
  return time === undefined ? undefined : Number(time)
}

async function say(url: string, { session_id, team_id }: Room, text: string): Promise<number> {
  const body = JSON.stringify({ content: { text } })
  const response = await fetch(`${url}/api/sessions/${session_id}/messages`, { method: 'POST', headers: { 'x-team-id': team_id }, body })
  return ((await response.json()) as { cursor: number }).cursor
}

async function timed(work: () => Promise<unknown>, rounds = ROUNDS): Promise<number[]> {
  const took: number[] = []
  for (let round = -rounds / 4; round < rounds; round++) {
    const begin = performance.now()
    await work()
    if (round >= 0) took.push(performance.now() - begin)
  }
  return took
}

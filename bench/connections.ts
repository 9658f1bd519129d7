// 10,000 waits held by one server process over REST, then over MCP, then as many held peeks: what each costs in memory, what it costs the
// database while nothing happens, and how long one post takes to wake them all. The server is a process of its own, and another one each
// time: how much memory it holds on to differs by a few KiB for each wait. `bun bench/connections.ts [REST] [MCP] [peek]`
import { connect, type Socket } from 'node:net'
import { freshDatabase, startPostgres } from '../tests/support/postgres.ts'
import { load, median, metricsOf, newRoom, row, serverProcess, spread, type Room } from './support.ts'

const WAITS = 10_000
const TEAMS = 400 // a team holds at most 32
const SETTLE_MS = 6_000
const ROUNDS = 5

const postgres = await startPostgres()
load()
const byDoor = new Map<Door, Measured[]>(chosen().map((door) => [door, []]))
for (let round = 0; round < ROUNDS; round++) for (const [door, each] of byDoor) each.push(await onServer(door))
for (const [door, each] of byDoor) {
  const kibibytes = each.map(({ bytes }) => bytes / 1024)
  const range = `${Math.min(...kibibytes).toFixed(1)} to ${Math.max(...kibibytes).toFixed(1)}`
  row(
    `${door}: memory of each of ${WAITS} that are held`,
    `${median(kibibytes).toFixed(1)} KiB, ${range}  (aim: at most ${door === 'MCP' ? 20 : 8})`,
  )
  row(`${door}: statements while all were idle`, `${median(each.map(({ statements }) => statements))} in ${SETTLE_MS / 1000} s`)
  row(
    `${door}: ${WAITS} woken after ms`,
    spread(
      each.flatMap(({ woken }) => woken),
      0,
    ),
  )
  row(
    `${door}: the last of them after ms`,
    `${spread(
      each.map(({ woken }) => Math.max(...woken)),
      0,
    )}  (aim: within 500)`,
  )
}
load()
await postgres.stop()
process.exit(0)

type Door = 'REST' | 'MCP' | 'peek'

function chosen(): Door[] {
  const doors: Door[] = ['REST', 'MCP', 'peek']
  const named = doors.filter((door) => process.argv.includes(door))
  return named.length > 0 ? named : doors
}

interface Measured {
  bytes: number // of memory, for each wait
  statements: number
  woken: number[] // after milliseconds
}

async function onServer(door: Door): Promise<Measured> {
  const database = await freshDatabase(postgres.url)
  const server = await serverProcess(database.url, { WAKES_PER_HOUR: '100000' })
  const measured = await measure(door, server.url)
  await server.stop()
  await database.drop()
  return measured
}

async function measure(door: Door, url: string): Promise<Measured> {
  const room = await newRoom(url)
  const tokens = [room.team_id]
  while (tokens.length < TEAMS) tokens.push(...(await Promise.all(Array.from({ length: 21 }, () => joined(url, room.session_id)))))
  const poster = await joined(url, room.session_id) // a team's own words do not wake it
  const { last_sequence } = await answerOf(url, `/api/sessions/${room.session_id}`, { 'x-team-id': room.team_id })
  const requestOf = { REST: restWait, MCP: mcpWait, peek: heldPeek }[door]
  const requests = tokens.map((token) => requestOf(url, room, token, last_sequence))
  const gauge = door === 'peek' ? 'peeks_held' : 'waits_held'
  await Bun.sleep(2_000)
  const before = await metricsOf(url)
  const sockets: Socket[] = []
  const woken: number[] = []
  let posted = 0
  for (let opened = 0; opened < WAITS; opened += 250) {
    await Promise.all(
      Array.from({ length: 250 }, (_, n) =>
        hold(url, requests[(opened + n) % requests.length]!, () => posted && woken.push(performance.now() - posted), sockets),
      ),
    )
  }
  while ((await metricsOf(url))[gauge]! < WAITS) await Bun.sleep(100)
  const held = await metricsOf(url)
  await Bun.sleep(SETTLE_MS)
  const idle = await metricsOf(url)
  posted = performance.now()
  await fetch(`${url}/api/sessions/${room.session_id}/messages`, {
    method: 'POST',
    headers: { 'x-team-id': poster },
    body: '{"content":"wake up"}',
  })
  while (woken.length < WAITS && performance.now() - posted < 20_000) await Bun.sleep(10)
  if (woken.length < WAITS) throw new Error(`Only ${woken.length} of ${WAITS} waits were woken.`)
  for (const socket of sockets) socket.destroy()
  return {
    bytes: (idle.resident_bytes! - before.resident_bytes!) / WAITS,
    statements: idle.database_statements! - held.database_statements!,
    woken,
  }
}

function hold(url: string, text: string, answered: () => void, sockets: Socket[]) {
  const { hostname, port } = new URL(url)
  return new Promise<void>((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port) }, () => socket.write(text, () => resolve()))
    let done = false
    socket.on('data', (data) => {
      const isAnswer = data.includes('"messages"') || data.includes('"wake":true')
      if (!done && isAnswer) answered()
      done ||= isAnswer
    })
    socket.on('error', reject)
    sockets.push(socket)
  })
}

function restWait(url: string, room: Room, token: string, cursor: number) {
  return `GET /api/sessions/${room.session_id}/wait?since_cursor=${cursor} HTTP/1.1\r\nhost: ${new URL(url).host}\r\nx-team-id: ${token}\r\n\r\n`
}

function heldPeek(url: string, room: Room, token: string, cursor: number) {
  return `GET /api/sessions/${room.session_id}/unread?timeout=30&after=${cursor} HTTP/1.1\r\nhost: ${new URL(url).host}\r\nx-team-id: ${token}\r\n\r\n`
}

function mcpWait(url: string, { session_id }: Room, team_id: string, since_cursor: number) {
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'wait_for_messages', arguments: { session_id, team_id, since_cursor } },
  })
  return `POST /mcp HTTP/1.1\r\nhost: ${new URL(url).host}\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\ncontent-length: ${body.length}\r\n\r\n${body}`
}

async function joined(url: string, session: string): Promise<string> {
  const response = await fetch(`${url}/api/sessions/${session}/join`, { method: 'POST', body: '{"team_name":"Bench"}' })
  return ((await response.json()) as Room).team_id
}

async function answerOf(url: string, path: string, headers: Record<string, string>) {
  return (await (await fetch(url + path, { headers })).json()) as { last_sequence: number }
}

// One address floods a server over real connections, with calls, sessions, waits, streams, and connections that say half a request and no
// more. Fifty teams elsewhere post and hear each other meanwhile; the flood is told to come later, and costs a bounded memory.
//   FULL=1 bun test tests/faults/flood.test.ts    80,000 calls, of which 20,000 for new sessions, 10,000 waits and 50,000 connections; the short
//   form has conformance/rate.test.ts
import { expect, test } from 'bun:test'
import { newSecret } from '../../src/core/ids.ts'
import { FULL } from '../support/full.ts'
import { startServer } from '../support/server.ts'
import { databaseOf } from './engines.ts'
import { call, expectSaid, gauge, numbers, openRoom, post, readFeed, until, wait, type Answer, type Room, type Send } from './rooms.ts'
import { dial, requestText, type Line } from './sockets.ts'

const CALLS = 80_000
const CALLERS = 20 // at once
const WAITS = 10_000
const CONNECTIONS = 50_000
const HELD = 4_000 // waits or connections, at once
const ROOMS = 25 // of two teams
const LEAST_ROUNDS = 3
const RATE_LIMIT = 120 // a minute
const OF_AN_ADDRESS = 20 * RATE_LIMIT
const MOST_BYTES = 600 * 1024 * 1024

const FLOOD = '10.0.0.1'
const MOST_HELD = 50
const LIMITS = {
  RATE_LIMIT: String(RATE_LIMIT),
  MAX_WAITS_PER_ADDRESS: String(MOST_HELD),
  MAX_STREAMS_PER_ADDRESS: String(MOST_HELD),
  TRUST_PROXY: 'true',
}

/** By way of a proxy, which says whose call it is. */
const from =
  (address: string): Send =>
  (request) => {
    request.headers.set('x-forwarded-for', address)
    return fetch(request)
  }

test.skipIf(!FULL)(
  'while one address floods, fifty teams elsewhere post and hear each other, and the memory stays bounded',
  async () => {
    const { environment, drop } = await databaseOf('postgres')
    const server = await startServer({ ...environment, ...LIMITS })
    const over = { now: false }
    try {
      const rooms = await Promise.all(numbers(ROOMS).map((n) => openRoom(server.url, 2, from(`10.0.1.${n}`))))
      const began = performance.now()
      const memory = watchMemory(server.url, over)
      const calm = rooms.map((room, n) => talk(room, from(`10.0.1.${n + 1}`), over))
      const flooded = await flood(server.url, server.port)
      over.now = true
      const said = await Promise.all(calm)
      const minutes = Math.ceil((performance.now() - began) / 60_000) + 1
      expect(flooded.refused).toBeGreaterThan(flooded.calls / 4)
      expect(flooded.granted).toBeLessThanOrEqual(minutes * OF_AN_ADDRESS)
      expect(flooded.held).toBeLessThanOrEqual(2 * MOST_HELD + ROOMS)
      expect(flooded.held).toBeGreaterThan(0)
      const most = await memory
      expect(most).toBeLessThan(MOST_BYTES)
      for (const [n, room] of rooms.entries()) {
        expect(said[n]!.length).toBeGreaterThanOrEqual(2 * LEAST_ROUNDS)
        expectSaid(await readFeed(room, from('10.0.2.1')), said[n]!)
      }
      await until('nothing of the flood is held', 60_000, async () => {
        await Bun.sleep(500)
        return (await figure(server.url, 'waiters')) === 0
      })
      console.log(
        `${flooded.calls} calls of a flood, ${flooded.granted} granted, ${flooded.held} waits and streams held at once; ${said.flat().length} posts of others; at most ${Math.round(most / 1024 / 1024)} MiB`,
      )
    } finally {
      over.now = true
      await server.remove()
      await drop()
    }
  },
  1_800_000,
)

let looks = 0
/** A figure of the server's, asked for from another address each time: nobody is to be refused for it. */
const figure = (url: string, name: string) => gauge(url, name, from(`10.1.${Math.floor(++looks / 250) % 250}.${looks % 250}`))

const heldAt = async (url: string): Promise<number> => (await figure(url, 'waits_held')) + (await figure(url, 'streams_open'))

/** The most memory that the server had, looked at once a second. */
const watchMemory = async (url: string, over: { now: boolean }): Promise<number> => {
  let most = 0
  while (!over.now) {
    most = Math.max(most, await figure(url, 'resident_bytes'))
    await Bun.sleep(1_000)
  }
  return most
}

/** Both teams of a room post, and one hears both, again and again; returns what they said. */
const talk = async (room: Room, send: Send, over: { now: boolean }): Promise<string[]> => {
  const [alex, bea] = room.teams as [string, string]
  const said: string[] = []
  const granted = async (ask: () => Promise<Answer>): Promise<any> => {
    for (;;) {
      const { status, body } = await ask()
      expect([200, 503]).toContain(status) // again after a 503, on a busy machine
      if (status === 200) return body
      await Bun.sleep(200)
    }
  }
  for (let round = 1; round <= LEAST_ROUNDS || !over.now; round++) {
    const before = said.length + 1 // bea joined with an event
    for (const [team, name] of [
      [alex, 'Alex'],
      [bea, 'Bea'],
    ] as const) {
      const text = `from ${name} ${round}`
      await granted(() => post(room, text, { team, key: text, send }))
      said.push(text)
    }
    const { messages } = await granted(() => wait(room, before, { team: alex, timeout: 20, send }))
    expect(messages.map(({ content }: { content: { text: string } }) => content.text)).toEqual(said.slice(-2))
    await Bun.sleep(1_500) // within their own limit
  }
  return said
}

interface Flooded {
  calls: number
  granted: number
  refused: number
  /** Waits and streams that were held at once, at the most: those of the others too. */
  held: number
}

/** All that one address can think of; returns what became of its calls. */
const flood = async (url: string, port: number): Promise<Flooded> => {
  const send = from(FLOOD)
  const [room, quiet] = [await openRoom(url, 3, send), await openRoom(url, 4, send)]
  const flooded: Flooded = { calls: 0, granted: 0, refused: 0, held: 0 }
  const nextCall = (n: number): Promise<Answer> => {
    const body = { title: `number ${n}`, description: '', creator_team_name: "Eve's Team" }
    if (n % 4 === 0) return call(url, 'POST', '/api/sessions', { body, send })
    const invented = `${crypto.randomUUID()}.${newSecret()}`
    return post(room, `number ${n}`, { team: n % 4 === 1 ? room.teams[n % 3]! : invented, send })
  }
  const caller = async () => {
    while (flooded.calls < CALLS) {
      const { status, headers } = await nextCall(flooded.calls++)
      if (status !== 429) {
        flooded.granted++
        continue
      }
      flooded.refused++
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    }
  }
  const inWaves = async (all: number, open: (n: number) => Line) => {
    for (let begun = 0; begun < all; begun += HELD) {
      const lines = numbers(Math.min(HELD, all - begun)).map((n) => open(begun + n))
      await Bun.sleep(1_000)
      flooded.held = Math.max(flooded.held, await heldAt(url))
      for (const { socket } of lines) socket.destroy()
    }
  }
  const headers = { 'x-forwarded-for': FLOOD }
  const path = `/api/sessions/${quiet.session}`
  const waitOrStream = (n: number) =>
    n % 3
      ? dial(port, requestText('GET', `${path}/wait?since_cursor=3&timeout=30`, { ...headers, 'x-team-id': quiet.teams[n % 4]! }))
      : dial(port, requestText('GET', `${path}/stream`, headers))
  const halfARequest = () => dial(port, 'POST /api/sessions HTTP/1.1\r\nhost: localhost\r\ncontent-le')
  const holding = inWaves(WAITS, waitOrStream)
  await until('some are held', 60_000, async () => (await heldAt(url)) > 0) // before calls have spent what the address may
  await Promise.all([...numbers(CALLERS).map(caller), holding, inWaves(CONNECTIONS, halfARequest)])
  return flooded
}

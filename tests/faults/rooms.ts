// A session as these tests use one: opened, joined, written and read over REST, and checked against exact sets.
import { expect } from 'bun:test'
import { expectFaultless, type Entry } from './checker.ts'

export interface Item {
  id: string
  sequence: number
  type: string
  event?: string
  content?: { text: string }
}
export interface Room {
  url: string
  session: string
  teams: string[] // their tokens; the convener's first
}
/** An answer of any status: each test says which one it expects. */
export interface Answer {
  status: number
  body: any
  headers: Headers
}
export type Send = (request: Request) => Response | Promise<Response>

const CALL_WITHIN_MS = 45_000

export const call = async (
  url: string,
  method: string,
  path: string,
  { team, body, key, send = fetch }: { team?: string | undefined; body?: unknown; key?: string; send?: Send } = {},
): Promise<Answer> => {
  const headers = new Headers({ host: new URL(url).host })
  if (team) headers.set('x-team-id', team)
  if (key) headers.set('idempotency-key', key)
  if (body !== undefined) headers.set('content-type', 'application/json')
  const response = await send(
    new Request(`${url}${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(CALL_WITHIN_MS),
    }),
  )
  const text = await response.text()
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text), headers: response.headers }
}

const NAMES = ["Alex's Team", "Bea's Team", "Chris's Team", "Dana's Team", "Eli's Team", "Fay's Team", "Gus's Team", "Hana's Team"]

/** The answer of a machine that is busy with other tests, and may not answer in time: after a 503 the same is sent again. */
export const whileUnavailable = async (send: () => Promise<Answer>): Promise<Answer> => {
  for (let tried = 1; ; tried++) {
    const answer = await send()
    if (answer.status !== 503 || tried === 20) return answer
    await Bun.sleep(500)
  }
}

/** A session with so many teams; its feed holds one `team_joined` for each but the convener. */
export const openRoom = async (url: string, teams = 2, send: Send = fetch): Promise<Room> => {
  const body = { title: 'Shipping the parser', description: '', creator_team_name: NAMES[0] }
  const key = crypto.randomUUID()
  const created = await whileUnavailable(() => call(url, 'POST', '/api/sessions', { body, key, send }))
  expect(created.status).toBe(200)
  const room: Room = { url, session: created.body.session_id, teams: [created.body.team_id] }
  for (let n = 1; n < teams; n++) room.teams.push(await join(room, NAMES[n % NAMES.length]!, send))
  return room
}

export const join = async ({ url, session }: Room, name: string, send: Send = fetch): Promise<string> => {
  const key = crypto.randomUUID()
  const joined = await whileUnavailable(() => call(url, 'POST', `/api/sessions/${session}/join`, { body: { team_name: name }, key, send }))
  expect(joined.status).toBe(200)
  return joined.body.team_id as string
}

export const post = (
  { url, session, teams }: Room,
  text: string,
  { team = teams[0]!, key, send }: { team?: string; key?: string; send?: Send } = {},
) =>
  call(url, 'POST', `/api/sessions/${session}/messages`, {
    team,
    body: { content: { text } },
    ...(key ? { key } : {}),
    ...(send ? { send } : {}),
  })

export const wait = (
  { url, session, teams }: Room,
  since: number,
  { team = teams[0]!, timeout = 10, send }: { team?: string; timeout?: number; send?: Send } = {},
) => call(url, 'GET', `/api/sessions/${session}/wait?since_cursor=${since}&timeout=${timeout}`, { team, ...(send ? { send } : {}) })

/** The whole feed, read at once. */
export const readFeed = async (room: Room, send?: Send): Promise<Item[]> => {
  const items: Item[] = []
  for (;;) {
    const { status, body } = await wait(room, items.at(-1)?.sequence ?? 0, { timeout: 0, ...(send ? { send } : {}) })
    expect(status).toBe(200)
    items.push(...body.messages)
    if (!body.has_more) return items
  }
}

const OVER_AFTER_MS = 10_000 // the database ends a statement after five seconds

/** A post without a key, as `whileUnavailable`: after a 503 it is looked for, once it is certain that it is not still being written. */
export const postSurely = async (room: Room, text: string, as: Parameters<typeof post>[2] = {}): Promise<Answer> =>
  whileUnavailable(async () => {
    const answer = await post(room, text, as)
    if (answer.status !== 503) return answer
    await Bun.sleep(OVER_AFTER_MS)
    const written = (await readFeed(room, as.send)).find(({ content }) => content?.text === text)
    return written ? { ...answer, status: 200, body: { cursor: written.sequence } } : answer
  })

/** Waits without pause until `last` was seen, as an agent does; `seen` is called with each item. */
export const follow = async (room: Room, team: string, last: number, seen: (item: Item) => void = () => {}): Promise<Item[]> => {
  const items: Item[] = []
  while ((items.at(-1)?.sequence ?? 0) < last) {
    const { status, body } = await wait(room, items.at(-1)?.sequence ?? 0, { team })
    expect(status).toBe(200)
    for (const item of body.messages as Item[]) seen(item)
    items.push(...body.messages)
  }
  return items
}

/** Follows the stream until `last` was seen, cut `cuts` times on the way, going on each time from the last event it has. */
export const followStream = async (room: Room, last: number, cuts: number, seen: (item: Item) => void = () => {}): Promise<Item[]> => {
  const items: Item[] = []
  const lastId = () => items.at(-1)?.sequence ?? 0
  for (let cut = 0; lastId() < last; cut++) {
    const until = cut < cuts ? Math.floor(((cut + 1) * last) / (cuts + 1)) : last
    const line = new AbortController()
    const silence = setTimeout(() => line.abort(new Error(`the stream was silent for ${CALL_WITHIN_MS} ms`)), CALL_WITHIN_MS)
    const response = await fetch(`${room.url}/api/sessions/${room.session}/stream`, {
      headers: { 'x-team-id': room.teams[0]!, ...(cut > 0 ? { 'last-event-id': String(lastId()) } : {}) },
      signal: line.signal,
    })
    expect(response.status).toBe(200)
    for await (const { id, data } of frames(response.body!)) {
      if (id === undefined) continue
      silence.refresh()
      const item = JSON.parse(data!) as Item
      expect(id).toBe(String(item.sequence))
      items.push(item)
      seen(item)
      if (item.sequence >= until) break
    }
    clearTimeout(silence)
    line.abort()
  }
  return items
}

export interface Frame {
  id?: string
  event?: string
  data?: string
  retry?: string
}

/** One block of a stream of events: what stands between two empty lines. */
export const frameOf = (block: string): Frame => {
  const frame: Frame = {}
  for (const line of block.split('\n')) {
    const [, field, value] = /^(id|event|data|retry): (.*)$/s.exec(line) ?? []
    if (field) frame[field as keyof Frame] = value!
  }
  return frame
}

export async function* frames(body: ReadableStream<Uint8Array>): AsyncGenerator<Frame> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
    rest += decoder.decode(chunk, { stream: true })
    const blocks = rest.split('\n\n')
    rest = blocks.pop()!
    for (const block of blocks) yield frameOf(block)
  }
}

/** What a reader was given from the beginning, as the checker takes it: one session, unless they are named. */
export const readBy = (reader: string, items: Item[], session = 'the session'): Extract<Entry, { op: 'read' }> => ({
  op: 'read',
  session,
  reader,
  since: 0,
  events: items.map(({ sequence, id, type, content }) => ({ sequence, id, text: type === 'chat' ? content!.text : undefined })),
})

export const sent = (text: string, session = 'the session'): Entry => ({ op: 'send', session, text })

export const acked = (text: string, sequence?: number, writer?: string, session = 'the session'): Entry => ({
  op: 'ack',
  session,
  text,
  sequence,
  writer,
})

export const expectUnbroken = (items: Item[], last: number) => {
  expectFaultless([readBy('the reader', items)])
  expect(items).toHaveLength(last)
}

/** Every text exactly once, and nothing else was said. */
export const expectSaid = (items: Item[], texts: string[]) =>
  expectFaultless([...texts.map((text) => acked(text)), readBy('the reader', items)])

export const textsOf = (items: Item[]): string[] => items.flatMap(({ type, content }) => (type === 'chat' ? [content!.text] : []))

export const numbers = (last: number): number[] => Array.from({ length: last }, (_, i) => i + 1)

/** One figure of /metrics. */
export const gauge = async (url: string, name: string, send: Send = fetch): Promise<number> => {
  const response = await send(new Request(`${url}/metrics`, { headers: { host: new URL(url).host } }))
  const found = new RegExp(`^parley_${name} (\\S+)$`, 'm').exec(await response.text())
  if (!found) throw new Error(`There is no metric ${name}.`)
  return Number(found[1])
}

/** Milliseconds until `check` holds; fails after `withinMs`. */
export const until = async (what: string, withinMs: number, check: () => boolean | Promise<boolean>): Promise<number> => {
  const from = performance.now()
  for (let pauseMs = 5; !(await check()); pauseMs = Math.min(2 * pauseMs, 50)) {
    if (performance.now() - from > withinMs) throw new Error(`${what}: not within ${withinMs} ms`)
    await Bun.sleep(pauseMs)
  }
  return performance.now() - from
}

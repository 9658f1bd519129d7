// A whole Parley without a port: the app on a real database, called through each of its doors.
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterAll, beforeAll, describe, expect } from 'bun:test'
import { Hono } from 'hono'
import type { Database } from '../../db/database.ts'
import { migrate } from '../../db/migrate.ts'
import { openPostgres } from '../../db/postgres.ts'
import { createApp, type Parts } from '../../src/app.ts'
import { readConfig } from '../../src/config.ts'
import { STATUS, type ErrorCode } from '../../src/core/errors.ts'
import { uuid7 } from '../../src/core/ids.ts'
import { createLog } from '../../src/core/log.ts'
import { utf8Bytes } from '../../src/core/text.ts'
import { signIn, type Person } from '../../src/doors/http/cookies.ts'
import type { Env } from '../../src/doors/http/http.ts'
import { createServices } from '../../src/process/services.ts'
import { eventOf } from '../../src/stores/events.ts'
import type { Draft } from '../../src/log/append.ts'
import { toolsets } from '../../src/toolsets.ts'
import { embeddedDatabase } from './pglite.ts'
import { freshDatabase, startPostgres, type TestPostgres } from './postgres.ts'

export const BASE = 'http://127.0.0.1:7423'
export type Environment = Record<string, string>
export type Engine = (typeof engines)[number][0]

interface Opened {
  database: Database
  url?: string // of a Postgres
  drop(): Promise<void>
}

const inMemory = async (): Promise<Opened> => ({ database: await embeddedDatabase(), drop: async () => {} })

let server: Promise<TestPostgres> | undefined
const onServer = async (): Promise<Opened> => {
  server ??= startPostgres() // one of our own when TEST_DATABASE_URL is unset; it ends with this process
  const { url, drop } = await freshDatabase((await server).url)
  return { database: await openPostgres(url), url, drop }
}

export const engines = [
  ['pglite', inMemory],
  ['postgres', onServer],
] as const

/** Who calls, and with which key; the transport decides how these travel. */
export interface As {
  team?: string | undefined
  person?: string | undefined // a cookie of `cookieOf`; REST alone
  key?: string | undefined
  signal?: AbortSignal
  headers?: Record<string, string>
}
export interface Answer {
  ok: boolean
  body: any // the data, or the error object
  replayed?: boolean // REST alone
}
export type Call = (name: string, input?: Record<string, unknown>, as?: As) => Promise<Answer>
export interface Sending {
  method?: string
  headers?: Record<string, string>
  body?: BodyInit
  signal?: AbortSignal
  address?: string
}

export type Parley = Awaited<ReturnType<typeof startParley>>

export const startParley = async ({ engine = 'pglite', env = {} }: { engine?: Engine; env?: Environment } = {}) => {
  const [, open] = engines.find(([name]) => name === engine)!
  const { database, url, drop }: Opened = await open()
  await migrate(database)
  const first = await serve(database, env)
  const others: { close(): Promise<void> }[] = []
  /** The same database behind other switches. */
  const beside = async (otherEnv: Environment, parts?: Parts) => {
    const other = await serve({ ...database, close: async () => {} }, otherEnv, parts)
    others.push(other)
    return other
  }
  const close = async () => {
    for (const other of others) await other.close()
    await first.close()
    await drop()
  }
  return { ...first, engine, url, beside, close }
}

export type Served = Awaited<ReturnType<typeof serve>>

const serve = async (database: Database, env: Environment, parts?: Parts) => {
  const logged: string[] = []
  const services = await createServices(
    database,
    readConfig(env),
    createLog('debug', (line) => void logged.push(line), false),
  )
  const app = await createApp(services, parts)
  const send = async (path: string, { method, headers, address, ...rest }: Sending = {}): Promise<Response> => {
    const init = { method: method ?? (rest.body === undefined ? 'GET' : 'POST'), headers: { host: new URL(BASE).host, ...headers } }
    return app.fetch(new Request(`${BASE}${path}`, { ...init, ...rest }), address ? { address } : {})
  }
  const clients = new Map<string, Promise<Client>>()
  /** The SDK's client, connected once for each path. */
  const client = (path = '/mcp', headers: Record<string, string> = {}): Promise<Client> => {
    const key = `${path} ${JSON.stringify(headers)}`
    const made = clients.get(key) ?? connected(app, path, headers)
    clients.set(key, made)
    return made
  }
  return {
    app,
    services,
    database,
    logged,
    send,
    client,
    async close() {
      for (const made of clients.values()) await (await made.catch(() => undefined))?.close()
      await services.close()
    },
  }
}

const connected = async (app: Served['app'], path: string, headers: Record<string, string>): Promise<Client> => {
  const client = new Client({ name: 'conformance', version: '1.0.0' })
  const transport = new StreamableHTTPClientTransport(new URL(`${BASE}${path}`), {
    fetch: async (url, init) => {
      const request = new Request(url, init as RequestInit)
      request.headers.set('host', new URL(BASE).host)
      for (const [name, value] of Object.entries(headers)) request.headers.set(name, value)
      return app.fetch(request, {})
    },
  })
  await client.connect(transport as Parameters<Client['connect']>[0])
  return client
}

export const operations = toolsets.flatMap((toolset) => toolset.operations)
export const operationNamed = (name: string) => {
  const found = operations.find((operation) => operation.name === name)
  if (!found) throw new Error(`there is no operation ${name}`)
  return found
}

/** The REST request of an operation: its route's path, a query for GET, a JSON body for POST. */
export const restRequest = (name: string, input: Record<string, unknown> = {}, { team, person, key, signal, headers }: As = {}) => {
  const [method, route] = operationNamed(name).route
  const inPath = [...route.matchAll(/:(\w+)/g)].map(([, field]) => field!)
  const path = route.replace(/:(\w+)/g, (_, field) => encodeURIComponent(String(input[field])))
  const rest = Object.entries(input).filter(([field, value]) => !inPath.includes(field) && value !== undefined)
  const query = new URLSearchParams(rest.flatMap(([field, value]) => [value].flat().map((one) => [field, String(one)])))
  return {
    path: `/api${path}${method === 'GET' && rest.length > 0 ? `?${query}` : ''}`,
    sending: {
      method,
      headers: {
        ...(team !== undefined && { 'x-team-id': team }),
        ...(person !== undefined && { cookie: person }),
        ...(key !== undefined && { 'idempotency-key': key }),
        ...(method === 'POST' && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(method === 'POST' && { body: JSON.stringify(Object.fromEntries(rest)) }),
      ...(signal && { signal }),
    } satisfies Sending,
  }
}

export const viaRest =
  ({ send }: Served): Call =>
  async (name, input, as) => {
    const { path, sending } = restRequest(name, input, as)
    const response = await send(path, sending)
    const body = (await response.json()) as any
    expect(response.headers.get('content-type')).toStartWith('application/json')
    expect(response.status).toBe(body.error ? STATUS[body.error.code as ErrorCode] : 200)
    if (body.error) expect(Object.keys(body)).toEqual(['error'])
    return checked(name, !body.error, body.error ?? body, response.headers.get('idempotency-replayed') === 'true')
  }

export const viaMcp =
  ({ client }: Served): Call =>
  async (name, input = {}, { team, key, signal, headers } = {}) => {
    const given = { ...input, ...(team !== undefined && { team_id: team }), ...(key !== undefined && { idempotency_key: key }) }
    const result = await (
      await client('/mcp', headers)
    ).callTool({ name, arguments: given }, undefined, { timeout: 60_000, ...(signal && { signal }) })
    const body = result.structuredContent as any
    expect((result.content as { text: string }[])[0]!.text).toBe(JSON.stringify(body))
    return result.isError ? checked(name, false, body.error) : checked(name, true, body)
  }

export const transports = [
  ['REST', viaRest],
  ['MCP', viaMcp],
] as const

const ALWAYS = ['unauthorized', 'invalid_request', 'secret_in_text', 'idempotency_mismatch', 'not_found', 'unavailable']
const TOKEN = /[0-9a-f-]{36}\.[A-Za-z0-9_-]{32}/

// What holds for every answer whatsoever: nothing undeclared, no credential after it was handed out, nothing of our inside.
const checked = (name: string, ok: boolean, body: any, replayed?: boolean): Answer => {
  const operation = operationNamed(name)
  if (ok) {
    expect(operation.output.parse(body), `${name} answers with what it declares`).toEqual(body)
  } else {
    expect(Object.keys(body).toSorted()).toEqual(['code', 'details', 'message'])
    expect([...operation.refuses, ...ALWAYS], `${name} refuses with a code that it declares: ${body.message}`).toContain(body.code)
    expect(body.message).not.toMatch(/\bat .*\.ts\b|\b(select|insert|update) .*\b(from|into|set)\b|node_modules/i)
  }
  const { team_id: _, url: __, ...rest } = body
  expect(JSON.stringify(operation.issues ? rest : body), `${name} holds no credential`).not.toMatch(TOKEN)
  return { ok, body, ...(replayed !== undefined && { replayed }) }
}

/** A team in a session: calls with its credential and the session's id filled in. */
export type Seat = ((name: string, input?: Record<string, unknown>, as?: As) => Promise<Answer>) & {
  token: string
  handle: string
  team: string
  cursor: number
}
export const seat = (call: Call, { session_id, team_id, handle, team_name, cursor }: any): Seat =>
  Object.assign((name: string, input = {}, as: As = {}) => call(name, { session_id, ...input }, { team: team_id, ...as }), {
    token: team_id as string,
    handle: handle as string,
    team: team_name as string,
    cursor: cursor as number,
  })

export const TITLE = 'Shipping the parser'

/** The session "Shipping the parser": Alex's Team convenes, Bea's Team has joined (event 1). */
export const room = async (call: Call, more: Record<string, unknown> = {}) => {
  const made = await done(
    call('create_session', { title: TITLE, description: 'Decide what goes out.', creator_team_name: "Alex's Team", ...more }),
  )
  const joined = await done(call('join_session', { session_id: made.session_id, team_name: "Bea's Team" }))
  return { id: made.session_id as string, alex: seat(call, made), bea: seat(call, joined) }
}

/** The data of a call that is expected to succeed. */
export const done = async (pending: Promise<Answer>): Promise<any> => {
  const { ok, body } = await pending
  if (!ok) throw new Error(`refused: ${JSON.stringify(body)}`)
  return body
}

/** The error of a call that is expected to be refused, with this code. */
export const refused = async (pending: Promise<Answer>, code: ErrorCode): Promise<{ code: string; message: string; details: any }> => {
  const { ok, body } = await pending
  expect(ok ? 'it succeeded' : `${body.code}`, JSON.stringify(body).slice(0, 300)).toBe(code)
  return body
}

export const say = async (who: Seat, text: string, more: Record<string, unknown> = {}) =>
  done(who('post_message', { content: { text }, ...more }))

/** A team's message as the log takes it, past all doors. */
export const chat = (sessionId: string, teamId: string, text: string, more: Partial<Draft> = {}): Draft => ({
  sessionId,
  type: 'chat',
  author: 'team',
  teamId,
  holder: teamId,
  content: { text },
  ...more,
})

/** The whole feed of a session, from its first event. */
export const feedOf = async (who: Seat, more: Record<string, unknown> = {}): Promise<any[]> => {
  const messages: any[] = []
  for (let cursor = 0; ;) {
    const page = await done(who('wait_for_messages', { since_cursor: cursor, timeout: 0, ...more }))
    messages.push(...page.messages)
    if (!page.has_more) return messages
    cursor = page.next_cursor
  }
}

/** Turns true within so many seconds, or the test fails. */
export const soon = async (what: string, holds: () => boolean | Promise<boolean>, seconds = 2) => {
  for (const until = performance.now() + seconds * 1_000; performance.now() < until; await Bun.sleep(5)) if (await holds()) return
  throw new Error(`not within ${seconds} s: ${what}`)
}

/** A signed-in person's cookie. */
export const cookieOf = async ({ services }: Served, person: Person): Promise<string> => {
  const app = new Hono<Env>().get('/', (c) => (signIn(c, services, person), c.body(null)))
  const response = await app.request(`${BASE}/`, { headers: { host: '127.0.0.1' } })
  return response.headers.get('set-cookie')!.split(';')[0]!
}

/** An event of the trace, as a runner or an import would leave it. */
export const leaveTrace = async ({ database, services }: Served, sessionId: string, type: string, text: string): Promise<number> => {
  const content = { text }
  const id = uuid7()
  const row = await database.transaction(async ({ query }) => {
    const [head] = await query<{ sequence: number; turn: number }>(
      'update sessions set last_sequence = last_sequence + 1 where id = $1 returning last_sequence as sequence, greatest(turn, 1) as turn',
      [sessionId],
    )
    const { sequence, turn } = head!
    const [written] = await query<{ at: string }>(
      `insert into events (session_id, sequence, id, turn, ordinal, type, author, content, size, at)
       values ($1, $2, $3, $4, 1, $5, 'agent', $6::text::jsonb, $7, clock_timestamp()) returning at`,
      [sessionId, sequence, id, turn, type, JSON.stringify(content), utf8Bytes(JSON.stringify(content))],
    )
    return { sequence, turn, at: written!.at }
  })
  const none = { author_name: null, posted_by_team_id: null, reply_to: null, to_team_ids: null }
  services.publish(sessionId, [eventOf({ id, type, author: 'agent', content, ...none, ...row })])
  return row.sequence
}

/** The body's tests on each engine, with one server for all of them. */
export const onEveryEngine = (body: (parley: () => Parley, engine: Engine) => void, env: Environment = {}) => {
  for (const [engine] of engines) {
    describe(`on ${engine}`, () => {
      let parley: Parley
      beforeAll(async () => {
        parley = await startParley({ engine, env })
      }, 60_000)
      afterAll(() => parley?.close(), 60_000)
      body(() => parley, engine)
    })
  }
}

/** The body's tests over each transport on each engine. */
export const throughEveryDoor = (body: (call: Call, parley: () => Parley, transport: 'REST' | 'MCP') => void, env: Environment = {}) =>
  onEveryEngine((parley) => {
    for (const [transport, via] of transports) {
      describe(`over ${transport}`, () => body((...call) => via(parley())(...call), parley, transport))
    }
  }, env)

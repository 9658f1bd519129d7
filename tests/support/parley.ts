// A whole Parley without a port: the app on a real database, called through each of its doors.
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport, StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterAll, describe, expect } from 'bun:test'
import { Hono } from 'hono'
import type { Database } from '../../db/database.ts'
import { migrate } from '../../db/migrate.ts'
import { openPostgres } from '../../db/postgres.ts'
import { createApp, type AppOptions } from '../../src/app.ts'
import { readConfig } from '../../src/config.ts'
import { STATUS, type ErrorCode } from '../../src/core/errors.ts'
import { uuid7 } from '../../src/core/ids.ts'
import { createLog } from '../../src/core/runtime/log.ts'
import { utf8Bytes } from '../../src/core/text/text.ts'
import { signIn, type Person } from '../../src/doors/http/cookies.ts'
import type { Env } from '../../src/doors/http/http.ts'
import { createServices, type Options } from '../../src/process/services.ts'
import { eventOf } from '../../src/stores/events.ts'
import type { Draft } from '../../src/log/append.ts'
import { ownTools, toolsets } from '../../src/toolsets.ts'
import { beforeAll, foreignSummary, foreignUrl, onlyInProcess } from './foreign.ts'
import { FULL } from './full.ts'
import { holdLock, waitingForLocks } from './held-lock.ts'
import { embeddedDatabase } from './pglite.ts'
import { freshDatabase, startPostgres, type TestPostgres } from './postgres.ts'

export const BASE = foreignUrl ?? 'http://127.0.0.1:7423'
export type Environment = Record<string, string>
export type Engine = (typeof engines)[number][0]

export interface Opened {
  database: Database
  url?: string // of a Postgres
  drop(): Promise<void>
}

const inMemory = async (): Promise<Opened> => ({ database: await embeddedDatabase(), drop: async () => {} })

let server: Promise<TestPostgres> | undefined
const onServer = async (): Promise<Opened> => {
  server ??= startPostgres() // starts a Postgres when TEST_DATABASE_URL is unset; it ends with this process
  const { url, drop } = await freshDatabase((await server).url)
  return { database: await openPostgres(url), url, drop }
}

export const engines = [
  ['pglite', inMemory],
  ['postgres', onServer],
] as const

/** The caller's credential and idempotency key; the transport decides how they are sent. */
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

/** The interval of a background job that is not to run. */
export const NEVER_MS = 2 ** 31 - 1

/** `jobs`, `intervals` and `clock` are those of createServices, here and at every instance beside. */
interface Start extends Options {
  engine?: Engine
  env?: Environment
  /** A database to use in place of an empty one of `engine`. */
  opened?: Opened
}

export const startParley = async (start: Start = {}): Promise<Parley> =>
  foreignUrl === undefined ? ownParley(start) : foreignParley(start)

export type Parley = Awaited<ReturnType<typeof ownParley>>

const ownParley = async ({ engine = 'pglite', env = {}, opened, ...options }: Start) => {
  const [, open] = engines.find(([name]) => name === engine)!
  const { database, url, drop } = opened ?? (await open())
  await migrate(database)
  const first = await serve(database, env, options)
  const others = new Set<() => Promise<void>>()
  /** A second instance on the same database, with other environment variables, parts or background intervals. */
  const beside = async (otherEnv: Environment, parts?: AppOptions, more: Options = {}) => {
    const other = await serve({ ...database, close: async () => {} }, otherEnv, { ...options, ...more }, parts)
    const close = async () => void (others.delete(close) && (await other.close()))
    others.add(close)
    return { ...other, close }
  }
  const close = async () => {
    for (const closeOther of others) await closeOther()
    await first.close()
    await drop()
  }
  return { ...first, engine, url, beside, close }
}

export type Served = Awaited<ReturnType<typeof serve>>

const serve = async (database: Database, env: Environment, options: Options, parts?: AppOptions) => {
  const logged: string[] = []
  const services = await createServices(
    database,
    readConfig(env),
    createLog('debug', (line) => void logged.push(line), false),
    { ownTools, ...options },
  )
  const app = await createApp(services, parts)
  const send = async (path: string, { address, ...sending }: Sending = {}): Promise<Response> =>
    app.fetch(requestOf(path, sending), address ? { address } : {})
  const { client, disconnect } = clientsOf((request) => app.fetch(request, {}))
  return {
    app,
    services,
    database,
    logged,
    send,
    client,
    async close() {
      await disconnect()
      await services.close()
    },
  }
}

/** The server at PARLEY_URL in the shape of ownParley: what only a server in this process has skips the test that asks for it. */
const foreignParley = async ({ env = {}, intervals: _, ...options }: Start): Promise<Parley> => {
  const switches = Object.keys({ ...env, ...options }).filter((name) => name !== 'engine')
  if (switches.length > 0) onlyInProcess(`switches of their own (${switches.join(', ')})`)
  const answers = await fetch(`${BASE}/readyz`).catch(() => undefined)
  if (!answers?.ok) throw new Error(`PARLEY_URL: no Parley is ready at ${BASE}.`)
  const { client } = clientsOf((request) => fetch(request))
  const reachable = {
    engine: 'pglite' as const,
    client,
    send: async (path: string, { address, ...sending }: Sending = {}) =>
      address === undefined ? fetch(requestOf(path, sending)) : onlyInProcess('callers at other addresses'),
    close: async () => {}, // a test that was skipped half-way may still have calls under way
    beside: () => onlyInProcess('switches of their own'),
  }
  return new Proxy(reachable as unknown as Parley, {
    get: (parley, name) =>
      name in parley || typeof name === 'symbol' || name === 'then' ? parley[name as 'send'] : onlyInProcess(IN_PROCESS[name] ?? name),
  })
}

const IN_PROCESS: Record<string, string> = { services: 'the process’s own services', database: 'the database itself', logged: 'the log' }

export const requestOf = (path: string, { method, headers, ...rest }: Omit<Sending, 'address'>): Request =>
  new Request(`${BASE}${path}`, {
    method: method ?? (rest.body === undefined ? 'GET' : 'POST'),
    headers: { host: new URL(BASE).host, ...headers },
    redirect: 'manual',
    ...rest,
  })

export const clientsOf = (answer: (request: Request) => Response | Promise<Response>) => {
  const clients = new Map<string, Promise<Client>>()
  /** The SDK's client, connected once for each path. */
  const client = (path = '/mcp', headers: Record<string, string> = {}): Promise<Client> => {
    const connection = `${path} ${JSON.stringify(headers)}`
    const made = clients.get(connection) ?? connect(answer, path, headers)
    clients.set(connection, made)
    return made
  }
  const disconnect = async () => {
    for (const made of clients.values()) await (await made.catch(() => undefined))?.close()
  }
  return { client, disconnect }
}

const connect = async (answer: (request: Request) => Response | Promise<Response>, path: string, headers: Record<string, string>) => {
  const client = new Client({ name: 'conformance', version: '1.0.0' })
  const transport = new StreamableHTTPClientTransport(new URL(`${BASE}${path}`), {
    fetch: async (url, init) => {
      const request = new Request(url, init as RequestInit)
      request.headers.set('host', new URL(BASE).host)
      for (const [name, value] of Object.entries(headers)) request.headers.set(name, value)
      return answer(request)
    },
  })
  await client.connect(transport as Parameters<Client['connect']>[0])
  return client
}

/** Every operation under the name that tests call it by: `history.open`, and without a toolset for those of rooms. */
const byName = new Map(
  toolsets.flatMap(({ name: toolset, operations }) =>
    operations.map((operation) => [toolset === 'rooms' ? operation.name : `${toolset}.${operation.name}`, operation] as const),
  ),
)

export const operations = [...byName].map(([fullName, operation]) => ({ ...operation, fullName }))
export const operationNamed = (name: string) => {
  const operation = byName.get(name)
  if (!operation) throw new Error(`there is no operation ${name}`)
  return operation
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
    const [tool, toolset = 'rooms'] = name.split('.').toReversed() as [string, string?]
    const calling = client(`/mcp/${toolset}`, headers).then((connected) =>
      connected.callTool({ name: tool, arguments: given }, undefined, { timeout: 60_000, ...(signal && { signal }) }),
    )
    const result = await calling.catch(refusedAtDoor)
    if ('refused' in result) return checked(name, false, result.refused)
    const body = result.structuredContent as any
    expect((result.content as { text: string }[])[0]!.text).toBe(JSON.stringify(body))
    return result.isError ? checked(name, false, body.error) : checked(name, true, body)
  }

// A credential in the headers that is not valid (any more) is refused before any tool is looked for: the SDK's client throws that answer.
const refusedAtDoor = (error: unknown) => {
  if (!(error instanceof StreamableHTTPError) || error.code !== 401) throw error
  return { refused: JSON.parse(error.message.slice(error.message.indexOf('{'))).error }
}

export const transports = [
  ['REST', viaRest],
  ['MCP', viaMcp],
] as const

const ALWAYS = ['unauthorized', 'invalid_request', 'secret_in_text', 'idempotency_mismatch', 'not_found', 'unavailable']
const TOKEN = /[0-9a-f-]{36}\.[A-Za-z0-9_-]{32}/

// Every answer has only declared fields or codes, no credential except where one is issued, and no stack, SQL or path.
const checked = (name: string, ok: boolean, body: any, replayed?: boolean): Answer => {
  const operation = operationNamed(name)
  if (ok) {
    expect(operation.output.parse(body), `${name} answers with what it declares`).toEqual(body)
  } else {
    expect(Object.keys(body).toSorted()).toEqual(['code', 'details', 'message'])
    expect([...operation.refuses, ...ALWAYS], `${name} refuses with a code that it declares: ${body.message}`).toContain(body.code)
    expect(body.message).not.toMatch(/\bat .*\.ts\b|\b(select|insert|update) .*\b(from|into|set)\b|node_modules/i)
  }
  const { team_id: _, url: __, code: ___, ...rest } = body
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

/** A team's message as the log takes it: for tests that append without a door. */
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

/** Turns true within so many seconds, or the test fails. The limit is for what hangs: a busy machine takes its time. */
export const soon = async (what: string, holds: () => boolean | Promise<boolean>, seconds = 60) => {
  const until = performance.now() + seconds * 1_000
  for (let pauseMs = 5; performance.now() < until; pauseMs = Math.min(2 * pauseMs, 50)) {
    if (await holds()) return
    await Bun.sleep(pauseMs)
  }
  throw new Error(`not within ${seconds} s: ${what}`)
}

/** The answer of a `call` that waits for its session's row, in a transaction that holds it until `meanwhile` is done. Postgres alone: the
 *  embedded database has one connection. */
export const whileHeld = async (
  { database }: Served,
  sessionId: string,
  call: () => Promise<Answer>,
  meanwhile: () => Promise<unknown>,
) => {
  const release = await holdLock(database, `select 1 from sessions where id = '${sessionId}' for update`)
  const answer = call()
  try {
    await soon('it waits', async () => (await waitingForLocks(database)) > 0)
    await meanwhile()
  } finally {
    await release()
  }
  return answer
}

/** A signed-in person's cookie. */
export const cookieOf = async ({ services }: Served, person: Person): Promise<string> => {
  const app = new Hono<Env>().get('/', async (c) => (await signIn(c, services, person), c.body(null)))
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

const STARTS_WITHIN_MS = 180_000 // and ends: for what hangs. It takes a second, and a minute on a very busy machine
const everything = FULL || process.env.PARLEY_TEST_ALL !== undefined
const PLACES = foreignUrl === undefined ? engines.map(([engine]) => engine) : (['pglite'] as const)

/** The body's tests on each engine, with one server for all of them; or on the server at PARLEY_URL. */
export const onEveryEngine = (body: Body, env: Environment = {}, options: Options = {}) => onEngines(PLACES, body, env, options)

type Body = (parley: () => Parley, engine: Engine) => void

const onEngines = (places: readonly Engine[], body: Body, env: Environment = {}, options: Options = {}) => {
  for (const engine of places) {
    describe(foreignUrl ? `at ${foreignUrl}` : `on ${engine}`, () => {
      let parley: Parley
      beforeAll(async () => {
        parley = await startParley({ engine, env, ...options })
      }, STARTS_WITHIN_MS)
      afterAll(async () => {
        await parley?.close()
        if (foreignUrl) console.log(foreignSummary())
      }, STARTS_WITHIN_MS)
      body(() => parley, engine)
    })
  }
}

/** The body's tests on Postgres; on the embedded database too with `bun run test --all`, and in the long form. Both run the same SQL: a second
 *  database costs such a file a second or two of processor time, and asks little that is not asked of the embedded one in every run, by
 *  tests/model (all operations in any order), by the tests of the log, the index, feed, sessions, idempotency and wakes, and by all tests in a
 *  browser. */
export const onOneEngine: typeof onEveryEngine = (body, env, options) => onEngines(PLACES.slice(everything ? 0 : -1), body, env, options)

/** The doors to test on an engine: MCP on the embedded one and REST on Postgres, so that each test runs on each engine and over each door. What
 *  a door does with an answer does not depend on the database behind it: all four pairs are for `bun run test --all` and the long form. */
export const transportsOn = (engine: Engine) =>
  transports.filter(([transport]) => everything || foreignUrl !== undefined || (transport === 'MCP') === (engine === 'pglite'))

type BodyThroughDoors = (call: Call, parley: () => Parley, transport: 'REST' | 'MCP') => void

const through = (doors: readonly (typeof transports)[number][], body: BodyThroughDoors, parley: () => Parley) => {
  for (const [transport, via] of doors) describe(`over ${transport}`, () => body((...call) => via(parley())(...call), parley, transport))
}

/** The body's tests over each transport on each engine. */
export const throughEveryDoor = (body: BodyThroughDoors, env?: Environment, options?: Options) =>
  onEveryEngine((parley, engine) => through(transportsOn(engine), body, parley), env, options)

/** The body's tests over each transport on Postgres; on the embedded database too as `onOneEngine` says. */
export const throughBothDoors: typeof throughEveryDoor = (body, env, options) =>
  onOneEngine((parley) => through(transports, body, parley), env, options)

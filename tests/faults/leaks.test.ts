// A credential is handed out once, to its team; after that no byte that anybody is sent, and no row, holds it [P6].
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import postgres from 'postgres'
import { findCredentials } from '../support/credential-scan.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { databaseOf } from './engines.ts'
import { everyRow, processes } from './kept.ts'
import { numbers, until } from './rooms.ts'

const CREATE_KEY = `create-${crypto.randomUUID()}` // acts as a secret: the token is derived from it
const JOIN_KEY = `join-${crypto.randomUUID()}`
const PAGES = ['/', '/search?q=Here', '/connect', '/settings', '/api/config', '/api/openapi.json', '/AGENTS.md', '/llms.txt', '/metrics']

const OPERATOR_KEY = `operator-${crypto.randomUUID()}`

let server: TestServer
let database: postgres.Sql
let drop: () => Promise<void>
beforeAll(async () => {
  const made = await databaseOf('postgres')
  drop = made.drop
  server = await startServer({ ...made.environment, LOG_LEVEL: 'debug', OPERATOR_KEY })
  database = postgres(made.environment.DATABASE_URL!, { max: 1, onnotice() {} })
}, 180_000)
afterAll(async () => {
  await database?.end()
  await server?.remove()
  await drop?.()
})

/** All bytes that a session's clients were sent, except for the answers that issue a credential to its own team. */
const held = { bytes: [] as string[] }

const ask = async (method: string, path: string, team?: string, body?: unknown, { handsOut = false, headers = {} } = {}) => {
  const response = await fetch(`${server.url}${path}`, {
    method,
    headers: { ...(team && { 'x-team-id': team }), ...headers },
    redirect: 'manual',
    signal: AbortSignal.timeout(20_000),
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  held.bytes.push(JSON.stringify([...response.headers]))
  if (!handsOut) held.bytes.push(text)
  return { status: response.status, text, body: () => JSON.parse(text) }
}

const mcpCall = (name: string, args: object) =>
  ask(
    'POST',
    '/mcp',
    undefined,
    { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } },
    { headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json' } },
  )

const create = () =>
  ask(
    'POST',
    '/api/sessions',
    undefined,
    { title: 'Shipping the parser', description: 'Who does what', creator_team_name: "Alex's Team" },
    { handsOut: true, headers: { 'idempotency-key': CREATE_KEY } },
  )

describe('after a whole session no answer, stream, log, metric or row holds a secret', () => {
  let created: Record<string, string>
  let room: string
  let tokens: string[]
  let streams: Promise<void>[]
  let cookie: string

  test('three teams meet', async () => {
    created = (await create()).body()
    room = `/api/sessions/${created.session_id}`
    const join = async (team_name: string, headers = {}) =>
      (await ask('POST', `${room}/join`, undefined, { team_name }, { handsOut: true, headers })).body().team_id
    tokens = [created.team_id!, await join("Bea's Team", { 'idempotency-key': JOIN_KEY }), await join("Chris's Team")]
    expect(new Set(tokens).size).toBe(3)
  }, 180_000)

  test('all follow, wait and speak', async () => {
    // Each team's stream, as long as the session lasts.
    streams = tokens.map(async (team) => {
      const response = await fetch(`${server.url}${room}/stream`, { headers: { 'x-team-id': team }, signal: AbortSignal.timeout(60_000) })
      held.bytes.push(await response.text())
    })
    const waits = tokens.map((team) => ask('GET', `${room}/wait?since_cursor=2&timeout=10`, team))
    for (const team of tokens)
      await ask('POST', `${room}/messages`, team, { content: { text: 'Here.' } }, { headers: { 'idempotency-key': 'k1' } })
    for (const { status } of await Promise.all(waits)) expect(status).toBe(200)
  }, 180_000)

  test('what goes wrong does not repeat what it was given', async () => {
    const [alex, bea, chris] = tokens as [string, string, string]
    const [handle, secret] = bea.split('.') as [string, string]
    for (const text of [alex, bea, `see ${bea}`, secret]) {
      const refused = await ask('POST', `${room}/messages`, bea, { content: { text } })
      expect(refused).toMatchObject({ status: 400 })
      expect(refused.body().error.code).toBe('secret_in_text')
    }
    const wrong = [
      await ask('POST', `${room}/doc`, chris, { content: `# ${chris}`, expected_version: 0 }),
      await ask('POST', `${room}/messages`, `${handle}.${'a'.repeat(32)}`, { content: { text: 'I am Bea.' } }),
      await ask('POST', `${room}/messages`, bea, { team_id: bea, content: { text: 'Here.' }, unknown_field: bea }),
      await ask('POST', `${room}/messages`, bea, `{"team_id":"${bea}", broken`, { headers: { 'content-type': 'application/json' } }),
      await ask('POST', `${room}/ack`, bea, { cursor: bea }),
      await ask('GET', `${room}/participants?team_id=${bea}`),
      await ask('GET', `/api/sessions/${bea}`, bea),
      await ask('GET', `${room}/wait?since_cursor=${bea}`, bea),
    ]
    for (const { status } of wrong) expect(status).toBeWithin(400, 500)
    const tool = await mcpCall('post_message', { session_id: bea, team_id: bea, content: { text: 'Here.' } })
    expect(tool.body().result.isError).toBe(true)
  }, 180_000)

  test('they write by both doors', async () => {
    const [, bea, chris] = tokens as [string, string, string]
    for (const [tool, args] of [
      ['append_to_session_doc', { text: '- a finding' }],
      ['list_participants', {}],
      ['get_history', {}],
      ['wait_for_messages', { since_cursor: 0, timeout: 0 }],
      ['update_session_metadata', { title: 'Shipping it', reason: 'clearer' }],
    ] as const) {
      const { text } = await mcpCall(tool, { session_id: created.session_id, team_id: chris, ...args })
      expect(text).toContain('"structuredContent"')
      expect(text).not.toContain('"isError":true')
    }
    const headers = { 'idempotency-key': 'k2' }
    expect((await ask('POST', `${room}/doc/append`, bea, { text: '- another' }, { headers })).status).toBe(200)
    expect((await ask('POST', `${room}/ack`, bea, { cursor: 3 })).status).toBe(200)
  }, 180_000)

  test('a person signs in and looks at every page', async () => {
    const signedIn = await fetch(`${server.url}/sign-in?key=${OPERATOR_KEY}`, { redirect: 'manual' })
    cookie = signedIn.headers.get('set-cookie')!.split(';')[0]!.split('=')[1]!.split('.')[1]!
    const headers = { cookie: signedIn.headers.get('set-cookie')!.split(';')[0]! }
    for (const path of [...PAGES, '/approvals', '/settings/keys', `/sessions/${created.session_id}`])
      expect([path, (await ask('GET', path, undefined, undefined, { headers })).status]).toEqual([path, 200])
  }, 180_000)

  // What is logged of that is looked through too.
  test('the database goes away under calls that carry credentials', async () => {
    const cut = numbers(20).map((n) =>
      ask('POST', `${room}/messages`, tokens[n % 3], { content: { text: `number ${n}` } }, { headers: { 'idempotency-key': `cut${n}` } }),
    )
    await database`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`
    await Promise.all(cut)
    await until('the database is back', 60_000, async () => (await fetch(`${server.url}/readyz`)).ok)
  }, 180_000)

  test('one leaves, one concludes, and all is read in every form', async () => {
    const [alex, bea, chris] = tokens as [string, string, string]
    expect((await ask('POST', `${room}/leave`, chris, {})).status).toBe(200)
    expect((await ask('POST', `${room}/conclude`, alex, { summary_section: 'We ship.' })).status).toBe(200)
    await Promise.all(streams)
    const statusOf = async (path: string, team?: string) => [path, (await ask('GET', path, team)).status]
    for (const path of ['', '/participants', '/messages?limit=500', '/doc', '/doc/history', '/wait?since_cursor=0']) {
      for (const team of [alex, bea]) expect(await statusOf(room + path, team)).toEqual([room + path, 200])
      expect(await statusOf(room + path, chris)).toEqual([room + path, 401])
    }
    const ofSession = ['', '/history', '.md', '/feed.jsonl', '/live'].map((path) => `/sessions/${created.session_id}${path}`)
    for (const path of [`${room}/stream`, ...ofSession, ...PAGES]) expect(await statusOf(path)).toEqual([path, 200])
  }, 180_000)

  test('none of it holds a secret, and the log has told each call', async () => {
    const secrets = [...tokens.map((token) => token.split('.')[1]!), CREATE_KEY, JOIN_KEY, OPERATOR_KEY, cookie]
    const sent = held.bytes.join('\n')
    expect(sent).toContain('Here.') // something was collected; of the answers that were cut perhaps none was written
    expect(sent).toContain(tokens[1]!.split('.')[0]!)
    expect(findCredentials([sent], secrets)).toEqual([])
    for (const call of ['post_message', 'join_session', 'ack_messages', 'leave_session']) expect(server.output()).toContain(call)
    expect(findCredentials([server.output()], secrets)).toEqual([])
    const rows = await everyRow(database)
    expect(rows).toContain('a finding')
    expect(findCredentials([rows], secrets)).toEqual([])
    expect(findCredentials([await processes()], secrets)).toEqual([])
  }, 180_000)

  test('the same key gives the same credential again, though nobody wrote it down', async () => {
    expect((await create()).body()).toEqual(created)
  }, 180_000)
})

test('a credential that came in the address or as the name of a tool is not repeated either', async () => {
  const token = `${crypto.randomUUID()}.${'s'.repeat(32)}`
  const answers = [await ask('GET', `/api/${token}`), await ask('POST', `/api/sessions/${token}/join`, undefined, { team_name: 'Bea' })]
  answers.push(await ask('GET', `/mcp/${token}`), await mcpCall(token, {}))
  expect(answers.filter(({ text }) => text.includes(token)).map(({ text }) => text)).toEqual([])
})

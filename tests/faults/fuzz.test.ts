// Whatever is sent, the answer is ours, in JSON, and never a 5xx [P10].
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { toolsets } from '../../src/toolsets.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { LOCAL, openInProcess } from './engines.ts'
import { openRoom, type Room } from './rooms.ts'
import { dial, requestText } from './sockets.ts'

const RUNS = 80
const HOW = { numRuns: RUNS, endOnFailure: true } // to shrink a call that hangs would take minutes
const HELD_MS = 100 // a mutated wait may be a good one, and holds until its caller goes
const OPERATIONS = toolsets.flatMap(({ operations }) => operations)

let parley: Awaited<ReturnType<typeof openInProcess>>
let other: Room
beforeAll(async () => {
  parley = await openInProcess()
  other = await openRoom(LOCAL, 1, parley.send)
}, 180_000)
afterAll(() => parley?.close())

const NASTY: unknown[] = [
  null, true, '', ' ', '0', '-1', -1, 0, 1.5, 2 ** 53 + 1, Number.MAX_VALUE, 'NaN', '1e309', '9'.repeat(30), [], {}, [[]], { text: null },
  'U+0000 \0', 'lone \ud800 surrogate', '\u202eright to left', '\u{e0041}tag', "'; drop table events; --", '%00', '../../etc', '${7*7}',
  'é'.repeat(20_000), 'x'.repeat(600_000), '__proto__', 'constructor', { toString: 'x' },
] // prettier-ignore

const mutated = (good: Record<string, unknown>): fc.Arbitrary<Record<string, unknown>> =>
  fc
    .record({
      changed: fc.dictionary(
        fc.constantFrom(...Object.keys(good), 'unknown_field', '__proto__', 'idempotency_key', 'team_id', 'to', 'reply_to'),
        fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...NASTY) }, fc.jsonValue({ maxDepth: 3 }), fc.string({ unit: 'binary' })),
        { maxKeys: 3 },
      ),
      dropped: fc.option(fc.constantFrom('', ...Object.keys(good)), { freq: 3 }),
    })
    .map(({ changed, dropped }) => Object.fromEntries(Object.entries({ ...good, ...changed }).filter(([name]) => name !== dropped)))

/** A value for each field that some operation would take. */
const goodInput = (name: string, room: Room): Record<string, unknown> => {
  const inputs: Record<string, Record<string, unknown>> = {
    create_session: { title: 'Shipping the parser', description: '', creator_team_name: "Alex's Team" },
    join_session: { team_name: "Bea's Team" },
    post_message: { content: { text: 'We are done.' } },
    wait_for_messages: { since_cursor: 0, timeout: 0 },
    get_history: { limit: 10 },
    update_session_doc: { content: '# Findings', expected_version: 0 },
    append_to_session_doc: { text: '- one' },
    update_session_metadata: { title: 'Shipping it', reason: 'clearer' },
    conclude_session: { summary_section: 'We ship.' },
    ack_messages: { cursor: 0 },
    reopen_session: { reason: 'not yet' },
  }
  const ofHistory: Record<string, Record<string, unknown>> = {
    search_sessions: { query: 'the parser', within_id: `session:${room.session}`, event_types: ['system'], n_hits: 5 },
    open: { id: `session:${room.session}` },
    list_sessions: {
      start_datetime: '2026-01-01T00:00:00Z',
      end_datetime: '2036-01-01T00:00:00Z',
      cursor: null,
      mode: 'chat',
      sort: 'asc',
    },
  }
  if (ofHistory[name]) return ofHistory[name]
  return name === 'create_session' ? inputs[name]! : { session_id: room.session, ...inputs[name] }
}

const ask = async (method: string, path: string, headers: Record<string, string>, body?: string) => {
  const signal = AbortSignal.timeout(HELD_MS)
  const response = await parley.send(
    new Request(`${LOCAL}${path}`, { method, headers: { host: 'localhost', ...headers }, signal, ...(body === undefined ? {} : { body }) }),
  )
  return { response, text: await response.text() }
}

const expectOurs = ({ response, text }: { response: Response; text: string }) => {
  expect(response.status).toBeLessThan(500)
  expect(response.headers.get('content-type')).toContain('application/json')
  const body = JSON.parse(text)
  if (response.status < 400) return expect(body).not.toHaveProperty('error')
  const inEnvelope = body.schema_version === 'moraine.mcp.error.v1' // history's
  expect(inEnvelope ? { error: body.error } : body).toEqual({
    error: { code: expect.any(String), message: expect.any(String), details: expect.any(Object) },
  })
  expect(text).not.toMatch(/\bat \S+ \(|node_modules|select .* from|postgres/i)
}

const BROKEN_BODIES = [
  '', ' ', '{', '[]', 'null', '"text"', '42', '{"a":1e999}', '{"title":"a","title":"b"}', '[['.repeat(50_000), '{"a":'.repeat(50_000),
  '{"__proto__":{"admin":true}}', '{"constructor":{"prototype":{}}}', '\ufeff{}', '{"content":"\\ud800"}', '{"content":{"text":"\\u0000"}}',
  `{"content":"${'x'.repeat(1_100_000)}"}`,
] // prettier-ignore

describe.each(OPERATIONS.map((operation) => [operation.name, operation] as const))('%s', (name, { route: [method, path], restOnly }) => {
  const addressOf = (sessionId: unknown, query = '') => `/api${path.replace(':session_id', encodeURIComponent(String(sessionId)))}${query}`

  test('answers in JSON and without a 5xx over REST, whatever the input', async () => {
    const room = await openRoom(LOCAL, 2, parley.send)
    const tokens = [
      room.teams[0]!,
      room.teams[1]!,
      other.teams[0]!,
      room.teams[0]!.split('.')[0]!,
      'x',
      `${crypto.randomUUID()}.${'a'.repeat(32)}`,
    ]
    const token = fc.oneof({ weight: 5, arbitrary: fc.constant(tokens[0]!) }, fc.constantFrom(undefined, ...tokens))
    await fc.assert(
      fc.asyncProperty(mutated(goodInput(name, room)), token, fc.boolean(), async (input, team, typed) => {
        const headers = { ...(team && { 'x-team-id': team }), ...(typed && { 'content-type': 'application/json' }) }
        const { session_id = room.session, ...rest } = input
        const address =
          typeof session_id === 'string' && session_id.isWellFormed() && session_id !== '' ? session_id.slice(0, 200) : room.session
        if (/^\.*$/.test(address)) return // a URL's own way up
        if (method === 'GET') {
          const query = new URLSearchParams(
            Object.entries(rest).map(([key, value]) => [key, (typeof value === 'string' ? value : JSON.stringify(value)).slice(0, 5_000)]),
          )
          expectOurs(await ask(method, addressOf(address, `?${query}`), headers))
        } else expectOurs(await ask(method, addressOf(address), headers, JSON.stringify(rest)))
      }),
      HOW,
    )
  }, 180_000)

  test('refuses bodies that are no proper input over REST', async () => {
    const room = await openRoom(LOCAL, 1, parley.send)
    for (const body of method === 'GET' ? [undefined] : BROKEN_BODIES)
      for (const type of ['application/json', 'application/x-www-form-urlencoded'])
        expectOurs(await ask(method, addressOf(room.session), { 'x-team-id': room.teams[0]!, 'content-type': type }, body))
    for (const id of ['%00', 'x'.repeat(65), 'x'.repeat(5_000), "'", '%2e%2e%2f', '%F0%9F%98%80', '%ff', '%E0%A4%A'])
      expectOurs(
        await ask(method, `/api${path.replace(':session_id', id)}`, { 'x-team-id': room.teams[0]! }, method === 'GET' ? undefined : '{}'),
      )
  }, 180_000)

  if (restOnly) return // it has no tool
  test('answers over MCP with a result or a JSON-RPC error, whatever the arguments', async () => {
    const room = await openRoom(LOCAL, 2, parley.send)
    await fc.assert(
      fc.asyncProperty(mutated({ team_id: room.teams[0]!, ...goodInput(name, room) }), async (args) => {
        const answer = await mcp(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }))
        expectRpc(answer)
      }),
      HOW,
    )
  }, 180_000)
})

const mcp = (body: string) => ask('POST', '/mcp', { 'content-type': 'application/json', accept: 'application/json' }, body)

const INTERNAL_ERROR = -32_603
const expectRpc = ({ response, text }: { response: Response; text: string }) => {
  expect(response.status).toBeLessThan(500)
  if (response.status === 202) return expect(text).toBe('')
  expect(response.headers.get('content-type')).toContain('application/json')
  for (const message of [JSON.parse(text)].flat()) {
    if (message.jsonrpc !== '2.0') {
      expect(response.status).toBeGreaterThanOrEqual(400)
      expect(message).toEqual({ error: { code: expect.any(String), message: expect.any(String), details: expect.any(Object) } })
    } else if (message.error) {
      expect(message.error).toMatchObject({ code: expect.any(Number), message: expect.any(String) })
      expect(message.error.code).not.toBe(INTERNAL_ERROR)
    } else if (message.result.isError) {
      expect(message.result.structuredContent).toEqual({
        error: { code: expect.any(String), message: expect.any(String), details: expect.any(Object) },
      })
      expect(message.result.structuredContent.error.code).not.toBe('internal_error')
    }
  }
}

test('/mcp answers any JSON at all', async () => {
  const part = fc.oneof(
    fc.constantFrom('2.0', 'tools/call', 'tools/list', 'initialize', 'ping', 'notifications/cancelled', ...NASTY),
    fc.jsonValue({ maxDepth: 2 }),
  )
  const message = fc.dictionary(fc.constantFrom('jsonrpc', 'id', 'method', 'params', 'result', 'error'), part, { minKeys: 2 })
  const anyMessage = fc.oneof(
    message,
    message.map((one) => ({ jsonrpc: '2.0', ...one })),
    fc.array(message, { maxLength: 3 }),
    fc.jsonValue({ maxDepth: 3 }),
  )
  await fc.assert(
    fc.asyncProperty(anyMessage, async (value) => expectRpc(await mcp(JSON.stringify(value)))),
    { ...HOW, numRuns: 300 },
  )
  for (const body of BROKEN_BODIES) expectRpc(await mcp(body))
}, 180_000)

test('/mcp answers whatever stands in the envelope and the headers of revision 2026-07-28', async () => {
  const anything = fc.oneof(
    fc.constantFrom('2026-07-28', '2025-11-25', 'tools/list', 'server/discover', {}, ...NASTY),
    fc.jsonValue({ maxDepth: 1 }),
  )
  const envelope = fc.dictionary(fc.constantFrom('protocolVersion', 'clientCapabilities', 'clientInfo', 'logLevel'), anything)
  const header = fc.constantFrom(
    '2026-07-28',
    '2025-11-25',
    '9999-99-99',
    'tools/list',
    'tools/call',
    'get_session',
    '=?base64?%?=',
    '=?base64??=',
    '',
  )
  const headers = fc.dictionary(fc.constantFrom('mcp-protocol-version', 'mcp-method', 'mcp-name'), header)
  const method = fc.constantFrom('tools/list', 'tools/call', 'server/discover', 'initialize', 'resources/read', 'toString')
  await fc.assert(
    fc.asyncProperty(envelope, headers, method, anything, async (said, more, called, name) => {
      const _meta = Object.fromEntries(Object.entries(said).map(([key, value]) => [`io.modelcontextprotocol/${key}`, value]))
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: called, params: { name, uri: name, _meta } })
      expectRpc(await ask('POST', '/mcp', { 'content-type': 'application/json', accept: 'application/json', ...more }, body))
    }),
    { ...HOW, numRuns: 300 },
  )
}, 180_000)

test('unknown routes and wrong methods are told in JSON', async () => {
  for (const path of [
    '/api',
    '/api/',
    '/api/nothing',
    '/api/sessions/x/y/z',
    '/api/sessions//wait',
    '/mcp/nothing',
    '/mcp?toolsets=,',
    '/api/%',
    '/api/%ff',
  ])
    for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS', 'PATCH'])
      expectOurs(await ask(method, path, {}, method === 'GET' ? undefined : '{}'))
}, 180_000)

test('nothing of all this was logged as our own failure', () => {
  expect(parley.logged.filter((entry) => (entry as { level: string }).level === 'error')).toEqual([])
})

describe('over a raw socket', () => {
  let server: TestServer
  let room: Room
  beforeAll(async () => {
    server = await startServer()
    room = await openRoom(server.url, 1)
  }, 180_000)
  afterAll(() => server?.remove())

  const chunked = (bytes: number) => {
    const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`
    const head = requestText('POST', `/api/sessions/${room.session}/messages`, {
      'transfer-encoding': 'chunked',
      'x-team-id': room.teams[0]!,
    })
    return `${head}${chunk.repeat(Math.ceil(bytes / 0x10000))}0\r\n\r\n`
  }
  const ODDITIES: [name: string, bytes: () => string, status: RegExp][] = [
    [
      'two Content-Lengths',
      () => 'POST /api/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nContent-Length: 30\r\n\r\n{}',
      /^400$/,
    ],
    [
      'a length and chunks',
      () => 'POST /api/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      /^400$/,
    ],
    ['chunks that grow past 1 MiB', () => chunked(1.5 * 1024 * 1024), /^413$/],
    ['a length past every limit', () => requestText('POST', '/api/sessions', { 'content-length': String(80 * 1024 * 1024) }), /^413$/],
    ['no Host', () => 'GET /api/config HTTP/1.1\r\n\r\n', /^40[03]$/],
    ['HTTP/1.0 without a Host', () => 'GET /api/config HTTP/1.0\r\n\r\n', /^40[03]$/],
    ['a header of 64 KB', () => requestText('GET', '/healthz', { 'x-long': 'x'.repeat(65_536) }), /^431$/],
    ['an address of 64 KB', () => requestText('GET', `/${'x'.repeat(65_536)}`, {}), /^4\d\d$/],
    ['a line break inside a header', () => 'GET /api/config HTTP/1.1\r\nHost: localhost\r\nX-Team-ID: a\nb\r\n\r\n', /^4\d\d$/],
    ['no HTTP at all', () => '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n', /^4\d\d$/],
    ['TRACE', () => requestText('TRACE', '/api/config', {}), /^4\d\d$/],
  ]

  test.each(ODDITIES)(
    '%s gets a 4xx or a closed connection, and the server lives',
    async (_, bytes, allowed) => {
      const line = dial(server.port, bytes())
      for (let waited = 0; waited < 2_000 && !(await line.ended(20)) && !line.received().includes('\r\n\r\n'); waited += 20);
      await line.ended(50)
      const status = /^HTTP\/1\.[01] (\d{3})/.exec(line.received())?.[1]
      line.socket.destroy()
      if (status === undefined) expect(await line.ended(1_000)).toBe(true)
      else expect(status).toMatch(allowed)
      if (status === '413') expect(line.received()).toMatch(/^HTTP\/1\.1 413 [^]*(?:payload_too_large|\r\n\r\n$)/)
      expect((await fetch(`${server.url}/readyz`)).status).toBe(200)
      expect(server.running).toBe(true)
    },
    180_000,
  )

  // As HAProxy asks by default.
  test('a health check in HTTP/1.0 without a Host is answered', async () => {
    const line = dial(server.port, 'GET /healthz HTTP/1.0\r\n\r\n')
    await line.ended(2_000)
    line.socket.destroy()
    expect(line.received()).toMatch(/^HTTP\/1\.[01] 200 /)
  })

  test('two requests in one packet get two answers in order', async () => {
    const line = dial(server.port, requestText('GET', '/healthz', {}) + requestText('GET', '/nothing', { connection: 'close' }))
    await line.ended(3_000)
    line.socket.destroy()
    expect([...line.received().matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status!)).toEqual(['200', '404'])
  })
})

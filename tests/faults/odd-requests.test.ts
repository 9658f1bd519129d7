// What no HTTP client sends: the server lives [P10]. Whatever stands in the Host, the path or a header, the answer is our JSON, a page of
// ours, or what Bun's own parser says: a bare status or a closed connection. Never a stack, and nothing in the log, which anybody could fill
// otherwise.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { DRAWN, shortOf } from '../support/full.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { openRoom, type Room } from './rooms.ts'
import { dial, requestText } from './sockets.ts'

const PATHS = ['/healthz', '/api/config', '/mcp', '/', '/sessions/x', '/api/sessions/x/stream', '/nothing']
const NO_HOSTS = [
  '127.0.0.256',
  '127.0.0.1:99999',
  '[::1',
  '[',
  '[::1]:x',
  '[::1%25lo]',
  '%',
  ':80',
  'localhost:-1',
  'xn--a',
  'a b',
  '..:1:2',
  'é',
]

interface Answer {
  status: string | undefined // none: the connection was closed without an answer
  type: string
  body: string
}

const ANNOUNCES_MORE = /^(content-length|transfer-encoding|expect):/im // the server may wait for a body that never comes

const asked = async (port: number, bytes: string): Promise<Answer> => {
  const line = dial(port, Buffer.from(bytes, 'latin1'))
  const mayWait = ANNOUNCES_MORE.test(bytes)
  const ended = await line.ended(mayWait ? 5_000 : 60_000)
  line.socket.destroy()
  expect(ended || mayWait, JSON.stringify(bytes.slice(0, 300))).toBe(true)
  const [head = '', body = ''] = line.received().split(/\r\n\r\n([^]*)/)
  return { status: /^HTTP\/1\.[01] (\d{3})/.exec(head)?.[1], type: /^content-type: *(.*)$/im.exec(head)?.[1]?.trim() ?? '', body }
}

const request = (first: string, headers: string[]) => [first, ...headers, 'Connection: close', '', ''].join('\r\n')
const get = (path: string, host: string, accept = '*/*') => request(`GET ${path} HTTP/1.1`, [`Host: ${host}`, `Accept: ${accept}`])

const expectOurs = ({ status, type, body }: Answer, what: string) => {
  const told = `${JSON.stringify(what.slice(0, 300))} → ${status} ${type} ${body.slice(0, 200)}`
  expect(/\n\s+at \S+|Invalid URL|TypeError|node_modules|server\.ts|__bun/.exec(body)?.[0], told).toBeUndefined()
  if (type === '') return expect(body, told).toBe('') // a redirect of ours, or what Bun's parser says: 400, 431, 505 or a closed connection
  expect(Number(status), told).toBeLessThan(500)
  if (Number(status) < 400 || type.startsWith('text/html')) return expect(body, told).not.toContain('<title>Bun')
  expect(type, told).toBe('application/json; charset=utf-8')
  const parsed = JSON.parse(body)
  if (parsed.jsonrpc) return expect(parsed.error, told).toEqual({ code: expect.any(Number), message: expect.any(String) }) // of /mcp
  expect(parsed, told).toEqual({ error: { code: expect.any(String), message: expect.any(String), details: expect.any(Object) } })
}

const SERVERS: [string, Record<string, string>][] = [
  ['as it starts', {}],
  ['open to any host, behind a proxy it trusts', { HOST: '0.0.0.0', TRUST_PROXY: 'true' }],
]

describe.each(shortOf(SERVERS, 1))('%s', (_, environment) => {
  let server: TestServer
  let before: number
  let room: Room
  beforeAll(async () => {
    server = await startServer(environment)
    room = await openRoom(server.url, 1)
    before = server.output().length
  }, 180_000)
  afterAll(() => server?.remove())

  test.each(NO_HOSTS)('a Host of %j is refused in JSON, or as a page to a browser, and the health check answers', async (host) => {
    for (const path of PATHS.slice(1)) {
      const answer = await asked(server.port, get(path, host))
      expect([path, answer.status]).toEqual([path, '403'])
      expectOurs(answer, `${path} ${host}`)
      expect(answer.type).toBe('application/json; charset=utf-8')
    }
    const page = await asked(server.port, get('/', host, 'text/html'))
    expect(page.type).toBe('text/html; charset=utf-8')
    expect(page.body).toContain('· Parley</title>')
    expect((await asked(server.port, get('/healthz', host))).body).toBe('{"alive":true}')
  })

  test('so is a request without a Host, with an empty one or with two', async () => {
    for (const headers of [['Host: '], ['Host: localhost', 'Host: evil.example'], ['Host: evil.example', 'Host: localhost']]) {
      const answer = await asked(server.port, request('GET /api/config HTTP/1.1', headers))
      expect([headers, answer.status]).toEqual([headers, '403'])
      expectOurs(answer, String(headers))
    }
    for (const path of ['//', '//[', '//x:99999/', '/api/config']) {
      const answer = await asked(server.port, request(`GET ${path} HTTP/1.0`, []))
      expect([path, answer.status]).toEqual([path, '403'])
      expectOurs(answer, path)
    }
  })

  test('the host of an absolute address counts for nothing beside the Host header', async () => {
    for (const address of ['http://localhost', 'http://evil.example', 'http://127.0.0.256', 'https://localhost:99999']) {
      const answer = await asked(server.port, request(`GET ${address}/api/config HTTP/1.1`, ['Host: localhost:1234']))
      expect([address, answer.status]).toEqual([address, '200'])
      expect(JSON.parse(answer.body).mcp_url).toBe('http://localhost:1234/mcp')
    }
  })

  test('what a proxy forwards is looked at like a Host', async () => {
    for (const forwarded of ['127.0.0.256', 'a b', '[::1', 'localhost:99999', 'localhost/x', 'user@localhost', '%'])
      for (const path of ['/api/config', '/', '/AGENTS.md', '/connect'])
        expectOurs(
          await asked(server.port, request(`GET ${path} HTTP/1.1`, ['Host: localhost', `X-Forwarded-Host: ${forwarded}`])),
          `${path} ${forwarded}`,
        )
    for (const scheme of ['javascript', 'ftp', ':', 'https:', '%'])
      for (const path of ['/api/config', '/', '/AGENTS.md', '/connect']) {
        const answer = await asked(server.port, request(`GET ${path} HTTP/1.1`, ['Host: localhost', `X-Forwarded-Proto: ${scheme}`]))
        expectOurs(answer, `${path} ${scheme}`)
        expect(answer.body).not.toContain(`${scheme}://localhost`)
      }
  })

  test('and hundreds of other odd Hosts, headers and addresses', async () => {
    const piece = fc.constantFrom(
      'localhost', '127.0.0.1', '[::1]', '[', ']', ':', '/', '//', '\\', '?', '#', '@', '%', '%00', '%zz', '%2e%2e', '..', '.', '*', ' ', '\t', ',', ';',
      '0', '99999', '-1', 'xn--', '\x80', 'é', '\xff', '"', "'", '<', '>', '{', '|', '^', 'a', 'sessions', 'api', 'mcp', 'sign-in', '?key=', 'public',
    ) // prettier-ignore
    const odd = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(''))
    const name = fc.constantFrom(
      'Accept', 'Accept-Encoding', 'Accept-Language', 'Authorization', 'Cookie', 'Content-Type', 'Content-Length', 'Expect', 'If-None-Match',
      'Last-Event-ID', 'Origin', 'Range', 'Referer', 'Sec-Fetch-Site', 'Sec-Fetch-Mode', 'Transfer-Encoding', 'Upgrade', 'X-Forwarded-For',
      'X-Forwarded-Host', 'X-Forwarded-Proto', 'X-Team-ID',
    ) // prettier-ignore
    const host = fc.oneof({ weight: 2, arbitrary: odd }, fc.constant('localhost'), fc.constantFrom(...NO_HOSTS))
    const path = fc.oneof(
      fc.constantFrom(...PATHS),
      odd.map((text) => `/${text}`),
      odd,
    )
    const method = fc.constantFrom('GET', 'GET', 'GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'CONNECT', 'TRACE', 'PROPFIND', 'X')
    const headers = fc.array(fc.tuple(name, odd), { maxLength: 4 })
    const version = fc.constantFrom('1.1', '1.1', '1.1', '1.0', '2.0')
    await fc.assert(
      fc.asyncProperty(method, path, host, headers, version, async (verb, address, called, more, http) => {
        const lines = [`Host: ${called}`, ...more.map(([key, value]) => `${key}: ${value}`)]
        const bytes = request(`${verb} ${address} HTTP/${http}`, lines)
        const answer = await asked(server.port, bytes)
        if (verb !== 'HEAD') expectOurs(answer, bytes)
        else if (answer.type !== '') expect(Number(answer.status)).toBeLessThan(500)
      }),
      { numRuns: 400, endOnFailure: true, ...DRAWN },
    )
  }, 120_000)

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
      for (let waited = 0; waited < 60_000 && !(await line.ended(20)) && !line.received().includes('\r\n\r\n'); waited += 20);
      const closed = await line.ended(50)
      line.socket.destroy()
      const status = /^HTTP\/1\.[01] (\d{3})/.exec(line.received())?.[1]
      if (status === undefined) expect(closed).toBe(true)
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
    await line.ended(60_000)
    line.socket.destroy()
    expect(line.received()).toMatch(/^HTTP\/1\.[01] 200 /)
  })

  test('two requests in one packet get two answers in order', async () => {
    const line = dial(server.port, requestText('GET', '/healthz', {}) + requestText('GET', '/nothing', { connection: 'close' }))
    await line.ended(60_000)
    line.socket.destroy()
    expect([...line.received().matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status!)).toEqual(['200', '404'])
  })

  test('nothing of all that is in the log', async () => {
    expect(server.output().slice(before)).toBe('')
    expect(server.running).toBe(true)
  })
})

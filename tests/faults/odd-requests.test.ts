// Whatever stands in the Host, the path or a header, the answer is our JSON, a page of ours, or what Bun's own parser says: a bare status
// or a closed connection. Never a stack, and nothing in the log, which anybody could fill otherwise.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { DRAWN, shortOf } from '../support/full.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { dial } from './sockets.ts'

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

const asked = async (port: number, bytes: string): Promise<Answer> => {
  const line = dial(port, Buffer.from(bytes, 'latin1'))
  await line.ended(5_000)
  line.socket.destroy()
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
  beforeAll(async () => {
    server = await startServer(environment)
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

  test('nothing of all that is in the log', async () => {
    expect(server.output().slice(before)).toBe('')
    expect(server.running).toBe(true)
  })
})

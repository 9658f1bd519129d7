// What no HTTP client sends, over a raw socket: a 4xx or a closed connection, and the server lives [P10].
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startServer, type TestServer } from '../support/server.ts'
import { openRoom, type Room } from './rooms.ts'
import { dial, requestText } from './sockets.ts'

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
})

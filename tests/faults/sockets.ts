// HTTP by hand: for clients that vanish, for requests that no proper client would send, and for more at a time than `fetch` opens, which is 256.
import { connect, type Socket } from 'node:net'
import { frameOf, type Frame } from './rooms.ts'

export interface Line {
  socket: Socket
  /** What came back so far. */
  received(): string
  /** Resolves when the other side has ended the connection, or after `withinMs`. */
  ended(withinMs: number): Promise<boolean>
}

export const dial = (port: number, bytes: string | Buffer): Line => {
  const socket = connect(port, '127.0.0.1')
  let text = ''
  let over = false
  const end = Promise.withResolvers<void>()
  const close = () => {
    over = true
    end.resolve()
  }
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()))
  socket.on('error', close).on('end', close).on('close', close)
  socket.write(bytes)
  return {
    socket,
    received: () => text,
    ended: async (withinMs) => {
      await Promise.race([end.promise, Bun.sleep(withinMs)])
      return over
    },
  }
}

export const requestText = (method: string, path: string, headers: Record<string, string>, body = ''): string =>
  [
    `${method} ${path} HTTP/1.1`,
    ...Object.entries({ host: 'localhost', ...(body && { 'content-length': String(Buffer.byteLength(body)) }), ...headers }).map(
      ([name, value]) => `${name}: ${value}`,
    ),
    '',
    body,
  ].join('\r\n')

/** The answer that came over a line whose other side has ended it. */
export const answerOn = (line: Line): { status: number; body: any } => {
  const [head = '', body = ''] = line.received().split('\r\n\r\n', 2)
  return { status: statusIn(head), body: JSON.parse(body) }
}

const statusIn = (head: string): number => Number(head.slice('HTTP/1.1 '.length).slice(0, 3))

/** Hands over each event of a stream that comes over a line, and first its status. */
export const onFrames = (line: Line, opened: (status: number) => void, take: (frame: Frame) => void): void => {
  let raw = '' // a byte is a character of it, for chunks say their length in bytes
  let text = ''
  let inBody = false
  line.socket.on('data', (bytes: Buffer) => {
    raw += bytes.toString('latin1')
    if (!inBody) {
      const end = raw.indexOf('\r\n\r\n')
      if (end < 0) return
      opened(statusIn(raw))
      raw = raw.slice(end + 4)
      inBody = true
    }
    for (let end = raw.indexOf('\r\n'); end >= 0; end = raw.indexOf('\r\n')) {
      const from = end + 2
      const to = from + Number.parseInt(raw.slice(0, end), 16)
      if (raw.length < to + 2) break
      text += raw.slice(from, to)
      raw = raw.slice(to + 2)
    }
    const blocks = text.split('\n\n')
    text = blocks.pop()!
    for (const block of blocks) take(frameOf(Buffer.from(block, 'latin1').toString()))
  })
}

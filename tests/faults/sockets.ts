// HTTP by hand: for clients that vanish, and for requests that no proper client would send.
import { connect, type Socket } from 'node:net'

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

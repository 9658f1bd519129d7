// A network between a client and a server that cuts connections: some before a request has gone through, some within the answer.
import { createServer, type Socket } from 'node:net'
import { closed, joined, listening, type Proxy } from './proxy.ts'

export interface CuttingProxy extends Proxy {
  /** Connections that were cut so far before anything of a request came through, and within or before the answer. */
  readonly cut: { before: number; after: number }
}

const LONGEST_DELAY_MS = 300
const LONGEST_HEAD = 400 // bytes of the answer that come through before a cut: none, or some

/** The same server at another port. `before` and `after` are shares of all connections, and `delayed` of those that are left. */
export const thatCuts = async (serverUrl: string, chances: { before: number; after: number; delayed: number }): Promise<CuttingProxy> => {
  const sockets = new Set<Socket>()
  const cut = { before: 0, after: 0 }
  const server = createServer((client) => {
    const fate = Math.random()
    if (fate < chances.before) {
      cut.before++
      client.once('data', () => client.destroy()).on('error', () => {})
      return
    }
    const upstream = joined(client, serverUrl, sockets)
    client.on('data', (chunk: Buffer) => void upstream.write(chunk))
    if (fate < chances.before + chances.after) {
      upstream.once('data', (chunk: Buffer) => {
        cut.after++
        client.write(chunk.subarray(0, Math.floor(Math.random() * LONGEST_HEAD)), () => (client.destroy(), upstream.destroy()))
      })
      return
    }
    const delayMs = Math.random() < chances.delayed ? Math.random() * LONGEST_DELAY_MS : 0
    upstream.on('data', (chunk: Buffer) => void setTimeout(() => client.write(chunk), delayMs))
  })
  return { url: `http://127.0.0.1:${await listening(server)}`, cut, close: () => closed(server, sockets) }
}

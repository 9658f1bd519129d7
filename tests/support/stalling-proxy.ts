// A network that for a while passes nothing in one direction, and then everything, in order: a full queue, a route that flaps.
import { createServer, type Socket } from 'node:net'
import { closed, elsewhere, joined, listening, type Proxy } from './proxy.ts'

export interface StallingProxy extends Proxy {
  /** From now on nothing passes from the clients to the server, or `back`, on any connection, until it flows again. */
  stall(way: 'there' | 'back'): void
  flow(): void
}

/** The same Postgres or hub at another address, whose network can stall in one direction. */
export const thatCanStall = async (serverUrl: string): Promise<StallingProxy> => {
  const sockets = new Set<Socket>()
  const pairs = new Set<{ there: Socket; back: Socket }>()
  let stalled: 'there' | 'back' | undefined
  const server = createServer((client) => {
    const upstream = joined(client, serverUrl, sockets)
    const pair = { there: client, back: upstream }
    pairs.add(pair)
    client.on('close', () => pairs.delete(pair))
    client.on('data', (chunk: Buffer) => void upstream.write(chunk))
    upstream.on('data', (chunk: Buffer) => void client.write(chunk))
    if (stalled) pair[stalled].pause()
  })
  return {
    url: elsewhere(serverUrl, await listening(server)),
    stall(way) {
      stalled = way
      for (const pair of pairs) pair[way].pause()
    },
    flow() {
      stalled = undefined
      for (const { there, back } of pairs) for (const socket of [there, back]) socket.resume()
    },
    close: () => closed(server, sockets),
  }
}

// One long-lived SDK server for all callers, behind a transport that gives each request its own id.
// A server for each request would cost three to ten times as much (bench/mcp). Sharing one is safe only because nothing a client
// sends as a notification or response gets in: a stranger's `cancelled {requestId: 1}` would end another's call.
import type { Server } from '@modelcontextprotocol/sdk/server/index.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { JSONRPCMessage, JSONRPCRequest, RequestId } from '@modelcontextprotocol/sdk/types.js'

interface Pending<Caller> {
  id: RequestId // the client's own
  caller: Caller
  answer(message: JSONRPCMessage): void
}

export class Exchange<Caller> implements Transport {
  onmessage?: NonNullable<Transport['onmessage']>
  onclose?: () => void
  #next = 1
  #pending = new Map<RequestId, Pending<Caller>>()

  async start() {}
  async close() {
    this.onclose?.()
  }

  /** The server's answer to one request. Always resolves: what goes wrong comes as a JSON-RPC error. */
  ask(request: JSONRPCRequest, caller: Caller): Promise<JSONRPCMessage> {
    return new Promise((answer) => {
      const id = this.#next++
      this.#pending.set(id, { id: request.id, caller, answer })
      this.onmessage?.({ ...request, id })
    })
  }

  /** Who sent the request that a handler is called for (`extra.requestId`). */
  callerOf = (id: RequestId): Caller => this.#pending.get(id)!.caller

  async send(message: JSONRPCMessage) {
    if (!('id' in message) || message.id === undefined) return // the server's own notifications: nobody holds a stream for them
    const pending = this.#pending.get(message.id)
    if (!pending) return
    this.#pending.delete(message.id)
    pending.answer({ ...message, id: pending.id } as JSONRPCMessage)
  }
}

export const exchangeWith = async <Caller>(serverOf: (exchange: Exchange<Caller>) => Server): Promise<Exchange<Caller>> => {
  const exchange = new Exchange<Caller>()
  await serverOf(exchange).connect(exchange as Transport)
  return exchange
}

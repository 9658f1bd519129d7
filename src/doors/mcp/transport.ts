// One SDK server for all callers, behind a transport that gives each request an id of its own: a server per request would cost three to ten
// times as much (bench/mcp). Sharing one is safe only because clients' notifications and responses are never passed to it: a stranger's
// `cancelled {requestId: 1}` would end another caller's call.
import type { Server } from '@modelcontextprotocol/sdk/server/index.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { JSONRPCMessage, JSONRPCRequest, RequestId } from '@modelcontextprotocol/sdk/types.js'

interface OpenRequest<Caller> {
  id: RequestId // the client's own
  caller: Caller
  answer(message: JSONRPCMessage): void
}

/** Keeps the requests of all callers apart: each is answered to whoever asked it, under the id that the caller gave it. */
export class RequestTransport<Caller> implements Transport {
  onmessage?: NonNullable<Transport['onmessage']>
  onclose?: () => void
  #next = 1
  #open = new Map<RequestId, OpenRequest<Caller>>()

  async start() {}
  async close() {
    this.onclose?.()
  }

  /** The server's answer to one request. Always resolves; failures are JSON-RPC errors. */
  ask(request: JSONRPCRequest, caller: Caller): Promise<JSONRPCMessage> {
    return new Promise((answer) => {
      const id = this.#next++
      this.#open.set(id, { id: request.id, caller, answer })
      this.onmessage?.({ ...request, id, ...(request.params && { params: withoutTask(request.params) }) })
    })
  }

  /** The sender of the request that a handler runs for (`extra.requestId`). */
  callerOf = (id: RequestId): Caller => this.#open.get(id)!.caller

  async send(message: JSONRPCMessage) {
    if (!('id' in message) || message.id === undefined) return // the server's own notifications: no client has a stream for them
    const request = this.#open.get(message.id)
    if (!request) return
    this.#open.delete(message.id)
    request.answer({ ...message, id: request.id } as JSONRPCMessage)
  }
}

// A server that offers no tasks answers a call that asks for one as any other (MCP 2025-11-25, Tasks); the SDK's refuses it as its own fault.
const withoutTask = ({ task: _, ...params }: NonNullable<JSONRPCRequest['params']>) => params

export const connectedTransport = async <Caller>(
  serverOf: (transport: RequestTransport<Caller>) => Server,
): Promise<RequestTransport<Caller>> => {
  const transport = new RequestTransport<Caller>()
  await serverOf(transport).connect(transport as Transport)
  return transport
}

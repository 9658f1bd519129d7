// MCP over Streamable HTTP, stateless: no session id, identity comes with each call. Revisions up to 2025-11-25.
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import {
  CallToolRequestSchema,
  ErrorCode,
  JSONRPCRequestSchema,
  ListToolsRequestSchema,
  McpError,
  SUPPORTED_PROTOCOL_VERSIONS,
  type JSONRPCMessage,
  type JSONRPCRequest,
} from '@modelcontextprotocol/sdk/types.js'
import type { AnyOp, Call, Outcome } from '../context.ts'
import { perform } from '../gate.ts'
import type { Services } from '../services.ts'
import type { Toolset } from '../toolsets.ts'
import { exchangeWith, type Exchange } from './exchange.ts'
import { bodyText, json, type Http } from './http.ts'
import { methodNotAllowed, SSE_HEADERS } from './rest.ts'
import { inputSchema } from './schemas.ts'
import version from '../../package.json' with { type: 'json' }

const BODY_LIMIT = 4 * 1024 * 1024
const PROGRESS_MS = 10_000 // also keeps the connection from being quiet
const PARSE_ERROR = ErrorCode.ParseError

export interface Endpoint {
  answer(c: Http): Promise<Response>
  operations: Map<string, AnyOp>
}

/** One endpoint for one or several toolsets. A name that two share stays plain in the first and gets its toolset's prefix in the others. */
export const mcpEndpoint = async (toolsets: readonly Toolset[], services: Services): Promise<Endpoint> => {
  const operations = toolNames(toolsets)
  const exchange = await exchangeWith<Call>((own) => serverOf(own, operations, toolsets, services))
  return { operations, answer: (c) => receive(c, exchange, operations) }
}

export const toolNames = (toolsets: readonly Toolset[]) => {
  const named = new Map<string, AnyOp>()
  for (const { name: prefix, operations } of toolsets) {
    for (const operation of operations)
      if (!operation.restOnly) named.set(named.has(operation.name) ? `${prefix}_${operation.name}` : operation.name, operation)
  }
  return named
}

export const toolOf = (name: string, { summary, effect, destructive, input }: AnyOp) => ({
  name,
  description: summary,
  inputSchema: inputSchema(input),
  annotations: {
    readOnlyHint: effect === 'read',
    ...(effect !== 'read' && { destructiveHint: destructive ?? false, idempotentHint: false }),
    openWorldHint: false,
  },
})

const serverOf = (exchange: Exchange<Call>, operations: Map<string, AnyOp>, toolsets: readonly Toolset[], services: Services) => {
  const tools = [...operations].map(([name, operation]) => toolOf(name, operation))
  const instructions = toolsets.map((toolset) => toolset.instructions).join('\n\n')
  const server = new Server({ name: 'parley', title: 'Parley', version: version.version }, { capabilities: { tools: {} }, instructions })
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }))
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { requestId }) => {
    const operation = operations.get(params.name)
    if (!operation) throw new McpError(ErrorCode.InvalidParams, `There is no tool named ${params.name} here. tools/list has the names.`)
    return resultOf(await perform(operation, services, exchange.callerOf(requestId), params.arguments ?? {}))
  })
  return server
}

// No tool advertises an outputSchema: the SDK's client would then reject an error that carries structuredContent.
const resultOf = (outcome: Outcome) => {
  const body = outcome.ok ? outcome.data : { error: outcome.error }
  return {
    content: [{ type: 'text' as const, text: JSON.stringify(body) }],
    structuredContent: body as Record<string, unknown>,
    ...(!outcome.ok && { isError: true }),
  }
}

const receive = async (c: Http, exchange: Exchange<Call>, operations: Map<string, AnyOp>): Promise<Response> => {
  if (c.req.method !== 'POST') return methodNotAllowed(['POST'])
  const revision = c.req.header('mcp-protocol-version')
  if (revision !== undefined && !SUPPORTED_PROTOCOL_VERSIONS.includes(revision))
    return broken(ErrorCode.InvalidRequest, `This server speaks MCP ${SUPPORTED_PROTOCOL_VERSIONS.join(', ')}.`)
  const message = parse(await bodyText(c.req.raw, BODY_LIMIT))
  if (message === undefined) return broken(PARSE_ERROR, 'The body is not JSON.')
  if (!Array.isArray(message)) return one(c, message, exchange, operations)
  if (message.length === 0 || message.length > 100) return broken(ErrorCode.InvalidRequest, 'A batch has 1 to 100 messages.')
  const answers = await Promise.all(message.filter(isRequest).map((request) => exchange.ask(request, callOf(c))))
  return answers.length > 0 ? json(answers) : new Response(null, { status: 202 })
}

const one = async (c: Http, message: unknown, exchange: Exchange<Call>, operations: Map<string, AnyOp>): Promise<Response> => {
  if (!isRequest(message)) {
    const other =
      typeof message === 'object' &&
      message !== null &&
      (message as JSONRPCMessage).jsonrpc === '2.0' &&
      ('method' in message || 'result' in message || 'error' in message)
    return other && !('id' in message && 'method' in message)
      ? new Response(null, { status: 202 })
      : broken(ErrorCode.InvalidRequest, 'The body is not a JSON-RPC 2.0 message.')
  }
  const { method, params } = message
  const held = method === 'tools/call' && operations.get(String(params?.name))?.held
  const streams = c.req.header('accept')?.includes('text/event-stream') === true
  if (!held && !(streams && params?._meta?.progressToken !== undefined)) return json(await exchange.ask(message, callOf(c)))
  c.env?.untimed?.()
  return streams ? streamed(c, message, exchange) : json(await exchange.ask(message, callOf(c)))
}

const isRequest = (message: unknown): message is JSONRPCRequest => JSONRPCRequestSchema.safeParse(message).success

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const broken = (code: number, message: string) => json({ jsonrpc: '2.0', id: null, error: { code, message } }, 400)

const callOf = (c: Http, signal = c.req.raw.signal): Call => ({
  token: c.req.header('x-team-id'),
  key: c.req.header('idempotency-key'),
  signal,
})

// The answer as one event. Until then, progress for a client that asked for it and comments for one that did not: no proxy on the
// way sees a quiet connection.
const streamed = (c: Http, request: JSONRPCRequest, exchange: Exchange<Call>): Response => {
  const encoder = new TextEncoder()
  const gone = new AbortController()
  const progressToken = request.params?._meta?.progressToken
  let timer: ReturnType<typeof setInterval>
  let beats = 0
  const beat = () => {
    const progress = {
      jsonrpc: '2.0',
      method: 'notifications/progress',
      params: { progressToken, progress: (++beats * PROGRESS_MS) / 1000, message: 'still waiting' },
    }
    return progressToken === undefined ? ': still waiting\n\n' : event(progress)
  }
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(encoder.encode(': waiting\n\n'))
      timer = setInterval(() => controller.enqueue(encoder.encode(beat())), PROGRESS_MS)
      // The SDK's own signal stays quiet when a stateless caller hangs up (sdk 1.32): the request's does not.
      void exchange
        .ask(request, callOf(c, AbortSignal.any([c.req.raw.signal, gone.signal])))
        .then((answer) => {
          clearInterval(timer)
          if (gone.signal.aborted) return
          controller.enqueue(encoder.encode(event(answer)))
          controller.close()
        })
        .catch(() => clearInterval(timer))
    },
    cancel() {
      clearInterval(timer)
      gone.abort()
    },
  })
  return new Response(body, { headers: SSE_HEADERS })
}

const event = (message: object) => `event: message\ndata: ${JSON.stringify(message)}\n\n`

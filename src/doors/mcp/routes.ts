// MCP over Streamable HTTP, stateless: no Mcp-Session-Id, each call carries its credential. Revisions up to 2025-11-25.
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import {
  CallToolRequestSchema,
  ErrorCode,
  JSONRPCNotificationSchema,
  JSONRPCRequestSchema,
  JSONRPCResponseSchema,
  ListToolsRequestSchema,
  SUPPORTED_PROTOCOL_VERSIONS,
  type JSONRPCMessage,
  type JSONRPCRequest,
} from '@modelcontextprotocol/sdk/types.js'
import type { Call } from '../../operations/call.ts'
import type { ServedOp, Outcome } from '../../operations/context.ts'
import { redacted } from '../../core/text.ts'
import { perform } from '../../operations/perform.ts'
import type { Services } from '../../process/services.ts'
import { namesOf, type Toolset } from '../../operations/toolset.ts'
import { whileAwaited } from '../http/event-stream.ts'
import { exchangeWith, type Exchange } from './transport.ts'
import { credentialsOf } from '../http/credentials.ts'
import { mayRead } from '../http/guards.ts'
import { bodyText, json, whyNot, type Http } from '../http/http.ts'
import { invalidParams, invalidParamsIn } from './errors.ts'
import { serveOffers } from './capabilities.ts'
import { refuseUninvited } from './invited.ts'
import { serverLink } from '../http/origin.ts'
import { methodNotAllowed, observeWake, refusalOf } from '../rest/routes.ts'
import type { RateLimit } from '../http/rate-limit.ts'
import { inputSchema } from '../rest/json-schema.ts'
import manifest from '../../../package.json' with { type: 'json' }

const BODY_LIMIT = 4 * 1024 * 1024
const PROGRESS_MS = 10_000 // also keeps proxies from closing a quiet connection

export interface Endpoint {
  answer(c: Http): Promise<Response>
  operations: Map<string, ServedOp>
}

/** One endpoint for one or several toolsets. A name that two share stays plain in the first and gets its toolset's prefix in the others. */
export const mcpEndpoint = async (toolsets: readonly Toolset[], services: Services, limit?: RateLimit): Promise<Endpoint> => {
  const operations = toolNames(toolsets)
  const exchange = await exchangeWith<Call>((own) => serverOf(own, operations, toolsets, services))
  return { operations, answer: (c) => receive(c, { services, limit, exchange, operations }) }
}

/** The operations that are tools, by the name they have where these toolsets are served together. */
export const toolNames = (toolsets: readonly Toolset[]): Map<string, ServedOp> =>
  new Map([...namesOf(toolsets)].filter(([, { restOnly }]) => !restOnly))

/** A tool as tools/list shows it. */
export const toolOf = (name: string, { summary, effect, destructive, input }: ServedOp) => ({
  name,
  description: summary,
  inputSchema: inputSchema(input),
  annotations: {
    readOnlyHint: effect === 'read',
    ...(effect !== 'read' && { destructiveHint: destructive ?? false, idempotentHint: false }),
    openWorldHint: false,
  },
})

const serverOf = (exchange: Exchange<Call>, operations: Map<string, ServedOp>, toolsets: readonly Toolset[], services: Services) => {
  const tools = [...operations].map(([name, operation]) => toolOf(name, operation))
  const instructions = toolsets.map((toolset) => toolset.instructions).join('\n\n')
  const offers = toolsets.flatMap(({ offers }) => offers ?? [])
  const capabilities = { tools: {}, ...(offers.length > 0 && { resources: { listChanged: true }, prompts: {}, completions: {} }) }
  const server = new Server({ name: 'parley', title: 'Parley', version: manifest.version }, { capabilities, instructions })
  if (offers.length > 0) serveOffers(server, exchange, services, offers)
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }))
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { requestId }) => {
    const operation = operations.get(params.name)
    if (!operation) return invalidParams(`There is no tool named ${redacted(params.name)} here. tools/list has the names.`)
    const call = exchange.callerOf(requestId)
    const given = params.arguments ?? {}
    const outcome = await perform(operation, services, call, given)
    return resultOf(outcome, refusalOf(operation, outcome, given, call))
  })
  return server
}

const RESOURCES_CHANGED = { jsonrpc: '2.0', method: 'notifications/resources/list_changed' }

const REPLAYED = { _meta: { idempotency_replayed: true } } // REST has the header Idempotency-Replayed for it

// No tool advertises an outputSchema: the SDK's client would then reject an error that carries structuredContent.
const resultOf = (outcome: Outcome, refusal?: object) => {
  const body = outcome.ok ? outcome.data : (refusal ?? { error: outcome.error })
  return {
    content: [{ type: 'text' as const, text: JSON.stringify(body) }],
    structuredContent: body as Record<string, unknown>,
    ...(outcome.ok && outcome.replayed && REPLAYED),
    ...(!outcome.ok && { isError: true }),
  }
}

interface EndpointParts {
  services: Services
  limit: RateLimit | undefined
  exchange: Exchange<Call>
  operations: Map<string, ServedOp>
}

const receive = async (c: Http, { services, limit, exchange, operations }: EndpointParts): Promise<Response> => {
  if (c.req.method !== 'POST') return methodNotAllowed(['POST'])
  const revision = c.req.header('mcp-protocol-version')
  if (revision !== undefined && !SUPPORTED_PROTOCOL_VERSIONS.includes(revision)) {
    return json(rpcError(ErrorCode.InvalidRequest, `This server speaks MCP ${SUPPORTED_PROTOCOL_VERSIONS.join(', ')}.`), 400)
  }
  const text = await bodyText(c.req.raw, BODY_LIMIT)
  let message: any // whatever came
  try {
    message = JSON.parse(text)
  } catch (error) {
    return json(rpcError(ErrorCode.ParseError, `The body is not JSON (${whyNot(error)}).`), 400)
  }
  await refuseUninvited(c, services, [message].flat())
  const call = callOf(c, services)
  if (limit) for (const one of [message].flat()) limit.countMessage(c, one?.params?.arguments?.team_id)
  if (Array.isArray(message)) return batch(message, exchange, call)
  if (!isRequest(message)) return isOneWay(message) ? accepted() : json(rpcError(ErrorCode.InvalidRequest, NOT_JSON_RPC), 400)
  const { method, params } = message
  const invalid = invalidParamsIn(message)
  if (invalid) return json(invalid)
  const operation = method === 'tools/call' ? operations.get(String(params?.name)) : undefined
  const { held, changesResources = false } = operation ?? {}
  const needsStream = held || changesResources || params?._meta?.progressToken !== undefined
  const streams = needsStream && c.req.header('accept')?.includes('text/event-stream')
  if (streams) return streamed(message, { services, exchange, call }, changesResources)
  const answer = json(await exchange.ask(message, call))
  observeWake(services, call)
  return answer
}

// Only clients of revision 2025-03-26 send batches.
const batch = async (messages: unknown[], exchange: Exchange<Call>, call: Call): Promise<Response> => {
  if (messages.length === 0 || messages.length > 100) return json(rpcError(ErrorCode.InvalidRequest, 'A batch has 1 to 100 messages.'), 400)
  const requests = messages.filter((message) => !isOneWay(message))
  const answers = requests.map((message) =>
    isRequest(message) ? (invalidParamsIn(message) ?? exchange.ask(message, call)) : rpcError(ErrorCode.InvalidRequest, NOT_JSON_RPC),
  )
  return answers.length > 0 ? json(await Promise.all(answers)) : accepted()
}

const NOT_JSON_RPC = 'This is not a JSON-RPC 2.0 message.'
const accepted = () => new Response(null, { status: 202 })

// A notification or a response: accepted and ignored, this server uses none.
const isOneWay = (message: unknown) =>
  JSONRPCNotificationSchema.safeParse(message).success || JSONRPCResponseSchema.safeParse(message).success

const isRequest = (message: unknown): message is JSONRPCRequest => JSONRPCRequestSchema.safeParse(message).success

const rpcError = (code: number, message: string) => ({ jsonrpc: '2.0', id: null, error: { code, message } })

const callOf = (c: Http, services: Services): Call => ({
  token: c.req.header('x-team-id'),
  reader: () => mayRead(c, services),
  header: (name) => c.req.header(name),
  idempotencyKey: () => c.req.header('idempotency-key'),
  signal: () => c.req.raw.signal,
  began: performance.now(),
  wake: {},
  held: c.env?.untimed,
  ...credentialsOf(c, services),
  link: () => serverLink(c, services),
})

interface Asker {
  services: Services
  exchange: Exchange<Call>
  call: Call
}

// An event stream: progress notifications while the call runs, or comments for a client that did not ask for progress; then a notification
// if the list of resources has changed; last the answer.
const streamed = (request: JSONRPCRequest, { services, exchange, call }: Asker, changing: boolean): Response => {
  const gone = new AbortController()
  // The SDK's own signal does not abort when a stateless caller hangs up (sdk 1.32); the request's does.
  const over = AbortSignal.any([call.signal(), gone.signal])
  const progressToken = request.params?._meta?.progressToken
  let beats = 0
  const beat = () => {
    const progress = {
      jsonrpc: '2.0',
      method: 'notifications/progress',
      params: { progressToken, progress: (++beats * PROGRESS_MS) / 1000, message: 'still waiting' },
    }
    return progressToken === undefined ? ': still waiting\n\n' : event(progress)
  }
  const answer = exchange.ask(request, { ...call, signal: () => over }).then((message) => {
    const events = (changing && succeeded(message) ? event(RESOURCES_CHANGED) : '') + event(message)
    observeWake(services, call)
    return events
  })
  return whileAwaited(answer, beat, PROGRESS_MS, () => gone.abort())
}

const succeeded = (answer: JSONRPCMessage) => 'result' in answer && answer.result.isError !== true

const event = (message: object) => `event: message\ndata: ${JSON.stringify(message)}\n\n`

// MCP over Streamable HTTP, stateless: no Mcp-Session-Id, each call carries its credential.
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import {
  ErrorCode,
  JSONRPCNotificationSchema,
  JSONRPCRequestSchema,
  JSONRPCResponseSchema,
  type JSONRPCMessage,
  type JSONRPCRequest,
  type ServerCapabilities,
} from '@modelcontextprotocol/sdk/types.js'
import type { Call } from '../../operations/call.ts'
import type { ServedOp } from '../../operations/context.ts'
import type { Services } from '../../process/services.ts'
import type { Toolset } from '../../operations/toolset.ts'
import { whileAwaited } from '../http/event-stream.ts'
import { connectedTransport, type RequestTransport } from './transport.ts'
import { observeWake, signedOutCallOf } from '../http/calls.ts'
import { bodyText, json, methodNotAllowed, whyNot, type Http } from '../http/http.ts'
import { invalidParamsIn } from './errors.ts'
import { serveOffers } from './capabilities.ts'
import {
  discovery,
  discoveryFor,
  inThisRevision,
  isPerRequest,
  refusedBy,
  REVISIONS,
  SERVER_INFO,
  type Discovery,
} from './revision-2026-07.ts'
import { asNamedHere, serveTools, toolNames } from './tools.ts'
import { refuseUninvited } from './invited.ts'
import type { RateLimit } from '../http/rate-limit.ts'

const BODY_LIMIT = 4 * 1024 * 1024
const MOST_MESSAGES = 100 // of a batch
const BATCH_SIZE = `A batch has 1 to ${MOST_MESSAGES} messages.`
const PROGRESS_MS = 10_000 // also keeps proxies from closing a quiet connection

export interface EndpointOptions {
  limit: RateLimit | undefined
  /** The time between two notifications of progress. */
  progressMs?: number | undefined
}

export interface Endpoint {
  answer(c: Http): Promise<Response>
  operations: Map<string, ServedOp>
}

/** One endpoint for one or several toolsets. A name that two share stays plain in the first and gets its toolset's prefix in the others.
 *  `tools`: only these of their tools, by the names that they have here. */
export const mcpEndpoint = async (
  toolsets: readonly Toolset[],
  services: Services,
  { limit, progressMs = PROGRESS_MS }: EndpointOptions,
  tools?: readonly string[],
): Promise<Endpoint> => {
  const all = toolNames(toolsets)
  const operations = tools ? new Map([...all].filter(([name]) => tools.includes(name))) : all
  const instructions = toolsets.map(({ name, instructions }) => asNamedHere(instructions, name, all)).join('\n\n')
  const offers = toolsets.flatMap(({ offers }) => offers ?? [])
  const capabilities: ServerCapabilities = { tools: {}, ...(offers.length > 0 && { resources: {}, prompts: {}, completions: {} }) }
  const transport = await connectedTransport<Call>((own) => {
    const announced = { ...capabilities, ...(offers.length > 0 && { resources: { listChanged: true } }) }
    const server = new Server(SERVER_INFO, { capabilities: announced, instructions })
    serveTools(server, own, services, operations, all)
    if (offers.length > 0) serveOffers(server, own, services, offers)
    return server
  })
  const discovered = discovery(capabilities, instructions)
  return { operations, answer: (c) => receive(c, { services, limit, progressMs, transport, operations, discovered }) }
}

interface EndpointParts {
  services: Services
  limit: RateLimit | undefined
  progressMs: number
  transport: RequestTransport<Call>
  operations: Map<string, ServedOp>
  discovered: Discovery
}

const receive = async (c: Http, parts: EndpointParts): Promise<Response> => {
  if (c.req.method !== 'POST') return methodNotAllowed(['POST'])
  const text = await bodyText(c.req.raw, BODY_LIMIT)
  let message: any // whatever came
  try {
    message = JSON.parse(text)
  } catch (error) {
    return json(rpcError(ErrorCode.ParseError, `The body is not JSON (${whyNot(error)}).`), 400)
  }
  const messages = Array.isArray(message) ? message : [message]
  if (messages.length > MOST_MESSAGES) return json(rpcError(ErrorCode.InvalidRequest, BATCH_SIZE), 400)
  const { services, limit } = parts
  await refuseUninvited(c, services, messages)
  limit?.countMessages(
    c,
    messages.map((one) => one?.params?.arguments?.team_id),
  )
  const revision = c.req.header('mcp-protocol-version')
  const answer = messages.some((one) => isPerRequest(one, revision)) ? perRequest : afterHandshake
  return answer(message, c, parts, signedOutCallOf(c, services)) // a cookie opens REST alone
}

type Answer = (message: unknown, c: Http, parts: EndpointParts, call: Call) => Response | Promise<Response>

// A message of a revision up to 2025-11-25. The handshake itself leaves nothing behind.
const afterHandshake: Answer = (message, c, parts, call) => {
  const { services, transport, progressMs } = parts
  const revision = c.req.header('mcp-protocol-version')
  if (revision !== undefined && !REVISIONS.includes(revision))
    return json(rpcError(ErrorCode.InvalidRequest, `This server speaks MCP ${REVISIONS.join(', ')}.`), 400)
  if (Array.isArray(message)) return batch(message, transport, call)
  if (!isRequest(message)) return isOneWay(message) ? accepted() : json(rpcError(ErrorCode.InvalidRequest, NOT_JSON_RPC), 400)
  const ask: Ask = (request, caller) => transport.ask(request, caller)
  return answered(message, c, { services, call, operation: calledBy(message, parts), ask, notifiesOfChanges: true, progressMs })
}

// A message of revision 2026-07-28.
const perRequest: Answer = (message, c, parts, call) => {
  if (!isRequest(message)) return isNotification(message) ? accepted() : json(rpcError(ErrorCode.InvalidRequest, ONE_MESSAGE), 400)
  const { services, transport, discovered, progressMs } = parts
  const operation = calledBy(message, parts)
  const refused = refusedBy({ request: message, header: (name) => c.req.header(name), operation, ...discovered })
  if (refused) return json({ jsonrpc: '2.0', id: message.id, error: refused.error }, refused.status)
  const ask: Ask = async (request, caller) =>
    inThisRevision(request.method, discoveryFor(request, discovered) ?? (await transport.ask(request, caller)))
  return answered(message, c, { services, call, operation, ask, notifiesOfChanges: false, progressMs })
}

const calledBy = ({ method, params }: JSONRPCRequest, { operations }: EndpointParts) =>
  method === 'tools/call' ? operations.get(params?.name as string) : undefined

type Ask = (request: JSONRPCRequest, caller: Call) => Promise<JSONRPCMessage>

interface Asker {
  services: Services
  call: Call
  /** The tool that is called. */
  operation: ServedOp | undefined
  ask: Ask
  /** Does the stream of a call say that it changed the list of resources? */
  notifiesOfChanges: boolean
  progressMs: number
}

const answered = async (request: JSONRPCRequest, c: Http, asker: Asker): Promise<Response> => {
  const invalid = invalidParamsIn(request)
  if (invalid) return json(invalid)
  const { services, call, operation, ask, notifiesOfChanges } = asker
  const changing = notifiesOfChanges && operation?.changesResources === true
  const needsStream = operation?.held || changing || request.params?._meta?.progressToken !== undefined
  if (needsStream && c.req.header('accept')?.includes('text/event-stream')) return streamed(request, asker, changing)
  const answer = json(encoded(await ask(request, call)))
  observeWake(services, call)
  return answer
}

// A list of tools is by far the longest answer that is asked for often, and always the same: its tools are encoded once. Encoding them each
// time took a quarter of a call's processor time (bench/before-after).
const encoded = (message: JSONRPCMessage): string => {
  const { result } = message as { result?: { tools?: object } }
  if (!Array.isArray(result?.tools)) return JSON.stringify(message)
  const tools = toolsEncoded.get(result.tools) ?? JSON.stringify(result.tools)
  toolsEncoded.set(result.tools, tools)
  return JSON.stringify({ ...message, result: { ...result, tools: 0 } }).replace('"tools":0', () => `"tools":${tools}`)
}
const toolsEncoded = new WeakMap<object, string>()

// Only clients of revision 2025-03-26 send batches.
const batch = async (messages: unknown[], transport: RequestTransport<Call>, call: Call): Promise<Response> => {
  if (messages.length === 0) return json(rpcError(ErrorCode.InvalidRequest, BATCH_SIZE), 400)
  const requests = messages.filter((message) => !isOneWay(message))
  const answers = requests.map((message) =>
    isRequest(message) ? (invalidParamsIn(message) ?? transport.ask(message, call)) : rpcError(ErrorCode.InvalidRequest, NOT_JSON_RPC),
  )
  return answers.length > 0 ? json(await Promise.all(answers)) : accepted()
}

const NOT_JSON_RPC = 'This is not a JSON-RPC 2.0 message.'
const ONE_MESSAGE = 'In this revision the body is one JSON-RPC request or notification.'
const accepted = () => new Response(null, { status: 202 })

// A notification or a response: accepted and ignored, this server uses none.
const isOneWay = (message: unknown) => isNotification(message) || JSONRPCResponseSchema.safeParse(message).success

const isNotification = (message: unknown) => JSONRPCNotificationSchema.safeParse(message).success

const isRequest = (message: unknown): message is JSONRPCRequest => JSONRPCRequestSchema.safeParse(message).success

const rpcError = (code: number, message: string) => ({ jsonrpc: '2.0', id: null, error: { code, message } })

const RESOURCES_CHANGED = { jsonrpc: '2.0', method: 'notifications/resources/list_changed' }

// An event stream: progress notifications while the call runs, or comments for a client that did not ask for progress; then a notification
// if the list of resources has changed; last the answer.
const streamed = (request: JSONRPCRequest, { services, ask, call, progressMs }: Asker, changing: boolean): Response => {
  const gone = new AbortController()
  // The SDK's own signal does not abort when a stateless caller hangs up (sdk 1.32); the request's does.
  const over = AbortSignal.any([call.signal(), gone.signal])
  const progressToken = request.params?._meta?.progressToken
  let beats = 0
  const beat = () => {
    const progress = {
      jsonrpc: '2.0',
      method: 'notifications/progress',
      params: { progressToken, progress: (++beats * progressMs) / 1000, message: 'still waiting' },
    }
    return progressToken === undefined ? ': still waiting\n\n' : event(progress)
  }
  const answer = ask(request, { ...call, signal: () => over }).then((message) => {
    const events = (changing && succeeded(message) ? event(RESOURCES_CHANGED) : '') + event(message)
    observeWake(services, call)
    return events
  })
  return whileAwaited(answer, beat, progressMs, () => gone.abort())
}

const succeeded = (answer: JSONRPCMessage) => 'result' in answer && answer.result.isError !== true

const event = (message: object) => `event: message\ndata: ${JSON.stringify(message)}\n\n`

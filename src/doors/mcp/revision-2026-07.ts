// MCP revision 2026-07-28, beside the older ones, which the SDK's server speaks (sdk 1.32 knows none after 2025-11-25). Nothing is agreed
// upon first: every request says its revision, in its body and in headers that mirror it, and every result says who answers.
import { ErrorCode, SUPPORTED_PROTOCOL_VERSIONS, type JSONRPCMessage, type JSONRPCRequest } from '@modelcontextprotocol/sdk/types.js'
import { redacted } from '../../core/text/text.ts'
import { isObject } from '../../core/text/json.ts'
import type { ServedOp } from '../../operations/context.ts'
import { RESOURCE_NOT_FOUND } from './errors.ts'
import manifest from '../../../package.json' with { type: 'json' }

const REVISION = '2026-07-28'
export const REVISIONS = [REVISION, ...SUPPORTED_PROTOCOL_VERSIONS]

const SAID = 'io.modelcontextprotocol/protocolVersion'
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities'
const SERVER = 'io.modelcontextprotocol/serverInfo'

const HEADER_MISMATCH = -32020
const MISSING_CAPABILITY = -32021
const UNSUPPORTED_REVISION = -32022

export const SERVER_INFO = { name: 'parley', title: 'Parley', version: manifest.version }

/** Whether a message follows this revision or a later one. The revision that it names in its body decides; for one that names none the
 *  header does: revisions are dates. */
export const isPerRequest = (message: unknown, header: string | undefined): boolean => {
  const said = metaOf(message)?.[SAID]
  if (said === undefined) return header !== undefined && header >= REVISION
  return typeof said !== 'string' || !SUPPORTED_PROTOCOL_VERSIONS.includes(said) || (header ?? said) !== said
}

const metaOf = (message: unknown): Record<string, unknown> | undefined => {
  const meta = (message as Partial<JSONRPCRequest> | null)?.params?._meta
  return typeof meta === 'object' && meta !== null ? meta : undefined
}

/** A request that is not carried out: the status of the response and the JSON-RPC error in it. */
export interface Refused {
  status: 400 | 404
  error: { code: number; message: string; data?: object }
}

interface Asked {
  request: JSONRPCRequest
  header(name: string): string | undefined
  /** The operation of the tool that is called. */
  operation: ServedOp | undefined
  /** The server's capabilities. */
  capabilities: object
}

/** Why this revision does not let a request pass, by the first of its rules that is broken; undefined if it does. */
export const refusedBy = (asked: Asked): Refused | undefined => {
  for (const rule of [revisionAgreed, envelopeWhole, methodMirrored, nameMirrored, methodServed, capabilitiesDeclared]) {
    const refused = rule(asked)
    if (refused) return refused
  }
  return undefined
}

// Proxies route by the headers, so these must say the same as the body that is carried out.
const revisionAgreed = ({ request, header }: Asked): Refused | undefined => {
  const requested = header('mcp-protocol-version')
  const said = metaOf(request)?.[SAID]
  if (said !== undefined && said !== requested) return mismatch('MCP-Protocol-Version', `_meta["${SAID}"]`)
  if (requested === REVISION) return undefined
  return bad(UNSUPPORTED_REVISION, `This server speaks MCP ${REVISIONS.join(', ')}.`, { supported: REVISIONS, requested })
}

const envelopeWhole = ({ request }: Asked): Refused | undefined => {
  const meta = metaOf(request) ?? {}
  const missing = [SAID, CAPABILITIES].filter((key) => meta[key] === undefined)
  if (missing.length > 0) return bad(ErrorCode.InvalidParams, `params._meta needs ${missing.join(' and ')}.`)
  return isObject(meta[CAPABILITIES]) ? undefined : bad(ErrorCode.InvalidParams, `_meta["${CAPABILITIES}"] must be an object.`)
}

const methodMirrored = ({ request: { method }, header }: Asked): Refused | undefined =>
  header('mcp-method') === method ? undefined : mismatch('Mcp-Method', 'method')

const NAMED_BY = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
])

const nameMirrored = ({ request: { method, params }, header }: Asked): Refused | undefined => {
  const field = NAMED_BY.get(method)
  const named = field && params?.[field]
  if (typeof named !== 'string') return undefined // the shape of params is checked later, as for the older revisions
  return decoded(header('mcp-name')) === named ? undefined : mismatch('Mcp-Name', `params.${field}`)
}

const ENCODED = /^=\?base64\?(.*)\?=$/

// A name that does not fit into a header is sent as =?base64?…?=.
const decoded = (header: string | undefined): string | undefined => {
  const encoded = ENCODED.exec(header ?? '')?.[1]
  if (encoded === undefined) return header
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Uint8Array.fromBase64(encoded, { lastChunkHandling: 'strict' }))
  } catch {
    return undefined
  }
}

// The methods of this revision that the SDK's server can answer, with the capability that announces each. `initialize`, `ping` and
// `logging/setLevel` are gone. `subscriptions/listen` is not among them: this server announces no changes that it would tell of there.
const SERVED_WITH = new Map([
  ['tools/list', 'tools'],
  ['tools/call', 'tools'],
  ['resources/list', 'resources'],
  ['resources/templates/list', 'resources'],
  ['resources/read', 'resources'],
  ['prompts/list', 'prompts'],
  ['prompts/get', 'prompts'],
  ['completion/complete', 'completions'],
])

const methodServed = ({ request: { method }, capabilities }: Asked): Refused | undefined => {
  if (method === DISCOVER || (SERVED_WITH.get(method) ?? '') in capabilities) return undefined
  const message = `MCP ${REVISION} has no method ${redacted(method)} here.`
  return { status: 404, error: { code: ErrorCode.MethodNotFound, message } }
}

const capabilitiesDeclared = ({ request, operation }: Asked): Refused | undefined => {
  const declared = metaOf(request)![CAPABILITIES] as object
  const missing = operation?.clientCapabilities?.filter((name) => !(name in declared)) ?? []
  if (missing.length === 0) return undefined
  const message = `${operation!.name} needs a client with the capabilities ${missing.join(', ')}, and this one declares none such.`
  return bad(MISSING_CAPABILITY, message, { requiredCapabilities: Object.fromEntries(missing.map((name) => [name, {}])) })
}

const bad = (code: number, message: string, data?: object): Refused => ({ status: 400, error: { code, message, ...(data && { data }) } })
const mismatch = (header: string, field: string) =>
  bad(HEADER_MISMATCH, `The header ${header} is missing or differs from ${field} of the body: send the same in both.`)

const DISCOVER = 'server/discover'

/** An endpoint as `server/discover` describes it. */
export interface Discovery {
  supportedVersions: readonly string[]
  capabilities: object
  instructions: string
}

export const discovery = (capabilities: object, instructions: string): Discovery => ({
  supportedVersions: REVISIONS,
  capabilities,
  instructions,
})

/** The answer to `server/discover`, which the SDK's server does not know; undefined for another request. */
export const discoveryFor = ({ id, method }: JSONRPCRequest, result: Discovery): JSONRPCMessage | undefined =>
  method === DISCOVER ? { jsonrpc: '2.0', id, result: { ...result } } : undefined

const ALIKE_FOR_ALL = { ttlMs: 300_000, cacheScope: 'public' } // changes when the program does
const OF_THE_MOMENT = { ttlMs: 0, cacheScope: 'private' } // by who asks, and with every session that opens
const CACHING = new Map([
  [DISCOVER, ALIKE_FOR_ALL],
  ['tools/list', ALIKE_FOR_ALL],
  ['prompts/list', ALIKE_FOR_ALL],
  ['resources/templates/list', ALIKE_FOR_ALL],
  ['resources/list', OF_THE_MOMENT],
  ['resources/read', OF_THE_MOMENT],
])

/** The SDK's answer to a request of this method, as this revision has it. */
export const inThisRevision = (method: string, answer: JSONRPCMessage): JSONRPCMessage => {
  if ('result' in answer) {
    const _meta = { ...answer.result._meta, [SERVER]: SERVER_INFO }
    return { ...answer, result: { resultType: 'complete', ...answer.result, ...CACHING.get(method), _meta } }
  }
  const gone = 'error' in answer && answer.error.code === RESOURCE_NOT_FOUND
  return gone ? { ...answer, error: { ...answer.error, code: ErrorCode.InvalidParams } } : answer
}

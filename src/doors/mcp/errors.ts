// JSON-RPC errors. Not the SDK's McpError: that puts "MCP error -32602:" before its message, and the client's SDK does so again.
import {
  CompleteRequestSchema,
  ErrorCode,
  GetPromptRequestSchema,
  InitializeRequestSchema,
  ReadResourceRequestSchema,
  type JSONRPCRequest,
} from '@modelcontextprotocol/sdk/types.js'
import { isObject } from '../../core/text/json.ts'

/** MCP's code for it up to revision 2025-11-25, for which the SDK has no name; the later one forbids it. */
export const RESOURCE_NOT_FOUND = -32002

export class ProtocolError extends Error {
  constructor(
    readonly code: number,
    message: string,
    readonly data?: object,
  ) {
    super(message)
  }
}

/** Refuses a request that names something unknown. */
export const invalidParams = (message: string): never => {
  throw new ProtocolError(ErrorCode.InvalidParams, message)
}

interface Shape {
  safeParse(request: object): { error?: { issues: { path: PropertyKey[] }[] } | undefined }
}

const SHAPES: Record<string, Shape> = {
  initialize: InitializeRequestSchema,
  'resources/read': ReadResourceRequestSchema,
  'prompts/get': GetPromptRequestSchema,
  'completion/complete': CompleteRequestSchema,
}

/** The error for a request whose params are wrong; undefined when they are right. Checked before the SDK, which would report an internal
 *  error with its schema's issues as the message (sdk 1.32). */
export const invalidParamsIn = ({ id, method, params }: JSONRPCRequest) => {
  const message = method === 'tools/call' ? problemOfCall(params) : problemOfShape(method, params)
  return message === undefined ? undefined : { jsonrpc: '2.0' as const, id, error: { code: ErrorCode.InvalidParams, message } }
}

const problemOfCall = ({ name, arguments: given = {} }: Record<string, unknown> = {}) => {
  if (typeof name !== 'string') return 'A call needs the name of a tool.'
  return isObject(given) ? undefined : 'arguments must be an object, not a text or a list.'
}

const problemOfShape = (method: string, params: unknown) => {
  const shape = Object.hasOwn(SHAPES, method) ? SHAPES[method]!.safeParse({ method, params }) : undefined
  if (!shape?.error) return undefined
  const fields = shape.error.issues.map(({ path }) => path.join('.'))
  return `${method}: ${[...new Set(fields)].join(', ')} missing or of the wrong type.`
}

// A client of MCP revision 2026-07-28 that keeps nothing: what a request must carry, in its body and in its headers.
import type { Served } from './parley.ts'

export const REVISION = '2026-07-28'
export const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': REVISION,
  'io.modelcontextprotocol/clientInfo': { name: 'alex', version: '1.0.0' },
  'io.modelcontextprotocol/clientCapabilities': {},
}

export interface Sent {
  path?: string
  id?: string | number
  /** In place of those that belong to it; null leaves one out. */
  headers?: Record<string, string | null>
  /** In place of the whole envelope; null leaves `_meta` out. */
  meta?: object | null
  signal?: AbortSignal
}

const NAMED_BY: Record<string, string> = { 'tools/call': 'name', 'prompts/get': 'name', 'resources/read': 'uri' }

/** The request and its response: `frames` are all JSON-RPC messages of it, the last one is the answer. */
export const sendPerRequest = async (served: Served, method: string, params: Record<string, unknown> = {}, sent: Sent = {}) => {
  const { path = '/mcp', id = 1, headers = {}, meta = ENVELOPE, signal } = sent
  const named = params[NAMED_BY[method] ?? '']
  const all = {
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
    'mcp-protocol-version': REVISION,
    'mcp-method': method,
    ...(typeof named === 'string' && { 'mcp-name': named }),
    ...headers,
  }
  const given = Object.fromEntries(Object.entries(all).filter((header): header is [string, string] => header[1] !== null))
  const body = JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, ...(meta && { _meta: meta }) } })
  const response = await served.send(path, { method: 'POST', headers: given, body, ...(signal && { signal }) })
  const type = response.headers.get('content-type') ?? ''
  const frames = async (): Promise<any[]> => {
    const text = await response.text()
    return type.startsWith('text/event-stream')
      ? [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data!))
      : [JSON.parse(text)]
  }
  return { response, status: response.status, type, frames, answer: async () => (await frames()).at(-1) }
}

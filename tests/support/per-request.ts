// A client of MCP revision 2026-07-28 that keeps nothing: what a request must carry, in its body and in its headers.
import { expect } from 'bun:test'
import type { Served } from './parley.ts'

export const REVISION = '2026-07-28'
export const VERSION = 'io.modelcontextprotocol/protocolVersion'
export const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities'
export const ENVELOPE = {
  [VERSION]: REVISION,
  'io.modelcontextprotocol/clientInfo': { name: 'alex', version: '1.0.0' },
  [CAPABILITIES]: {},
}
export const without = (key: string) => Object.fromEntries(Object.entries(ENVELOPE).filter(([name]) => name !== key))

/** The result's word for who answers. */
export const SERVER = { 'io.modelcontextprotocol/serverInfo': { name: 'parley', title: 'Parley', version: expect.any(String) } }

export const CREATE = { name: 'create_session', arguments: { title: 'Shipping the parser', description: '', creator_team_name: 'Alex' } }

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

/** Requests of that client, each checked for what every answer has. */
export const perRequestOf = (served: () => Served) => {
  const send = (method: string, params?: Record<string, unknown>, sent?: Sent) => sendPerRequest(served(), method, params, sent)
  const resultOf = async (method: string, params?: Record<string, unknown>, sent?: Sent) => {
    const { status, answer } = await send(method, params, sent)
    const { result, ...rest } = await answer()
    expect([status, rest]).toEqual([200, { jsonrpc: '2.0', id: sent?.id ?? 1 }])
    expect(result).toMatchObject({ resultType: 'complete', _meta: SERVER })
    return result
  }
  const refusalOf = async (method: string, params?: Record<string, unknown>, sent: Sent = {}) => {
    const { status, type, answer } = await send(method, params, { id: 'asked', ...sent })
    const { id, error } = await answer()
    expect([type, id]).toEqual(['application/json; charset=utf-8', 'asked'])
    return { status, ...error }
  }
  const called = async (name: string, args: object, sent?: Sent) => {
    const { structuredContent, content, isError } = await resultOf('tools/call', { name, arguments: args }, sent)
    expect(content).toEqual([{ type: 'text', text: JSON.stringify(structuredContent) }])
    return { ok: isError !== true, body: structuredContent }
  }
  return { send, resultOf, refusalOf, called }
}

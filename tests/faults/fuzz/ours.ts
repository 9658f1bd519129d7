// Whether an answer is ours.
import { expect } from 'bun:test'
import type { Answered } from './scene.ts'

const INTERNAL_ERROR = -32_603
const ERROR = { code: expect.any(String), message: expect.any(String), details: expect.any(Object) }
const OF_OTHERS = /\bat \S+ \(|node_modules|select .* from|postgres/i

/** JSON in our envelope, a page or file of ours, or a redirect. An error that is no page is JSON. */
export const expectOurs = ({ status, type, text }: Answered) => {
  expect(status, text.slice(0, 500)).toBeLessThan(500)
  if (status < 400) return
  if (type.startsWith('text/html')) return expect(text).toContain('· Parley</title>')
  expect(type).toContain('application/json')
  const body = JSON.parse(text)
  if (body.jsonrpc) return expect(body.error).toMatchObject({ code: expect.any(Number), message: expect.any(String) })
  const inEnvelope = body.schema_version === 'moraine.mcp.error.v1' // history's
  expect(inEnvelope ? { error: body.error } : body).toEqual({ error: ERROR })
  expect(text).not.toMatch(OF_OTHERS)
}

/** MCP's result or error, none of which is a failure of ours. */
export const expectRpc = ({ status, type, text }: Answered) => {
  expect(status, text.slice(0, 500)).toBeLessThan(500)
  if (status === 202) return expect(text).toBe('')
  expect(type).toContain('application/json')
  for (const message of [JSON.parse(text)].flat()) {
    if (message.jsonrpc !== '2.0') {
      expect(status).toBeGreaterThanOrEqual(400)
      expect(message).toEqual({ error: ERROR })
    } else if (message.error) {
      expect(message.error).toMatchObject({ code: expect.any(Number), message: expect.any(String) })
      expect(message.error.code).not.toBe(INTERNAL_ERROR)
    } else if (message.result.isError) {
      expect(message.result.structuredContent.error).toMatchObject({ code: expect.any(String), message: expect.any(String) })
      expect(message.result.structuredContent.error.code).not.toBe('internal_error')
    }
  }
}

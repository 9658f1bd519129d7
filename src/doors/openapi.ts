// GET /api/openapi.json, from the operations' own definitions; only the routes that are no operations are written by hand.
import { z } from 'zod'
import { ALWAYS, STATUS, type ErrorCode } from '../core/errors.ts'
import type { ServedOp } from '../context.ts'
import { inputSchema } from './schemas.ts'
import { TRACES } from './traces.ts'
import manifest from '../../package.json' with { type: 'json' }

const CREDENTIAL = {
  in: 'header',
  name: 'X-Team-ID',
  schema: { type: 'string' },
  description: 'The team_id that create_session or join_session answered with.',
}
const KEY = {
  in: 'header',
  name: 'Idempotency-Key',
  schema: { type: 'string' },
  description: 'A retry with the same key is applied only once.',
}

/** The OpenAPI 3.1 description of all operations, from their own definitions. */
export const openapi = (operations: readonly ServedOp[], server: string) => {
  const paths: Record<string, Record<string, object>> = {
    '/api/sessions/{session_id}/stream': { get: STREAM },
    '/api/sessions/{session_id}/handoff.md': { get: HANDOFF },
    '/api/traces': { post: TRACES },
  }
  for (const operation of operations) {
    for (const [method, path] of [operation.route, ...(operation.aliases ?? [])]) {
      const key = `/api${path.replace(/:(\w+)/g, '{$1}')}`
      paths[key] = { ...paths[key], [method.toLowerCase()]: entry(operation, method, path) }
    }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Parley', version: manifest.version, description: manifest.description },
    servers: [{ url: server }],
    paths,
  }
}

const STREAM = {
  operationId: 'stream_session',
  summary: 'Follow the session as server-sent events: one event of the log each, its sequence as the id, so that Last-Event-ID resumes.',
  parameters: [
    { in: 'path', name: 'session_id', required: true, schema: { type: 'string' } },
    { in: 'query', name: 'after', schema: { type: 'integer', minimum: 0 } },
    { in: 'query', name: 'include_trace', schema: { type: 'boolean' } },
    { in: 'header', name: 'Last-Event-ID', schema: { type: 'integer', minimum: 0 } },
  ],
  responses: {
    200: { description: 'the events; `closed` after the last one of a closed session', content: { 'text/event-stream': {} } },
    204: { description: 'resumed at the end of a closed session: no more events will come' },
  },
}

const HANDOFF = {
  operationId: 'session_handoff',
  summary:
    'All that is needed to continue the session, on one page: its purpose, where it stands, decisions, open points, the last messages, how to join.',
  parameters: [{ in: 'path', name: 'session_id', required: true, schema: { type: 'string' } }, CREDENTIAL],
  responses: { 200: { description: 'at most about 40,000 characters', content: { 'text/markdown': {} } } },
}

const entry = (operation: ServedOp, method: string, path: string) => {
  const { properties, required = [] } = inputSchema(operation.input)
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name!)
  const rest = Object.entries(properties).filter(([name]) => !inPath.includes(name) && !(method === 'GET' && name === 'team_id'))
  const parameters: object[] = inPath.map((name) => ({ in: 'path', name, required: true, schema: properties[name] }))
  if (operation.access !== 'open') parameters.push(CREDENTIAL)
  if (operation.effect !== 'read') parameters.push(KEY)
  if (method === 'GET') parameters.push(...rest.map(([name, schema]) => ({ in: 'query', name, required: required.includes(name), schema })))
  const body = {
    type: 'object',
    properties: Object.fromEntries(rest),
    required: required.filter((name) => !inPath.includes(name)),
    additionalProperties: false,
  }
  const { $schema: _, ...output } = z.toJSONSchema(operation.output, { unrepresentable: 'any' })
  return {
    operationId: method === operation.route[0] ? operation.name : `${operation.name}_${method.toLowerCase()}`,
    summary: operation.summary,
    parameters,
    ...(method !== 'GET' && { requestBody: { required: body.required.length > 0, content: { 'application/json': { schema: body } } } }),
    responses: {
      200: { description: 'OK', content: { 'application/json': { schema: output } } },
      ...(operation.conditional && { 304: { description: 'nothing has changed since the ETag in If-None-Match' } }),
      ...refusals(operation),
    },
  }
}

const ERROR = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message', 'details'],
      properties: { code: { type: 'string' }, message: { type: 'string' }, details: { type: 'object' } },
    },
  },
}

const refusals = (operation: ServedOp) => {
  const codes = new Set([...operation.refuses, ...ALWAYS.filter((code) => mayMeet(operation, code))])
  const byStatus = Map.groupBy(codes, (code) => STATUS[code])
  return Object.fromEntries(
    [...byStatus].map(([status, names]) => [status, { description: names.join(', '), content: { 'application/json': { schema: ERROR } } }]),
  )
}

// Without a key nothing is a retry, and without a credential nothing is looked up before the operation looks itself.
const mayMeet = ({ access, effect }: ServedOp, code: ErrorCode) =>
  code === 'idempotency_mismatch' ? effect !== 'read' : access !== 'open' || (code !== 'unauthorized' && code !== 'not_found')

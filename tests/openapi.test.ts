import { afterAll, beforeAll, expect, test } from 'bun:test'
import { STATUS } from '../src/core/errors.ts'
import { operations, startParley, type Parley } from './support/parley.ts'

let parley: Parley
let described: any
beforeAll(async () => {
  parley = await startParley()
  described = await (await parley.send('/api/openapi.json')).json()
})
afterAll(() => parley?.close())

const routes = operations.flatMap((operation) =>
  [operation.route, ...(operation.aliases ?? [])].map(([method, path]) => ({ name: operation.name, method, path, operation })),
)
const inBraces = (path: string) => `/api${path.replace(/:(\w+)/g, '{$1}')}`
const entryOf = ({ method, path }: { method: string; path: string }) => described.paths[inBraces(path)]?.[method.toLowerCase()]

test('it is OpenAPI 3.1 and names this server', () => {
  expect(described.openapi).toMatch(/^3\.1\./)
  expect(described.info).toMatchObject({ title: expect.any(String), version: expect.any(String) })
  expect(described.servers).toEqual([{ url: 'http://127.0.0.1:7423' }])
})

test.each(routes.map((route) => [route.method, route.path, route] as const))('%s %s is described with its answers', (_, __, route) => {
  const entry = entryOf(route)
  expect(entry.summary).toBe(route.operation.summary)
  expect(entry.responses[200].content['application/json'].schema.type).toBe('object')
  for (const code of route.operation.refuses) expect(entry.responses[STATUS[code]].description).toContain(code)
  if (route.operation.access !== 'open') expect(entry.responses[401].description).toContain('unauthorized')
})

test.each(routes.map((route) => [route.method, route.path, route] as const))('%s %s is described with its input', (method, path, route) => {
  const entry = entryOf(route)
  const named = (place: string) => entry.parameters.filter((one: any) => one.in === place).map((one: any) => one.name)
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name!)
  expect(named('path')).toEqual(inPath)
  expect(named('query')).not.toContain('team_id')
  expect(named('header').includes('X-Team-ID')).toBe(route.operation.access !== 'open')
  expect(named('header').includes('Idempotency-Key')).toBe(route.operation.effect !== 'read')
  const fields = Object.keys(route.operation.input.shape).filter((name) => !inPath.includes(name))
  if (method === 'GET') expect(named('query').toSorted()).toEqual(fields.filter((name) => name !== 'team_id').toSorted())
  else expect(Object.keys(entry.requestBody.content['application/json'].schema.properties).toSorted()).toEqual(fields.toSorted())
})

test('operation ids are unique', () => {
  const ids = Object.values<any>(described.paths).flatMap((methods) => Object.values<any>(methods).map(({ operationId }) => operationId))
  expect(new Set(ids).size).toBe(ids.length)
})

test('nothing is described that is not served', async () => {
  for (const [path, methods] of Object.entries<any>(described.paths)) {
    const { status } = await parley.send(path.replace(/\{\w+\}/g, crypto.randomUUID()), { method: 'DELETE' })
    expect(status, path).toBe(405)
    for (const method of Object.keys(methods)) {
      const response = await parley.send(path.replace(/\{\w+\}/g, crypto.randomUUID()), { method: method.toUpperCase() })
      expect(response.status, `${method} ${path}`).not.toBe(405)
    }
  }
})

test('all operations are described, and beside them the stream, the handoff and the import', () => {
  const paths = Object.entries<any>(described.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  )
  const besides = ['GET /api/sessions/{session_id}/stream', 'GET /api/sessions/{session_id}/handoff.md', 'POST /api/traces']
  expect(paths.toSorted()).toEqual([...routes.map(({ method, path }) => `${method} ${inBraces(path)}`), ...besides].toSorted())
})

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { STATUS } from '../src/core/errors.ts'
import { bearer, keyOf } from './support/keys.ts'
import { done, operations, refused, room, startParley, viaRest, type Parley } from './support/parley.ts'
import { dataFile } from './support/transcripts.ts'
import { isOpen } from '../src/operations/operation.ts'

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
  if (!isOpen(route.operation)) expect(entry.responses[401].description).toContain('unauthorized')
})

test.each(routes.map((route) => [route.method, route.path, route] as const))('%s %s is described with its input', (method, path, route) => {
  const entry = entryOf(route)
  const named = (place: string) => entry.parameters.filter((one: any) => one.in === place).map((one: any) => one.name)
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name!)
  expect(named('path')).toEqual(inPath)
  expect(named('query')).not.toContain('team_id')
  const { callers, alsoCarries = [], peopleOnly } = route.operation
  const takesTeams = [...callers, ...alsoCarries].some(({ kind }) => kind === 'team')
  expect(named('header').includes('X-Team-ID')).toBe(takesTeams && !peopleOnly)
  expect(named('header').includes('Idempotency-Key')).toBe(route.operation.effect !== 'read')
  const fields = Object.keys(route.operation.input.shape).filter((name) => !inPath.includes(name) && !(peopleOnly && name === 'team_id'))
  if (method === 'GET') expect(named('query').toSorted()).toEqual(fields.filter((name) => name !== 'team_id').toSorted())
  else expect(Object.keys(entry.requestBody.content['application/json'].schema.properties).toSorted()).toEqual(fields.toSorted())
})

test('what opens a call is a scheme that is described: a key where it has a seat or reads, and readers where persons may', () => {
  const securityOf = (path: string, method: string) => described.paths[path][method].security
  const named = Object.values<any>(described.paths).flatMap((methods) => Object.values<any>(methods).flatMap(({ security }) => security))
  const schemes = new Set(named.flatMap((alternative) => Object.keys(alternative)))
  expect([...schemes].filter((scheme) => !(scheme in described.components.securitySchemes))).toEqual([])
  const inSession = [{ team: [] }, { person: [] }, { key: [] }]
  expect(securityOf('/api/sessions/{session_id}/messages', 'post')).toEqual(inSession)
  expect(securityOf('/api/sessions/{session_id}/work', 'post')).toEqual(inSession)
  expect(securityOf('/api/sessions/{session_id}/wait', 'get')).toEqual([{ team: [] }, { key: [] }])
  expect(securityOf('/api/history/open', 'post')).toEqual([{}, { person: [] }, { key: [] }])
  expect(securityOf('/api/sessions/{session_id}/stream', 'get')).toEqual([{}, ...inSession])
})

const INVITING = ['create_invitation', 'list_invitations', 'revoke_invitation'] // for keys too

test('what only people may do takes a person, and refuses teams', async () => {
  const only = operations.filter(({ peopleOnly }) => peopleOnly)
  expect(only.map(({ name }) => name).toSorted()).toEqual([...INVITING, 'release_session', 'share_session', 'unshare_session'].toSorted())
  const { alex, id } = await room(viaRest(parley))
  for (const { route, name } of only) {
    const { security } = entryOf({ method: route[0], path: route[1] })
    expect(security).toEqual(INVITING.includes(name) ? [{ key: [] }, { person: [] }] : [{ person: [] }])
    const input = name === 'revoke_invitation' ? { invitation_id: crypto.randomUUID() } : {}
    await refused(alex(name, { session_id: id, ...input }), 'forbidden')
  }
})

test('a message may be sent as plain text, as it says', async () => {
  const { content } = described.paths['/api/sessions/{session_id}/messages'].post.requestBody
  expect(Object.keys(content)).toEqual(['application/json', 'text/plain'])
  expect(content['application/json'].example).toEqual({ content: { text: 'I take the lexer.' } })
  const { alex, id } = await room(viaRest(parley))
  const headers = { 'x-team-id': alex.token, 'content-type': 'text/plain' }
  const { status } = await parley.send(`/api/sessions/${id}/messages`, { method: 'POST', headers, body: 'hello' })
  expect(status).toBe(200)
})

test('the doc may be sent and asked for as markdown, as it says', () => {
  const { get, post, put } = described.paths['/api/sessions/{session_id}/doc']
  const { post: append } = described.paths['/api/sessions/{session_id}/doc/append']
  const inQuery = ({ parameters }: any) => parameters.filter((one: any) => one.in === 'query').map((one: any) => [one.name, one.required])
  for (const entry of [post, put, append]) expect(entry.requestBody.content['text/markdown'].schema.type).toBe('string')
  for (const entry of [post, put]) {
    expect(inQuery(entry)).toEqual([
      ['expected_version', false],
      ['section', false],
    ])
  }
  expect(inQuery(append)).toEqual([])
  expect(get.responses[200].description).toContain('Accept: text/markdown')
  expect(Object.keys(get.responses[200].headers)).toEqual(['ETag', 'Doc-Version', 'Doc-Truncated'])
})

test('the keys that make a team are described with their length, and a team may come along', () => {
  const { parameters, security } = described.paths['/api/sessions/{session_id}/join'].post
  const key = parameters.find(({ name }: any) => name === 'Idempotency-Key')
  expect(key.schema).toMatchObject({ minLength: 22, maxLength: 200 })
  expect(security).toEqual([{}, { team: [] }, { invite: [] }])
})

test('errors have the shape that is described, in history its own', async () => {
  const shapeOf = (path: string, status: number) => described.paths[path].post.responses[status].content['application/json'].schema.$ref
  expect(shapeOf('/api/sessions', 400)).toBe('#/components/schemas/Error')
  expect(shapeOf('/api/history/open', 404)).toBe('#/components/schemas/HistoryError')
  for (const [path, name] of [
    ['/api/sessions', 'Error'],
    ['/api/history/open', 'HistoryError'],
  ] as const) {
    const body: any = await (await parley.send(path, { method: 'POST', body: '{}' })).json()
    const { required, properties } = described.components.schemas[name]
    expect(Object.keys(body).toSorted()).toEqual([...required].toSorted())
    expect(Object.keys(body.error).toSorted()).toEqual([...properties.error.required].toSorted())
  }
})

test('files, streams and the configuration come as the types that are described', async () => {
  const { id } = await room(viaRest(parley))
  for (const path of [
    '/api/config',
    '/api/sessions/{session_id}/stream',
    '/api/sessions/{session_id}/handoff.md',
    '/sessions/{session_id}.md',
    '/sessions/{session_id}/feed.jsonl',
  ]) {
    const { responses } = described.paths[path].get
    const response = await parley.send(path.replace('{session_id}', id))
    expect([path, response.status]).toEqual([path, 200])
    expect(Object.keys(responses[200].content)).toEqual([response.headers.get('content-type')!.split(';')[0]!])
    await response.body?.cancel()
    if (path === '/api/config') continue
    const missing = await parley.send(path.replace('{session_id}', crypto.randomUUID()))
    expect([path, missing.status]).toEqual([path, 404])
    expect(responses[404].description).toContain('not_found')
  }
})

test('a server with an access token says that every call needs it, or a signed-in person', async () => {
  const locked = await startParley({ env: { ACCESS_TOKEN: 'a-token-of-this-test' } })
  try {
    const headers = { authorization: 'Bearer a-token-of-this-test' }
    const { paths }: any = await (await locked.send('/api/openapi.json', { headers })).json()
    expect(paths['/api/sessions'].post.security).toEqual([{ accessToken: [] }, { team: [], accessToken: [] }])
    expect(paths['/api/sessions/{session_id}/messages'].post.security).toEqual([{ team: [], accessToken: [] }, { person: [] }, { key: [] }])
  } finally {
    await locked.close()
  }
})

test('what an answer holds is described as open to more, and an event by its name', () => {
  const { schema } = described.paths['/api/sessions/{session_id}/wait'].get.responses[200].content['application/json']
  expect(schema.properties.messages.items).toEqual({ $ref: '#/components/schemas/Event' })
  expect(JSON.stringify(schema)).not.toContain('additionalProperties')
})

test('what stands on an event is described, save what is a system event’s own', async () => {
  const { id, alex } = await room(viaRest(parley))
  const { message_id } = await done(alex('post_message', { content: 'x'.repeat(5_000), to: "Bea's Team", expects_reply: true }))
  await done(alex('post_message', { content: 'yes', reply_to: message_id }))
  const prompt = { session_id: id, prompt: 'Is it ready?', to: "Bea's Team" }
  await done(viaRest(parley)('control.send_prompt', prompt, { headers: bearer(await keyOf(parley, 'full')) }))
  const cut = (await done(alex('get_history', { max_chars: 1_000, message_id }))).messages
  const { messages } = await done(alex('get_history', { session_id: id }))
  const body = readFileSync(dataFile('claude-code.jsonl'))
  const { session_id }: any = await (await parley.send('/api/traces', { body })).json()
  const trace = await (await parley.send(`/sessions/${session_id}/feed.jsonl?include_trace=true`)).text()
  const imported = trace.split('\n').flatMap((line) => (line ? [JSON.parse(line)] : []))
  const fields = new Set([...cut, ...messages, ...imported].filter(({ type }) => type !== 'system').flatMap(Object.keys))
  expect([...fields]).toEqual(
    expect.arrayContaining(['truncated', 'tool_name', 'model', 'reply_to', 'expects_reply', 'delivered_to', 'prompted_by']),
  )
  expect(Object.keys(described.components.schemas.Event.properties)).toEqual(expect.arrayContaining([...fields]))
})

test('what is refused of a message and of edits is described: unknown fields, too many addressees, a priority that is none', () => {
  const bodyOf = (path: string) => described.paths[path].post.requestBody.content['application/json'].schema.properties
  const { content, to } = bodyOf('/api/sessions/{session_id}/messages')
  expect([content.additionalProperties, to.maxItems]).toEqual([false, 32])
  const { title, priority, due_date } = bodyOf('/api/approvals/{proposal_id}').edits.properties
  expect(title.anyOf).toEqual([{ type: 'string', minLength: 5, maxLength: 200 }, { type: 'null' }])
  expect(priority.anyOf[0].enum).toEqual(['high', 'medium', 'low'])
  expect(due_date.anyOf[0].format).toBe('date-time')
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

test('all operations are described, and beside them the configuration, the stream, the files and the import', () => {
  const paths = Object.entries<any>(described.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  )
  const besides = [
    'GET /api/config',
    'GET /api/sessions/{session_id}/stream',
    'GET /api/sessions/{session_id}/handoff.md',
    'GET /sessions/{session_id}.md',
    'GET /sessions/{session_id}/feed.jsonl',
    'POST /api/traces',
  ]
  expect(paths.toSorted()).toEqual([...routes.map(({ method, path }) => `${method} ${inBraces(path)}`), ...besides].toSorted())
})

// With ACCESS_TOKEN and VIEWER_PASSWORD: what the cookie of one who came in with the viewer's password opens, beside a person's.
import { expect } from 'bun:test'
import { beforeAll, test } from '../support/foreign.ts'
import { BASE, cookieOf, onOneEngine, operations, restRequest, room, viaRest, type Seat, type Served } from '../support/parley.ts'
import { isOpen } from '../../src/operations/operation.ts'

const ENV = { ACCESS_TOKEN: 'an-access-token-of-some-length', VIEWER_PASSWORD: 'look-but-do-not-touch' }
const TRACE = `${JSON.stringify({ type: 'user', sessionId: 's', message: { role: 'user', content: 'hi' } })}\n`

onOneEngine((parley) => {
  let served: Served
  let reader: string
  let person: string
  let seats: { id: string; alex: Seat; bea: Seat }
  beforeAll(async () => {
    served = await parley().beside(ENV)
    reader = await cookieOf(served, { name: 'Robin', role: 'reader' })
    person = await cookieOf(served, { name: 'Robin', role: 'person' })
    seats = await room(viaRest(parley()))
  })

  /** A good input for each operation that needs no credential of a team. */
  const inputs: Record<string, () => Record<string, unknown>> = {
    create_session: () => ({ title: 'T', description: '', creator_team_name: 'A' }),
    join_session: () => ({ session_id: seats.id, team_name: 'Cleo' }),
    wait_for_any: () => ({ waits: [{ session_id: seats.id, team_id: seats.bea.token, since_cursor: 0 }], timeout: 0 }),
    'history.list_sessions': () => ({}),
    'history.search_sessions': () => ({ query: 'parser' }),
    'history.open': () => ({ id: seats.id }),
  }
  const open = operations.filter(isOpen)
  const isHistory = ({ route }: (typeof open)[number]) => route[1].startsWith('/history/')

  const statusOf = async (path: string, sending: Parameters<Served['send']>[1]) => {
    const response = await served.send(path, sending)
    await response.body?.cancel()
    return response.status
  }
  const rows = async () =>
    (
      await parley().database.query<{ n: string }>(
        'select (select count(*) from sessions) || $1 || (select count(*) from events) || $1 || (select count(*) from participants) as n',
        ['/'],
      )
    )[0]!.n

  test('every operation that is open to all is tried below', () => {
    expect(open.map(({ fullName }) => fullName).toSorted()).toEqual(Object.keys(inputs).toSorted())
  })

  test('a reader asks history, and is refused every other open operation; nothing is changed', async () => {
    const before = await rows()
    for (const operation of open) {
      const { path, sending } = restRequest(operation.fullName, inputs[operation.fullName]!(), { person: reader })
      const [method] = operation.route
      const status = await statusOf(path, sending)
      expect([operation.name, method, status === 401]).toEqual([operation.name, method, !isHistory(operation)])
      expect([operation.name, await statusOf(path, { ...sending, headers: {} })]).toEqual([operation.name, 401]) // a stranger
    }
    expect(await rows()).toBe(before)
  })

  test('a reader posts nothing, with a team’s token neither, imports nothing, and has no MCP', async () => {
    const before = await rows()
    const at = `/api/sessions/${seats.id}`
    const headers = { cookie: reader, origin: BASE, 'x-team-id': seats.bea.token, accept: 'application/json, text/event-stream' }
    const list = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
    for (const [path, body, method] of [
      [`${at}/messages`, 'hello', 'POST'],
      [`${at}/doc`, '{"content":"x","expected_version":0}', 'POST'],
      [`${at}/doc`, '{"content":"x","expected_version":0}', 'PUT'],
      [at, '{"title":"New","reason":"r"}', 'PATCH'],
      [at, '', 'DELETE'],
      [`${at}/join`, '{"team_name":"Cleo"}', 'POST'],
      [`${at}/conclude`, '{"summary_section":"x"}', 'POST'],
      [`${at}/share`, '{}', 'POST'],
      ['/api/sessions/', '{"title":"T","description":"","creator_team_name":"A"}', 'POST'],
      ['/api//history/../sessions', '{"title":"T","description":"","creator_team_name":"A"}', 'POST'],
      ['/api/history/../sessions', '{"title":"T","description":"","creator_team_name":"A"}', 'POST'],
      ['/api/history/%2e%2e/sessions', '{"title":"T","description":"","creator_team_name":"A"}', 'POST'],
      ['/api/traces', TRACE, 'POST'],
      [`/api/traces?session_id=${seats.id}`, TRACE, 'POST'],
      ['/mcp', list, 'POST'],
      ['/mcp/rooms', list, 'POST'],
      ['/api/mcp', list, 'POST'],
      ['/api/mcp/', list, 'POST'],
      ['/api/mcp?toolsets=history', list, 'POST'],
      ['/api/%6dcp', list, 'POST'],
    ] as const)
      expect([method, path, await statusOf(path, { method, body, headers })]).toEqual([method, path, 401])
    expect(await rows()).toBe(before)
  })

  test('a reader reads streams, the handoff and the description of the API', async () => {
    const at = `/api/sessions/${seats.id}`
    for (const path of [`${at}/stream`, `${at}/handoff.md`, '/api/config', '/api/openapi.json']) {
      expect([path, await statusOf(path, { headers: { cookie: reader } })]).toEqual([path, 200])
      expect([path, await statusOf(path, { method: 'HEAD', headers: { cookie: reader } })]).toEqual([path, 200])
      expect([path, await statusOf(path, {})]).toEqual([path, 401])
    }
  })

  test('a person may do over REST what a person does, and has no MCP', async () => {
    const { path, sending } = restRequest('post_message', { session_id: seats.id, content: 'from a person' }, { person })
    expect(await statusOf(path, sending)).toBe(200)
    const made = restRequest('create_session', inputs.create_session!(), { person })
    expect(await statusOf(made.path, made.sending)).toBe(200)
    for (const mcp of ['/mcp', '/mcp/rooms', '/api/mcp', '/api/mcp?toolsets=history'])
      expect([mcp, await statusOf(mcp, { body: '{}', headers: { cookie: person } })]).toEqual([mcp, 401])
  })

  test('a session’s link opens no MCP', async () => {
    const authorization = `Bearer ${ENV.ACCESS_TOKEN}`
    const shared = await viaRest(served)('share_session', { session_id: seats.id }, { person, headers: { authorization } })
    const cookie = `parley_shared_${seats.id}=${(shared.body.url as string).split('/').at(-1)}`
    expect(await statusOf(`/api/sessions/${seats.id}/handoff.md`, { headers: { cookie } })).toBe(200)
    for (const path of ['/api/mcp', '/mcp', `/api/sessions/${seats.id}/messages`])
      expect([path, await statusOf(path, { body: '{}', headers: { cookie } })]).toEqual([path, 401])
  })
})

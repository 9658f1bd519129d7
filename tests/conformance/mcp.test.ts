import { describe, expect } from 'bun:test'
import { z } from 'zod'
import type { Context } from '../../src/operations/context.ts'
import { anyone } from '../../src/operations/callers.ts'
import { operationsOf } from '../../src/operations/operation.ts'
import type { Toolset } from '../../src/operations/toolset.ts'
import { rooms } from '../../src/rooms/toolset.ts'
import { test } from '../support/foreign.ts'
import { FULL } from '../support/full.ts'
import { done, feedOf, onOneEngine, refused, room, say, soon, viaMcp, viaRest, type Served } from '../support/parley.ts'
import { CREATE } from '../support/per-request.ts'

const CLIENTS = 200
const CALLS = FULL ? 50_000 : CLIENTS

const BOTH = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' }
const SPECIFIED = [
  'create_session',
  'join_session',
  'leave_session',
  'list_participants',
  'get_session',
  'wait_for_messages',
  'post_message',
  'get_history',
  'read_session_doc',
  'update_session_doc',
  'append_to_session_doc',
  'update_session_metadata',
  'conclude_session',
]

/** One JSON-RPC message, or a batch, as a client that keeps nothing would send it. */
const rpc = async (
  served: Served,
  message: unknown,
  { path = '/mcp', headers = {}, signal }: { path?: string; headers?: Record<string, string>; signal?: AbortSignal } = {},
) => {
  const body = typeof message === 'string' ? message : JSON.stringify(message)
  const response = await served.send(path, { method: 'POST', headers: { ...BOTH, ...headers }, body, ...(signal && { signal }) })
  const type = response.headers.get('content-type') ?? ''
  const answer = async () => {
    const text = await response.text()
    const data = type.startsWith('text/event-stream') ? [...text.matchAll(/^data: (.*)$/gm)].at(-1)![1]! : text // notifications come first
    return data === '' ? undefined : (JSON.parse(data) as any)
  }
  return { response, status: response.status, type, answer }
}
const calling = (name: string, args: object, id: unknown = 1, meta?: object) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: args, ...(meta && { _meta: meta }) },
})

onOneEngine((parley) => {
  const listed = async (path = '/mcp', served: Served = parley()) => (await (await served.client(path)).listTools()).tools as any[]

  describe('tools/list', () => {
    test('[A72] has all the tools of the specification', async () => {
      expect((await listed()).map(({ name }) => name)).toEqual(expect.arrayContaining(SPECIFIED))
    })

    test('costs an agent at most 24,000 characters', async () => {
      expect(JSON.stringify(await listed()).length).toBeLessThanOrEqual(24_000)
    })

    test('every tool takes one plain object of known fields, and says what it is for', async () => {
      for (const tool of await listed()) {
        for (const word of ['anyOf', 'oneOf', 'allOf', '$schema', '$ref'])
          expect(Object.keys(tool.inputSchema), tool.name).not.toContain(word)
        expect(tool.inputSchema, tool.name).toMatchObject({ type: 'object', additionalProperties: false })
        for (const [field, schema] of Object.entries<any>(tool.inputSchema.properties))
          expect(schema.type, `${tool.name}.${field} has one type`).toBeString()
        expect(tool.description.length, tool.name).toBeWithin(20, 1_025)
        expect(tool.name).toMatch(/^[a-z_]{1,64}$/)
        expect(tool.outputSchema, tool.name).toBeUndefined()
      }
    })

    test('every tool says whether it reads, a writing one whether it destroys, and two that they reach out of this server', async () => {
      const tools = await listed('/mcp?toolsets=rooms,control,records,history')
      const destroying = ['set_session_name', 'cancel_proposal', 'interrupt_session', 'manage_session', 'update_session']
      const named = (hint: string) => tools.filter(({ annotations }) => annotations[hint]).map(({ name }) => name)
      expect(named('openWorldHint').toSorted()).toEqual(['control_create_session', 'send_prompt'])
      expect(named('destructiveHint')).toEqual(expect.arrayContaining(destroying))
      for (const { name, annotations } of tools) {
        expect(annotations.readOnlyHint, name).toBeBoolean()
        expect(annotations.openWorldHint, name).toBeBoolean()
        if (!annotations.readOnlyHint) expect(annotations.destructiveHint, name).toBeBoolean()
      }
    })

    test('a tool that needs a team takes team_id, and says nowhere that it must', async () => {
      for (const { name, inputSchema } of await listed()) {
        if (['create_session', 'join_session', 'wait_for_any'].includes(name)) continue // the last has one in each entry
        expect(Object.keys(inputSchema.properties), name).toContain('team_id')
        expect(inputSchema.required ?? [], name).not.toContain('team_id')
      }
    })
  })

  describe('the endpoint', () => {
    test('initialize tells who we are and how to take part', async () => {
      for (const path of ['/mcp', '/api/mcp', '/mcp/rooms', '/mcp?toolsets=rooms']) {
        const { answer, status, type } = await rpc(
          parley(),
          {
            jsonrpc: '2.0',
            id: 0,
            method: 'initialize',
            params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
          },
          { path },
        )
        expect([status, type]).toEqual([200, 'application/json; charset=utf-8'])
        const { id, result } = await answer()
        expect(id).toBe(0)
        expect(result).toMatchObject({ protocolVersion: '2025-06-18', serverInfo: { name: 'parley' }, capabilities: { tools: {} } })
        expect(result.instructions).toContain('wait_for_messages')
      }
    })

    test('an unknown tool is a JSON-RPC error, and so is an unknown method', async () => {
      expect(await (await rpc(parley(), calling('no_such_tool', {}, 'abc'))).answer()).toMatchObject({ id: 'abc', error: { code: -32602 } })
      const { answer } = await rpc(parley(), { jsonrpc: '2.0', id: 5, method: 'no/such/method' })
      expect(await answer()).toMatchObject({ id: 5, error: { code: -32601 } })
    })

    test('a tool without a door of its own is not there', async () => {
      expect(await (await rpc(parley(), calling('get_doc_history', {}))).answer()).toMatchObject({ error: { code: -32602 } })
    })

    test('a refusal is a result with isError and the error object, as data and as text', async () => {
      const { answer } = await rpc(parley(), calling('create_session', { title: '' }))
      const { result } = await answer()
      expect(result.isError).toBe(true)
      expect(result.structuredContent.error).toMatchObject({ code: 'invalid_request', details: { field: expect.any(String) } })
      expect(JSON.parse(result.content[0].text)).toEqual(result.structuredContent)
    })

    test('ids come back as they were sent', async () => {
      for (const id of [0, 1, 'x', '', -7, 'ünï']) {
        const { answer } = await rpc(parley(), { jsonrpc: '2.0', id, method: 'ping' })
        expect(await answer()).toEqual({ jsonrpc: '2.0', id, result: {} })
      }
    })

    test.each(['GET', 'DELETE', 'PUT'])('%s is 405 with Allow, for there is nothing to follow or end', async (method) => {
      for (const path of ['/mcp', '/api/mcp', '/mcp/rooms']) {
        const response = await parley().send(path, { method, headers: BOTH })
        expect(response.status).toBe(405)
        expect(response.headers.get('allow')).toBe('POST')
        expect(await response.json()).toMatchObject({ error: { code: 'method_not_allowed' } })
      }
    })

    test('a notification and a client’s response are taken with 202 and no body', async () => {
      for (const message of [
        { jsonrpc: '2.0', method: 'notifications/initialized' },
        { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } },
        { jsonrpc: '2.0', id: 1, result: {} },
      ]) {
        const { response, status } = await rpc(parley(), message)
        expect([status, await response.text()]).toEqual([202, ''])
      }
    })

    test('a body that is not JSON is a parse error, and JSON that is no message an invalid request, both with 400', async () => {
      const broken = await rpc(parley(), '{"jsonrpc":')
      expect([broken.status, await broken.answer()]).toMatchObject([400, { jsonrpc: '2.0', id: null, error: { code: -32700 } }])
      for (const message of [{}, 7, null, 'text', { id: 1, method: 'ping' }, { jsonrpc: '1.0', id: 1, method: 'ping' }, []]) {
        const { status, answer } = await rpc(parley(), typeof message === 'string' ? JSON.stringify(message) : message)
        expect([status, await answer()]).toMatchObject([400, { jsonrpc: '2.0', error: { code: -32600 } }])
      }
    })

    test('a protocol revision that we do not speak is 400, and those that we do pass', async () => {
      const ping = { jsonrpc: '2.0', id: 1, method: 'ping' }
      const { status, answer } = await rpc(parley(), ping, { headers: { 'mcp-protocol-version': '1999-01-01' } })
      expect([status, await answer()]).toMatchObject([400, { error: { code: -32600 } }])
      for (const revision of ['2025-11-25', '2025-06-18', '2025-03-26'])
        expect((await rpc(parley(), ping, { headers: { 'mcp-protocol-version': revision } })).status).toBe(200)
    })

    test('a batch is answered message by message, notifications aside', async () => {
      const { id, alex } = await room(viaRest(parley()))
      const batch = [
        { jsonrpc: '2.0', id: 1, method: 'ping' },
        { jsonrpc: '2.0', method: 'notifications/initialized' },
        calling('post_message', { session_id: id, team_id: alex.token, content: 'from a batch' }, 2),
        calling('no_such_tool', {}, 3),
      ]
      const answers = await (await rpc(parley(), batch)).answer()
      expect(answers.map((answer: any) => answer.id).toSorted()).toEqual([1, 2, 3])
      expect(answers.find((answer: any) => answer.id === 2).result.structuredContent).toMatchObject({ cursor: 2 })
      expect(await feedOf(alex)).toHaveLength(2)
      expect((await rpc(parley(), [{ jsonrpc: '2.0', method: 'notifications/initialized' }])).status).toBe(202)
    })

    test('messages of a batch that are no messages are told so', async () => {
      const answers = await (await rpc(parley(), [{ jsonrpc: '2.0', id: 1, method: 'ping' }, { nonsense: true }])).answer()
      expect(answers).toHaveLength(2)
      expect(answers.find((answer: any) => answer.error)).toMatchObject({ error: { code: -32600 } })
      const nested = await (await rpc(parley(), '['.repeat(100_000) + ']'.repeat(100_000))).answer()
      expect(nested).toMatchObject([{ error: { code: -32600 } }])
    })

    test('a client that takes JSON alone gets JSON, from a held call too', async () => {
      const { id, alex } = await room(viaRest(parley()))
      const args = { session_id: id, team_id: alex.token, since_cursor: 0, timeout: 0 }
      const { type, answer } = await rpc(parley(), calling('wait_for_messages', args), { headers: { accept: 'application/json' } })
      expect(type).toStartWith('application/json')
      expect((await answer()).result.structuredContent.messages).toHaveLength(1)
    })
  })

  describe('many clients on one server', () => {
    test('200 clients that all use the same id each get their own answer', async () => {
      const rooms = await Promise.all(Array.from({ length: 10 }, () => room(viaRest(parley()))))
      for (let calls = 0; calls < CALLS; calls += CLIENTS) {
        const answers = await Promise.all(
          Array.from({ length: CLIENTS }, async (_, n) => {
            const { id, alex } = rooms[n % 10]!
            const { answer } = await rpc(parley(), calling('get_session', { session_id: id, team_id: alex.token }, 1))
            return { expected: id, answer: await answer() }
          }),
        )
        for (const { expected, answer } of answers) {
          expect(answer.id).toBe(1)
          expect(answer.result.structuredContent.session_id).toBe(expected)
        }
      }
    }, 900_000)

    test('a stranger’s cancelled notification ends nobody’s wait', async () => {
      const { id, alex, bea } = await room(viaRest(parley()))
      const args = { session_id: id, team_id: bea.token, since_cursor: 1, timeout: 20 }
      const held = await rpc(parley(), calling('wait_for_messages', args, 1))
      expect(held.type).toStartWith('text/event-stream')
      await soon('it is held', () => parley().services.waits.held === 1)
      for (let requestId = 0; requestId < 400; requestId++)
        await rpc(parley(), { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } })
      await rpc(parley(), [
        { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } },
        { jsonrpc: '2.0', id: 1, method: 'ping' },
      ])
      expect(parley().services.waits.held).toBe(1)
      await say(alex, 'still there?')
      expect((await held.answer()).result.structuredContent.messages).toMatchObject([{ content: { text: 'still there?' } }])
    })

    test('a client that hangs up ends its wait at once, streamed or not', async () => {
      const { id, bea } = await room(viaRest(parley()))
      const args = { session_id: id, team_id: bea.token, since_cursor: 1, timeout: 20 }
      for (const headers of [{}, { accept: 'application/json' }]) {
        const gone = new AbortController()
        const pending = rpc(parley(), calling('wait_for_messages', args), {
          headers: headers as Record<string, string>,
          signal: gone.signal,
        })
        void pending.catch(() => {})
        await soon('it is held', () => parley().services.waits.held === 1)
        gone.abort()
        await soon('it is let go', () => parley().services.waits.held === 0 && parley().services.waiters.size === 0)
      }
      const { response } = await rpc(parley(), calling('wait_for_messages', args))
      await soon('it is held', () => parley().services.waits.held === 1)
      await response.body!.cancel()
      await soon('it is let go', () => parley().services.waits.held === 0 && parley().services.waiters.size === 0)
    })

    test('an answer that a client hung up on is not counted as delivered', async () => {
      const { id, alex, bea } = await room(viaRest(parley()))
      const gone = new AbortController()
      const args = { session_id: id, team_id: bea.token, timeout: 20 }
      const { response } = await rpc(parley(), calling('wait_for_messages', args), { signal: gone.signal })
      await soon('it is held', () => parley().services.waits.held === 1)
      gone.abort()
      await response.body?.cancel().catch(() => {})
      await soon('it is let go', () => parley().services.waits.held === 0)
      await say(alex, 'did you hear?')
      expect((await done(bea('wait_for_messages', { timeout: 0 }))).messages).toHaveLength(1)
    })
  })

  describe('progress', () => {
    test('a call that asked for progress is streamed, and one that did not is plain JSON', async () => {
      const { id, alex } = await room(viaRest(parley()))
      const args = { session_id: id, team_id: alex.token }
      const plain = await rpc(parley(), calling('get_session', args))
      expect(plain.type).toStartWith('application/json')
      await plain.answer()
      const asked = await rpc(parley(), calling('get_session', args, 7, { progressToken: 'p' }))
      expect(asked.type).toStartWith('text/event-stream')
      expect(await asked.answer()).toMatchObject({ id: 7, result: { structuredContent: { session_id: id } } })
    })

    test('the SDK’s client waits with progress as without', async () => {
      const { id, alex, bea } = await room(viaMcp(parley()))
      const client = await parley().client()
      const pending = client.callTool(
        { name: 'wait_for_messages', arguments: { session_id: id, team_id: bea.token, since_cursor: 1, timeout: 20 } },
        undefined,
        { onprogress: () => {}, timeout: 30_000 },
      )
      await soon('it is held', () => parley().services.waits.held === 1)
      await say(alex, 'news')
      expect((await pending).structuredContent).toMatchObject({ next_cursor: 2 })
    })
  })

  test.skipIf(!FULL)(
    'a wait that asked for progress tells it after 10 s',
    async () => {
      const { id, bea } = await room(viaRest(parley()))
      const args = { session_id: id, team_id: bea.token, since_cursor: 1, timeout: 12 }
      const held = await rpc(parley(), calling('wait_for_messages', args, 1, { progressToken: 'p' }))
      const told = [...(await held.response.text()).matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data!))
      expect(told.slice(0, -1)).toEqual([
        { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 'p', progress: 10, message: 'still waiting' } },
      ])
      expect(told.at(-1)).toMatchObject({ id: 1, result: { structuredContent: { messages: [], next_cursor: 1 } } })
    },
    180_000,
  )

  describe('toolsets', () => {
    const { op } = operationsOf<Context>('control')
    const answering = (name: string, path: string) =>
      op({
        name,
        summary: 'An operation of the other toolset, for this test.',
        route: ['POST', path],
        callers: [anyone],
        effect: 'read',
        input: z.strictObject({}),
        output: z.object({ from: z.string() }),
        refuses: [],
        run: async () => ({ from: 'control' }),
      })
    const control: Toolset = {
      name: 'control',
      instructions: 'The other toolset: create_session opens one, list_tasks has its tasks.',
      operations: [answering('create_session', '/control/create_session'), answering('list_tasks', '/control/list_tasks')],
    }
    const beside = () => parley().beside({}, { toolsets: [rooms, control] })
    const namesAt = async (served: Served, path: string) => (await listed(path, served)).map(({ name }) => name)

    test('each has its own path, and the first is what /mcp serves', async () => {
      const served = await beside()
      expect(await namesAt(served, '/mcp/control')).toEqual(['create_session', 'list_tasks'])
      expect(await namesAt(served, '/api/mcp/control')).toEqual(['create_session', 'list_tasks'])
      expect(await namesAt(served, '/mcp')).toEqual(await namesAt(served, '/mcp/rooms'))
      expect(await namesAt(served, '/mcp')).not.toContain('list_tasks')
    })

    test('a tool name that two toolsets share stays plain in the first of the server’s and gets the toolset’s prefix in the other, in whichever order they are asked for', async () => {
      const served = await beside()
      const first = await namesAt(served, '/mcp?toolsets=rooms,control')
      expect(first).toEqual(expect.arrayContaining([...SPECIFIED, 'list_tasks', 'control_create_session']))
      expect(new Set(first).size).toBe(first.length)
      expect(await namesAt(served, '/mcp?toolsets=control,rooms')).toEqual(first)
      const call = async (path: string, name: string) =>
        (await (await rpc(served, calling(name, {}), { path })).answer()).result.structuredContent
      for (const path of ['/mcp?toolsets=rooms,control', '/mcp?toolsets=control,rooms']) {
        expect(await call(path, 'control_create_session')).toEqual({ from: 'control' })
        expect((await call(path, 'create_session')).error.code).toBe('invalid_request')
      }
    })

    test('what a model is told of a toolset names its tools as they are called there', async () => {
      const served = await beside()
      const told = async (path: string) => (await served.client(path)).getInstructions()
      expect(await told('/mcp/control')).toContain('create_session opens one, list_tasks')
      expect(await told('/mcp?toolsets=rooms,control')).toContain(': control_create_session opens one, list_tasks')
      const turned = await parley().beside({}, { toolsets: [control, rooms] })
      const reopening = (await listed('/mcp?toolsets=rooms,control', turned)).find(({ name }) => name === 'reopen_session')
      expect(reopening?.description).toContain(' rooms_create_session with resume_from')
    })

    test('several toolsets are named in one list or each by itself, blanks or not', async () => {
      const served = await beside()
      const both = await namesAt(served, '/mcp?toolsets=rooms,control')
      for (const query of ['toolsets=rooms&toolsets=control', 'toolsets=rooms,%20control', 'toolsets=rooms,+control,rooms'])
        expect(await namesAt(served, `/mcp?${query}`)).toEqual(both)
    })

    test('tools that are named are served alone, by the names that they have there', async () => {
      const served = await beside()
      for (const path of ['/mcp', '/api/mcp', '/mcp/rooms', '/api/mcp/rooms'])
        for (const query of ['tools=join_session,create_session', 'tools=create_session&tools=join_session,+create_session'])
          expect(await namesAt(served, `${path}?${query}`)).toEqual(['create_session', 'join_session'])
      const both = '/mcp?toolsets=control,rooms&tools=control_create_session,reopen_session'
      const [reopening] = await listed(both, served)
      expect([reopening.name, reopening.description]).toEqual(['reopen_session', expect.stringContaining(' create_session with')])
      const call = async (name: string) => (await rpc(served, calling(name, {}), { path: both })).answer()
      expect((await call('control_create_session')).result.structuredContent).toEqual({ from: 'control' })
      expect((await call('create_session')).error.code).toBe(-32602)
    })

    test('the instructions are those of the toolsets asked for', async () => {
      const served = await beside()
      expect((await served.client('/mcp/control')).getInstructions()).toBe(control.instructions)
      for (const order of ['rooms,control', 'control,rooms']) {
        const both = (await served.client(`/mcp?toolsets=${order}`)).getInstructions()
        expect(both).toStartWith(rooms.instructions)
        expect(both).toContain(control.instructions.split(':')[0]!)
      }
    })

    test('a query that lacks its last letter is refused with the right one', async () => {
      for (const name of ['toolset', 'tool']) {
        const asked = await rpc(parley(), { jsonrpc: '2.0', id: 1, method: 'ping' }, { path: `/mcp?${name}=rooms` })
        expect(asked.status).toBe(400)
        expect((await asked.answer()).error).toMatchObject({ code: 'invalid_request', message: expect.stringContaining(`?${name}s=`) })
      }
    })

    test('one that is not there is 404, alone or among others, and so is a tool', async () => {
      const toolsets = ['/mcp/nothing', '/api/mcp/nothing', '/mcp?toolsets=nothing', '/mcp?toolsets=rooms,nothing', '/mcp?toolsets=']
      const tools = ['/mcp?tools=nothing', '/mcp?tools=join_session,nothing', '/mcp?tools=', '/mcp/history?tools=join_session']
      for (const path of [...toolsets, ...tools]) {
        const { status, answer } = await rpc(parley(), { jsonrpc: '2.0', id: 1, method: 'ping' }, { path })
        expect([status, (await answer()).error.code]).toEqual([404, 'not_found'])
      }
    })

    test('its operations stand in REST and OpenAPI too', async () => {
      const served = await beside()
      expect(await (await served.send('/api/control/list_tasks', { body: '{}' })).json()).toEqual({ from: 'control' })
      const { paths } = (await (await served.send('/api/openapi.json')).json()) as any
      expect(Object.keys(paths)).toContain('/api/control/list_tasks')
    })
  })

  test('any other request whose params are wrong is told which, and no error names its code twice', async () => {
    const failure = async (method: string, params: object) => {
      const { answer } = await rpc(parley(), { jsonrpc: '2.0', id: 1, method, params })
      return (await answer()).error
    }
    const wrong = [
      ['resources/read', {}, 'params.uri'],
      ['prompts/get', { name: 7 }, 'params.name'],
      ['completion/complete', { ref: {}, argument: { name: 'x' } }, 'params.ref, params.argument.value'],
      ['initialize', { capabilities: {}, clientInfo: { name: 'x', version: '1' } }, 'params.protocolVersion'],
    ] as const
    for (const [method, params, fields] of wrong)
      expect(await failure(method, params)).toEqual({ code: -32602, message: `${method}: ${fields} missing or of the wrong type.` })
    const absent = [
      ['resources/read', { uri: 'parley://sessions/x/doc' }, -32002],
      ['prompts/get', { name: 'x' }, -32602],
      ['tools/call', { name: 'x' }, -32602],
    ] as const
    for (const [method, params, code] of absent) {
      const error = await failure(method, params)
      expect([error.code, error.message]).toEqual([code, expect.stringMatching(/^There is no such|^There is no tool/)])
    }
  })

  test('Codex, which names its conversation, is told the line that wakes it, and to have it run outside its sandbox; nobody else is', async () => {
    const created = async (meta?: object) =>
      (await (await rpc(parley(), calling('create_session', CREATE.arguments, 1, meta))).answer()).result.structuredContent
    const threadId = crypto.randomUUID()
    const told = await created({ threadId })
    expect(told.wake_command).toStartWith(`codex queue --thread ${threadId} --message "Parley: news in session ${told.session_id}.`)
    expect(told.to_be_woken).toContain('watch --codex` on standard input, outside your sandbox')
    expect(Object.keys(await created()).filter((key) => /wake|woken/.test(key))).toEqual([])
  })

  test('arguments that are no object are refused, and a call without a name, in a sentence', async () => {
    const error = { code: -32602, message: 'arguments must be an object, not a text or a list.' }
    for (const args of [[], 'text', 7, null]) {
      const message = calling('create_session', args as object, 'abc')
      expect(await (await rpc(parley(), message)).answer()).toEqual({ jsonrpc: '2.0', id: 'abc', error })
      expect(await (await rpc(parley(), [message])).answer()).toEqual([{ jsonrpc: '2.0', id: 'abc', error }])
    }
    // No tasks are offered here, so that one that is asked for counts for nothing.
    const asked = calling('create_session', CREATE.arguments)
    const made: any = await (await rpc(parley(), { ...asked, params: { ...asked.params, task: { ttl: 60_000 } } })).answer()
    expect(made.result.structuredContent.session_id).toBeString()
    const { answer } = await rpc(parley(), { jsonrpc: '2.0', id: 1, method: 'tools/call', params: {} })
    expect((await answer()).error).toEqual({ code: -32602, message: 'A call needs the name of a tool.' })
    for (const name of [7, null, ['create_session'], { toString: 1 }] as any[])
      expect(await (await rpc(parley(), calling(name, {}))).answer(), JSON.stringify(name)).toMatchObject({
        error: { code: -32602 },
      })
    await refused(viaMcp(parley())('create_session'), 'invalid_request')
  })
})

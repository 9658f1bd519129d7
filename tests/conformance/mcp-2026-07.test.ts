import { describe, expect } from 'bun:test'
import { test } from '../support/foreign.ts'
import { done, feedOf, onOneEngine, room, say, seat, soon, viaRest } from '../support/parley.ts'
import { CREATE, ENVELOPE, perRequestOf, REVISION, SERVER, VERSION, without } from '../support/per-request.ts'

onOneEngine((parley) => {
  const { send, resultOf, refusalOf, called } = perRequestOf(parley)

  describe('a client of revision 2026-07-28', () => {
    test('learns everything from one request, without a handshake', async () => {
      const { supportedVersions, capabilities, instructions, ttlMs, cacheScope } = await resultOf('server/discover')
      expect(supportedVersions).toEqual([REVISION, ...supportedVersions.slice(1)])
      expect(supportedVersions).toEqual(expect.arrayContaining(['2025-11-25', '2025-06-18', '2025-03-26']))
      expect(capabilities).toEqual({ tools: {}, resources: {}, prompts: {}, completions: {} })
      expect(instructions).toContain('wait_for_messages')
      expect([ttlMs, cacheScope]).toEqual([300_000, 'public'])
    })

    test('is told of no capability that an endpoint does not have', async () => {
      expect((await resultOf('server/discover', {}, { path: '/mcp/history' })).capabilities).toEqual({ tools: {} })
      expect(await refusalOf('resources/list', {}, { path: '/mcp/history' })).toMatchObject({ status: 404, code: -32601 })
      expect(await refusalOf('completion/complete', {}, { path: '/mcp/history' })).toMatchObject({ status: 404, code: -32601 })
    })

    test('takes part in a whole session', async () => {
      const made = await done(called('create_session', CREATE.arguments))
      const viaCurl = viaRest(parley())
      const bea = seat(viaCurl, await done(viaCurl('join_session', { session_id: made.session_id, team_name: 'Bea' })))
      const own = { session_id: made.session_id, team_id: made.team_id }
      const pending = called('wait_for_messages', { ...own, since_cursor: 1, timeout: 20 })
      await soon('it is held', () => parley().services.waits.held === 1)
      await say(bea, 'I take the lexer.')
      expect(await done(pending)).toMatchObject({ messages: [{ content: { text: 'I take the lexer.' } }], next_cursor: 2 })
      expect(await done(called('post_message', { ...own, content: { text: 'I take the rest.' } }))).toMatchObject({ cursor: 3 })
      expect(await done(called('conclude_session', { ...own, summary_section: 'It ships.' }))).toMatchObject({ status: 'closed' })
      expect(await feedOf(bea)).toHaveLength(4)
    })

    test('gets a refusal as a result, like every client', async () => {
      const { ok, body } = await called('create_session', { title: '' })
      expect([ok, body.error.code]).toEqual([false, 'invalid_request'])
    })

    test('may say what it wants in _meta beside the envelope, and need not say its name', async () => {
      const named = await resultOf('tools/list', {}, { meta: without('io.modelcontextprotocol/clientInfo') })
      expect(named.tools.length).toBeGreaterThan(10)
      await resultOf('tools/list', {}, { meta: { ...ENVELOPE, traceparent: '00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01' } })
    })

    test('sees the same tools as a client of an older revision', async () => {
      const { tools } = await (await parley().client()).listTools()
      expect((await resultOf('tools/list')).tools).toEqual(tools as any)
    })
  })

  describe('what may be kept', () => {
    test('lists that are the same for all, for five minutes; the sessions there are, and what they say, not at all', async () => {
      const { id } = await room(viaRest(parley()))
      const kept = async (method: string, params?: Record<string, unknown>) => {
        const { ttlMs, cacheScope } = await resultOf(method, params)
        return { ttlMs, cacheScope }
      }
      for (const method of ['tools/list', 'prompts/list', 'resources/templates/list'])
        expect(await kept(method), method).toEqual({ ttlMs: 300_000, cacheScope: 'public' })
      expect(await kept('resources/list')).toEqual({ ttlMs: 0, cacheScope: 'private' })
      expect(await kept('resources/read', { uri: `parley://sessions/${id}/doc` })).toEqual({ ttlMs: 0, cacheScope: 'private' })
    })

    test('nothing is said of it where the revision has no such word', async () => {
      const prompt = await resultOf('prompts/get', { name: 'convene', arguments: { subject: 'Shipping the parser' } })
      const ref = { type: 'ref/prompt', name: 'convene' }
      for (const result of [prompt, await resultOf('completion/complete', { ref, argument: { name: 'subject', value: '' } })])
        expect(Object.keys(result)).not.toContain('ttlMs')
    })
  })

  describe('what the revision no longer has, or we do not', () => {
    const GONE = ['initialize', 'ping', 'logging/setLevel', 'resources/subscribe', 'resources/unsubscribe']

    test.each([...GONE, 'subscriptions/listen', 'tasks/get', 'no/such', 'toString', 'constructor'])(
      '%s is 404 (-32601)',
      async (method) => {
        expect(await refusalOf(method)).toMatchObject({ status: 404, code: -32601 })
      },
    )

    test('batches and responses are refused, and notifications taken', async () => {
      const post = async (body: object) => {
        const headers = { 'content-type': 'application/json', 'mcp-protocol-version': REVISION }
        const response = await parley().send('/mcp', { method: 'POST', headers, body: JSON.stringify(body) })
        return { status: response.status, text: await response.text() }
      }
      const request = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: ENVELOPE } }
      for (const body of [[], [request], { jsonrpc: '2.0', id: 1, result: {} }, { nonsense: true }]) {
        const { status, text } = await post(body)
        expect([status, JSON.parse(text).error.code]).toEqual([400, -32600])
      }
      expect(await post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } })).toEqual({ status: 202, text: '' })
    })

    test('one request of this revision in a batch of an older one refuses the batch', async () => {
      const batch = [
        { jsonrpc: '2.0', id: 1, method: 'ping' },
        { jsonrpc: '2.0', id: 2, method: 'tools/list', params: { _meta: ENVELOPE } },
      ]
      const response = await parley().send('/mcp', { method: 'POST', body: JSON.stringify(batch) })
      expect([response.status, ((await response.json()) as any).error.code]).toEqual([400, -32600])
    })

    test('a resource that is not there is a wrong param (-32602)', async () => {
      const uri = 'parley://sessions/x/doc'
      expect(await refusalOf('resources/read', { uri })).toMatchObject({ status: 200, code: -32602, data: { uri } })
    })
  })

  describe('streams', () => {
    test('a held call is answered as a stream that ends with the answer, without event ids', async () => {
      const { id, alex, bea } = await room(viaRest(parley()))
      const args = { session_id: id, team_id: bea.token, since_cursor: 1, timeout: 20 }
      const held = await send('tools/call', { name: 'wait_for_messages', arguments: args }, { id: 'w' })
      expect(held.type).toStartWith('text/event-stream')
      expect(held.response.headers.get('x-accel-buffering')).toBe('no')
      await soon('it is held', () => parley().services.waits.held === 1)
      await say(alex, 'news')
      const text = await held.response.text()
      expect(text).not.toMatch(/^id:/m)
      const data = [...text.matchAll(/^data: (.*)$/gm)].map(([, json]) => JSON.parse(json!))
      expect(data).toMatchObject([{ id: 'w', result: { resultType: 'complete', _meta: SERVER, structuredContent: { next_cursor: 2 } } }])
    })

    test('a client that takes JSON alone gets JSON', async () => {
      const { id, bea } = await room(viaRest(parley()))
      const args = { session_id: id, team_id: bea.token, since_cursor: 0, timeout: 0 }
      const headers = { accept: 'application/json' }
      const { type, answer } = await send('tools/call', { name: 'wait_for_messages', arguments: args }, { headers })
      expect(type).toStartWith('application/json')
      expect((await answer()).result.structuredContent.messages).toHaveLength(1)
    })

    test('a call that asked for progress is streamed; one that opens a session tells nobody that the list has changed', async () => {
      const asked = await send('tools/call', CREATE, { meta: { ...ENVELOPE, progressToken: 'p' } })
      expect(asked.type).toStartWith('text/event-stream')
      expect(await asked.frames()).toMatchObject([{ id: 1, result: { resultType: 'complete' } }])
      const plain = await send('tools/call', CREATE)
      expect(plain.type).toStartWith('application/json')
      await plain.answer()
    })

    test('a client that hangs up ends its wait, and a stranger’s cancelled notification ends nobody’s', async () => {
      const { id, bea } = await room(viaRest(parley()))
      const args = { session_id: id, team_id: bea.token, since_cursor: 1, timeout: 20 }
      const gone = new AbortController()
      const held = await send('tools/call', { name: 'wait_for_messages', arguments: args }, { signal: gone.signal })
      await soon('it is held', () => parley().services.waits.held === 1)
      const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1, _meta: ENVELOPE } }
      const headers = { 'mcp-protocol-version': REVISION, 'mcp-method': 'notifications/cancelled' }
      expect((await parley().send('/mcp', { method: 'POST', headers, body: JSON.stringify(cancel) })).status).toBe(202)
      expect(parley().services.waits.held).toBe(1)
      gone.abort()
      await held.response.body?.cancel().catch(() => {})
      await soon('it is let go', () => parley().services.waits.held === 0)
    })
  })

  describe('beside the older revisions', () => {
    test('an answer to a request without an envelope has nothing of this one', async () => {
      const legacy = async (headers: Record<string, string>) => {
        const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
        return ((await (await parley().send('/mcp', { method: 'POST', headers, body })).json()) as any).result
      }
      for (const headers of [{}, { 'mcp-protocol-version': '2025-11-25' }] as Record<string, string>[])
        expect(Object.keys(await legacy(headers))).toEqual(['tools'])
    })

    test('server/discover is not known to them, so that a client of theirs goes on with initialize', async () => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'server/discover' })
      const response = await parley().send('/mcp', { method: 'POST', body })
      expect(await response.json()).toMatchObject({ error: { code: -32601 } })
    })

    test('a handshake that asks for this one is answered with the newest of the older ones', async () => {
      const params = { protocolVersion: REVISION, capabilities: {}, clientInfo: { name: 'alex', version: '1' } }
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })
      const response = await parley().send('/mcp', { method: 'POST', body })
      expect(await response.json()).toMatchObject({ result: { protocolVersion: '2025-11-25' } })
    })

    test('an older revision named in an envelope is answered as that revision has it', async () => {
      const meta = { ...ENVELOPE, [VERSION]: '2025-11-25' }
      const { status, answer } = await send('tools/list', {}, { meta, headers: { 'mcp-protocol-version': '2025-11-25' } })
      expect([status, Object.keys((await answer()).result)]).toEqual([200, ['tools']])
    })
  })
})

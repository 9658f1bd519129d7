import { describe, expect } from 'bun:test'
import manifest from '../../package.json' with { type: 'json' }
import { test } from '../support/foreign.ts'
import { BASE, done, feedOf, onOneEngine, operations, restRequest, room, say, soon, viaRest, type Parley } from '../support/parley.ts'

const routes = operations.flatMap(({ route, aliases = [] }) => [route, ...aliases] as (readonly [string, string])[])
const paths = [...new Set(routes.map(([, path]) => path))].map((path) => ({
  path,
  methods: routes.filter(([, other]) => other === path).map(([method]) => method),
}))
const filled = (path: string) => `/api${path.replace(/:\w+/g, crypto.randomUUID())}`
const isError = (body: unknown, code: string) =>
  expect(body).toEqual({ error: { code, message: expect.any(String), details: expect.any(Object) } } as any)

onOneEngine((parley) => {
  const begin = async () => {
    const { id, alex, bea } = await room(viaRest(parley()))
    const as = { 'x-team-id': alex.token }
    const get = async (path: string, headers: Record<string, string> = as) => {
      const response = await parley().send(`/api/sessions/${id}${path}`, { headers })
      return { response, status: response.status, body: (await response.json()) as any }
    }
    const post = async (path: string, body: BodyInit, headers: Record<string, string> = {}, method = 'POST') => {
      const response = await parley().send(`/api/sessions/${id}${path}`, { method, body, headers: { ...as, ...headers } })
      return { response, status: response.status, body: (await response.json()) as any }
    }
    return { id, alex, bea, get, post }
  }

  describe('routes', () => {
    test.each(paths)('[A81] $path answers methods it does not have with 405, Allow and JSON', async ({ path, methods }) => {
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].filter((one) => !methods.includes(one))) {
        const response = await parley().send(filled(path), { method })
        expect(response.status, method).toBe(405)
        const allow = response.headers.get('allow')!.split(', ')
        expect(allow.filter((one) => one !== 'HEAD').toSorted()).toEqual(methods.toSorted())
        isError(await response.json(), 'method_not_allowed')
      }
    })

    test.each(['/api/config', '/api/openapi.json', '/AGENTS.md', '/llms.txt', '/healthz', '/readyz', '/metrics'])(
      '%s is for reading alone',
      async (path) => {
        expect((await parley().send(path)).status).toBe(200)
        const response = await parley().send(path, { method: 'POST', body: '{}' })
        expect(response.status).toBe(405)
        expect(response.headers.get('allow')).toContain('GET')
        isError(await response.json(), 'method_not_allowed')
      },
    )

    test.each([
      ['/public/app.css', ['GET', 'HEAD']],
      ['/sw.js', ['GET', 'HEAD']],
      ['/join/x', ['GET', 'HEAD']],
      ['/shared/x', ['GET', 'HEAD']],
      ['/sign-in', ['GET', 'POST', 'HEAD']],
      ['/sign-out', ['POST']],
    ])('%s takes %j alone', async (path, methods) => {
      for (const method of ['GET', 'POST', 'PUT', 'DELETE'].filter((one) => !methods.includes(one))) {
        const response = await parley().send(path, { method })
        expect([response.status, response.headers.get('allow')?.split(', ')]).toEqual([405, methods])
        isError(await response.json(), 'method_not_allowed')
      }
      const head = await parley().send(path, { method: 'HEAD' })
      expect(head.status).toBe((await parley().send(path)).status)
    })

    test.each([
      '/api',
      '/api/nothing',
      '/api/sessions/x/nothing',
      '/nothing.php',
      '/api/sessions/x/messages/1',
      '/mcp/nothing',
      '/mcp?toolsets=nothing',
    ])('[A81] %s is nowhere: 404 in JSON', async (path) => {
      const response = await parley().send(path, { method: 'POST', body: '{}' })
      expect(response.status).toBe(404)
      expect(response.headers.get('content-type')).toStartWith('application/json')
      isError(await response.json(), 'not_found')
    })

    test('PATCH on the session renames it, as POST to metadata does', async () => {
      const { post, alex } = await begin()
      const { status, body } = await post('', JSON.stringify({ title: 'Patched', reason: 'scope' }), {}, 'PATCH')
      expect([status, body.title]).toEqual([200, 'Patched'])
      expect((await feedOf(alex)).at(-1)).toMatchObject({ event: 'session_metadata_updated', reason: 'scope' })
    })

    test('HEAD answers as GET does, without a body', async () => {
      const { id, alex } = await begin()
      const response = await parley().send(`/api/sessions/${id}`, { method: 'HEAD', headers: { 'x-team-id': alex.token } })
      expect([response.status, await response.text()]).toEqual([200, ''])
    })

    test('HEAD on a wait is not held, and what it cannot hand out stays unread', async () => {
      const { id, alex, bea } = await room(viaRest(parley()))
      const head = (query: string) =>
        parley().send(`/api/sessions/${id}/wait${query}`, { method: 'HEAD', headers: { 'x-team-id': bea.token } })
      const began = performance.now()
      expect((await head('?since_cursor=1')).status).toBe(200)
      expect(performance.now() - began).toBeLessThan(15_000) // held, it takes 25
      await say(alex, 'For Bea.')
      for (const query of ['', '?timeout=0', '?timeout=0&only=addressed']) expect((await head(query)).status).toBe(200)
      expect((await done(bea('wait_for_messages', { timeout: 0 }))).messages).toHaveLength(1)
    })
  })

  describe('bodies', () => {
    test.each(['{', '{"title":}', 'title=x', '"text"', '[]', '7', 'null', '{"content":"x"} x'])(
      '[A81] %s is no body: 400 in JSON',
      async (body) => {
        const response = await parley().send('/api/sessions', { body })
        expect(response.status).toBe(400)
        isError(await response.json(), 'invalid_request')
      },
    )

    test('[A4] JSON is read as JSON whatever its content type says, as curl -d sends it', async () => {
      for (const type of [
        'application/x-www-form-urlencoded',
        'text/plain',
        'application/octet-stream',
        'application/json; charset=utf-8',
      ]) {
        const { post, alex } = await begin()
        expect((await post('/messages', '  {"content":{"text":"hi"}}', { 'content-type': type })).status).toBe(200)
        expect((await feedOf(alex)).at(-1).content).toEqual({ text: 'hi' })
        expect((await post('/doc/append', '{"text":"note"}', { 'content-type': type })).status).toBe(200)
      }
    })

    test('a message may be the body itself', async () => {
      for (const [type, text] of [
        ['text/plain', 'just words'],
        ['application/x-www-form-urlencoded', '- a list & more = yes'],
        ['text/markdown', '# Title\n\n"quoted"'],
        ['text/plain', '[1, 2]'],
      ] as const) {
        const { post, alex } = await begin()
        expect((await post('/messages', text, { 'content-type': type })).status).toBe(200)
        expect((await feedOf(alex)).at(-1).content).toEqual({ text })
      }
    })

    test('a message whose text would begin with { must parse, and so must one that says it is JSON', async () => {
      const { post, alex } = await begin()
      isError((await post('/messages', '{not json', { 'content-type': 'text/plain' })).body, 'invalid_request')
      isError((await post('/messages', 'words', { 'content-type': 'application/json' })).body, 'invalid_request')
      isError((await post('/doc/append', 'words', { 'content-type': 'text/plain' })).body, 'invalid_request')
      expect(await feedOf(alex)).toHaveLength(1)
    })

    test('an empty body is an empty object', async () => {
      const { post } = await begin()
      isError((await post('/messages', '')).body, 'invalid_request')
      expect((await post('/leave', '')).status).toBe(200)
    })

    test('of a body nothing is coerced but a number that is sent as its digits', async () => {
      const { post } = await begin()
      for (const version of ['true', '"0x0"', '" 0"', '"-0"', '[0]'])
        expect([version, (await post('/doc', `{"content":"x","expected_version":${version}}`)).status]).toEqual([version, 400])
      expect((await post('/doc', '{"content":"x","expected_version":"0"}')).status).toBe(200)
      expect((await post('/messages', '{"content":{"text":7}}')).status).toBe(400)
    })

    test('a session in the body that is not the one in the address is refused', async () => {
      const { id, post } = await begin()
      const { status, body } = await post('/messages', JSON.stringify({ session_id: crypto.randomUUID(), content: 'x' }))
      expect(status).toBe(400)
      expect(body.error.details.field).toBe('session_id')
      expect((await post('/messages', JSON.stringify({ session_id: id, content: 'x' }))).status).toBe(200)
    })
  })

  describe('queries', () => {
    test('a team_id in the address is refused, good or bad, for it would end up in logs', async () => {
      const { id, alex, get } = await begin()
      for (const headers of [{}, { 'x-team-id': alex.token }] as Record<string, string>[]) {
        const { status, body } = await get(`?team_id=${alex.token}`, headers)
        expect(status).toBe(400)
        expect(body.error.details.field).toBe('team_id')
        expect(JSON.stringify(body)).not.toContain(alex.token)
      }
      const response = await parley().send(`/api/sessions/${id}/messages?team_id=${alex.token}`, { body: '{"content":"x"}' })
      expect(response.status).toBe(400)
    })

    test('values get the type that their schema asks for', async () => {
      const { alex, get } = await begin()
      await say(alex, 'one')
      await say(alex, 'two')
      expect((await get('/messages?limit=1')).body.messages).toHaveLength(1)
      expect((await get('/messages?limit=-1')).body.messages).toHaveLength(3)
      expect((await get('/wait?since_cursor=1&timeout=0&include_trace=false')).body.messages).toHaveLength(2)
      expect((await get('/wait?since_cursor=3&timeout=0.01&include_trace=true')).body.messages).toEqual([])
    })

    test.each([
      'limit=abc',
      'limit=',
      'limit=1.5',
      'include_trace=yes',
      'include_trace=1',
      'include_trace=',
      'colour=green',
      'message_id=',
    ])('?%s on the history is refused or finds nothing', async (query) => {
      const { get } = await begin()
      expect([400, 404]).toContain((await get(`/messages?${query}`)).status)
    })

    test.each(['limit=007', 'limit=%2B5', 'limit=1e2', 'limit=0x10', 'limit=5%20', 'limit=5.0'])(
      'only canonical decimals are numbers: ?%s is 400',
      async (query) => {
        const { get } = await begin()
        expect((await get(`/messages?${query}`)).status).toBe(400)
      },
    )

    test.each([
      'limit=1&limit=2',
      'include_trace=true&include_trace=false',
      'before_cursor=2&before_cursor=3',
      'message_id=a&message_id=b',
    ])('a key that is no list cannot be repeated: ?%s is 400', async (query) => {
      const { get } = await begin()
      expect((await get(`/messages?${query}`)).status).toBe(400)
    })

    test('an encoded path is decoded once', async () => {
      const { id, alex } = await begin()
      const encoded = id.replace('-', '%2D')
      expect((await parley().send(`/api/sessions/${encoded}`, { headers: { 'x-team-id': alex.token } })).status).toBe(200)
      expect((await parley().send('/api/sessions/%E0%A4%A', { headers: { 'x-team-id': alex.token } })).status).toBeOneOf([400, 401])
    })
  })

  describe('answers', () => {
    test('are JSON, not to be cached, and open to no other site', async () => {
      const { get } = await begin()
      const { response } = await get('')
      expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
      expect(response.headers.get('cache-control')).toContain('no-store')
      expect([...response.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
    })

    test('a refusal for now carries Retry-After', async () => {
      const served = await parley().beside({ METADATA_MIN_INTERVAL: '60' })
      const { id, alex } = await room(viaRest(served))
      const rename = (title: string) => restRequest('update_session_metadata', { session_id: id, title, reason: 'r' }, { team: alex.token })
      for (const title of ['One', 'Two']) {
        const { path, sending } = rename(title)
        const response = await served.send(path, sending)
        expect(response.status).toBe(title === 'One' ? 200 : 429)
        if (title === 'Two') expect(Number(response.headers.get('retry-after'))).toBeWithin(1, 61)
      }
    })
  })

  describe('wait as server-sent events', () => {
    const accept = { accept: 'text/event-stream' }

    test('[A21] is the same object as one event', async () => {
      const { id, alex } = await begin()
      const response = await parley().send(`/api/sessions/${id}/wait?since_cursor=0&timeout=0`, {
        headers: { 'x-team-id': alex.token, ...accept },
      })
      expect(response.status).toBe(200)
      expect(response.headers.get('content-type')).toStartWith('text/event-stream')
      const text = await response.text()
      const events = text.split('\n\n').filter((block) => block.includes('data: '))
      expect(events).toHaveLength(1)
      expect(JSON.parse(/^data: (.*)$/m.exec(events[0]!)![1]!)).toEqual(
        await done(alex('wait_for_messages', { since_cursor: 0, timeout: 0 })),
      )
    })

    test('opens at once with a comment, and the news follows', async () => {
      const { id, alex } = await begin()
      const response = await parley().send(`/api/sessions/${id}/wait?since_cursor=1&timeout=20`, {
        headers: { 'x-team-id': alex.token, ...accept },
      })
      const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
      expect((await reader.read()).value).toStartWith(':')
      await soon('it is held', () => parley().services.waits.held === 1)
      await say(alex, 'news')
      expect((await reader.read()).value).toContain('"news"')
    })

    test('a refusal keeps its status', async () => {
      const { id, alex } = await begin()
      const wait = (query: string, headers: Record<string, string>) =>
        parley().send(`/api/sessions/${id}/wait?${query}`, { headers: { ...headers, ...accept } })
      expect((await wait('timeout=0', {})).status).toBe(401)
      expect((await wait('timeout=soon', { 'x-team-id': alex.token })).status).toBe(400)
    })

    test('a reader that goes away ends its wait', async () => {
      const { id, alex } = await begin()
      const wait = (headers: Record<string, string>, signal: AbortSignal) =>
        parley().send(`/api/sessions/${id}/wait?since_cursor=1&timeout=20`, { headers: { 'x-team-id': alex.token, ...headers }, signal })
      for (const headers of [{}, accept]) {
        const gone = new AbortController()
        const pending = Promise.resolve(wait(headers as Record<string, string>, gone.signal)).catch(() => undefined)
        await soon('it is held', () => parley().services.waits.held === 1)
        gone.abort()
        await soon('it is let go', () => parley().services.waits.held === 0 && parley().services.waiters.size === 0)
        await (await pending)?.body?.cancel().catch(() => {})
      }
    })
  })

  describe('what is told of the server', () => {
    test('[A9 A65] /api/config has the link of this request, or the one of MCP_URL, or the one that was saved', async () => {
      expect(await (await parley().send('/api/config')).json()).toMatchObject({
        version: manifest.version,
        mcp_url: `${BASE}/mcp`,
        idle_limit: 10,
        idle_after: 10,
        disconnected_after: 60,
      })
      const served = await parley().beside({ MCP_URL: 'https://parley.example/mcp', IDLE_LIMIT: '3' })
      const config = async () => (await served.send('/api/config')).json() as Promise<any>
      expect(await config()).toMatchObject({ mcp_url: 'https://parley.example/mcp', idle_limit: 3 })
      await served.services.changeSetting('mcp_url', 'https://saved.example/api/mcp')
      expect((await config()).mcp_url).toBe('https://saved.example/api/mcp')
      expect((await config()).agents_md).toBe('https://saved.example/AGENTS.md')
      for (const url of ['https://saved.example/parley/mcp?toolsets=rooms,history', 'https://saved.example/parley/mcp/history/']) {
        await served.services.changeSetting('mcp_url', url)
        expect(await config()).toMatchObject({ mcp_url: url, agents_md: 'https://saved.example/parley/AGENTS.md' })
      }
      await served.services.changeSetting('mcp_url', undefined)
      expect((await config()).mcp_url).toBe('https://parley.example/mcp')
      await soon('the other instance has heard', () => parley().services.setting('mcp_url') === undefined)
    })

    test('where an access token is needed, every line of the guides that is to be copied sends it', async () => {
      const served = await parley().beside({ ACCESS_TOKEN: 'a-token-of-some-length' })
      const pages = [
        '/AGENTS.md',
        ...['control', 'curl', 'errors', 'events', 'history', 'hooks', 'records', 'work'].map((name) => `/AGENTS/${name}.md`),
      ]
      const read = async (from: Pick<Parley, 'send'>) =>
        (await Promise.all(pages.map(async (path) => (await from.send(path)).text()))).join('\n')
      const guides = await read(served)
      const lines = guides.split('\n').filter((line) => /\bcurl -\w/.test(line))
      expect(lines.length).toBeGreaterThan(20)
      const [withKey, others] = [lines.filter((line) => line.includes('${AUTH')), lines.filter((line) => !line.includes('${AUTH'))]
      expect(withKey.length).toBeGreaterThan(10)
      for (const line of withKey) expect(line).not.toContain('PARLEY_TOKEN') // its key is the one Authorization of the call
      for (const line of others) expect(line).toContain('curl -H "Authorization: Bearer $PARLEY_TOKEN"')
      expect(guides).toContain(`PARLEY_TOKEN='%s'`)
      expect(await read(parley())).not.toContain('PARLEY_TOKEN')
    })

    test('/AGENTS.md names every page beside it, and each is there; another name is told what there is', async () => {
      const agents = await (await parley().send('/AGENTS.md', { headers: { host: 'localhost:9999' } })).text()
      const pages = [...agents.matchAll(/\(http:\/\/localhost:9999(\/AGENTS\/\w+\.md)\)/g)].map(([, path]) => path!)
      expect(pages.length).toBeGreaterThan(4)
      for (const path of pages) {
        const response = await parley().send(path, { headers: { host: 'localhost:9999' } })
        expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/markdown; charset=utf-8'])
        expect(await response.text()).not.toContain('127.0.0.1:7423')
      }
      const unknown = await parley().send('/AGENTS/nothing.md')
      expect([unknown.status, await unknown.text()]).toEqual([404, expect.stringContaining('curl.md')])
    })

    test('pages that name the link to some tools mean that link, however narrow the one is that agents are given', async () => {
      for (const narrow of ['/mcp/rooms', '/mcp?toolsets=rooms,records']) {
        const served = await parley().beside({ MCP_URL: `https://parley.example${narrow}` })
        const read = async (name: string) => (await served.send(`/${name}.md`, { headers: { host: 'parley.example' } })).text()
        const control = await read('AGENTS/control')
        expect(control).toContain('Tools: https://parley.example/mcp/control, or https://parley.example/mcp?toolsets=rooms,control with')
        expect(await read('AGENTS')).toContain(`The MCP link is \`https://parley.example${narrow}\`,`)
      }
    })

    test('a form is refused, as its lines would be taken for the text', async () => {
      const { id, alex } = await room(viaRest(parley()))
      const body = new FormData()
      body.set('text', 'hi')
      for (const path of [`/api/sessions/${id}/messages`, '/api/traces']) {
        const response = await parley().send(path, { method: 'POST', body, headers: { 'x-team-id': alex.token } })
        expect([response.status, (await response.json()).error.message]).toEqual([400, expect.stringContaining('--data-binary')])
      }
    })

    test('[A8] /AGENTS.md and /llms.txt name where this server is', async () => {
      for (const path of ['/AGENTS.md', '/llms.txt']) {
        const response = await parley().send(path, { headers: { host: 'localhost:9999' } })
        expect(response.headers.get('content-type')).toStartWith('text/')
        expect(await response.text()).toContain('http://localhost:9999')
      }
    })

    test('/llms.txt names the MCP link in force', async () => {
      const text = await (await parley().send('/llms.txt', { headers: { host: 'localhost:9999' } })).text()
      expect(text).toContain('(http://localhost:9999/mcp)')
    })

    test('/healthz, /readyz and /metrics answer', async () => {
      expect(await (await parley().send('/healthz')).json()).toEqual({ alive: true })
      expect(await (await parley().send('/readyz')).json()).toEqual({ ready: true })
      await begin()
      const metrics = await (await parley().send('/metrics')).text()
      expect(metrics).toMatch(/^parley_calls_total\{operation="rooms\.create_session",outcome="ok"\} \d+$/m)
      expect(metrics).toMatch(/^parley_waits_held \d+$/m)
    })
  })
})

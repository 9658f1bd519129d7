import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ResourceListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { afterAll, describe, expect } from 'bun:test'
import { beforeAll, test } from '../support/foreign.ts'
import { done, onOneEngine, room, say, viaMcp, viaRest, type Served } from '../support/parley.ts'

const PASSWORD = { VIEWER_PASSWORD: 'the viewers password' }

// The real client of the SDK, over a real socket.
onOneEngine((parley) => {
  let closed: Served
  const stops: (() => Promise<unknown>)[] = []
  beforeAll(async () => void (closed = await parley().beside(PASSWORD)))
  afterAll(async () => {
    for (const stop of stops) await stop()
  })

  const connect = async (served: Served, headers: Record<string, string> = {}, path = '/mcp') => {
    const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: (request) => served.app.fetch(request, {}) })
    const client = new Client({ name: 'conformance', version: '1.0.0' })
    const transport = new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${server.port}${path}`), { requestInit: { headers } })
    await client.connect(transport as Parameters<Client['connect']>[0])
    stops.push(async () => {
      await client.close()
      await server.stop(true)
    })
    return client
  }
  const begin = (more = {}) => room(viaRest(parley()), more)
  const read = async (client: Client, uri: string) => {
    const { contents } = await client.readResource({ uri })
    return contents[0] as { uri: string; mimeType: string; text: string }
  }

  describe('resources', () => {
    test('doc, feed, conclusion and handoff of a session can be read', async () => {
      const { id, alex, bea } = await begin()
      await done(alex('append_to_session_doc', { text: '## Decisions\nBy file.' }))
      const { message_id } = await say(bea, 'I take the lexer.')
      const client = await connect(parley())
      const at = (part: string) => `parley://sessions/${id}/${part}`
      expect(await read(client, at('doc'))).toEqual({ uri: at('doc'), mimeType: 'text/markdown', text: '## Decisions\nBy file.' })
      const feed = await read(client, at('feed'))
      const lines = feed.text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
      expect(feed.mimeType).toBe('application/x-ndjson')
      expect(lines.map(({ sequence }) => sequence)).toEqual([1, 2])
      expect(lines[1]).toMatchObject({ id: message_id, content: { text: 'I take the lexer.' } })
      expect((await read(client, at('conclusion'))).text).toBe('')
      await done(alex('conclude_session', { summary_section: 'It ships.' }))
      expect((await read(client, at('conclusion'))).text).toBe('It ships.')
      const handoff = (await read(client, at('handoff'))).text
      expect(handoff).toStartWith('# Handoff: Shipping the parser\n')
      expect(handoff).toMatch(/http:\/\/127\.0\.0\.1:\d+\/api\/sessions/)
    })

    test('the newest sessions are listed, and templates lead to all', async () => {
      const { id } = await begin({ title: 'A new one' })
      const client = await connect(parley())
      const { resources } = await client.listResources()
      const own = resources.filter(({ uri }) => uri.includes(id))
      expect(own.map(({ uri, name }) => [uri, name])).toEqual([
        [`parley://sessions/${id}/handoff`, 'A new one (handoff)'],
        [`parley://sessions/${id}/doc`, 'A new one (doc)'],
      ])
      expect(resources.length).toBeLessThanOrEqual(50)
      const { resourceTemplates } = await client.listResourceTemplates()
      expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual(
        ['handoff', 'doc', 'conclusion', 'feed'].map((part) => `parley://sessions/{id}/${part}`),
      )
    })

    test('with a password nothing is listed, and a session is read by its own teams alone', async () => {
      const { id, alex } = await begin()
      const other = await begin()
      const uri = `parley://sessions/${id}/handoff`
      const errors: unknown[] = []
      for (const headers of [{}, { 'x-team-id': other.alex.token }, { 'x-team-id': 'garbage' }] as Record<string, string>[]) {
        const stranger = await connect(closed, headers)
        expect((await stranger.listResources()).resources).toEqual([])
        await stranger.readResource({ uri }).catch(({ code, message }) => errors.push({ code, message }))
        await stranger
          .readResource({ uri: uri.replace(id, crypto.randomUUID()) })
          .catch(({ code, message }) => errors.push({ code, message }))
      }
      expect(errors).toHaveLength(6)
      for (const error of errors) expect(error).toEqual({ code: -32002, message: expect.stringContaining('you may not read it') })
      const own = await connect(closed, { 'x-team-id': alex.token })
      expect((await read(own, uri)).text).toContain('# Handoff')
      await done(alex('leave_session'))
      await expect(own.readResource({ uri })).rejects.toMatchObject({ code: -32002 })
    })

    test('what is no resource is told so', async () => {
      const { id } = await begin()
      const client = await connect(parley())
      for (const uri of [
        'x',
        'file:///etc/passwd',
        `parley://sessions/${id}`,
        `parley://sessions/${id}/doc/..`,
        `parley://sessions/${id}/toString`,
      ])
        await expect(client.readResource({ uri })).rejects.toMatchObject({ code: -32002 })
    })

    test('a client hears that the list has changed when it opens or renames a session, and not when that is refused', async () => {
      const client = await connect(parley())
      expect(client.getServerCapabilities()).toMatchObject({ resources: { listChanged: true }, prompts: {}, completions: {} })
      let heard = 0
      client.setNotificationHandler(ResourceListChangedNotificationSchema, () => void heard++)
      const made = await client.callTool({
        name: 'create_session',
        arguments: { title: 'Heard of', description: '', creator_team_name: 'Cleo' },
      })
      expect(heard).toBe(1)
      const { session_id, team_id } = made.structuredContent as Record<string, string>
      const rename = { session_id, team_id, title: 'Heard of again', reason: 'scope' }
      await client.callTool({ name: 'update_session_metadata', arguments: rename })
      expect(heard).toBe(2)
      expect((await client.callTool({ name: 'update_session_metadata', arguments: rename })).isError).toBe(true)
      await client.callTool({ name: 'post_message', arguments: { session_id, team_id, content: 'hello' } })
      expect(heard).toBe(2)
    })
  })

  describe('prompts', () => {
    test('each has its arguments filled in', async () => {
      const client = await connect(parley())
      const { prompts } = await client.listPrompts()
      expect(prompts.map(({ name }) => name)).toEqual(['join', 'convene', 'resume', 'conclude'])
      for (const { name, arguments: known = [] } of prompts) {
        const given = Object.fromEntries(known.map((argument) => [argument.name, `<the ${argument.name}>`]))
        const { messages } = await client.getPrompt({ name, arguments: given })
        const { role, content } = messages[0]!
        expect([role, content.type]).toEqual(['user', 'text'])
        for (const value of Object.values(given)) expect((content as { text: string }).text).toContain(value)
        expect((content as { text: string }).text).not.toContain('undefined')
      }
    })

    test('the tools that they speak of are there', async () => {
      const client = await connect(parley())
      const names = new Set((await client.listTools()).tools.map(({ name }) => name))
      for (const { name } of (await client.listPrompts()).prompts) {
        const { messages } = await client.getPrompt({ name, arguments: { session_id: 'x', subject: 'x' } })
        const text = (messages[0]!.content as { text: string }).text
        const spoken = text.match(/\b(?:create|join|catch|get|read|update|conclude|post|wait)_[a-z_]+/g)!
        for (const tool of spoken) expect(names, `${name} speaks of ${tool}`).toContain(tool)
      }
    })

    test('who joins by one is led to what fits into one answer, not to all that was said', async () => {
      const client = await connect(parley())
      const { messages } = await client.getPrompt({ name: 'join', arguments: { session_id: 'x' } })
      const { text } = messages[0]!.content as { text: string }
      expect(text).toContain('catch_up')
      expect(text).not.toContain('get_history')
    })

    test('a prompt that is not there, or without what it needs, is refused', async () => {
      const client = await connect(parley())
      await expect(client.getPrompt({ name: 'nonsense' })).rejects.toMatchObject({ code: -32602 })
      await expect(client.getPrompt({ name: 'toString' })).rejects.toMatchObject({ code: -32602 })
      await expect(client.getPrompt({ name: 'join' })).rejects.toMatchObject({ code: -32602 })
      await expect(client.getPrompt({ name: 'join', arguments: { session_id: 'x'.repeat(5_000) } })).rejects.toMatchObject({
        code: -32602,
      })
    })
  })

  describe('completions', () => {
    test('offer ids of sessions by the beginning of the id or by the title, and only where they fit', async () => {
      const title = `Completing ${crypto.randomUUID()}`
      const { id, alex } = await begin({ title })
      const client = await connect(parley())
      const completed = async (name: string, value: string, argument = 'session_id') =>
        (await client.complete({ ref: { type: 'ref/prompt', name }, argument: { name: argument, value } })).completion.values
      expect(await completed('join', id.slice(0, 20))).toEqual([id])
      expect(await completed('join', title.toUpperCase())).toEqual([id])
      expect(await completed('resume', id)).toEqual([])
      await done(alex('conclude_session', { summary_section: 'end' }))
      expect(await completed('resume', id)).toEqual([id])
      expect(await completed('join', id)).toEqual([])
      expect(await completed('join', id, 'team_name')).toEqual([])
      const ref = { type: 'ref/resource' as const, uri: 'parley://sessions/{id}/doc' }
      expect((await client.complete({ ref, argument: { name: 'id', value: id } })).completion.values).toEqual([id])
    })

    test('tell a stranger nothing where a password is set', async () => {
      const { id } = await begin()
      const client = await connect(closed)
      const { completion } = await client.complete({
        ref: { type: 'ref/prompt', name: 'join' },
        argument: { name: 'session_id', value: id },
      })
      expect(completion).toEqual({ values: [] })
    })
  })

  test('no credential is in any resource', async () => {
    const { id, alex, bea } = await begin()
    await done(viaMcp(parley())('post_message', { session_id: id, content: 'hello' }, { team: bea.token }))
    const client = await connect(parley())
    for (const part of ['doc', 'feed', 'conclusion', 'handoff']) {
      const { text } = await read(client, `parley://sessions/${id}/${part}`)
      for (const { token } of [alex, bea]) expect(text).not.toContain(token.split('.')[1]!)
    }
  })
})

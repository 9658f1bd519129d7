import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { expect } from 'bun:test'
import { test } from '../support/foreign.ts'
import { BASE, cookieOf, done, onOneEngine, room, say, seat, soon, viaRest, type Served } from '../support/parley.ts'
import { CREATE, REVISION } from '../support/per-request.ts'

// The official client of the line that speaks this revision; all other tests use the one of the line before.
onOneEngine((parley) => {
  const connected = async (served: Served = parley(), more: Record<string, string> = {}) => {
    const sent: string[] = []
    const transport = new StreamableHTTPClientTransport(new URL(`${BASE}/mcp`), {
      fetch: async (url, init) => {
        const { method, headers, body, signal } = new Request(url, init as RequestInit)
        sent.push(headers.get('mcp-method') ?? method)
        const sending = {
          method,
          headers: { ...Object.fromEntries(headers), ...more },
          signal,
          ...(body && { body: await new Response(body).text() }),
        }
        return served.send(new URL(url).pathname, sending)
      },
    })
    const client = new Client({ name: 'alex', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } })
    await client.connect(transport)
    return { client, sent }
  }

  test('connects with one request, takes part, waits, and reads', async () => {
    const { client, sent } = await connected()
    expect([client.getNegotiatedProtocolVersion(), sent]).toEqual([REVISION, ['server/discover']])
    expect(client.getServerVersion()).toMatchObject({ name: 'parley' })
    const tool = async (name: string, args: object) =>
      (await client.callTool({ name, arguments: { ...args } }, { onprogress: () => {}, timeout: 30_000 })).structuredContent as any
    const { session_id, team_id } = await tool('create_session', CREATE.arguments)
    const viaCurl = viaRest(parley())
    const bea = seat(viaCurl, await done(viaCurl('join_session', { session_id, team_name: 'Bea' })))
    const pending = tool('wait_for_messages', { session_id, team_id, since_cursor: 1, timeout: 20 })
    await soon('it is held', () => parley().services.waits.held === 1)
    await say(bea, 'I take the lexer.')
    expect((await pending).messages).toMatchObject([{ content: { text: 'I take the lexer.' } }])
    const uri = `parley://sessions/${session_id}/handoff`
    expect((await client.listResources()).resources.map((one) => one.uri)).toContain(uri)
    expect((await client.readResource({ uri })).contents).toMatchObject([{ uri, text: expect.stringContaining('# Handoff') }])
    expect((await client.getPrompt({ name: 'convene', arguments: { subject: 'größer' } })).messages).toHaveLength(1)
    await expect(client.readResource({ uri: 'parley://sessions/x/doc' })).rejects.toMatchObject({ code: -32602 })
    await client.close()
  })

  test('who is invited connects to a server with an access token, joins and waits', async () => {
    const locked = await parley().beside({ ACCESS_TOKEN: 'an-access-token-of-some-length' })
    const withToken = { headers: { authorization: 'Bearer an-access-token-of-some-length' } }
    const { id, alex } = await room((name, input, as = {}) => viaRest(locked)(name, input, { ...withToken, ...as }))
    const person = await cookieOf(locked, { name: 'Robin', role: 'person' })
    const { code } = await done(viaRest(locked)('create_invitation', { session_id: id }, { person }))
    await expect(connected(locked)).rejects.toThrow('401')
    const { client } = await connected(locked, { 'x-invite': code })
    const tool = async (name: string, args: object) => (await client.callTool({ name, arguments: { ...args } })).structuredContent as any
    const { team_id, cursor } = await tool('join_session', { session_id: id, team_name: 'Invited' })
    await say(alex, 'Welcome.')
    const { messages } = await tool('wait_for_messages', { session_id: id, team_id, since_cursor: cursor, timeout: 5 })
    expect(messages).toMatchObject([{ content: { text: 'Welcome.' } }])
    expect((await client.getPrompt({ name: 'convene', arguments: { subject: 'A parser' } })).messages).toHaveLength(1)
    await client.close()
    await locked.close()
  })
})

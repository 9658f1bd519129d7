// Who may read history, and what its doors do with what is no question at all.
import { describe, expect, test } from 'bun:test'
import { askOverMcp, askOverRest } from '../support/history.ts'
import { cookieOf, done, onOneEngine, room, viaRest } from '../support/parley.ts'

const PASSWORD = 'correct horse battery'
const TOKEN = 'an-access-token-of-this-server'
const QUESTIONS = [
  ['search_sessions', { query: 'lexer' }],
  ['open', { id: 'session:00000000-0000-0000-0000-000000000000' }],
  ['list_sessions', { start_datetime: '2026-01-01T00:00:00Z', end_datetime: '2027-01-01T00:00:00Z' }],
] as const

onOneEngine((parley) => {
  test('with a password for the pages, history is for those who have it', async () => {
    const served = await parley().beside({ VIEWER_PASSWORD: PASSWORD })
    const person = await cookieOf(served, { role: 'reader', name: 'Alex' })
    for (const [tool, input] of QUESTIONS) {
      for (const ask of [askOverRest(served), askOverMcp(served)]) {
        const { error } = await ask(tool, input)
        expect(error).toMatchObject({ code: 'unauthorized' })
      }
      const { error } = await askOverRest(served)(tool, input, { person })
      expect(error?.code).toBe(tool === 'open' ? 'not_found' : undefined)
    }
  })

  test('a team that sends its team_id for it is told how to read its own session', async () => {
    const served = await parley().beside({ VIEWER_PASSWORD: PASSWORD })
    const { alex } = await room(viaRest(served))
    await done(alex('post_message', { content: 'The lexer.' }))
    const { error } = await askOverRest(served)('search_sessions', { query: 'lexer' }, { headers: { 'x-team-id': alex.token } })
    const named = error!.message.match(/\b[a-z]+(?:_[a-z]+)+\b/g)
    expect(named).toEqual(['get_history', 'read_session_doc', 'catch_up'])
    for (const name of named!) await done(alex(name))
  })

  test('with an access token, history is for those who have it', async () => {
    const served = await parley().beside({ ACCESS_TOKEN: TOKEN })
    const headers = { authorization: `Bearer ${TOKEN}` }
    for (const [tool, input] of QUESTIONS) {
      const without = await served.send(`/api/history/${tool}`, { body: JSON.stringify(input) })
      expect(without.status).toBe(401)
      for (const ask of [askOverRest(served), askOverMcp(served)]) {
        const { error } = await ask(tool, input, { headers })
        expect(error?.code).toBe(tool === 'open' ? 'not_found' : undefined)
      }
    }
  })

  test('a team needs no credential, and one that it sends is no argument', async () => {
    const { alex } = await room(viaRest(parley()))
    const ask = askOverRest(parley())
    expect((await ask('search_sessions', { query: 'lexer' }, { headers: { 'x-team-id': alex.token } })).error).toBeUndefined()
    const body = await (
      await parley().send('/api/history/search_sessions', { body: JSON.stringify({ query: 'lexer', team_id: alex.token }) })
    ).json()
    expect(body).toMatchObject({ error: { code: 'invalid_request', details: { field: 'team_id' } } })
    expect(JSON.stringify(body)).not.toContain(alex.token.split('.')[1]!)
  })

  test('no answer holds a credential', async () => {
    const { id, alex, bea } = await room(viaRest(parley()))
    await done(alex('post_message', { content: 'hello' }))
    const ask = askOverRest(parley())
    const session = (await ask('open', { id: `session:${id}` })).data
    const turn = (await ask('open', { id: session.turns[0].id })).data
    const event = (await ask('open', { id: turn.events[0].id })).data
    for (const seat of [alex, bea]) expect(JSON.stringify([session, turn, event])).not.toContain(seat.token.split('.')[1]!)
  })

  describe('a body that cannot be read', () => {
    test.each([['{'], ['[]'], ['"text"'], ['null']])('%s is refused in the same envelope', async (body) => {
      const response = await parley().send('/api/history/open', { body })
      expect(response.status).toBe(400)
      expect(await response.json()).toMatchObject({
        schema_version: 'moraine.mcp.error.v1',
        tool: 'open',
        request: {},
        error: { code: 'invalid_request' },
        warnings: [],
        performance: { sla_target_ms: 200, met_sla: expect.any(Boolean) },
      })
    })

    test('a very long request does not come back', async () => {
      const response = await parley().send('/api/history/open', { body: JSON.stringify({ id: 'x'.repeat(500_000) }) })
      expect((await response.text()).length).toBeLessThan(10_000)
    })
  })

  test('the toolset is listed alone and together with the rooms', async () => {
    const names = async (path: string) => (await (await parley().client(path)).listTools()).tools.map(({ name }) => name)
    expect(await names('/mcp/history')).toEqual(['search_sessions', 'open', 'list_sessions'])
    expect(await names('/mcp?toolsets=rooms,history')).toEqual(expect.arrayContaining(['post_message', 'search_sessions']))
    const { tools } = await (await parley().client('/mcp/history')).listTools()
    for (const { inputSchema, annotations } of tools) {
      expect(annotations).toEqual({ readOnlyHint: true, openWorldHint: false })
      for (const field of Object.values<any>(inputSchema.properties!)) expect(field.description).toBeString()
    }
  })
})

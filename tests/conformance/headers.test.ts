// What answers tell browsers, whichever door they come from.
import { expect } from 'bun:test'
import { test } from '../support/foreign.ts'
import { cookieOf, onOneEngine, room, viaRest } from '../support/parley.ts'

const GUARDED = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
}
const NO_PAGE = "default-src 'none'; frame-ancestors 'none'"

onOneEngine((parley) => {
  test('every door’s answers are taken for nothing but what they are, put into no frame and given to no other site', async () => {
    const { id, alex } = await room(viaRest(parley()))
    const team = { 'x-team-id': alex.token }
    const both = { accept: 'application/json, text/event-stream' }
    const call = (name: string, more: object) =>
      JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: { session_id: id, ...more } } })
    const held = call('wait_for_messages', { team_id: alex.token, since_cursor: 0 })
    const limited = await parley().beside({ RATE_LIMIT: '1' })
    await limited.send('/api/config')
    for (const [what, status, response] of [
      ['REST', 200, parley().send(`/api/sessions/${id}`, { headers: team })],
      ['REST, replayed', 200, parley().send(`/api/sessions/${id}/unread`, { headers: { ...team, 'idempotency-key': 'x' } })],
      ['an error', 401, parley().send(`/api/sessions/${id}`)],
      ['a wrong method', 405, parley().send('/api/traces')],
      ['no route', 404, parley().send('/api/nothing', { headers: { accept: 'text/html' } })],
      ['a guard', 403, parley().send('/api/config', { headers: { host: 'evil.example' } })],
      ['a limit', 429, limited.send('/api/config')],
      ['MCP', 200, parley().send('/mcp', { body: call('get_session', { team_id: alex.token }), headers: both })],
      ['MCP, streamed', 200, parley().send('/mcp', { body: held, headers: both })],
      ['MCP, broken', 400, parley().send('/mcp', { body: '{', headers: both })],
      ['a wait, streamed', 200, parley().send(`/api/sessions/${id}/wait?since_cursor=0`, { headers: { ...team, ...both } })],
      ['the stream', 200, parley().send(`/api/sessions/${id}/stream`)],
      ['the handoff', 200, parley().send(`/api/sessions/${id}/handoff.md`)],
      ['the configuration', 200, parley().send('/api/config')],
      ['AGENTS.md', 200, parley().send('/AGENTS.md')],
      ['an export', 200, parley().send(`/sessions/${id}/feed.jsonl`)],
      ['a page’s stream', 200, parley().send(`/sessions/${id}/live?after=0&doc=0`)],
    ] as const) {
      const { status: got, headers, body } = await response
      await body?.cancel()
      expect([what, got]).toEqual([what, status])
      for (const [name, value] of Object.entries({ ...GUARDED, 'content-security-policy': NO_PAGE }))
        expect([what, name, headers.get(name)]).toEqual([what, name, value])
    }
  })

  test('a stream that a session’s link opened has these headers too, and a page keeps its own policy', async () => {
    const served = await parley().beside({ VIEWER_PASSWORD: 'the viewers password' })
    const { id } = await room(viaRest(parley()))
    const person = await cookieOf(served, { name: 'Robin', role: 'person' })
    const { body } = await viaRest(served)('share_session', { session_id: id }, { person })
    const cookie = `parley_shared_${id}=${(body.url as string).split('/').at(-1)}`
    const stream = await served.send(`/api/sessions/${id}/stream`, { headers: { cookie } })
    await stream.body?.cancel()
    const page = await served.send(`/sessions/${id}`, { headers: { cookie, accept: 'text/html' } })
    for (const { status, headers } of [stream, page]) {
      expect(status).toBe(200)
      expect(headers.toJSON()).toMatchObject({ ...GUARDED, 'referrer-policy': expect.any(String) })
    }
    expect([stream, page].map(({ headers }) => headers.get('referrer-policy'))).toEqual(['no-referrer', 'same-origin'])
    expect(stream.headers.get('content-security-policy')).toBe(NO_PAGE)
    expect(page.headers.get('content-security-policy')).toContain("script-src 'self'")
  })
})

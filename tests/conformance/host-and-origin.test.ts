import { describe, expect } from 'bun:test'
import { test } from '../support/foreign.ts'
import { BASE, cookieOf, onOneEngine, soon, type Served } from '../support/parley.ts'

const status = async (served: Served, headers: Record<string, string>, path = '/api/config', method = 'GET') => {
  const response = await served.send(path, { method, headers, ...(method === 'POST' && { body: '{}' }) })
  if (response.status === 403) {
    expect(await response.json()).toMatchObject({ error: { code: 'forbidden', message: expect.any(String), details: expect.any(Object) } })
  }
  return response.status
}

onOneEngine((parley) => {
  describe('Host', () => {
    test.each(['127.0.0.1:7423', '127.0.0.1', 'localhost', 'LOCALHOST:80', '[::1]:7423', '127.9.9.9'])(
      '%s is a loopback name and passes',
      async (host) => {
        expect(await status(parley(), { host })).toBe(200)
      },
    )

    test.each([
      'evil.example',
      'evil.example:7423',
      'localhost.evil.example',
      '127.0.0.1.evil.example',
      '10.0.0.1',
      '0.0.0.0',
      'localhost@evil.example',
    ])('%s is refused, on every door', async (host) => {
      for (const path of ['/api/config', '/mcp', '/AGENTS.md', '/metrics', '/api/nothing'])
        expect(await status(parley(), { host }, path)).toBe(403)
      for (const path of ['/mcp', '/api/sessions']) expect(await status(parley(), { host }, path, 'POST')).toBe(403)
    })

    test('health checks answer under any name', async () => {
      for (const path of ['/healthz', '/readyz']) expect(await status(parley(), { host: '10.0.0.1' }, path)).toBe(200)
    })

    test('the host of the current link and those of ALLOWED_HOSTS pass', async () => {
      const served = await parley().beside({ MCP_URL: 'https://parley.example/mcp', ALLOWED_HOSTS: 'Meet.example, other.example:8080' })
      for (const host of ['parley.example', 'meet.example', 'meet.example:7423', 'other.example:8080'])
        expect(await status(served, { host })).toBe(200)
      expect(await status(served, { host: 'evil.example' })).toBe(403)
      const other = (link: string | undefined) => soon('the other instance has heard', () => parley().services.setting('mcp_url') === link)
      await served.services.changeSetting('mcp_url', 'https://saved.example/mcp')
      for (const host of ['saved.example', 'parley.example']) expect(await status(served, { host })).toBe(200)
      await other('https://saved.example/mcp')
      await served.services.changeSetting('mcp_url', undefined)
      await other(undefined)
    })

    test('a link is neither saved nor forgotten where that would shut out the host by which it is done', async () => {
      const served = await parley().beside({})
      const cookie = await cookieOf(served, { name: 'Robin', role: 'person' })
      const save = async (host: string, mcp_url: string) => {
        const body = new URLSearchParams({ mcp_url })
        const answer = await served.send('/settings/mcp-url', { method: 'POST', headers: { host, cookie }, body })
        return [answer.status, served.services.setting('mcp_url')]
      }
      const one = 'https://one.example/mcp'
      await served.services.changeSetting('mcp_url', one)
      expect(await save('one.example', 'https://two.example/mcp')).toEqual([400, one])
      expect(await save('one.example', '')).toEqual([400, one])
      expect(await save('one.example', 'https://one.example:8443/mcp')).toEqual([303, 'https://one.example:8443/mcp'])
      await soon('the other instance has heard', () => parley().services.setting('mcp_url')?.includes(':8443') === true)
      expect(await save('127.0.0.1', '')).toEqual([303, undefined])
      await soon('the other instance has heard', () => parley().services.setting('mcp_url') === undefined)
    })

    test('where it listens beyond loopback any host passes, until ALLOWED_HOSTS names some', async () => {
      const open = await parley().beside({ HOST: '0.0.0.0' })
      expect(await status(open, { host: '10.0.0.1:7423' })).toBe(200)
      const named = await parley().beside({ HOST: '0.0.0.0', ALLOWED_HOSTS: 'meet.example' })
      expect(await status(named, { host: '10.0.0.1:7423' })).toBe(403)
      expect(await status(named, { host: 'meet.example' })).toBe(200)
    })

    test.each([
      ['192.168.1.5', '192.168.1.5:7423', '192.168.1.6:7423'],
      ['fd00::5', '[fd00::5]:7423', '[fd00::6]:7423'],
    ])('the address %s that it listens on passes beside the names of ALLOWED_HOSTS: commands call it there', async (HOST, host, other) => {
      const served = await parley().beside({ HOST, ALLOWED_HOSTS: 'meet.example' })
      for (const [one, answer] of [
        [host, 200],
        ['meet.example', 200],
        [other, 403],
      ] as const)
        expect([one, await status(served, { host: one })]).toEqual([one, answer])
    })
  })

  describe('Origin', () => {
    test('our own passes, by either loopback name', async () => {
      for (const origin of [BASE, BASE.replace('127.0.0.1', 'localhost')]) expect(await status(parley(), { origin })).toBe(200)
    })

    test.each(['https://evil.example', 'http://127.0.0.1:8080', 'http://localhost', 'null', 'nonsense', 'file://'])(
      '%s is refused',
      async (origin) => {
        for (const path of ['/api/sessions', '/mcp']) expect(await status(parley(), { origin }, path, 'POST')).toBe(403)
        expect(await status(parley(), { origin })).toBe(403)
      },
    )

    test('the origin of the current link passes', async () => {
      const served = await parley().beside({ MCP_URL: 'https://parley.example/mcp' })
      expect(await status(served, { origin: 'https://parley.example', host: 'parley.example' })).toBe(200)
    })
  })

  describe('Sec-Fetch-Site', () => {
    test('a cross-site call of the API is refused and does nothing, and a link to a page passes', async () => {
      const count = async () => (await parley().database.query<{ n: number }>('select count(*)::int as n from sessions'))[0]!.n
      const before = await count()
      const headers = { 'sec-fetch-site': 'cross-site', 'content-type': 'text/plain' }
      const body = JSON.stringify({ title: 'T', description: '', creator_team_name: 'A' })
      expect((await parley().send('/api/sessions', { body, headers })).status).toBe(403)
      expect(await status(parley(), headers, '/mcp', 'POST')).toBe(403)
      expect(await status(parley(), headers, '/api/config')).toBe(403)
      expect(await count()).toBe(before)
      expect(await status(parley(), headers, '/AGENTS.md')).toBe(200)
    })

    test.each(['same-origin', 'none'])('%s passes', async (site) => {
      expect(await status(parley(), { 'sec-fetch-site': site })).toBe(200)
    })
  })

  describe('TRUST_PROXY', () => {
    const headers = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'parley.example' }
    const link = async (served: Served, more: Record<string, string> = {}) =>
      ((await (await served.send('/api/config', { headers: { ...headers, ...more } })).json()) as any).mcp_url

    test('a proxy’s word counts only where it is trusted', async () => {
      expect(await link(parley())).toBe(`${BASE}/mcp`)
      const trusting = await parley().beside({ TRUST_PROXY: 'true', ALLOWED_HOSTS: 'parley.example' })
      expect(await link(trusting)).toBe('https://parley.example/mcp')
      expect(await link(trusting, { 'x-forwarded-host': 'evil.example, parley.example' })).toBe('https://parley.example/mcp')
    })

    test('a forwarded host is guarded like any other', async () => {
      const trusting = await parley().beside({ TRUST_PROXY: 'true' })
      expect(await status(trusting, headers)).toBe(403)
    })
  })

  test('no answer opens itself to another site', async () => {
    for (const [path, method] of [
      ['/api/config', 'GET'],
      ['/api/sessions', 'OPTIONS'],
      ['/mcp', 'OPTIONS'],
      ['/mcp', 'POST'],
    ] as const) {
      const response = await parley().send(path, {
        method,
        headers: { 'access-control-request-method': 'POST' },
        ...(method === 'POST' && { body: '{}' }),
      })
      expect([...response.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
    }
  })
})

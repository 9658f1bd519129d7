// In production a reverse proxy ends TLS: the links that the server gives agents must have the address that the agents used.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { withTls, type TlsProxy } from '../support/proxy.ts'
import { serveSite, type Site } from '../support/site.ts'

let trusting: Site
let wary: Site
let proxies: TlsProxy[] = []
beforeAll(async () => {
  ;[trusting, wary] = await Promise.all([serveSite({ TRUST_PROXY: 'true' }), serveSite()])
  proxies = await Promise.all([withTls(trusting.url), withTls(wary.url)])
}, 180_000)
afterAll(async () => {
  for (const proxy of proxies) await proxy.close()
  await trusting?.stop()
  await wary?.stop()
})

const through = ({ url, certificate }: TlsProxy, path: string, init: RequestInit = {}) =>
  fetch(new URL(path, url), { ...init, tls: { ca: certificate } } as RequestInit)

test('with TRUST_PROXY the configuration and AGENTS.md name the https link', async () => {
  const [proxy] = proxies as [TlsProxy]
  const config = (await (await through(proxy, '/api/config')).json()) as Record<string, string>
  expect(config).toMatchObject({ mcp_url: `${proxy.url}/mcp`, agents_md: `${proxy.url}/AGENTS.md` })
  const agents = await (await through(proxy, '/AGENTS.md')).text()
  expect(agents).toContain(`${proxy.url}/mcp`)
  expect(agents).not.toContain('http://127.0.0.1')
  const openapi = (await (await through(proxy, '/api/openapi.json')).json()) as { servers: { url: string }[] }
  expect(openapi.servers[0]!.url).toStartWith(proxy.url)
})

test('without TRUST_PROXY what the proxy says is not believed', async () => {
  const [, proxy] = proxies as [TlsProxy, TlsProxy]
  const config = (await (await through(proxy, '/api/config')).json()) as Record<string, string>
  expect(config.mcp_url).toBe(`${wary.url}/mcp`)
})

test('an MCP client meets a curl caller through the proxy, waits held and streamed included', async () => {
  const [proxy] = proxies as [TlsProxy]
  const client = new Client({ name: 'alex', version: '1.0.0' })
  const transport = new StreamableHTTPClientTransport(new URL(`${proxy.url}/mcp`), {
    fetch: (url, init) => through(proxy, String(url), init as RequestInit),
  })
  await client.connect(transport as never)
  const tool = async (name: string, args: object) =>
    (await client.callTool({ name, arguments: { ...args } })).structuredContent as Record<string, any>
  const created = await tool('create_session', { title: 'Shipping the parser', description: '', creator_team_name: "Alex's Team" })
  const seat = { session_id: created.session_id, team_id: created.team_id }
  const waiting = tool('wait_for_messages', { ...seat, since_cursor: 0, timeout: 10 })
  await Bun.sleep(200)
  const joined = await through(proxy, `/api/sessions/${seat.session_id}/join`, {
    method: 'POST',
    body: JSON.stringify({ team_name: "Bea's Team" }),
  })
  expect(joined.status).toBe(200)
  expect(await waiting).toMatchObject({ messages: [{ type: 'system', event: 'team_joined', team: "Bea's Team" }], next_cursor: 1 })
  await client.close()
}, 180_000)

test('a page of the https site may call, a page of another may not', async () => {
  const [proxy] = proxies as [TlsProxy]
  const create = (origin: string) =>
    through(proxy, '/api/sessions', {
      method: 'POST',
      headers: { origin },
      body: JSON.stringify({ title: 'Shipping the parser', description: '', creator_team_name: "Alex's Team" }),
    })
  expect((await create(proxy.url)).status).toBe(200)
  expect((await create('https://evil.example')).status).toBe(403)
})

// A read through each door (wait_for_messages that answers at once, the call that agents make most) against a bare Hono handler that
// parses a JSON POST and answers with JSON of the same size. 100 connections, each of its own team in its own session.
// One load generator, variants in turn. `bun bench/mcp.ts`
import { Hono } from 'hono'
import { loadFrom } from './client.ts'
import { bench, newRoom, printRates, type Room } from './support.ts'

const ROUNDS = 5
const SECONDS = 2
const CONNECTIONS = 100

await bench(async ({ url }) => {
  const rooms = await Promise.all(Array.from({ length: CONNECTIONS }, () => newRoom(url)))
  const json = { accept: 'application/json' }
  for (const { session_id, team_id } of rooms) {
    const body = JSON.stringify({ content: { text: 'x'.repeat(280) } })
    await fetch(`${url}/api/sessions/${session_id}/messages`, { method: 'POST', headers: { 'x-team-id': team_id }, body })
  }
  const waitOf = ({ session_id }: Room) => `/api/sessions/${session_id}/wait?since_cursor=0&timeout=0`
  const answer = (await (await fetch(url + waitOf(rooms[0]!), { headers: { 'x-team-id': rooms[0]!.team_id } })).json()) as object
  const app = new Hono().post('/bare', async (c) => c.json({ asked: await c.req.json(), ...answer }))
  const bare = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: app.fetch })
  const get = (path: (room: Room) => string) =>
    rooms.map((room) => ({ method: 'GET', path: path(room), headers: { ...json, 'x-team-id': room.team_id } }))
  const call = ({ session_id, team_id }: Room) => {
    const params = { name: 'wait_for_messages', arguments: { session_id, team_id, since_cursor: 0, timeout: 0 } }
    return { method: 'POST', path: '/mcp', headers: json, body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }) }
  }
  const envelope = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} }
  const perRequest = (room: Room) => {
    const message = JSON.parse(call(room).body)
    const headers = { ...json, 'mcp-protocol-version': '2026-07-28', 'mcp-method': message.method, 'mcp-name': message.params.name }
    return { ...call(room), headers, body: JSON.stringify({ ...message, params: { ...message.params, _meta: envelope } }) }
  }
  const plain = rooms.map(({ session_id }) => ({
    method: 'POST',
    path: '/bare',
    headers: json,
    body: JSON.stringify({ session_id, since_cursor: 0, timeout: 0 }),
  }))
  const variants = {
    'bare Hono JSON POST': { url: `http://127.0.0.1:${bare.port}`, requests: plain },
    'REST, a read': { url, requests: get(waitOf) },
    'REST, get_session': { url, requests: get(({ session_id }) => `/api/sessions/${session_id}`) },
    'MCP, tools/call of the read': { url, requests: rooms.map(call) },
    'MCP 2026-07-28, the same': { url, requests: rooms.map(perRequest) },
    'no database: /healthz': { url, requests: get(() => '/healthz') },
  }
  const rates: Record<string, number[]> = {}
  const times: Record<string, number[]> = {}
  for (let round = -1; round < ROUNDS; round++) {
    for (const [name, { url: to, requests }] of Object.entries(variants)) {
      const { perSecond, took } = await loadFrom({
        url: to,
        connections: CONNECTIONS,
        seconds: round < 0 ? 1 : SECONDS,
        requests,
      })
      if (round < 0) continue
      ;(rates[name] ??= []).push(perSecond)
      ;(times[name] ??= []).push(...took)
    }
  }
  printRates(rates, times, 'bare Hono JSON POST')
  console.log('aims: REST at least 0.5 × bare, MCP at least 0.25 ×')
  await bare.stop(true)
})

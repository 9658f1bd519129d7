// An agent that works on a session's board over MCP, as a program of its own: bun tests/support/board-agent.ts URL SESSION TEAM_ID MANNER
//   works      claims, does, claims again, until there is nothing left
//   hoards     claims two items and says so, then follows the session and does nothing, until it is killed
//   returns    hands its first item back, then works
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'

const [url, session_id, team_id, manner] = process.argv.slice(2) as [string, string, string, 'works' | 'hoards' | 'returns']
const client = new Client({ name: `agent that ${manner}`, version: '1.0.0' })
await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)) as Parameters<Client['connect']>[0])

const call = async (name: string, args: object = {}): Promise<any> => {
  const { structuredContent, isError } = await client.callTool({ name, arguments: { session_id, team_id, ...args } })
  if (isError) throw new Error(`${name}: ${JSON.stringify(structuredContent)}`)
  return structuredContent
}

let since_cursor = 0
const follow = async () => {
  const { next_cursor } = await call('wait_for_messages', { since_cursor, only: 'others', timeout: 20 })
  since_cursor = next_cursor
}

if (manner === 'hoards') {
  await call('claim_work')
  await call('claim_work')
  console.log('holds two')
  for (;;) await follow()
}

let toReturn = manner === 'returns'
for (;;) {
  const { item, counts } = await call('claim_work')
  if (!item && counts.open + counts.claimed === 0) break
  if (!item) await follow()
  else if (toReturn) {
    await call('update_work', { item_id: item.item_id, status: 'open', note: 'Somebody else knows this better.' })
    toReturn = false
  } else await call('update_work', { item_id: item.item_id, status: 'done', result: `Done: ${item.title}` })
}
await client.close()

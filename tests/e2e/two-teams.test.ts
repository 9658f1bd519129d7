// Two teams, a whole session, a server at a port: one agent speaks MCP through the official client, the other has only curl.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { spawn } from 'node:child_process'
import { serveSite, type Site } from '../support/site.ts'

let server: Site
beforeAll(async () => void (server = await serveSite()))
afterAll(() => server?.stop())

const PATIENCE_S = 20

/** What an agent without MCP runs: one curl for each call. */
const curl = async (method: string, path: string, { team, body }: { team?: string; body?: object } = {}) => {
  const args = ['-sS', '-m', String(PATIENCE_S), '-X', method, '-w', '\n%{http_code}', `${server.url}${path}`]
  if (team) args.push('-H', `X-Team-ID: ${team}`)
  if (body) args.push('-d', JSON.stringify(body))
  const child = spawn('curl', args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const chunks: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
  const code = await new Promise((resolve) => child.once('close', resolve))
  expect(code).toBe(0)
  const text = Buffer.concat(chunks).toString()
  const end = text.lastIndexOf('\n')
  return { status: Number(text.slice(end + 1)), body: JSON.parse(text.slice(0, end)) }
}

const connectedClient = async () => {
  const client = new Client({ name: 'alex', version: '1.0.0' })
  await client.connect(new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`)) as never)
  const tool = async (name: string, args: object) => {
    const result = await client.callTool({ name, arguments: { ...args } }, undefined, { timeout: PATIENCE_S * 1000 })
    return { isError: result.isError === true, ...(result.structuredContent as Record<string, any>) } as Record<string, any>
  }
  return { client, tool }
}

interface Heard {
  type: string
  sequence: number
  event?: string
  team?: string
  content?: { text: string }
}
const gist = ({ type, event, team, content }: Heard) => (type === 'system' ? `${event} ${team ?? ''}`.trim() : `${team}: ${content!.text}`)

describe('one team by MCP and one by curl', () => {
  let mcp: Awaited<ReturnType<typeof connectedClient>>
  let room: string
  const alex = { session_id: '', team_id: '' }
  let bea: string
  const at = { alex: 0, bea: 0 }
  const heard = { alex: [] as Heard[], bea: [] as Heard[] }

  beforeAll(async () => {
    mcp = await connectedClient()
  })
  afterAll(() => mcp?.client.close())

  const alexWaits = async (timeout = 15) => {
    const page = await mcp.tool('wait_for_messages', { ...alex, since_cursor: at.alex, timeout })
    expect(page.isError).toBe(false)
    heard.alex.push(...page.messages)
    at.alex = page.next_cursor
    return page
  }
  const beaWaits = async (timeout = 15) => {
    const { status, body } = await curl('GET', `${room}/wait?since_cursor=${at.bea}&timeout=${timeout}`, { team: bea })
    expect(status).toBe(200)
    heard.bea.push(...body.messages)
    at.bea = body.next_cursor
    return body
  }

  test('one creates a session and waits, and the other joins it', async () => {
    const about = { title: 'Shipping the parser', description: 'Who does what?', creator_team_name: "Alex's Team" }
    const { session_id, team_id, cursor } = await mcp.tool('create_session', about)
    Object.assign(alex, { session_id, team_id })
    at.alex = cursor
    room = `/api/sessions/${session_id}`
    const waitingForBea = alexWaits()
    const joined = await curl('POST', `${room}/join`, { body: { team_name: "Bea's Team" } })
    expect(joined).toMatchObject({ status: 200, body: { team_name: "Bea's Team", session_closed: false, cursor: 1 } })
    bea = joined.body.team_id
    at.bea = joined.body.cursor
    await waitingForBea
    expect(heard.alex.map(gist)).toEqual(["team_joined Bea's Team"])
  }, 180_000)

  test('each says something while the other one waits', async () => {
    const [toBea] = await Promise.all([
      beaWaits(),
      Bun.sleep(200).then(() => mcp.tool('post_message', { ...alex, content: { text: 'Who takes the lexer?' } })),
    ])
    expect(toBea.messages).toHaveLength(1)
    await alexWaits(0)
    const [toAlex] = await Promise.all([
      alexWaits(),
      Bun.sleep(200).then(() => curl('POST', `${room}/messages`, { team: bea, body: { content: { text: "I do. It's half done." } } })),
    ])
    expect(toAlex.messages).toHaveLength(1)
  }, 180_000)

  test('both read version 0; the second to write is told so, reads again and merges', async () => {
    const [readByAlex, readByBea] = await Promise.all([mcp.tool('read_session_doc', alex), curl('GET', `${room}/doc`, { team: bea })])
    expect([readByAlex.version, readByBea.body.version]).toEqual([0, 0])
    const first = await mcp.tool('update_session_doc', { ...alex, content: '# Plan\n\n- Alex: the grammar', expected_version: 0 })
    expect(first).toMatchObject({ isError: false, version: 1 })
    const late = await curl('POST', `${room}/doc`, { team: bea, body: { content: '# Plan\n\n- Bea: the lexer', expected_version: 0 } })
    expect(late).toMatchObject({ status: 409, body: { error: { code: 'version_conflict', details: { current_version: 1 } } } })
    const { content, version } = (await curl('GET', `${room}/doc`, { team: bea })).body
    const merging = { content: `${content}\n- Bea: the lexer`, expected_version: version }
    const merged = await curl('POST', `${room}/doc`, { team: bea, body: merging })
    expect(merged).toMatchObject({ status: 200, body: { version: 2 } })
    const lost = await mcp.tool('update_session_doc', { ...alex, content: 'mine', expected_version: 1 })
    expect(lost).toMatchObject({ isError: true, error: { code: 'version_conflict', details: { current_version: 2 } } })
  }, 180_000)

  test('both are in their loops when the convener concludes, and leave them by session_closed', async () => {
    const untilClosed = async (waits: () => Promise<Record<string, any>>) => {
      for (let rounds = 1; ; rounds++) if ((await waits()).session_closed) return rounds
    }
    const loops = [untilClosed(alexWaits), untilClosed(beaWaits)]
    await Bun.sleep(300)
    const concluded = await mcp.tool('conclude_session', { ...alex, summary_section: 'Alex writes the grammar, Bea the lexer.' })
    expect(concluded).toMatchObject({ isError: false })
    for (const rounds of await Promise.all(loops)) expect(rounds).toBeLessThanOrEqual(3)
  }, 180_000)

  test('both have heard all of it once and in order, and read one document', async () => {
    const feed = ["team_joined Bea's Team", "Alex's Team: Who takes the lexer?", "Bea's Team: I do. It's half done.", 'session_concluded']
    expect(heard.alex.map(gist)).toEqual(feed)
    expect(heard.bea.map(gist)).toEqual(feed.slice(1))
    expect(heard.alex.slice(1)).toEqual(heard.bea)
    expect((await curl('GET', `${room}/doc`, { team: bea })).body).toEqual({
      content: '# Plan\n\n- Alex: the grammar\n- Bea: the lexer\n\n## Conclusion\n\nAlex writes the grammar, Bea the lexer.\n',
      version: 3,
    })
  }, 180_000)

  test('neither may add anything then', async () => {
    const byAlex = await mcp.tool('post_message', { ...alex, content: { text: 'One more.' } })
    expect(byAlex).toMatchObject({ isError: true, error: { code: 'session_closed' } })
    expect(await curl('POST', `${room}/messages`, { team: bea, body: { content: { text: 'One more.' } } })).toMatchObject({ status: 403 })
  }, 180_000)
})

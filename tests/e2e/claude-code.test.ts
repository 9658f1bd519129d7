// The real Claude Code against a real server, with a script in place of its model. It is not among this project's packages: install it in a
// folder of its own (npm i @anthropic-ai/claude-code@2.1.330 in $PARLEY_CLIENTS/claude), or these tests are skipped.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startScriptedModel, type Asked, type Maker, type Move } from '../support/scripted-model.ts'
import { startServer, type TestServer } from '../support/server.ts'

const VERSION = '2.1.330'
const CLAUDE = join(process.env.PARLEY_CLIENTS ?? 'PARLEY_CLIENTS is not set', 'claude/node_modules/.bin/claude')
const installed = existsSync(CLAUDE)
if (!installed)
  console.log(`Skipped: Claude Code ${VERSION} is not in the folder claude of PARLEY_CLIENTS (npm i @anthropic-ai/claude-code@${VERSION}).`)

const LOADED = ['create_session', 'join_session', 'post_message', 'wait_for_messages'].map((name) => `mcp__parley__${name}`)

describe.skipIf(!installed)(`Claude Code ${VERSION}`, () => {
  let server: TestServer
  let home: string
  beforeAll(async () => {
    server = await startServer()
    home = mkdtempSync(join(tmpdir(), 'parley-claude-'))
  }, 180_000)
  afterAll(async () => {
    await server?.remove()
    rmSync(home, { recursive: true, force: true })
  })

  const claude = async (args: string[], more: Record<string, string> = {}) => {
    const env = { PATH: process.env.PATH ?? '', HOME: home, CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', ...more }
    const child = spawn(CLAUDE, args, { cwd: home, env, stdio: ['ignore', 'pipe', 'pipe'], timeout: 120_000 })
    const printed: string[] = []
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => printed.push(chunk.toString()))
    const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
    return { code, output: printed.join('') }
  }

  test('is the version that these tests are about', async () => {
    expect((await claude(['--version'])).output).toStartWith(VERSION)
  })

  test('takes part in a whole session after one request of its own, and its model has what it needs from the start', async () => {
    const requests = recorder(server.url)
    const played = await session(server.url)
    const model = startScriptedModel(played.moves)
    const config = join(home, 'mcp.json')
    writeFileSync(config, JSON.stringify({ mcpServers: { parley: { type: 'http', url: `${requests.url}/mcp` } } }))
    const args = ['-p', 'Convene a session.', '--mcp-config', config, '--strict-mcp-config', '--allowedTools', 'mcp__parley']
    const { code, output } = await claude(args, { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'x' })
    await Promise.all([model.stop(), requests.stop()])
    expect({ code, output }).toMatchObject({ code: 0, output: expect.stringContaining('It ships.') })
    expect(requests.seen[0]).toBe('2026-07-28 server/discover 200')
    expect(requests.seen.slice(1, 4).toSorted()).toEqual(
      ['prompts/list', 'resources/list', 'tools/list'].map((name) => `2026-07-28 ${name} 200`),
    )
    expect(requests.seen.slice(4)).toEqual(
      ['create_session', 'wait_for_messages', 'post_message', 'conclude_session'].map((name) => `2026-07-28 ${name} 200`),
    )
    const [first] = model.asked as [Asked]
    expect(first.tools.filter((name) => name.startsWith('mcp__'))).toEqual(LOADED)
    expect(first.told).toContain('Parley is a meeting room for teams of agents.')
    expect(await played.feed()).toEqual(['Bea: I take the lexer.', 'Alex: I take the rest.', 'session_concluded'])
  }, 180_000)
})

/** A session as Alex's Claude Code plays it; Bea, with nothing but HTTP, answers while Alex waits. */
const session = async (url: string) => {
  const call = async (path: string, body?: object, team = '') => {
    const init = body ? { method: 'POST', body: JSON.stringify(body) } : {}
    return (await fetch(`${url}/api/sessions${path}`, { ...init, headers: { 'x-team-id': team } })).json() as Promise<any>
  }
  let own = { session_id: '', team_id: '' }
  let bea = ''
  const beaSays = (text: string) => call(`/${own.session_id}/messages`, { content: { text } }, bea)
  const parley = (name: string, input: object): Move => ({ name: `mcp__parley__${name}`, input })
  const moves: Maker[] = [
    () => parley('create_session', { title: 'Shipping the parser', description: '', creator_team_name: 'Alex' }),
    async ([{ session_id, team_id }]) => {
      own = { session_id, team_id }
      bea = (await call(`/${session_id}/join`, { team_name: 'Bea' })).team_id
      setTimeout(() => void beaSays('I take the lexer.'), 500) // the wait is held by then
      return parley('wait_for_messages', { ...own, since_cursor: 1, timeout: 30 })
    },
    () => parley('post_message', { ...own, content: { text: 'I take the rest.' } }),
    () => ({ name: 'ToolSearch', input: { query: 'select:mcp__parley__conclude_session' } }),
    () => parley('conclude_session', { ...own, summary_section: 'It ships.' }),
    () => 'It ships.',
  ]
  const feed = async () => {
    const { messages } = await call(`/${own.session_id}/wait?since_cursor=1&timeout=0`, undefined, bea)
    return messages.map(({ team, event, content }: any) => event ?? `${team}: ${content.text}`)
  }
  return { moves, feed }
}

/** Passes requests on to the server, and keeps of each its revision, its method or tool, and how it was answered. */
const recorder = (to: string) => {
  const seen: string[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    async fetch(request) {
      const text = await request.text()
      const { method = request.method, params } = text ? JSON.parse(text) : {}
      const place = seen.push('') - 1
      const { pathname } = new URL(request.url)
      const response = await fetch(to + pathname, { method: request.method, headers: request.headers, ...(text && { body: text }) })
      seen[place] = `${request.headers.get('mcp-protocol-version')} ${params?.name ?? method} ${response.status}`
      return new Response(response.body, {
        status: response.status,
        headers: { 'content-type': response.headers.get('content-type') ?? '' },
      })
    },
  })
  return { url: `http://127.0.0.1:${server.port}`, seen, stop: () => server.stop(true) }
}

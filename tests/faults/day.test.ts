// A whole day: people, teams, programs, agents and their runner do all that can be done, and each credential that was told or configured is
// looked for in every byte that was sent, logged, kept or shown [P6].
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import { bearer } from '../support/keys.ts'
import { startNotifyReceiver } from '../support/notify-receiver.ts'
import { done, seat, viaMcp, viaRest, type Call } from '../support/parley.ts'
import { called, gave, said } from '../support/played-runner.ts'
import { recordedAt, type Recorded } from '../support/recorded.ts'
import { runServer, startServer, type TestServer } from '../support/server.ts'
import { databaseOf, ENGINES } from './engines.ts'
import { everyRow, processes } from './kept.ts'
import { until } from './rooms.ts'

const random = (name: string) => `${name}-${crypto.randomUUID()}`
const [OPERATOR_KEY, ACCESS_TOKEN, VIEWER_PASSWORD, HOOK] = ['operator', 'access', 'viewer', 'hook'].map(random) as [
  string,
  string,
  string,
  string,
]
const SLOW_MS = 180_000
const PAGES = [
  '/',
  '/search?q=lexer',
  '/connect',
  '/settings',
  '/settings/keys',
  '/status',
  '/approvals',
  '/records',
  '/worktrees',
  '/sessions/new',
]
const FILES = ['/api/config', '/api/openapi.json', '/AGENTS.md', '/llms.txt', '/metrics', '/api/status', '/alerts.yml']

describe.each(ENGINES)('a day, %s', (engine) => {
  let server: TestServer
  let drop: () => Promise<void>
  let environment: Record<string, string>
  let day: Recorded
  const notified = startNotifyReceiver(HOOK)
  const scratch = mkdtempSync(join(tmpdir(), 'parley-day-'))

  beforeAll(async () => {
    const made = await databaseOf(engine)
    drop = made.drop
    const open = { OPERATOR_KEY, ACCESS_TOKEN, VIEWER_PASSWORD, NOTIFY_URL: notified.url, LOG_LEVEL: 'debug' }
    server = await startServer({ ...made.environment, ...open })
    environment = engine === 'pglite' ? { DATA_DIR: server.folder } : { ...made.environment, PORT: String(server.port) }
    day = recordedAt(server.url)
    Object.entries({ OPERATOR_KEY, ACCESS_TOKEN, VIEWER_PASSWORD, HOOK }).forEach(([name, secret]) => day.isSecret(name, secret, false))
  }, SLOW_MS)
  afterAll(async () => {
    await notified.stop()
    await server?.remove()
    await drop?.()
    rmSync(scratch, { recursive: true })
  }, SLOW_MS)

  const rest: Call = (...call) => viaRest(day.served)(...call)
  const mcp: Call = (...call) => viaMcp(day.served)(...call)
  const form = async (path: string, fields: Record<string, string>, cookie?: string) => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded', accept: 'text/html', ...(cookie && { cookie }) }
    const response = await day.send(path, { headers, body: new URLSearchParams(fields).toString() })
    return { status: response.status, text: await response.text(), cookies: response.headers.getSetCookie() }
  }
  const cookieIn = (name: string, [cookie]: string[]) => {
    const pair = cookie!.split(';')[0]!
    day.isSecret(name, pair.split('.').at(-1)!)
    return pair
  }
  const team = (name: string, answer: Record<string, any>) => {
    day.isSecret(name, answer.team_id.split('.')[1])
    return answer.team_id as string
  }
  const access = bearer(ACCESS_TOKEN)

  let robin: string
  let vera: string
  let keys: Record<string, string>
  let session_id: string
  let alex: string
  let bea: string
  let viewer: string

  test(
    'people come: by the key of the server, by a link of their own, by the password of viewers',
    async () => {
      robin = cookieIn('cookie of Robin', (await form('/sign-in', { key: OPERATOR_KEY, name: 'Robin' })).cookies)
      const { output } = await runServer(['key', 'person', 'Vera'], environment)
      const [, link] = /sign-in\?key=([\w.-]+)/.exec(output)!
      day.isSecret('link of Vera', link!.split('.')[1]!, false)
      const entered = await day.send(`/sign-in?key=${link}`)
      vera = cookieIn('cookie of Vera', (await entered.text(), entered.headers.getSetCookie()))
      cookieIn('cookie of a viewer', (await form('/sign-in', { key: VIEWER_PASSWORD })).cookies)
    },
    SLOW_MS,
  )

  test(
    'teams meet: with the access token, by an invitation; others read by a link',
    async () => {
      const key = day.isSecret('idempotency key of a session', random('create'), false)
      const about = { title: 'The parser', description: 'Who does what', creator_team_name: 'Alex' }
      const made = await done(rest('create_session', about, { headers: access, key }))
      session_id = made.session_id
      alex = team('Alex', made)
      const { code } = await done(rest('create_invitation', { session_id, joins: 2, days: 1 }, { person: robin }))
      day.isSecret('invitation', code.split('.').at(-1))
      bea = team('Bea', await done(rest('join_session', { session_id, team_name: 'Bea' }, { headers: { 'x-invite': code } })))
      const { url } = await done(rest('share_session', { session_id }, { person: robin }))
      const shared = new URL(url).pathname
      day.isSecret('share link', shared.split('.').at(-1)!)
      const opened = await day.send(shared)
      viewer = opened.headers.getSetCookie()[0]!.split(';')[0]!
      await opened.text()
      day.maySay('share link') // its cookie is the link
    },
    SLOW_MS,
  )

  test(
    'keys of every scope are made on the page',
    async () => {
      keys = {}
      for (const scope of ['full', 'read', 'run', 'sess']) {
        const { text } = await form(
          '/settings/keys',
          { name: `For ${scope}`, scope, session_id: scope === 'sess' ? session_id : '' },
          robin,
        )
        keys[scope] = new RegExp(`ca_${scope}_[0-9a-f]{32}`).exec(text)![0]
        day.isSecret(`key ${scope}`, keys[scope].split('_')[2]!)
      }
    },
    SLOW_MS,
  )

  test(
    'they talk by every door, and say secrets by mistake',
    async () => {
      const stream = day.send(`/api/sessions/${session_id}/stream`, {
        headers: { ...access, 'x-team-id': alex },
        signal: AbortSignal.timeout(1_500),
      })
      const read = stream.then((response) => response.text()).catch(() => '')
      const [a, b] = [seat(mcp, { session_id, team_id: alex, handle: '' }), seat(rest, { session_id, team_id: bea, handle: '' })]
      const waiting = b('wait_for_messages', { timeout: 20 })
      await done(a('post_message', { content: 'Who takes the lexer?', to: ['Bea'], expects_reply: true }, { headers: access }))
      await done(waiting)
      await done(b('peek', {}))
      for (const secret of [bea, keys.full!, keys.read!, `see ${keys.run}`])
        expect((await b('post_message', { content: secret })).ok).toBe(false)
      await done(b('append_to_session_doc', { text: '- the lexer' }, { key: random('doc') }))
      await done(b('plan_work', { items: [{ title: 'Build the lexer' }] }))
      for (const name of ['catch_up', 'list_participants', 'get_history', 'read_session_doc', 'get_session', 'list_work'])
        for (const one of [() => a(name, {}, { headers: access }), () => b(name)]) await done(one())
      await done(rest('post_message', { session_id, content: 'I do.' }, { person: vera }))
      await read
    },
    SLOW_MS,
  )

  test(
    'an agent works for them, and prints what it should not',
    async () => {
      const run = (name: string, input: object) => done(rest(`control.${name}`, { ...input }, { headers: bearer(keys.run!) }))
      const full = (name: string, input: object) => done(rest(`control.${name}`, { ...input }, { headers: bearer(keys.full!) }))
      const worktree = { path: '/code/parser', repo_full_name: 'acme/parser', branch: 'main', head: '0'.repeat(40) }
      const agents = [{ agentic_tool: 'claude-code', version: '2.1.330' }]
      const { runner_id, worktrees } = await run('register_runner', { name: 'a runner', agents, worktrees: [worktree] })
      const made = await full('create_session', { title: 'The printer', worktree_id: worktrees[0].worktree_id })
      await full('send_prompt', { session_id: made.session_id, prompt: 'Print it.' })
      const { tasks } = await run('take_tasks', { runner_id, running: [], timeout: 10 })
      const [{ task_id, agent_key }] = tasks
      day.isSecret('key of the agent', agent_key.split('_')[2])
      await done(viaMcp(day.served)('control.get_session', { session_id: made.session_id }, { headers: bearer(agent_key) }))
      const printed = [
        said(`I use ${agent_key}.`),
        called('Bash', { command: `curl -H 'x-team-id: ${bea}' ${keys.full}` }),
        gave(`${keys.run}`),
      ]
      await run('add_task_events', { runner_id, task_id, events: printed.map((event) => ({ key: crypto.randomUUID(), ...event })) })
      const ask = { runner_id, task_id, request_id: 'r1', tool_name: 'Bash', text: `echo ${agent_key}`, input: { command: keys.full } }
      await run('ask_permission', { ...ask, timeout: 0 })
      await done(rest('control.answer_permission', { session_id: made.session_id, request_id: 'r1', allow: true }, { person: robin }))
      await run('finish_task', { runner_id, task_id, status: 'completed', answer: `Printed with ${keys.full}.` })
      for (const path of [`/sessions/${made.session_id}`, `/sessions/${made.session_id}/turns/1`, `/sessions/${made.session_id}.md`])
        expect((await (await day.send(path, { headers: { cookie: robin } })).text()).length).toBeGreaterThan(100)
      expect(day.text()).toContain('Printed with')
    },
    SLOW_MS,
  )

  test(
    'they propose, decide, import, search and look at every page',
    async () => {
      const decision = { title: 'By hand', description: 'No generator.' }
      const { id } = await done(mcp('records.propose_decision', decision, { team: alex, headers: access }))
      await done(rest('records.resolve_approval', { proposal_id: id, action: 'approve' }, { person: robin }))
      const line = {
        type: 'user',
        sessionId: crypto.randomUUID(),
        message: { role: 'user', content: `My key is ${keys.read}, my team ${bea}.` },
      }
      const imported = await day.send('/api/traces?name=a.jsonl', {
        headers: access,
        body: JSON.stringify({ ...line, uuid: crypto.randomUUID() }),
      })
      await imported.text()
      await done(rest('history.search_sessions', { query: 'lexer' }, { headers: bearer(keys.read!) }))
      const ofSession = ['', '/board', '/records', '/history', '/turns', '/share', '/edit', '.md', '/feed.jsonl'].map(
        (path) => `/sessions/${session_id}${path}`,
      )
      for (const cookie of [robin, vera])
        for (const path of [...PAGES, ...FILES, ...ofSession]) await day.send(path, { headers: { cookie } }).then((answer) => answer.text())
      for (const path of ofSession) await day.send(path, { headers: { cookie: viewer } }).then((answer) => answer.text())
      for (const key of Object.values(keys))
        for (const path of FILES) await day.send(path, { headers: bearer(key) }).then((answer) => answer.text())
      await form('/settings/notices/test', {}, robin)
      await until('somebody was told', 20_000, () => notified.bodies.length > 0)
    },
    SLOW_MS,
  )

  test(
    'what is wrong is not repeated',
    async () => {
      for (const secret of [bea, keys.full!, ACCESS_TOKEN, OPERATOR_KEY]) {
        const [encoded, headers] = [encodeURIComponent(secret), { ...access, 'x-team-id': secret }]
        const chosen = [ACCESS_TOKEN, OPERATOR_KEY].includes(secret) // any text, which is told from an id by nobody
        const paths = ['/api/', '/?key=', '/shared/', '/join/', '/sign-in?key=wrong-', ...(chosen ? [] : ['/sessions/'])]
        for (const path of paths.map((before) => before + encoded)) await day.send(path, { headers }).then((answer) => answer.text())
        await day.send('/api/sessions', { headers, body: `{"${secret}": ` }).then((answer) => answer.text())
      }
    },
    SLOW_MS,
  )

  test(
    'the day ends: a key is revoked, one leaves, the session is concluded, all is packed up',
    async () => {
      const { text } = await form('/settings/keys', { name: 'Short', scope: 'read' }, robin)
      const [short] = /ca_read_[0-9a-f]{32}/.exec(text)!
      day.isSecret('revoked key', short.split('_')[2]!)
      const revoked = await runServer(['key', 'revoke', short.slice(0, 16)], environment)
      const printed = [
        revoked.output,
        (await runServer(['key', 'list'], environment)).output,
        (await runServer(['purge', '--older-than', '1d'], environment)).output,
      ]
      await done(rest('leave_session', { session_id }, { team: bea }))
      await done(rest('conclude_session', { session_id, summary_section: 'By hand.' }, { team: alex, headers: access }))
      await form('/sign-out', {}, vera)
      if (engine === 'pglite') {
        const { code, output } = await runServer(['backup', join(scratch, 'backup')], environment)
        expect([code, output]).toEqual([0, expect.stringContaining('Wrote')])
        expect(day.secretsIn([Bun.gunzipSync(readFileSync(join(scratch, 'backup')))])).toEqual([])
      }
      expect(day.secretsIn(printed)).toEqual([])
    },
    SLOW_MS,
  )

  test(
    'none of it stands anywhere but in the answer that told it',
    async () => {
      await day.disconnect()
      expect(day.names().length).toBeGreaterThan(18)
      expect(day.leaks()).toEqual([])
      expect(day.secretsIn(notified.bodies.map((body) => JSON.stringify(body)))).toEqual([])
      expect(day.secretsIn([await processes()])).toEqual([])
      if (environment.DATABASE_URL) {
        const database = postgres(environment.DATABASE_URL, { max: 1, onnotice() {} })
        const rows = await everyRow(database)
        await database.end()
        expect(rows).toContain('Printed with')
        expect(day.secretsIn([rows])).toEqual([])
      }
      await server.terminate()
      expect(day.secretsIn([server.output()])).toEqual([])
      const files = readdirSync(server.folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
      for (const { parentPath, name } of files) expect([name, day.secretsIn([readFileSync(join(parentPath, name))])]).toEqual([name, []])
    },
    SLOW_MS,
  )
})

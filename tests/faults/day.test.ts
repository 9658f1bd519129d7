// A whole day: people, teams, programs, agents and their runner do what can be done, and each credential that was told or chosen is looked for
// in every byte that was sent, logged, kept, backed up or shown [P6].
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import postgres from 'postgres'
import { bearer } from '../support/keys.ts'
import { FULL } from '../support/full.ts'
import { done, seat, type As, type Call } from '../support/parley.ts'
import { called, gave, said } from '../support/played-runner.ts'
import { filled, FILES, OF_ALL, OF_SESSION, readings, type Places } from './day/readings.ts'
import { openDay, type Scene } from './day/scene.ts'
import { HERE } from './engines.ts'
import { everyFile, everyRow, processes } from './kept.ts'
import { until } from './rooms.ts'

/** The answers that hand a credential to its owner: no other byte may have it. */
const TOLD: Record<string, string[]> = {
  'Robin’s cookie': ['POST /sign-in'],
  'Vera’s cookie': ['POST /sign-in'],
  'a viewer’s cookie': ['POST /sign-in'],
  'Alex’s team_id': ['POST /api/sessions', 'POST /api/sessions'], // the retry too
  'the invitation': ['POST /sessions/ID/invite', 'GET /join/ID'],
  'Bea’s team_id': ['POST /api/sessions/ID/join'],
  'Cleo’s team_id': ['POST /mcp/rooms'],
  'the share link': ['POST /sessions/ID/share', 'GET /shared/ID'], // the link becomes a cookie
  'the full key': ['POST /settings/keys'],
  'the read key': ['POST /settings/keys'],
  'the run key': ['POST /settings/keys'],
  'the sess key': ['POST /settings/keys'],
  'the agent key': ['POST /api/runner/take'],
  'the agent’s team_id': ['POST /mcp/rooms'],
}

describe.each(HERE)('a day, %s', (engine) => {
  let scene: Scene
  beforeAll(async () => {
    scene = await openDay(engine)
  }, 180_000)
  afterAll(() => scene?.close(), 180_000)

  const printed: string[] = []
  const keys: Record<string, string> = {}
  const places = {} as Places
  let robin: string
  let vera: string
  let viewer: string
  let shared: string
  let session_id: string
  let alex: string
  let bea: string

  test('people come: by the key of the server, by a link of their own, by the password of viewers', async () => {
    const { chosen, form, command, linkIn, cookieIn } = scene
    robin = cookieIn('Robin’s cookie', await form('/sign-in', { key: chosen.OPERATOR_KEY, name: 'Robin' }))
    const link = linkIn('Vera’s link', 'key=', await command('key', 'person', 'Vera'))
    vera = cookieIn('Vera’s cookie', await form('/sign-in', { key: link }))
    viewer = cookieIn('a viewer’s cookie', await form('/sign-in', { key: chosen.VIEWER_PASSWORD }))
  }, 180_000)

  test('teams meet: with the access token, and by an invitation; others read by a link', async () => {
    const { day, access, rest, mcp, form, get, linkIn, teamIn } = scene
    const key = day.isSecret('the key of create_session', crypto.randomUUID())
    const create = () =>
      done(rest('create_session', { title: 'The parser', description: '', creator_team_name: 'Alex' }, { headers: access, key }))
    const made = await create()
    session_id = places.room = made.session_id
    alex = teamIn('Alex’s team_id', made)
    expect(await create()).toEqual(made)
    day.isTold('Alex’s team_id')
    const code = linkIn('the invitation', '/join/', (await form(`/sessions/${session_id}/invite`, { joins: '2', days: '1' }, robin)).text)
    expect((await get(`/join/${code}`)).status).toBe(200)
    day.isTold('the invitation')
    const invited: As = { headers: { 'x-invite': code }, key: day.isSecret('the key of join_session', crypto.randomUUID()) }
    bea = teamIn('Bea’s team_id', await done(rest('join_session', { session_id, team_name: 'Bea' }, invited)))
    teamIn('Cleo’s team_id', await done(mcp('join_session', { session_id, team_name: 'Cleo' }, { headers: access })))
    const token = linkIn('the share link', '/shared/', (await form(`/sessions/${session_id}/share`, {}, robin)).text)
    shared = (await get(`/shared/${token}`)).cookies[0]!.split(';')[0]!
    day.isTold('the share link')
  }, 180_000)

  test('keys of every scope are made on the page', async () => {
    const { form, keyIn } = scene
    for (const scope of ['full', 'read', 'run', 'sess']) {
      const fields = { name: `For ${scope}`, scope, session_id: scope === 'sess' ? session_id : '' }
      keys[scope] = keyIn(scope, (await form('/settings/keys', fields, robin)).text)
    }
  }, 180_000)

  test('they talk by every door, ask people, and say secrets by mistake', async () => {
    const { chosen, access, rest, mcp, form, follow } = scene
    await follow(`/api/sessions/${session_id}/stream`, { ...access, 'x-team-id': alex })
    for (const cookie of [robin, shared]) await follow(`/sessions/${session_id}/live?after=0`, { cookie })
    await follow('/approvals/live', { cookie: robin })
    const by = (call: Call, team_id: string) =>
      seat((name, input, as) => call(name, input, { headers: access, ...as }), { session_id, team_id })
    const [a, b] = [by(mcp, alex), by(rest, bea)]
    await form(`/sessions/${session_id}/messages`, { text: 'Good morning.' }, robin)
    const waiting = done(b('wait_for_messages', { timeout: 20 }))
    const { message_id } = await done(a('post_message', { content: 'Who takes the lexer?', to: ['Robin'], expects_reply: true }))
    await waiting
    await form(`/sessions/${session_id}/messages`, { text: 'Bea does.', reply_to: message_id }, robin)
    for (const secret of [bea, keys.full!, keys.read!, `see ${keys.run}`, `with ${chosen.ACCESS_TOKEN}`])
      for (const team of [a, b]) expect((await team('post_message', { content: secret })).ok).toBe(false)
    places.item = (await done(b('plan_work', { items: [{ title: 'Build the lexer' }] }))).items[0].item_id
    await done(b('append_to_session_doc', { text: '- the lexer' }))
    for (const name of ['peek', 'catch_up', 'list_participants', 'get_history', 'read_session_doc', 'get_session', 'list_work'])
      for (const team of [a, b]) await done(team(name))
  }, 180_000)

  test('an agent works for them, and prints what it should not', async () => {
    const { chosen, rest, mcp, form, keyIn, teamIn } = scene
    const via = (call: Call, key: string) => (name: string, input: object) => done(call(name, { ...input }, { headers: bearer(key) }))
    const [runner, steering] = [via(rest, keys.run!), via(mcp, keys.full!)]
    const worktree = { path: '/code/parser', repo_full_name: 'acme/parser', branch: 'main', head: '0'.repeat(40) }
    const agents = [{ agentic_tool: 'claude-code', version: '2.1.330' }]
    const { runner_id, worktrees } = await runner('control.register_runner', { name: 'a runner', agents, worktrees: [worktree] })
    places.worktree = worktrees[0].worktree_id
    const { session_id: driven } = await steering('control.create_session', { title: 'The printer', worktree_id: places.worktree })
    await steering('control.send_prompt', { session_id: driven, prompt: 'Print it.' })
    const [task] = (await runner('control.take_tasks', { runner_id, running: [], timeout: 10 })).tasks
    const own = (keys.agent = keyIn('agent', task.agent_key))
    const agent = via(mcp, own)
    const team_id = teamIn('the agent’s team_id', await agent('join_session', { session_id: driven, team_name: 'The agent' }))
    await agent('post_message', { session_id: driven, team_id, content: 'I am here.' })
    await agent('control.get_session', { session_id: driven })
    const events = [
      said(`I use ${own}.`),
      called('Bash', { command: `curl -H 'x-team-id: ${bea}' ${keys.full}` }),
      gave(`${alex} ${keys.run} ${chosen.ACCESS_TOKEN}`),
    ]
    const of = { runner_id, task_id: task.task_id }
    await runner('control.add_task_events', { ...of, events: events.map((event) => ({ key: crypto.randomUUID(), ...event })) })
    const asking = { request_id: 'r1', tool_name: 'Bash', text: `echo ${own}`, input: { command: keys.full }, timeout: 0 }
    await runner('control.ask_permission', { ...of, ...asking })
    await form(`/sessions/${driven}/permission`, { request_id: 'r1', allow: 'true' }, robin)
    await runner('control.finish_task', { ...of, status: 'completed', answer: `Printed with ${keys.full}.` })
    const told = JSON.stringify(await steering('control.get_messages', { session_id: driven }))
    expect(told).toContain(`Printed with ${keys.full!.slice(0, 16)}…`)
    places.driven = driven
  }, 180_000)

  test('they propose, decide, bring a transcript, change settings, are told', async () => {
    const { day, access, mcp, rest, form, notified } = scene
    const decision = { title: 'By hand', description: 'No generator.' }
    places.proposal = (await done(mcp('records.propose_decision', decision, { team: alex, headers: access }))).id
    await form(`/approvals/${places.proposal}`, { action: 'approve' }, robin)
    places.record = (await done(rest('records.get_decisions', {}, { person: robin }))).decisions[0].decision_id
    const message = { role: 'user', content: `I am ${bea}, with ${keys.read} and ${access.authorization}.` }
    const line = { type: 'user', uuid: crypto.randomUUID(), sessionId: crypto.randomUUID(), message }
    const imported = await day.send('/api/traces?name=a.jsonl', { headers: access, body: JSON.stringify(line) })
    places.imported = ((await imported.json()) as { session_id: string }).session_id
    await form('/settings/wakes', { wakes_per_hour: '7' }, robin)
    await form('/settings/loop-guard', { mode: 'warn', posts: '12', likeness: '0.9' }, robin)
    const endpoint = `https://127.0.0.1/${day.isSecret('the secret within a push endpoint', crypto.randomUUID())}`
    await form('/settings/push', { endpoint, p256dh: 'x', auth: 'x' }, robin, 400)
    await form('/settings/notices/test', { way: 'notify_url' }, robin)
    await until('people were told', 60_000, () => notified.bodies.some(({ kind }) => kind === 'proposal'))
  }, 180_000)

  test('everybody reads all that they may', async () => {
    const { day, access, mcp, get } = scene
    const sessions = [places.driven, places.room, places.imported]
    const unread: string[] = []
    for (const route of [...OF_SESSION, ...OF_ALL]) {
      let read = false
      // The first session that has it is enough, but in the long form.
      for (const path of new Set(sessions.map((id) => filled(route, id, places))))
        if (!read || FULL) read = (await get(path, { cookie: robin })).status === 200 || read
      if (!read) unread.push(route)
    }
    expect(unread).toEqual([])
    for (const path of ['', '.md', '/turns/1', '/feed.jsonl']) await get(`/sessions/${places.imported}${path}`, { cookie: robin })
    for (const route of OF_SESSION) await get(filled(route, session_id, places), { cookie: shared })
    for (const route of OF_ALL) for (const headers of [{}, { cookie: viewer }]) await get(filled(route, '', places), headers)
    for (const key of Object.values(keys)) for (const path of [...FILES, `/sessions/${session_id}`]) await get(path, bearer(key))
    const callers: As[] = [{ person: robin }, { team: alex, headers: access }, { headers: bearer(keys.read!) }]
    for (const { path, sending } of callers.flatMap((as) => readings(places, as))) await (await day.send(path, sending)).text()
    const byMcp = {
      'history.open': { id: `session:${session_id}` },
      'history.search_sessions': { query: 'lexer' },
      'records.search_content': { query: 'By hand' },
    }
    for (const [name, input] of Object.entries(byMcp)) await done(mcp(name, input, { headers: bearer(keys.read!) }))
  }, 180_000)

  test('what is wrong is not repeated', async () => {
    const { day, chosen, access, get } = scene
    for (const secret of [bea, keys.full!, chosen.ACCESS_TOKEN, chosen.OPERATOR_KEY]) {
      const headers = { ...access, 'x-team-id': secret }
      const befores = ['/api/', '/?key=', '/shared/', '/join/', '/sign-in?key=wrong-']
      // An operator's own key has no form: as the id of a session it is told from no other wrong one.
      if (secret !== chosen.OPERATOR_KEY) befores.push('/sessions/')
      for (const before of befores) await get(`${before}${secret}`, headers)
      await (await day.send('/api/sessions', { headers, body: `{"${secret}": ` })).text()
    }
  }, 180_000)

  test('the day ends: a key is revoked, some leave, the session is concluded, all is packed up', async () => {
    const { day, access, rest, form, get, command, scratch } = scene
    const { text } = await get('/settings/keys', { cookie: robin })
    const [, key_id] = /value="([^"]+)" aria-label="Revoke the key For read"/.exec(text)!
    await form('/settings/keys/revoke', { key_id: key_id! }, robin)
    expect((await get('/metrics', bearer(keys.read!))).status).toBe(401)
    await done(rest('leave_session', { session_id }, { team: bea }))
    await done(rest('conclude_session', { session_id, summary_section: 'By hand.' }, { team: alex, headers: access }))
    await form('/sign-out', {}, vera)
    if (FULL || engine === 'postgres') printed.push(await command('purge', '--older-than', '1d', '--rooms', '--traces'))
    if (engine === 'postgres') return
    printed.push(await command('backup', join(scratch, 'backup')))
    const unpacked = Bun.gunzipSync(readFileSync(join(scratch, 'backup')))
    expect(day.secretsIn([unpacked])).toEqual([])
  }, 180_000)

  test('none of it stands anywhere but in the answer that told it', async () => {
    const { day, server, environment, notified, endStreams } = scene
    await endStreams()
    await day.disconnect()
    const nowhere = Object.fromEntries(Object.keys(day.tellers()).map((name) => [name, [] as string[]]))
    expect(day.tellers()).toEqual({ ...nowhere, ...TOLD })
    for (const stream of ['/api/sessions/ID/stream', '/sessions/ID/live'])
      expect(day.textOf(`GET ${stream}`)).toContain('Who takes the lexer?')
    expect(day.leaks()).toEqual([])
    expect(day.secretsIn(notified.bodies.map((body) => JSON.stringify(body)))).toEqual([])
    expect(day.secretsIn([...printed, await processes()])).toEqual([])
    if (environment.DATABASE_URL) {
      const database = postgres(environment.DATABASE_URL, { max: 1, onnotice() {} })
      const rows = await everyRow(database)
      await database.end()
      expect(rows).toContain('Printed with')
      expect(day.secretsIn([rows])).toEqual([])
    }
    await server.terminate()
    expect(server.output()).toContain('post_message')
    expect(day.secretsIn([server.output()])).toEqual([])
    const files = everyFile(server.folder)
    expect(files.some(([path]) => path.includes('pg_wal'))).toBe(engine === 'pglite')
    expect(files.flatMap(([path, bytes]) => day.secretsIn([bytes]).map((name) => `${path}: ${name}`))).toEqual([])
  }, 180_000)
})

// Control's lists: sessions, tasks and worktrees, and one session with all that is known of it.
import { describe, expect } from 'bun:test'
import { test } from '../../support/foreign.ts'
import { bearer, keyOf } from '../../support/keys.ts'
import { done, refused, room, soon, throughBothDoors, type Call, type Served } from '../../support/parley.ts'
import { called, runnerAt, said, type TestRunner } from '../../support/played-runner.ts'

const UNKNOWN = '0190a0a0-0000-7000-8000-000000000000'

throughBothDoors((call, parley) => {
  const full = async () => ({ headers: bearer(await keyOf(parley(), 'full')) })
  const agentIn = async (sessionId: string) => ({ headers: bearer(await keyOf(parley(), 'agent', sessionId)) })
  const opened = async (runner: TestRunner, as: Parameters<Call>[2], more: Record<string, unknown> = {}) =>
    done(call('control.create_session', { title: 'Empty files', worktree_id: runner.worktree, ...more }, as))

  /** All rows of a list, page by page, with the size of each page. */
  const allOf = async (name: string, field: string, input: Record<string, unknown>, as: Parameters<Call>[2]) => {
    const rows: any[] = []
    const sizes: number[] = []
    for (let cursor: string | undefined; ;) {
      const page = await done(call(name, { ...input, ...(cursor && { cursor }) }, as))
      rows.push(...page[field])
      sizes.push(page[field].length)
      expect(page.next_cursor === null).toBe(!page.has_more)
      if (!page.has_more) return { rows, sizes }
      cursor = page.next_cursor
    }
  }

  describe('list_sessions', () => {
    test('has the newest first, each with what its agent does and where [D7]', async () => {
      const [as, runner] = [await full(), await runnerAt(parley())]
      const first = await opened(runner, as)
      const second = await opened(runner, as, { title: 'Second', agentic_tool: 'codex', initial_prompt: 'Begin.' })
      const { sessions } = await done(call('control.list_sessions', { limit: 2 }, as))
      expect(sessions.map(({ session_id }: any) => session_id)).toEqual([second.session_id, first.session_id])
      expect(sessions[0]).toMatchObject({
        title: 'Second',
        repo_full_name: runner.repo,
        branch: 'main',
        current_branch: 'main',
        status: 'running',
        archived_at: null,
        is_agent_running: false, // queued
        agentic_tool: 'codex',
        genealogy: { parent_session_id: null, forked_from_session_id: null, children: [], forks: [] },
        prompted_by: { kind: 'key', name: 'a full key', session_id: null },
      })
      expect(sessions[1]).toMatchObject({ status: 'idle', agentic_tool: 'claude-code', prompted_by: null })
      await runner.takeOne()
      const running = await done(call('control.list_sessions', { status: 'running', limit: 1 }, as))
      expect(running.sessions).toMatchObject([{ session_id: second.session_id, is_agent_running: true }])
    })

    test('goes through all of them, none twice, whatever the size of a page', async () => {
      const [as, runner] = [await full(), await runnerAt(parley())]
      const root = (await opened(runner, as)).session_id
      const own = await agentIn(root)
      const children: string[] = []
      for (let n = 0; n < 6; n++) children.unshift((await opened(runner, own)).session_id)
      for (const limit of [1, 2, 7, 200]) {
        const { rows, sizes } = await allOf('control.list_sessions', 'sessions', { limit }, own)
        expect(rows.map(({ session_id }) => session_id)).toEqual([...children, root])
        expect(Math.max(...sizes)).toBeLessThanOrEqual(limit)
      }
      const { rows } = await allOf('control.list_sessions', 'sessions', { limit: 200 }, as)
      const found = rows.find(({ session_id }) => session_id === root)
      expect(found.genealogy.children).toEqual(children.toReversed())
    })

    test('shows an agent its own session and what is below it, and a plain meeting without an agent to others', async () => {
      const [as, runner] = [await full(), await runnerAt(parley())]
      const meeting = await room(call)
      const [one, other] = [await opened(runner, as), await opened(runner, as)]
      const child = await opened(runner, await agentIn(one.session_id))
      const grandchild = await opened(runner, await agentIn(child.session_id))
      const seen = async (id: string) =>
        (await allOf('control.list_sessions', 'sessions', {}, await agentIn(id))).rows.map(({ session_id }) => session_id)
      expect(await seen(one.session_id)).toEqual([grandchild.session_id, child.session_id, one.session_id])
      expect(await seen(other.session_id)).toEqual([other.session_id])
      expect(await seen(grandchild.session_id)).toEqual([grandchild.session_id])
      const { rows } = await allOf('control.list_sessions', 'sessions', { limit: 200 }, as)
      expect(rows.find(({ session_id }) => session_id === meeting.id)).toMatchObject({
        status: null,
        agentic_tool: null,
      })
    })

    test.each([
      [{ status: 'closed' }, 'status'],
      [{ limit: 0 }, 'limit'],
      [{ limit: 201 }, 'limit'],
      [{ cursor: 'x' }, 'cursor'],
      [{ cursor: Buffer.from('["2026-11-24T20:15:18.184Z","x"]').toString('base64url') }, 'cursor'],
      [{ include_archived: 'perhaps' }, 'include_archived'],
      [{ boards: true }, 'boards'],
    ])('refuses %j', async (input, field) => {
      const { details } = await refused(call('control.list_sessions', input, await full()), 'invalid_request')
      expect(details.field).toBe(field)
    })
  })

  describe('get_session', () => {
    test('has the agent, its worktree and its tasks [C20 D8]', async () => {
      const [as, runner] = [await full(), await runnerAt(parley(), { mcp_servers: ['tracker'] })]
      const { session_id, task_id } = await opened(runner, as, {
        description: 'Empty files are read as none.',
        permission_mode: 'plan',
        context_files: ['docs/plan.md'],
        mcp_server_ids: ['tracker'],
        max_usd: 5,
        initial_prompt: `Begin. ${'x'.repeat(300)}`,
      })
      const usage = { input_tokens: 100, output_tokens: 20, cost_usd: 0.5 }
      await runner.work('a'.repeat(300), [called('Bash', { command: 'ls' }), said('Done.')], {
        branch: 'feature',
        head: '1'.repeat(40),
        usage,
      })
      const { session } = await done(call('control.get_session', { session_id }, as))
      expect(session).toMatchObject({
        session_id,
        title: 'Empty files',
        description: 'Empty files are read as none.',
        status: 'idle',
        room_status: 'active',
        last_sequence: 4,
        permission_config: { mode: 'plan' },
        worktree: {
          worktree_id: runner.worktree,
          name: runner.path.slice('/code/'.length),
          path: runner.path,
          repo_full_name: runner.repo,
          branch: 'feature',
          head: '1'.repeat(40),
          dirty: false,
          runner: { runner_id: runner.id, name: runner.name, online: true },
          agents: [{ agentic_tool: 'claude-code', version: '2.1.330' }],
          mcp_servers: [{ mcp_server_id: 'tracker', name: 'tracker' }],
          allow_bypass: false,
        },
        git_state: { branch: 'feature', head: '1'.repeat(40), dirty: false },
        context_files: ['docs/plan.md'],
        mcp_servers: [{ mcp_server_id: 'tracker', name: 'tracker' }],
        message_count: 2,
        usage,
        tree_usage: usage,
        max_usd: 5,
        error: null,
      })
      expect(session.tasks).toMatchObject([
        { task_id, status: 'completed', mode: 'continue', truncated: true, answer: { truncated: true } },
      ])
      expect([session.tasks[0].prompt.length, session.tasks[0].answer.text.length]).toEqual([200, 200])
      expect(session.genealogy).toEqual({
        parent_session_id: null,
        spawn_task_id: null,
        forked_from_session_id: null,
        fork_sequence: null,
        fork_task_id: null,
        children: [],
        forks: [],
      })
    })

    test('says what failed, and sums what a tree has cost', async () => {
      const [as, runner] = [await full(), await runnerAt(parley())]
      const { session_id, task_id } = await opened(runner, as, { initial_prompt: 'Split it.' })
      const { agent_key } = await runner.takeOne()
      const own = { headers: bearer(agent_key) }
      const child = await opened(runner, own, { initial_prompt: 'Your part.' })
      const cost = { input_tokens: 10, output_tokens: 1, cost_usd: 0.25 }
      const { tasks } = await runner.take(10, [task_id])
      const error = { code: 'agent_failed', message: 'It ran out of memory.' }
      await runner.finish(tasks[0].task_id, undefined, { status: 'failed', error, usage: cost })
      const below = (await done(call('control.get_session', { session_id: child.session_id }, own))).session
      expect(below).toMatchObject({
        status: 'failed',
        error,
        usage: cost,
        genealogy: { parent_session_id: session_id, spawn_task_id: task_id },
      })
      expect(below.tasks[0].prompted_by).toMatchObject({ kind: 'agent', session_id })
      const above = (await done(call('control.get_session', { session_id: 'current' }, own))).session
      expect(above).toMatchObject({ session_id, usage: null, tree_usage: cost, genealogy: { children: [child.session_id] } })
      await runner.finish(task_id, 'Done.', { usage: { input_tokens: null, output_tokens: 1, cost_usd: null } })
      const after = (await done(call('control.get_session', { session_id }, as))).session
      expect(after.tree_usage).toEqual({ input_tokens: 10, output_tokens: 2, cost_usd: 0.25 })
      expect(after.usage).toEqual({ input_tokens: null, output_tokens: 1, cost_usd: null })
    })

    test('counts messages of a log that is not indexed yet, and of one that is', async () => {
      const { id, alex, bea } = await room(call)
      const count = async () => (await done(call('control.get_session', { session_id: id }, await full()))).session.message_count
      for (let n = 1; n <= 3; n++) {
        await done((n % 2 ? alex : bea)('post_message', { content: `number ${n}` }))
        expect(await count()).toBe(n)
      }
      await soon('it is indexed', async () => {
        const [row] = await parley().database.query<{ messages: number }>('select messages from session_index where session_id = $1', [id])
        return row!.messages === 3
      })
      expect(await count()).toBe(3)
    })

    test('is 404 for what does not exist, `current` without an agent key, and what an agent does not reach', async () => {
      const [as, runner] = [await full(), await runnerAt(parley())]
      const [one, other] = [await opened(runner, as), await opened(runner, as)]
      for (const session_id of [UNKNOWN, 'current', 'nonsense']) await refused(call('control.get_session', { session_id }, as), 'not_found')
      const own = await agentIn(one.session_id)
      const foreign = await refused(call('control.get_session', { session_id: other.session_id }, own), 'not_found')
      const unknown = await refused(call('control.get_session', { session_id: UNKNOWN }, own), 'not_found')
      expect(foreign.message).toBe(unknown.message)
      await refused(call('control.get_session', {}, as), 'invalid_request')
      const ofRooms = await refused(call('get_session', { session_id: 'current' }, own), 'invalid_request')
      expect(ofRooms.message).toContain('control_get_session')
    })
  })

  test('what is not there, and what a session without an agent does not take, is refused with what to do next', async () => {
    const as = await full()
    const { id: session_id, alex } = await room(call)
    const tried: [name: string, input: Record<string, unknown>, next: string][] = [
      ['control.get_session', { session_id: UNKNOWN }, 'list_sessions lists it'],
      ['plan_work', { session_id: UNKNOWN, items: [{ title: 'Nothing' }] }, 'list_sessions lists it'],
      ['control.get_task', { task_id: UNKNOWN }, 'list_tasks has the ids'],
      ['control.manage_session', { session_id, action: 'stop' }, 'action: delete'],
      ['control.update_session', { session_id, permission_mode: 'plan' }, 'only title and description'],
    ]
    for (const [name, input, next] of tried) {
      const { ok, body } = await call(name, input, as)
      expect([ok, body.message], name).toEqual([false, expect.stringContaining(next)])
    }
    expect((await refused(alex('read_session_doc', { version: 7 }), 'not_found')).message).toContain('Read it without version')
  })

  describe('list_tasks', () => {
    test('has the newest first, shortened, by status, page by page', async () => {
      const [as, runner] = [await full(), await runnerAt(parley())]
      const { session_id } = await opened(runner, as)
      const ids: string[] = []
      for (let n = 0; n < 5; n++)
        ids.unshift((await done(call('control.send_prompt', { session_id, prompt: `${n}`.repeat(250) }, as))).task_id)
      await runner.work('b'.repeat(201))
      for (const limit of [1, 2, 5, 200]) {
        const { rows } = await allOf('control.list_tasks', 'tasks', { session_id, limit }, as)
        expect(rows.map(({ task_id }) => task_id)).toEqual(ids)
      }
      const { tasks } = await done(call('control.list_tasks', { session_id, status: 'completed' }, as))
      expect(tasks).toMatchObject([
        { task_id: ids[4], prompt: '0'.repeat(200), truncated: true, answer: { text: 'b'.repeat(200), truncated: true } },
      ])
      const whole = (await done(call('control.get_task', { task_id: ids[4] }, as))).task
      expect([whole.prompt, whole.answer.text, whole.truncated]).toEqual(['0'.repeat(250), 'b'.repeat(201), undefined])
    })

    test('has the beginnings of a long plan and a long error too, and a short question as it is; get_task has all of them', async () => {
      const [as, runner] = [await full(), await runnerAt(parley())]
      const { session_id } = await opened(runner, as)
      const given = [{ plan: `# Plan\n${'é😀 '.repeat(3_000)}` }, { questions: ['Which?'] }]
      for (const [n, input] of given.entries()) {
        await done(call('control.send_prompt', { session_id, prompt: 'Go.' }, as))
        const ends = { status: 'interrupted', interrupted_by: `asks ${n}` }
        await runner.work('', [{ key: `asks ${n}`, ...called(n === 0 ? 'ExitPlanMode' : 'AskUserQuestion', input) }], ends)
      }
      await done(call('control.send_prompt', { session_id, prompt: 'Go.' }, as))
      const error = { code: 'agent_failed', message: 'x'.repeat(5_000) }
      await runner.work('', [], { status: 'failed', error })
      const [failed, asked, planned] = (await done(call('control.list_tasks', { session_id }, as))).tasks
      expect(failed.error).toEqual({ ...error, message: 'x'.repeat(200), truncated: true })
      expect(asked.interrupted_by).toEqual({ message_id: expect.any(String), tool_name: 'AskUserQuestion', input: given[1] })
      const begins = [...JSON.stringify(given[0])].slice(0, 200).join('')
      expect(planned.interrupted_by).toMatchObject({ tool_name: 'ExitPlanMode', input: begins, truncated: true })
      const wholeOf = async ({ task_id }: any) => (await done(call('control.get_task', { task_id }, as))).task
      expect([(await wholeOf(failed)).error, (await wholeOf(planned)).interrupted_by.input]).toEqual([error, given[0]])
      const { session } = await done(call('control.get_session', { session_id }, as))
      expect(session.tasks).toEqual([failed, asked, planned])
    })

    test.each([
      [{ status: 'done' }, 'status'],
      [{ limit: 500 }, 'limit'],
      [{ cursor: 'bm9uc2Vuc2U' }, 'cursor'],
    ])('refuses %j', async (input, field) => {
      const { id } = await room(call)
      const { details } = await refused(call('control.list_tasks', { session_id: id, ...input }, await full()), 'invalid_request')
      expect(details.field).toBe(field)
    })

    test('is 404 beyond reach', async () => {
      const [as, runner] = [await full(), await runnerAt(parley())]
      const [one, other] = [await opened(runner, as), await opened(runner, as)]
      await refused(call('control.list_tasks', { session_id: UNKNOWN }, as), 'not_found')
      await refused(call('control.list_tasks', { session_id: other.session_id }, await agentIn(one.session_id)), 'not_found')
    })
  })

  describe('list_worktrees', () => {
    test('has those of a repository, page by page, with their runner', async () => {
      const [as, name] = [await full(), `acme/shared-${crypto.randomUUID().slice(0, 8)}`]
      const places = [1, 2, 3].map((n) => ({
        path: `/code/shared ${n}/`,
        repo_full_name: name,
        branch: `b${n}`,
        head: null,
        dirty: n === 2,
      }))
      const runner = await runnerAt(parley(), { worktrees: places, mcp_servers: ['tracker'], allow_bypass: true })
      for (const limit of [1, 2, 3]) {
        const { rows } = await allOf('control.list_worktrees', 'worktrees', { repo_full_name: name, limit }, as)
        expect(rows.map(({ branch }) => branch).toSorted()).toEqual(['b1', 'b2', 'b3'])
      }
      const { next_cursor: cursor } = await done(call('control.list_worktrees', { repo_full_name: name, limit: 1 }, as))
      const { message } = await refused(call('control.list_worktrees', { online: true, cursor }, as), 'invalid_request')
      expect(message).toContain('other filters')
      const { worktrees } = await done(call('control.list_worktrees', { repo_full_name: name, online: true }, as))
      expect(worktrees.find(({ branch }: any) => branch === 'b2')).toEqual({
        worktree_id: expect.any(String),
        name: 'shared 2',
        path: '/code/shared 2/',
        repo_full_name: name,
        branch: 'b2',
        head: null,
        dirty: true,
        runner: { runner_id: runner.id, name: runner.name, online: true },
        agents: [{ agentic_tool: 'claude-code', version: '2.1.330' }],
        mcp_servers: [{ mcp_server_id: 'tracker', name: 'tracker' }],
        allow_bypass: true,
      })
      expect((await done(call('control.list_worktrees', { repo_full_name: name, online: false }, as))).worktrees).toEqual([])
      await offline(parley(), runner)
      expect((await done(call('control.list_worktrees', { repo_full_name: name, online: true }, as))).worktrees).toEqual([])
      expect((await done(call('control.list_worktrees', { repo_full_name: name, online: false }, as))).worktrees).toHaveLength(3)
      expect((await done(call('control.list_worktrees', { repo_full_name: 'acme/none' }, as))).worktrees).toEqual([])
    })

    test('shows an agent where it may start others: its runner and repository, and all of a runner that allows it', async () => {
      const as = await full()
      const others = (repo: string) =>
        [1, 2].map((n) => ({ path: `/code/${repo}-${n}`, repo_full_name: n === 1 ? repo : `${repo}-other`, branch: 'main', head: null }))
      for (const [across, seen] of [
        [false, 1],
        [true, 2],
      ] as const) {
        const runner = await runnerAt(parley(), { worktrees: others(`acme/${crypto.randomUUID()}`), across })
        await runnerAt(parley()) // of somebody else
        const { session_id } = await opened(runner, as)
        const { worktrees } = await done(call('control.list_worktrees', {}, await agentIn(session_id)))
        expect(worktrees.map(({ runner: { runner_id } }: any) => runner_id)).toEqual(Array(seen).fill(runner.id))
      }
      const { id } = await room(call)
      expect((await done(call('control.list_worktrees', {}, await agentIn(id)))).worktrees).toEqual([])
    })

    test.each([
      [{ online: 'perhaps' }, 'online'],
      [{ repo_full_name: '' }, 'repo_full_name'],
      [{ cursor: '1' }, 'cursor'],
    ])('refuses %j', async (input, field) => {
      const { details } = await refused(call('control.list_worktrees', input, await full()), 'invalid_request')
      expect(details.field).toBe(field)
    })
  })
})

/** As if the runner had not called for longer than its lease. */
const offline = ({ database }: Served, { id }: TestRunner) =>
  database.query(`update runners set seen_at = seen_at - interval '61 s' where id = $1`, [id])

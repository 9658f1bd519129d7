// Prompts and what becomes of them, with a runner that the test plays.
import { describe, expect, spyOn, test } from 'bun:test'
import { controlScene, controlWith, type Control } from '../../support/control-scene.ts'
import { insertTask } from '../../../src/stores/control/new-tasks.ts'
import { setGone } from '../../../src/stores/control/worktrees.ts'
import { watchedAgents } from '../../../src/stores/control/watched.ts'
import { jobsOf } from '../../../src/operations/toolset.ts'
import { toolsets } from '../../../src/toolsets.ts'
import { whileBusy } from '../../support/cpu.ts'
import { holdLock, waitingForLocks } from '../../support/held-lock.ts'
import { bearer, keyOf } from '../../support/keys.ts'
import { cookieOf, done, onOneEngine, refused, room, soon, viaRest } from '../../support/parley.ts'
import { called, runnerAt, said } from '../../support/played-runner.ts'
import { revokeByPrefix } from '../../../src/control/keys/keys.ts'
import { purge } from '../../../src/process/purge.ts'
import { cutShortReport, purgeArguments, purgeReport } from '../../../src/cli/purge.ts'
import { PURGED_KIND } from '../../../src/process/publish.ts'
import type { Services } from '../../../src/process/services.ts'

onOneEngine(
  (parley) => {
    const control = (key: string) => controlWith(parley(), key)
    const scene = (more: Record<string, unknown> = {}) => controlScene(parley(), more)
    const fullKey = () => keyOf(parley(), 'full')
    const start = (call: Control, session_id: string, prompt = 'Add a test.') => done(call('send_prompt', { session_id, prompt }))

    test('two prompts of one session run one after the other, in the order of the log [C9]', async () => {
      const { runner, call, session_id } = await scene()
      const first = await start(call, session_id, 'First.')
      const second = await start(call, session_id, 'Second.')
      const { tasks } = await runner.take()
      expect(tasks.map(({ task_id }: any) => task_id)).toEqual([first.task_id])
      expect((await runner.take(0, [first.task_id])).tasks).toEqual([])
      await runner.finish(first.task_id, 'One.')
      expect((await runner.takeOne()).task_id).toBe(second.task_id)
    })

    test('two sessions run at the same time in one worktree, and parallel: 1 queues them', async () => {
      const { runner, call, session_id } = await scene()
      const other = await done(call('create_session', { title: 'Other', worktree_id: runner.worktree, initial_prompt: 'Go.' }))
      await start(call, session_id)
      expect((await runner.take()).tasks).toHaveLength(2)
      expect(other.task_id).toBeString()
      const single = await scene({ parallel: 1 })
      await start(single.call, single.session_id)
      await done(single.call('create_session', { title: 'Other', worktree_id: single.runner.worktree, initial_prompt: 'Go.' }))
      const { tasks } = await single.runner.take()
      expect(tasks).toHaveLength(1)
      expect((await single.runner.take(0, [tasks[0].task_id])).tasks).toEqual([])
    })

    test('what an answer handed out is handed out again, with the same key, until the runner names it or writes for it', async () => {
      const { runner, call, session_id } = await scene()
      const { task_id } = await start(call, session_id)
      const [lost, again] = [await runner.takeOne(), await runner.takeOne()]
      expect(again).toEqual(lost)
      expect(lost).toMatchObject({
        task_id,
        session_id,
        prompt: 'Add a test.',
        path: runner.path,
        permission_mode: 'acceptEdits',
        conversation: null,
        fork: null,
      })
      expect((await runner.take(0, [task_id])).tasks).toEqual([])
      const next = await scene()
      await start(next.call, next.session_id)
      const taken = await next.runner.takeOne()
      await next.runner.print(taken.task_id, [said('Looking.')])
      expect((await next.runner.take()).tasks).toEqual([])
    })

    test('all of a task stands in its turn, whatever is said meanwhile, and an event told twice is there once', async () => {
      const { runner, call, log, session_id, session } = await scene()
      const { task_id } = await start(call, session_id)
      await runner.takeOne()
      await runner.print(task_id, [{ key: 'a', ...called('Bash', { command: 'npm test' }) }])
      const as = { team: session.team_id as string }
      await done(viaRest(parley())('post_message', { session_id, content: 'I look too.' }, as))
      await runner.print(task_id, [
        { key: 'a', ...called('Bash', { command: 'npm test' }) },
        { key: 'b', ...said('Done.') },
      ])
      await runner.finish(task_id, 'Done.')
      const rows = await parley().database.query<any>(
        'select type, turn, ordinal, terminal, task_id from events where session_id = $1 order by sequence',
        [session_id],
      )
      expect(rows.map(({ type, turn, ordinal }) => [type, turn, ordinal])).toEqual([
        ['user_input', 1, 1],
        ['tool_call', 1, 2],
        ['chat', 2, 1],
        ['assistant_response', 1, 3],
        ['chat', 1, 4],
      ])
      expect(rows.at(-1)).toMatchObject({ terminal: true, task_id })
      expect((await log()).at(-1)).toMatchObject({ type: 'chat', team: 'Claude Code', task_id, content: { text: 'Done.' } })
      const { task, messages } = await done(call('get_task', { task_id }))
      expect(task).toMatchObject({ status: 'completed', answer: { text: 'Done.' }, prompted_by: { kind: 'key', name: 'a full key' } })
      expect(messages.map(({ text }: any) => text)).toEqual(['Bash: npm test', 'Done.'])
    })

    test('a final status never changes: the same finish is answered again, another one is refused', async () => {
      const { runner, call, session_id } = await scene()
      const { task_id } = await start(call, session_id)
      await runner.takeOne()
      const ended = await runner.finish(task_id, 'Done.')
      expect(await runner.finish(task_id, 'Done.')).toEqual(ended)
      await refused(runner.call('finish_task', { runner_id: runner.id, task_id, status: 'failed' }), 'conflict')
      await refused(runner.call('add_task_events', { runner_id: runner.id, task_id, events: [{ key: 'z', ...said('Late.') }] }), 'conflict')
      expect((await done(call('get_task', { task_id }))).task.status).toBe('completed')
    })

    test('whoever waits for the end gets the answer, or what there is when the time is up [D16]', async () => {
      const { runner, call, session_id } = await scene()
      const early = await done(call('send_prompt', { session_id, prompt: 'Slowly.', wait_for_completion: true, timeout_ms: 50 }))
      expect(early).toMatchObject({ started: true, completed: false, status: 'queued' })
      const waiting = call('get_task', { task_id: early.task_id, timeout_ms: 20_000 })
      await runner.work('There.', [said('There.')])
      expect((await done(waiting)).task).toMatchObject({ status: 'completed', answer: { text: 'There.' } })
    })

    test('work that the database undoes while it is handed out is handed out by the same call', async () => {
      const { database } = parley()
      const { runner, call, session_id } = await scene()
      const { task_id } = await start(call, session_id)
      const transaction = database.transaction
      const undone = Object.assign(new Error('deadlock detected'), { code: '40P01' })
      let times = 0
      const undoing = spyOn(database, 'transaction').mockImplementation((...args) =>
        times++ % 3 < 2 ? Promise.reject(undone) : (transaction(...args) as Promise<never>),
      )
      try {
        expect((await runner.take()).tasks).toMatchObject([{ task_id }])
      } finally {
        undoing.mockRestore()
      }
    })

    test('an interrupt reaches the runner as an order, until it is answered [D18]', async () => {
      const { runner, call, session_id } = await scene()
      expect(await done(call('interrupt_session', { session_id }))).toEqual({ interrupted: false })
      const { task_id } = await start(call, session_id)
      await runner.takeOne()
      const waiting = runner.take(20, [task_id])
      expect(await done(call('interrupt_session', { session_id }))).toEqual({ interrupted: true })
      const orders = [{ task_id, order: 'interrupt' }]
      expect((await waiting).orders).toEqual(orders)
      expect((await runner.take(8, [task_id])).orders).toEqual(orders) // where the answer with it was lost
      await runner.finish(task_id, undefined, { status: 'interrupted' })
      expect((await done(call('get_task', { task_id }))).task.status).toBe('interrupted')
    })

    test('a task that was purged with its session, or ended without its runner, is ended there too, and nobody waits for it', async () => {
      const { runner, call, session_id } = await scene()
      const { task_id } = await start(call, session_id)
      await runner.takeOne()
      const { waiters } = parley().services
      const before = waiters.size
      const [held, waiting] = [runner.take(30, [task_id]), call('get_task', { task_id, timeout_ms: 30_000 })]
      await soon('both are held', () => waiters.size >= before + 4) // each to its key, which may end, and to what it waits for
      const begun = performance.now()
      await purge(parley().services, purgeArguments([session_id, '--yes']))
      const orders = [{ task_id, order: 'interrupt' }]
      expect((await held).orders).toEqual(orders)
      await refused(waiting, 'not_found')
      expect(performance.now() - begun).toBeLessThan(whileBusy(5_000))
      expect((await runner.take(0, [task_id])).orders).toEqual(orders) // until it names it no more
      expect((await runner.take()).orders).toEqual([])

      const other = await scene()
      const ended = await start(other.call, other.session_id)
      await other.runner.takeOne()
      await other.runner.finish(ended.task_id, 'Done.')
      const names = async () => (await other.runner.take(0, [ended.task_id])).orders
      expect(await names()).toEqual([]) // it told of that end a moment ago
      await parley().database.query(`update tasks set ended_at = ended_at - interval '3 s' where id = $1`, [ended.task_id])
      expect(await names()).toEqual([{ task_id: ended.task_id, order: 'interrupt' }])
    })

    test('another runner of the same name takes over: its worktrees keep their ids, what ran is lost, and the former is refused', async () => {
      const { runner, call, session_id } = await scene()
      const { task_id } = await start(call, session_id)
      const { agent_key } = await runner.takeOne()
      const worktrees = [{ path: runner.path, repo_full_name: runner.repo, branch: 'main', head: null }]
      const again = await done(runner.call('register_runner', { name: runner.name, agents: [], worktrees }))
      expect(again.worktrees).toEqual([{ worktree_id: runner.worktree, path: runner.path }])
      expect((await done(call('get_task', { task_id }))).task).toMatchObject({ status: 'failed', error: { code: 'runner_lost' } })
      await refused(runner.call('take_tasks', { runner_id: runner.id }), 'conflict')
      await refused(runner.call('finish_task', { runner_id: runner.id, task_id, status: 'completed' }), 'conflict')
      await refused(control(agent_key)('get_task', { task_id }), 'unauthorized')
      const elsewhere = runner.call('register_runner', { name: 'another name', agents: [], worktrees: [] })
      expect((await refused(elsewhere, 'conflict')).message).toContain(`--name "${runner.name}"`)
      const stranger = await keyOf(parley(), 'run')
      const taken = viaRest(parley())(
        'control.register_runner',
        { name: runner.name, agents: [], worktrees: [] },
        { headers: bearer(stranger) },
      )
      await refused(taken, 'conflict')
    })

    test('of two names that register at the same moment with one key, one is taken', async () => {
      if (parley().engine === 'pglite') return // has one transaction at a time
      const { database } = parley()
      const key = await keyOf(parley(), 'run')
      const release = await holdLock(database, 'lock table runners in share mode') // both read, and neither can be saved
      const registered = ['first', 'second'].map((name) =>
        viaRest(parley())('control.register_runner', { name, agents: [], worktrees: [] }, { headers: bearer(key) }),
      )
      await soon('both wait', async () => (await waitingForLocks(database)) === 2)
      await release()
      const answers = await Promise.all(registered)
      expect(answers.map(({ ok, body }) => (ok ? 'taken' : body.code)).toSorted()).toEqual(['conflict', 'taken'])
    })

    test('while it takes over, what the former says of a worktree waits and is refused, and so does a session that would wait for one', async () => {
      if (parley().engine === 'pglite') return // it has one connection: nothing waits beside another
      const { runner, call } = await scene()
      const branch = { title: 'Branch', worktree_id: runner.worktree, branch: 'feature/x' }
      const { session_id } = await done(call('create_session', branch))
      const release = await holdLock(
        parley().database,
        `update runners set ended_at = clock_timestamp() where id = (select id from runners where id = '${runner.id}' for update)`,
      )
      const late = [
        runner.call('add_worktree', { runner_id: runner.id, session_id, path: '/code/x', branch: 'feature/x', head: null }),
        call('create_session', branch),
      ]
      await soon('both wait', async () => (await waitingForLocks(parley().database)) === late.length)
      await release()
      expect((await refused(late[0]!, 'conflict')).message).toContain('has taken the place')
      expect((await refused(late[1]!, 'conflict')).message).toContain('started again just now')
      expect((await done(call('get_session', { session_id }))).session.status).toBe('creating')
    })

    test('a runner whose key was revoked goes on at once with another one, and its worktrees keep their ids', async () => {
      const { runner } = await scene()
      const other = await keyOf(parley(), 'run')
      const worktrees = [{ path: runner.path, repo_full_name: runner.repo, branch: 'main', head: null }]
      const again = () =>
        viaRest(parley())('control.register_runner', { name: runner.name, agents: [], worktrees }, { headers: bearer(other) })
      expect((await refused(again(), 'conflict')).message).toContain('wait a minute')
      await revokeByPrefix(parley().services, runner.key)
      expect((await done(again())).worktrees).toEqual([{ worktree_id: runner.worktree, path: runner.path }])
    })

    test('with permissions switched off nothing runs where the runner does not allow it', async () => {
      const { runner, call } = await scene()
      const { task_id } = await done(
        call('create_session', {
          title: 'Free',
          worktree_id: runner.worktree,
          permission_mode: 'bypassPermissions',
          initial_prompt: 'Go.',
        }),
      )
      expect((await runner.take()).tasks).toEqual([])
      expect((await done(call('get_task', { task_id }))).task).toMatchObject({ status: 'failed', error: { code: 'not_allowed' } })
      const free = await scene({ allow_bypass: true })
      await done(
        free.call('create_session', {
          title: 'Free',
          worktree_id: free.runner.worktree,
          permission_mode: 'allow-all',
          initial_prompt: 'Go.',
        }),
      )
      expect((await free.runner.take()).tasks).toHaveLength(1)
    })

    test('a worktree is made for a branch that none has, and what was prompted meanwhile runs then [D15]', async () => {
      const { runner, call } = await scene()
      const made = await done(
        call('create_session', { title: 'Branch', repo_full_name: runner.repo, branch: 'feature/x', initial_prompt: 'Go.' }),
      )
      expect(made).toMatchObject({ status: 'creating', session: { repo_full_name: runner.repo, branch: 'feature/x' } })
      const { tasks, orders } = await runner.take()
      expect(tasks).toEqual([])
      const wanted = { repo_full_name: runner.repo, repo_path: runner.path, begins_there: false, branch: 'feature/x' }
      expect(orders).toEqual([{ session_id: made.session_id, order: 'worktree', ...wanted }])
      await done(
        runner.call('add_worktree', {
          runner_id: runner.id,
          session_id: made.session_id,
          path: '/code/x',
          branch: 'feature/x',
          head: null,
        }),
      )
      expect(await runner.takeOne()).toMatchObject({ session_id: made.session_id, path: '/code/x' })
      const failed = await done(
        call('create_session', { title: 'Branch', repo_full_name: runner.repo, branch: 'feature/y', initial_prompt: 'Go.' }),
      )
      await runner.take()
      const error = { code: 'agent_failed', message: 'The disk is full.' }
      await done(runner.call('add_worktree', { runner_id: runner.id, session_id: failed.session_id, error }))
      expect((await done(call('get_task', { task_id: failed.task_id }))).task).toMatchObject({ status: 'failed', error })
    })

    test('the tasks of a session that was created for a branch name it until its agent has begun: it may have gone elsewhere since', async () => {
      const { runner, call } = await scene()
      const { repo, worktree } = runner
      for (const [place, branch] of [
        [{ repo_full_name: repo, branch: 'main' }, 'main'],
        [{ worktree_id: worktree, branch: 'main' }, 'main'],
        [{ worktree_id: worktree }, null],
      ] as const) {
        const { session_id } = await done(call('create_session', { title: 'There', ...place }))
        const next = async () => {
          await done(call('send_prompt', { session_id, prompt: 'Go.' }))
          return runner.takeOne()
        }
        const first = await next()
        await runner.finish(first.task_id, undefined, { status: 'failed', error: { code: 'agent_failed', message: 'Not there.' } })
        const second = await next()
        await runner.print(second.task_id, [said('There.')])
        await runner.finish(second.task_id)
        const third = await next()
        await runner.finish(third.task_id)
        expect([first.branch, second.branch, third.branch]).toEqual([branch, branch, null])
      }
    })

    test('where a runner has several clones of a repository, a worktree is made of the one that was chosen', async () => {
      const { runner, call } = await scene()
      const clones = ['/code/stable', '/code/next'].map((path) => ({ path, repo_full_name: runner.repo, branch: 'main', head: null }))
      const body = { name: runner.name, agents: [{ agentic_tool: 'claude-code', version: null }], worktrees: clones }
      const { runner_id, worktrees } = await done(runner.call('register_runner', body))
      for (const [i, { path }] of clones.entries()) {
        const { worktree_id } = worktrees[i]
        const made = await done(call('create_session', { title: 'New', worktree_id, branch: `made-${i}` }))
        const { session_id: origin } = await done(call('create_session', { title: 'Origin', worktree_id }))
        const forked = await done(call('send_prompt', { session_id: origin, prompt: 'Go.', mode: 'fork', branch: `fork-${i}` }))
        const ofUnmade = (mode: string) =>
          done(call('send_prompt', { session_id: made.session_id, prompt: 'Go.', mode, branch: `${mode}-${i}` }))
        const beside = [await ofUnmade('fork'), await ofUnmade('subsession')]
        const { orders } = await done(runner.call('take_tasks', { runner_id, timeout: 5 }))
        const told = orders.map(({ session_id, branch, repo_path }: any) => ({ session_id, branch, repo_path }))
        expect(told).toHaveLength(4)
        for (const { session_id } of beside)
          expect(orders.find((order: any) => order.session_id === session_id)).toMatchObject({ repo_path: path, begins_there: true })
        expect(told).toContainEqual({ session_id: made.session_id, branch: `made-${i}`, repo_path: path })
        expect(told).toContainEqual({ session_id: forked.session_id, branch: `fork-${i}`, repo_path: path })
      }
    })

    test('of two runners of a repository the one that has the agent and the servers asked for is chosen, and it is refused what none has', async () => {
      const agents = (...names: string[]) => names.map((agentic_tool) => ({ agentic_tool, version: null }))
      const { runner, call } = await scene({ agents: agents('claude-code', 'opencode'), mcp_servers: ['notes'] })
      const theirs = { path: '/code/theirs', repo_full_name: runner.repo, branch: 'theirs', head: null }
      const other = await runnerAt(parley(), { worktrees: [theirs], agents: agents('codex') }) // is looked at first: its worktree is the newest
      const create = (branch: string, more: object) => call('create_session', { title: 'A', repo_full_name: runner.repo, branch, ...more })
      await done(create('theirs', { agentic_tool: 'opencode' }))
      await done(create('with-notes', { agentic_tool: 'claude-code', mcp_server_ids: ['notes'] }))
      await done(create('by-claude', {}))
      await done(create('by-codex', { agentic_tool: 'codex' }))
      await done(create('by-gemini', { agentic_tool: 'gemini' })) // which neither has: its task will say so
      const ordered = async ({ take }: typeof runner) => (await take()).orders.map(({ branch }: any) => branch).toSorted()
      expect([await ordered(runner), await ordered(other)]).toEqual([
        ['by-claude', 'theirs', 'with-notes'],
        ['by-codex', 'by-gemini'],
      ])
      for (const more of [{ agentic_tool: 'pi' }, { mcp_server_ids: ['none'] }]) await refused(create('new', more), 'invalid_request')
    })

    test('what git says of a worktree that could not be made is stored, without a credential of ours', async () => {
      const { runner, call, key } = await scene()
      for (const message of ['a\0b', 'half \ud800', `fatal: unable to access https://x:${key}@example.org`]) {
        const { session_id, task_id } = await done(
          call('create_session', { title: 'Branch', repo_full_name: runner.repo, branch: 'feature/z', initial_prompt: 'Go.' }),
        )
        const error = { code: 'agent_failed', message }
        await done(runner.call('add_worktree', { runner_id: runner.id, session_id, error }))
        const told = JSON.stringify([await done(call('get_task', { task_id })), await done(call('get_session', { session_id }))])
        expect(told).toContain('agent_failed')
        expect(told).not.toContain(key)
      }
      const { session_id } = await done(call('create_session', { title: 'Branch', repo_full_name: runner.repo, branch: 'feature/z' }))
      const { worktree_id } = await done(
        runner.call('add_worktree', { runner_id: runner.id, session_id, path: '/code/\udc00', branch: 'a\0b', head: '\ud800' }),
      )
      expect(worktree_id).toBeString()
    })

    test('a prompt for an agent whose worktree was not made is refused with the reason, and waits for no runner', async () => {
      const { runner, call, log } = await scene()
      const create = () => done(call('create_session', { title: 'Branch', repo_full_name: runner.repo, branch: 'feature/z' }))
      const prompt = (session_id: string) => call('send_prompt', { session_id, prompt: 'Go.' })
      const [failed, archived, waiting] = [await create(), await create(), await create()]
      const error = { code: 'agent_failed', message: 'The disk is full.' }
      await done(runner.call('add_worktree', { runner_id: runner.id, session_id: failed.session_id, error }))
      for (const action of ['delete', 'start']) await done(call('manage_session', { session_id: archived.session_id, action }))
      for (const [{ session_id }, why] of [
        [failed, 'The disk is full.'],
        [archived, 'archived before its worktree was made'],
      ] as const) {
        expect((await refused(prompt(session_id), 'conflict')).message).toContain(why)
        const { session } = await done(call('get_session', { session_id }))
        expect(session).toMatchObject({ status: 'failed', tasks: [], error: { message: expect.stringContaining(why) } })
        const failures = (await log(session_id)).filter(({ content }) => content?.event === 'agent_failed')
        expect(failures).toMatchObject([{ type: 'runtime', content: { text: expect.stringContaining(why) } }])
      }
      expect(await watchedAgents(parley().database, [failed.session_id])).toMatchObject([{ no_place: true }])
      expect(await watchedAgents(parley().database, [waiting.session_id])).toMatchObject([{ no_place: false }])
      await done(prompt(waiting.session_id))
    })

    test('a fork or part of a session whose worktree is being made, or was not made, is refused with what can be named for it', async () => {
      const { runner, call } = await scene()
      const ordered = { title: 'Branch', repo_full_name: runner.repo, branch: 'feature/z' }
      const { session_id } = await done(call('create_session', ordered))
      for (const mode of ['fork', 'subsession']) {
        const { message } = await refused(call('send_prompt', { session_id, prompt: 'Go.', mode }), 'conflict')
        for (const said of ['is being made', 'branch', 'worktree_id']) expect(message).toContain(said)
        await done(call('send_prompt', { session_id, prompt: 'Go.', mode, branch: `feature/${mode}` }))
      }
      const { orders } = await runner.take() // all begin at the HEAD of the repository, as that of their origin does
      expect(orders.map(({ begins_there }: any) => begins_there)).toEqual([false, false, false])
      const error = { code: 'agent_failed', message: 'The disk is full.' }
      await done(runner.call('add_worktree', { runner_id: runner.id, session_id, error }))
      for (const more of [{}, { branch: 'feature/fork' }]) {
        const { message } = await refused(call('send_prompt', { session_id, prompt: 'Go.', mode: 'fork', ...more }), 'conflict')
        expect(message).toContain('was not made. Name a worktree_id')
      }
      await done(call('send_prompt', { session_id, prompt: 'Go.', mode: 'fork', worktree_id: runner.worktree }))
    })

    test('where a worktree is gone, a prompt is refused with what to do next, and what is queued there says so until it is back', async () => {
      const { runner, call, session_id } = await scene()
      const folder = (path: string, branch: string) => ({ path, repo_full_name: runner.repo, branch, head: null })
      const [first, other] = [folder(runner.path, 'main'), folder('/code/other', 'other')]
      const register = async (...worktrees: object[]) => {
        const { runner_id, worktrees: kept } = await done(runner.call('register_runner', { name: runner.name, agents: [], worktrees }))
        const ids = new Map(kept.map(({ path, worktree_id }: any) => [path, worktree_id as string]))
        return { runner_id: runner_id as string, other: ids.get(other.path) }
      }
      const { task_id } = await start(call, session_id, 'Queued.')
      const { runner_id, other: worktree_id } = await register(other)
      const no_worktree = { runner_name: runner.name, path: runner.path, since: expect.stringMatching(/^20.*Z$/) }
      const answers = async () => {
        const { session } = await done(call('get_session', { session_id }))
        return [
          session,
          session.tasks[0],
          (await done(call('get_task', { task_id, timeout_ms: 1 }))).task,
          (await done(call('list_tasks', { session_id }))).tasks[0],
          (await done(call('list_sessions', { limit: 200 }))).sessions.find((one: any) => one.session_id === session_id),
        ]
      }
      for (const answer of await answers()) expect(answer.no_worktree).toEqual(no_worktree)
      const { summary } = await done(call('get_messages', { session_id, summarize: true }))
      expect(summary).toContain(`${runner.name} no longer offers its worktree`)
      expect((await answers())[2].status).toBe('queued')
      expect(await watchedAgents(parley().database, [session_id])).toMatchObject([{ no_place: true, gone_from: runner.name }])
      const logged = (await done(call('get_session', { session_id }))).session.last_sequence
      const again = { session_id, prompt: 'Again.' }
      for (const mode of ['continue', 'fork', 'subsession']) {
        const { message } = await refused(call('send_prompt', { ...again, mode }), 'conflict')
        for (const said of [runner.name, runner.path, '--worktree', 'mode fork', 'list_worktrees']) expect(message).toContain(said)
      }
      expect((await done(call('get_session', { session_id }))).session).toMatchObject({ last_sequence: logged, tasks: [{ task_id }] })
      const cookie = await cookieOf(parley(), { role: 'person', name: 'Nora' })
      const page = async (path: string, form?: Record<string, string>) => {
        const sent = { headers: { cookie }, ...(form && { method: 'POST', body: new URLSearchParams(form) }) }
        return (await parley().send(`/sessions/${session_id}${path}`, sent)).text()
      }
      const shown = await page('')
      const says = (html: string, said: string) => html.includes(said) // a page is too long for a failure's report
      expect(says(shown, `Its worktree is gone: the runner ${runner.name} no longer offers it.`)).toBe(true)
      expect(says(shown, 'id="agent" data-away')).toBe(false) // by which it says that prompts wait for a runner, and how to start one
      expect(says(await page('/prompt'), 'Its worktree is gone: a fork or a subsession works, with a branch.')).toBe(true)
      expect(says(await page('/prompt', { prompt: 'By hand.' }), 'The worktree of this session is gone')).toBe(true)
      // What the sentence advises.
      const fork = await done(call('send_prompt', { ...again, mode: 'fork', worktree_id }))
      const branched = await done(call('send_prompt', { ...again, mode: 'fork', branch: 'new' }))
      const { tasks: taken, orders } = await done(runner.call('take_tasks', { runner_id, timeout: 0 }))
      expect(taken).toMatchObject([{ task_id: fork.task_id, path: other.path }])
      const wanted = { repo_full_name: runner.repo, repo_path: other.path, begins_there: false, branch: 'new' }
      expect(orders).toEqual([{ order: 'worktree', session_id: branched.session_id, ...wanted }])

      const { runner_id: back } = await register(first, other)
      for (const answer of await answers()) expect('no_worktree' in answer).toBe(false)
      await start(call, session_id, 'Also.')
      const { tasks } = await done(runner.call('take_tasks', { runner_id: back, timeout: 0 }))
      expect(tasks).toMatchObject([{ task_id, path: runner.path }])
    })

    test('a worktree that its runner finds removed is offered no more: its branch gets a new one, and its session says where it can go on', async () => {
      const repo_full_name = `acme/${crypto.randomUUID()}`
      const folder = (branch: string) => ({ path: `/code/${branch}`, repo_full_name, branch, head: null })
      const { runner, call, session_id } = await scene({ worktrees: [folder('made'), folder('main')] })
      const queued = [await start(call, session_id), await start(call, session_id, 'Also.')]
      const error = { code: 'worktree_gone', message: 'The worktree was removed.' }
      for (const { task_id } of queued) {
        expect((await runner.takeOne()).task_id).toBe(task_id)
        await runner.finish(task_id, undefined, { status: 'failed', error })
      }
      expect((await refused(call('send_prompt', { session_id, prompt: 'Again.' }), 'conflict')).message).toContain('mode fork')
      await refused(call('create_session', { title: 'A', worktree_id: runner.worktree }), 'not_found')
      const made = await done(call('create_session', { title: 'A', repo_full_name, branch: 'made' }))
      const order = { order: 'worktree', session_id: made.session_id, branch: 'made', repo_path: '/code/main' }
      expect((await runner.take()).orders).toMatchObject([order])
    })

    test('a prompt that crosses the news that its worktree is gone is refused, or keeps it there until its runner has told of it too', async () => {
      const { database } = parley()
      if (database.engine === 'pglite') return // has one transaction at a time
      const waiting = () => soon('it waits', async () => (await waitingForLocks(database)) === 1, 10)
      const first = await scene()
      const told = await holdLock(database, (tx) => setGone(tx, first.runner.worktree, first.runner.id))
      const refusal = refused(first.call('send_prompt', { session_id: first.session_id, prompt: 'Go.' }), 'conflict')
      await waiting()
      await told()
      expect((await refusal).message).toContain('mode fork')

      const { runner, call, session_id } = await scene()
      const beside = (await done(call('create_session', { title: 'Beside', worktree_id: runner.worktree }))).session_id as string
      const { task_id } = await start(call, session_id)
      await runner.takeOne()
      const task = { id: crypto.randomUUID(), sessionId: beside, status: 'queued', mode: 'continue', prompt: 'Go.' } as const
      const promptedBy = { kind: 'key', name: 'a key', session_id: null } as const
      const place = { messageId: crypto.randomUUID(), startSequence: 2, turn: 1, turnEvents: null }
      const queued = await holdLock(database, (tx) => insertTask(tx, { ...task, promptedBy, ...place }))
      const error = { code: 'worktree_gone', message: 'The worktree was removed.' }
      const telling = runner.finish(task_id, undefined, { status: 'failed', error })
      await waiting()
      await queued()
      await telling
      expect((await runner.take()).tasks).toMatchObject([{ task_id: task.id }])
    })

    test('what a task leaves in no commit is told of its worktree, until another one tells otherwise', async () => {
      const { runner, call, session_id } = await scene()
      const work = async (more: object) => {
        await start(call, session_id)
        const { finish_takes } = await runner.work('Done.', [], { ...more })
        expect(finish_takes).toEqual(['changed_files', 'unknown_tokens'])
        const { session } = await done(call('get_session', { session_id }))
        const { worktrees } = await done(call('list_worktrees', { repo_full_name: runner.repo }))
        const [shown] = await watchedAgents(parley().database, [session_id])
        return [session.git_state.dirty, worktrees[0].dirty, shown!.changed_files]
      }
      expect(await work({})).toEqual([false, false, null])
      expect(await work({ changed_files: 3 })).toEqual([true, true, 3])
      expect(await work({})).toEqual([true, true, 3]) // an earlier runner does not tell
      const also = await done(call('create_session', { title: 'Also', repo_full_name: runner.repo, branch: 'also' }))
      const there = { runner_id: runner.id, session_id: also.session_id, path: runner.path, branch: 'also', head: null }
      await done(runner.call('add_worktree', there)) // it has the branch by now
      expect((await done(call('get_session', { session_id: also.session_id }))).session.git_state).toMatchObject({
        branch: 'also',
        dirty: true,
      })
      expect(await work({ changed_files: 0 })).toEqual([false, false, 0])
      await start(call, session_id)
      const { task_id } = await runner.takeOne()
      const wrong = { runner_id: runner.id, task_id, status: 'completed', changed_files: -1 }
      await refused(runner.call('finish_task', wrong), 'invalid_request')
    })

    test('a task that leaves its worktree on no branch, or without a commit, says so; where git could not look, what was told before stays', async () => {
      const { runner, call, session_id } = await scene()
      const [branch, head] = ['topic', 'f'.repeat(40)]
      const after = async (more: Record<string, unknown>) => {
        await start(call, session_id)
        await runner.work('Done.', [], more)
        return (await done(call('get_session', { session_id }))).session.git_state
      }
      expect(await after({ branch, head })).toMatchObject({ branch, head })
      expect(await after({ branch: null, head })).toMatchObject({ branch: null, head })
      expect(await after({ branch, head: null })).toMatchObject({ branch, head: null })
      expect(await after({ branch: null, head: null })).toMatchObject({ branch, head: null })
      expect(await after({})).toMatchObject({ branch, head: null })
    })

    test('what it may cost is used up: prompts wait, and every answer about them says so until a person gives more', async () => {
      const { runner, call } = await scene()
      const { session_id, task_id: ended } = await done(
        call('create_session', { title: 'Cheap', worktree_id: runner.worktree, initial_prompt: 'Go.', max_usd: 0.5 }),
      )
      await runner.work('Done.', [], { usage: { input_tokens: 10, output_tokens: 5, cost_usd: 0.5 } })
      const { task_id, ...sent } = await start(call, session_id)
      expect((await runner.take()).tasks).toEqual([])
      const taskOf = async (task_id: string) => (await done(call('get_task', { task_id, timeout_ms: 1 }))).task
      const wait = { session_id, prompt: 'More.', wait_for_completion: true, timeout_ms: 1 }
      const answers = async () => {
        const { session } = await done(call('get_session', { session_id }))
        return [
          session,
          session.tasks.at(-2),
          await taskOf(task_id),
          (await done(call('list_tasks', { session_id, status: 'queued' }))).tasks.at(-1),
          (await done(call('list_sessions', { limit: 200 }))).sessions.find((one: any) => one.session_id === session_id),
          await done(call('send_prompt', wait)),
        ]
      }
      for (const answer of [sent, ...(await answers())]) expect(answer.over_budget).toEqual({ session_id, max_usd: 0.5 })
      expect((await taskOf(ended)).over_budget).toBeUndefined()
      const { summary } = await done(call('get_messages', { session_id, summarize: true }))
      expect(summary).toContain('the money of this session is used up')
      const cookie = await cookieOf(parley(), { role: 'person', name: 'Nora' })
      await done(viaRest(parley())('control.update_session', { session_id, max_usd: 1 }, { person: cookie }))
      for (const answer of await answers()) expect('over_budget' in answer).toBe(false)
      expect((await runner.takeOne()).task_id).toBe(task_id)
    })

    test('a runner is told how long a prompt has waited for it, not one that waits for a person', async () => {
      const { runner, call } = await scene()
      const { session_id } = await done(
        call('create_session', { title: 'Cheap', worktree_id: runner.worktree, initial_prompt: 'Go.', max_usd: 0.5 }),
      )
      const { task_id: first } = await runner.takeOne()
      const { task_id } = await start(call, session_id)
      await parley().database.query(`update tasks set created_at = created_at - interval '90 s' where id = $1`, [task_id])
      const waited = async () => (await runner.take(0, [first])).waiting_s
      const manage = (action: string) => done(call('manage_session', { session_id, action }))
      expect(await waited()).toBeGreaterThanOrEqual(90)
      await manage('stop')
      expect(await waited()).toBe(0)
      await manage('start')
      expect(await waited()).toBeGreaterThanOrEqual(90)
      await runner.finish(first, 'Done.', { usage: { input_tokens: 10, output_tokens: 5, cost_usd: 0.5 } })
      expect(await waited()).toBe(0)
    })

    // The limit of a session is used up by the first one below it: what is asked of the others waits.
    const spentScene = async () => {
      const its = await scene()
      const { runner, call } = its
      const spend = { usage: { input_tokens: 10, output_tokens: 5, cost_usd: 0.5 } }
      const part = { title: 'Part', worktree_id: runner.worktree, initial_prompt: 'Go.', max_usd: 0.5 }
      const top = (await done(call('create_session', part))).session_id as string
      await runner.work('Done.')
      const child = async () =>
        (await done(call('send_prompt', { session_id: top, prompt: 'Go.', mode: 'subsession' }))).session_id as string
      const spender = await child()
      await runner.work('Done.', [], spend)
      return { ...its, top, child, spend, spender }
    }

    test('a purge gives back what was spent, or lifts the limit, and starts nothing: what waited for that is stopped, and named', async () => {
      const { runner, call, log, top, child, spend, spender } = await spentScene()
      const other = await child()
      await start(call, top)
      const purged = async (...ids: string[]) => {
        const order = purgeArguments([...ids, '--yes'])
        const answer = await purge(parley().services, order)
        expect((await runner.take()).tasks).toEqual([])
        for (const one of answer.stopped ?? []) {
          expect(purgeReport(answer, order)).toContain(`${one}  its agent is stopped`)
          expect((await done(call('get_session', { session_id: one }))).session.held).toMatchObject({ by: 'a purge' })
          expect((await log(one)).at(-1)).toMatchObject({ type: 'runtime', content: { event: 'agent_stopped', by: 'a purge' } })
        }
        return answer.stopped?.toSorted()
      }
      expect(await purged(spender)).toEqual([top, other].toSorted())
      await done(call('manage_session', { session_id: other, action: 'start' }))
      await runner.work('Done.', [], spend)
      const [waiting, gone] = [await child(), await child()]
      expect(await purged(top, gone)).toEqual([waiting])
    })

    test('a purge that fails after the first of two says what it has done: how many are purged, and which agent it stopped', async () => {
      const { call, log, child, spender } = await spentScene()
      const [freed, kept] = [await child(), (await scene()).session_id]
      const { services, database } = parley()
      let fails = false
      services.onTopic(PURGED_KIND, (id) => void (fails ||= id === spender))
      const unhurried: typeof database.unhurried = (work, ms) => {
        if (!fails) return database.unhurried(work, ms)
        fails = false
        return Promise.reject(new Error('the database ended'))
      }
      const order = purgeArguments([spender, kept, '--yes'])
      const answer = await purge({ ...services, database: { ...database, unhurried } } as Services, order)
      expect(answer).toMatchObject({ purged: 1, stopped: [freed], cut_short: true, failed: 'the database ended' })
      expect(cutShortReport(answer)).toMatch(new RegExp(`^${freed}  its agent is stopped.*\\nPurged 1 of 2 session`))
      expect((await log(freed)).at(-1)).toMatchObject({ type: 'runtime', content: { event: 'agent_stopped', by: 'a purge' } })
      expect((await call('get_session', { session_id: kept })).ok).toBe(true)
    })

    test('a prompt that is queued while a purge lifts the limit that keeps it waiting is stopped with the others', async () => {
      const { database, services } = parley()
      if (database.engine === 'pglite') return // has one transaction at a time
      const { runner, call } = await scene()
      const part = { title: 'Part', worktree_id: runner.worktree, initial_prompt: 'Go.', max_usd: 0.5 }
      const top = (await done(call('create_session', part))).session_id as string
      await runner.work('Done.')
      const child = await done(call('send_prompt', { session_id: top, prompt: 'Go.', mode: 'subsession' }))
      await runner.work('Done.', [], { usage: { input_tokens: 10, output_tokens: 5, cost_usd: 0.5 } })
      const release = await holdLock(database, `select from session_docs where session_id = '${top}' for update`) // which goes after that look
      const purging = purge(services, purgeArguments([top, '--yes']))
      await soon('it has looked', async () => (await waitingForLocks(database)) === 1)
      await start(call, child.session_id)
      await release()
      expect((await purging).stopped).toEqual([child.session_id])
      expect((await runner.take()).tasks).toEqual([])
    })

    test('a limit holds for all below the session that has it, wherever in a tree that is', async () => {
      const { runner, call, session_id } = await scene()
      const top = await start(call, session_id)
      const agent = control((await runner.takeOne()).agent_key)
      const part = { title: 'Part', worktree_id: runner.worktree, max_usd: 0.5 }
      const middle = (await done(agent('create_session', part))).session_id as string
      const low = await done(call('send_prompt', { session_id: middle, prompt: 'Go.', mode: 'subsession' }))
      const spend = { usage: { input_tokens: 10, output_tokens: 5, cost_usd: 0.5 } }
      expect((await runner.take(10, [top.task_id])).tasks.map(({ task_id }: any) => task_id)).toEqual([low.task_id])
      await runner.finish(low.task_id, 'Done.', spend)
      for (const id of [middle, low.session_id]) await start(call, id)
      await runner.finish(top.task_id, 'Done.', spend)
      const next = await start(call, session_id) // the one above goes on
      expect((await runner.take()).tasks.map(({ task_id }: any) => task_id)).toEqual([next.task_id])
      const seen = await watchedAgents(parley().database, [session_id, middle, low.session_id])
      expect(seen.map((one) => [one.session_id, one.spent_by]).toSorted()).toEqual(
        [
          [session_id, null],
          [middle, middle],
          [low.session_id, middle],
        ].toSorted(),
      )
      const { sessions } = await done(call('list_sessions', { limit: 200 }))
      const overBudget = (id: string) => sessions.find((one: any) => one.session_id === id).over_budget
      expect([session_id, middle, low.session_id].map(overBudget)).toEqual([
        undefined,
        { session_id: middle, max_usd: 0.5 },
        { session_id: middle, max_usd: 0.5 },
      ])
      const { summary } = await done(call('get_messages', { session_id: low.session_id, summarize: true }))
      expect(summary).toContain('the money of a session above this one is used up')
    })

    test('what only an agent takes is refused by its name where there is no worktree for one, unless it is nothing', async () => {
      const call = control(await fullKey())
      for (const [field, value] of Object.entries({
        initial_prompt: 'Go.',
        max_usd: 5,
        permission_mode: 'plan',
        context_files: ['docs/plan.md'],
        mcp_server_ids: ['tracker'],
      })) {
        const { message, details } = await refused(call('create_session', { title: 'A', [field]: value }), 'invalid_request')
        expect([details, message]).toEqual([{ field }, expect.stringContaining(`${field} is for an agent`)])
      }
      await done(call('create_session', { title: 'A', context_files: [], mcp_server_ids: [] }))
    })

    test('where an agent tells no costs the page says so, and counts what it tells of tokens', async () => {
      const { runner, call, session_id } = await scene()
      for (const [input_tokens, output_tokens, cost_usd, costs_missing, tokens] of [
        [10, 5, 0.1, false, 15],
        [null, 5, 0.1, false, 20],
        [null, null, null, true, 20],
      ] as const) {
        await start(call, session_id)
        await runner.work('Done.', [], { usage: { input_tokens, output_tokens, cost_usd } })
        expect(await watchedAgents(parley().database, [session_id])).toMatchObject([{ costs_missing, tokens }])
      }
    })

    test.each([
      ['codex', 'auto'],
      ['claude-code', 'acceptEdits'],
      ['gemini', 'acceptEdits'],
    ])('without a mode %s works in %s [C4]', async (agentic_tool, mode) => {
      const { runner, call } = await scene()
      await done(call('create_session', { title: 'A', worktree_id: runner.worktree, agentic_tool, initial_prompt: 'Go.' }))
      expect((await runner.takeOne()).permission_mode).toBe(mode)
    })

    test('a prompt without an agent is answered by a team, which is asked by name', async () => {
      const call = control(await fullKey())
      const { alex, bea, id } = await room(viaRest(parley()))
      await refused(call('send_prompt', { session_id: id, prompt: 'Who?', to: 'Nobody' }), 'invalid_request')
      const asked = await done(call('send_prompt', { session_id: id, prompt: 'Is it ready?', to: "Bea's Team" }))
      const waiting = call('get_task', { task_id: asked.task_id, timeout_ms: 20_000 })
      await refused(call('send_prompt', { session_id: id, prompt: 'Who?', to: crypto.randomUUID() }), 'invalid_request')
      await done(call('send_prompt', { session_id: id, prompt: 'By handle?', to: ` ${alex.handle.toUpperCase()}` }))
      await done(alex('post_message', { session_id: id, content: 'Not mine.' }))
      await done(bea('post_message', { session_id: id, content: 'It is.', reply_to: asked.message_id }))
      const { task, messages } = await done(waiting)
      expect(task).toMatchObject({ status: 'completed', answer: { text: 'It is.' } })
      expect(messages).toMatchObject([{ message_id: task.answer.message_id, from: "Bea's Team", text: 'It is.' }])
    })

    test('a reply of another team answers no prompt, one of the team under a new handle does, and whoever asked withdraws it', async () => {
      const call = control(await fullKey())
      const { alex, bea, id } = await room(viaRest(parley()))
      const ask = () => done(call('send_prompt', { session_id: id, prompt: 'Is it ready?', to: "Bea's Team" }))
      const asked = await ask()
      await done(alex('post_message', { content: 'I wonder, too.', reply_to: asked.message_id }))
      await jobsOf(toolsets)(parley().services)
        .find(({ name }) => name === 'prompt-answers')!
        .run()
      expect((await done(call('get_task', { task_id: asked.task_id }))).task.status).toBe('running')
      await done(bea('leave_session', {}))
      const { team_id } = await done(viaRest(parley())('join_session', { session_id: id, team_name: "Bea's Team" }))
      await done(viaRest(parley())('post_message', { session_id: id, content: 'It is.', reply_to: asked.message_id }, { team: team_id }))
      const ended = async (task_id: string) => (await done(call('get_task', { task_id, timeout_ms: 20_000 }))).task
      expect(await ended(asked.task_id)).toMatchObject({ status: 'completed', answer: { text: 'It is.' } })

      const person = { person: await cookieOf(parley(), { role: 'person', name: 'Nora' }) }
      const prompt = { session_id: id, prompt: 'And the docs?', to: "Bea's Team" }
      const second = await done(viaRest(parley())('control.send_prompt', prompt, person))
      const reply = (content: string, more: object) =>
        done(viaRest(parley())('post_message', { session_id: id, content, reply_to: second.message_id, ...more }, person))
      await reply('Never mind.', {})
      expect(await ended(second.task_id)).toMatchObject({ status: 'interrupted', answer: null })
    })

    test('a team of the longest name, which was taken, is asked by it', async () => {
      const call = control(await fullKey())
      const { alex, id } = await room(viaRest(parley()))
      const join = () => viaRest(parley())('join_session', { session_id: id, team_name: '🦜'.repeat(100) })
      await done(join())
      const { team_name: to } = await done(join())
      expect(await done(call('send_prompt', { session_id: id, prompt: 'Is it ready?', to }))).toMatchObject({ started: true })
      await done(alex('post_message', { content: 'And the docs?', to: [to] }))
      await done(alex('transfer_convener', { to }))
    })

    test('a refusal names a tool that rooms has too as it is called beside rooms, and alone', async () => {
      const { runner, call } = await scene()
      const { id } = await room(viaRest(parley()))
      const made = await done(call('create_session', { title: 'A', repo_full_name: runner.repo, branch: 'feature/y' }))
      const both = (name: string) => `control_${name} (at /mcp/control: ${name})`
      const prompt = { session_id: id, prompt: 'Go.' }
      const fork = { ...prompt, mode: 'fork' }
      for (const input of [prompt, fork, { ...fork, branch: 'feature/z' }, { ...fork, agentic_tool: 'codex' }])
        expect((await refused(call('send_prompt', input), 'invalid_request')).message).toContain(both('create_session'))
      const early = call('update_session', { session_id: made.session_id, status: 'idle' })
      expect((await refused(early, 'conflict')).message).toContain(both('get_session'))
    })

    test('a prompt that nobody could answer is refused, and one that no team answers ends when it is interrupted or its session is concluded', async () => {
      const call = control(await fullKey())
      const { alex, bea, id } = await room(viaRest(parley()))
      const here = await refused(call('send_prompt', { session_id: id, prompt: 'Go.' }), 'invalid_request')
      expect(here.details).toEqual({ field: 'to' })
      for (const word of ["Alex's Team, Bea's Team", 'list_sessions', 'worktree_id']) expect(here.message).toContain(word)
      const opened = await done(call('create_session', { title: 'Empty' }))
      await done(viaRest(parley())('leave_session', { session_id: opened.session_id }, { team: opened.team_id }))
      const empty = await refused(call('send_prompt', { session_id: opened.session_id, prompt: 'Go.' }), 'invalid_request')
      expect(empty.message).toContain('No team is here')
      const { details } = await refused(call('create_session', { title: 'A', initial_prompt: 'Go.' }), 'invalid_request')
      expect(details).toEqual({ field: 'initial_prompt' })
      const ask = async () => (await done(call('send_prompt', { session_id: id, prompt: 'Is it ready?', to: "Bea's Team" }))).task_id
      const ended = async (task_id: string) => (await done(call('get_task', { task_id, timeout_ms: 20_000 }))).task
      const [first, second] = [await ask(), await ask()]
      const waiting = ended(first)
      expect((await done(bea('catch_up'))).unanswered).toHaveLength(2)
      const shownOpen = async () => (await (await parley().send(`/sessions/${id}`)).text()).split('>waiting for<').length - 1
      expect(await shownOpen()).toBe(2)
      expect(await done(call('interrupt_session', { session_id: id }))).toEqual({ interrupted: true })
      expect([(await waiting).status, (await ended(second)).status]).toEqual(['interrupted', 'interrupted'])
      const { messages } = await done(bea('wait_for_messages', { since_cursor: 0, only: 'addressed', timeout: 0 }))
      expect(messages.slice(-2)).toMatchObject([first, second].map((task_id) => ({ event: 'prompt_withdrawn', task_id })))
      expect((await done(bea('catch_up'))).unanswered).toEqual([])
      expect(await shownOpen()).toBe(0)
      expect(await done(call('interrupt_session', { session_id: id }))).toEqual({ interrupted: false })
      const last = await ask()
      await done(alex('conclude_session', { summary_section: 'Done.' }))
      expect(await ended(last)).toMatchObject({ status: 'interrupted', error: { code: 'session_closed' } })
    })

    test.each([
      ['interrupt_session', { interrupted: false }],
      ['manage_session', { success: true }],
    ])('an answer that is in the log counts, although no instance has noticed it when %s comes', async (name, answer) => {
      const call = control(await fullKey())
      const { bea, id } = await room(viaRest(parley()))
      const asked = await done(call('send_prompt', { session_id: id, prompt: 'Is it ready?', to: "Bea's Team" }))
      const { message_id } = await done(bea('post_message', { content: 'It is.' }))
      await parley().database.query('update events set reply_to = $1 where id = $2', [asked.message_id, message_id])
      expect(await done(call(name, { session_id: id, ...(name === 'manage_session' && { action: 'delete' }) }))).toMatchObject(answer)
      const { task } = await done(call('get_task', { task_id: asked.task_id }))
      expect(task).toMatchObject({ status: 'completed', answer: { text: 'It is.' } })
    })

    describe('bad input [C12]', () => {
      test.each([
        [{ prompt: ' ' }, 'invalid_request'],
        [{ prompt: 'x'.repeat(64 * 1024 + 1) }, 'invalid_request'],
        [{ prompt: 'a\0b' }, 'invalid_request'],
        [{ prompt: 'Go.', timeout_ms: 300_001 }, 'invalid_request'],
        [{ prompt: 'Go.', branch: 'main' }, 'invalid_request'],
        [{ prompt: 'Go.', to: 'Bea' }, 'invalid_request'],
        [{ prompt: `ca_full_${'0'.repeat(32)}` }, 'secret_in_text'],
      ] as const)('a prompt, case %#', async (input, code) => {
        const { call, session_id } = await scene()
        await refused(call('send_prompt', { session_id, ...input }), code)
      })

      test.each(['--upload-pack=x', '-b', 'a..b', '../x', 'a b', 'x'.repeat(300), 'HEAD', 'a.lock', '/a', 'a~1'])(
        'the branch %p',
        async (branch) => {
          const { call, runner } = await scene()
          await refused(call('create_session', { title: 'A', repo_full_name: runner.repo, branch }), 'invalid_request')
        },
      )

      test.each(['/etc/passwd', '../x', 'a/../../x', '-rf', ''])('the context file %p', async (file) => {
        const { call, runner } = await scene()
        await refused(call('create_session', { title: 'A', worktree_id: runner.worktree, context_files: [file] }), 'invalid_request')
      })

      test('an agent without a worktree, an unknown one, an unknown repository, an agent or server that no runner has [C14 C15]', async () => {
        const { call, runner } = await scene()
        const create = (input: object) => call('create_session', { title: 'A', ...input })
        await refused(create({ agentic_tool: 'codex' }), 'invalid_request')
        await refused(create({ worktree_id: crypto.randomUUID() }), 'not_found')
        await refused(create({ repo_full_name: 'nobody/nothing', branch: 'main' }), 'not_found')
        await refused(create({ repo_full_name: runner.repo }), 'invalid_request')
        const elsewhere = create({ worktree_id: runner.worktree, repo_full_name: 'nobody/nothing', branch: 'new' })
        expect((await refused(elsewhere, 'invalid_request')).message).toContain(`one of ${runner.repo}, not of nobody/nothing`)
        await done(create({ worktree_id: runner.worktree, repo_full_name: runner.repo }))
        await refused(create({ worktree_id: runner.worktree, agentic_tool: 'opencode' }), 'invalid_request')
        await refused(create({ worktree_id: runner.worktree, mcp_server_ids: ['github'] }), 'invalid_request')
      })

      test('more than a call of a runner may hold, or less', async () => {
        const { call, runner, session_id } = await scene()
        const { task_id } = await start(call, session_id)
        await runner.takeOne()
        const times = (count: number, one: (n: number) => object) => Array.from({ length: count }, (_, n) => one(n))
        const events = (count: number) => {
          const told = times(count, (n) => ({ key: `${n}`, ...said('Looking.') }))
          return runner.call('add_task_events', { runner_id: runner.id, task_id, events: told })
        }
        const worktrees = (count: number) => times(count, (n) => ({ path: `/code/${n}`, repo_full_name: 'a', branch: null, head: null }))
        const register = (more: object) => runner.call('register_runner', { name: runner.name, agents: [], worktrees: [], ...more })
        for (const count of [0, 201]) await refused(events(count), 'invalid_request')
        for (const more of [{ parallel: 0 }, { parallel: 65 }, { worktrees: worktrees(201) }])
          await refused(register(more), 'invalid_request')
        await done(events(200))
        expect((await done(register({ parallel: 64, worktrees: worktrees(200) }))).worktrees).toHaveLength(200)
      })

      test('a concluded session takes no prompt, and what was queued there ends', async () => {
        const { call, session_id, session } = await scene()
        await done(viaRest(parley())('conclude_session', { session_id, summary_section: 'Over.' }, { team: session.team_id as string }))
        await refused(call('send_prompt', { session_id, prompt: 'More.' }), 'session_closed')
      })
    })
  },
  {},
  { jobs: jobsOf(toolsets) },
)

// A runner that is no longer heard of: when its task is lost, and what may still be said of it then.
import { expect, test } from 'bun:test'
import { leaseJob } from '../../../src/control/runner/lease.ts'
import { runnerCounts } from '../../../src/stores/status.ts'
import { controlScene } from '../../support/control-scene.ts'
import { bearer, keyOf } from '../../support/keys.ts'
import { done, onOneEngine, refused, viaRest } from '../../support/parley.ts'
import { said } from '../../support/played-runner.ts'

const SHORT_MS = 300

onOneEngine((parley) => {
  /** A task that a runner has begun, which last called so long ago. */
  const silentFor = async (seconds: number) => {
    const { runner, call, start, log } = await controlScene(parley())
    const { task_id } = await start()
    await runner.takeOne()
    await runner.print(task_id, [said('Looking.')])
    await parley().database.query('update runners set seen_at = seen_at - make_interval(secs => $2) where id = $1', [runner.id, seconds])
    const task = async () => (await done(call('get_task', { task_id }))).task
    return { runner, call, start, log, task, task_id }
  }
  const look = (leaseMs = 0) => leaseJob(parley().services, leaseMs).run()

  test('past its lease its task has failed for good: what it tells later changes nothing, and it goes on with the next one', async () => {
    const { runner, start, log, task, task_id } = await silentFor(61)
    await look()
    const lost = await task()
    expect(lost).toMatchObject({ status: 'failed', error: { code: 'runner_lost' } })
    const before = await log()
    const input = { runner_id: runner.id, task_id }
    await refused(runner.call('add_task_events', { ...input, events: [{ key: 'late', ...said('Late.') }] }), 'conflict')
    await refused(runner.call('finish_task', { ...input, status: 'completed', answer: 'Late.' }), 'conflict')
    await refused(runner.call('ask_permission', { ...input, request_id: 'r', tool_name: 'Write', text: 'Late.', timeout: 0 }), 'conflict')
    expect([await task(), await log()]).toEqual([lost, before])
    const next = await start('Next.')
    expect((await runner.takeOne()).task_id).toBe(next.task_id)
  })

  test('a runner that says that it ends is offline at once: what it had running is lost, and its name is free for one with another key', async () => {
    const { runner, call, task } = await silentFor(0)
    const worktree = async () => (await done(call('list_worktrees', {}))).worktrees.find((one: any) => one.worktree_id === runner.worktree)
    const takeOver = { name: runner.name, agents: [], worktrees: [] }
    const other = { headers: bearer(await keyOf(parley(), 'run')) }
    await refused(viaRest(parley())('control.register_runner', takeOver, other), 'conflict')
    expect((await worktree()).runner.online).toBe(true)
    await done(runner.call('unregister_runner', { runner_id: runner.id }))
    expect((await worktree()).runner.online).toBe(false)
    await look()
    expect(await task()).toMatchObject({ status: 'failed', error: { code: 'runner_lost' } })
    await done(viaRest(parley())('control.register_runner', takeOver, other))
    await refused(runner.call('unregister_runner', { runner_id: runner.id }), 'conflict')
    await refused(runner.call('unregister_runner', { runner_id: crypto.randomUUID() }), 'not_found')
  })

  test('within its lease it keeps its task', async () => {
    const { runner, task, task_id } = await silentFor(50)
    await look()
    expect((await task()).status).toBe('running')
    await runner.finish(task_id, 'Done.')
  })

  test('a runner that is away is missed where a task ran or a prompt waits, until it is there again', async () => {
    const { database } = parley()
    await database.query(`update runners set seen_at = seen_at - interval '2 days'`)
    const lost = async () => (await runnerCounts(database)).lost
    const away = (id: string) => database.query(`update runners set seen_at = seen_at - interval '61 s' where id = $1`, [id])
    const idle = await controlScene(parley())
    await idle.start()
    await idle.runner.work('Done.')
    await away(idle.runner.id)
    expect(await lost()).toBe(0)
    await idle.start('And this?')
    expect(await lost()).toBe(1)
    const { runner } = await silentFor(61)
    expect(await lost()).toBe(2)
    await look()
    expect(await lost()).toBe(2)
    await runner.take()
    expect(await lost()).toBe(1)
    await idle.runner.takeOne()
    expect(await lost()).toBe(0)
  })

  test('leases run from the start, as long as no runner could call', async () => {
    const { task } = await silentFor(61)
    const job = leaseJob(parley().services, SHORT_MS)
    await job.run()
    expect((await task()).status).toBe('running')
    await Bun.sleep(SHORT_MS + 20)
    await job.run()
    expect((await task()).status).toBe('failed')
  })

  test('a task that runs too long has failed; after a pause it has its whole time again, as the time in which its machine slept', async () => {
    const { services, database } = parley()
    const { task, task_id } = await silentFor(0)
    const late = services.config.TASK_TIMEOUT + 31
    await database.query('update tasks set started_at = started_at - make_interval(secs => $2) where id = $1', [task_id, late])
    const job = leaseJob(services, SHORT_MS)
    await job.run()
    await Bun.sleep(SHORT_MS + 20)
    await job.run()
    expect((await task()).status).toBe('running')
    await look()
    expect(await task()).toMatchObject({ status: 'failed', error: { code: 'timed_out' } })
  })

  /** A session whose worktree was ordered so long ago, and its first prompt. */
  const orderedFor = async (seconds: number, prompt: { initial_prompt?: string } = { initial_prompt: 'Go.' }) => {
    const { runner, call } = await controlScene(parley())
    const wanted = { title: 'T', repo_full_name: runner.repo, branch: 'new', ...prompt }
    const { session_id, task_id, team_id } = await done(call('create_session', wanted))
    const age = async (more = seconds) => {
      const { query } = parley().database
      await query('update agents set ordered_at = ordered_at - make_interval(secs => $2) where session_id = $1', [session_id, more])
      await query('update runners set registered_at = registered_at - make_interval(secs => $2) where id = $1', [runner.id, more])
    }
    await age()
    const session = async () => (await done(call('get_session', { session_id }))).session
    return { runner, call, age, session, session_id, task_id, team_id }
  }

  test('a worktree that no runner takes within a minute is not waited for', async () => {
    const { call, session, task_id } = await orderedFor(61)
    await look()
    expect(await session()).toMatchObject({ status: 'failed', error: { code: 'no_runner' } })
    expect((await done(call('get_task', { task_id }))).task).toMatchObject({ status: 'failed', error: { code: 'no_runner' } })
  })

  test('without a prompt, whose end would tell it, that there is none is in the log', async () => {
    const { session, session_id, team_id } = await orderedFor(61, {})
    await look()
    const history = { session_id, include_trace: true }
    const { messages } = await done(viaRest(parley())('get_history', history, { team: team_id }))
    const { error } = await session()
    expect(messages.at(-1).content).toMatchObject({ event: 'agent_failed', code: 'no_runner', text: error.message })
  })

  test('one that its runner was told of may take longer, unless the runner goes away, but not for ever', async () => {
    const [slow, gone] = [await orderedFor(1_000), await orderedFor(1_000)]
    for (const { runner } of [slow, gone]) expect((await runner.take()).orders).toHaveLength(1)
    await parley().database.query(`update runners set seen_at = seen_at - interval '61 s' where id = $1`, [gone.runner.id])
    await look()
    expect(await gone.session()).toMatchObject({ status: 'failed', error: { code: 'no_runner' } })
    expect(await slow.session()).toMatchObject({ status: 'creating', error: null })
    await slow.age(801)
    await look()
    expect(await slow.session()).toMatchObject({ status: 'failed', error: { code: 'timed_out' } })
  })

  test('a runner that starts again has another minute to take what was ordered', async () => {
    const { runner, session, session_id } = await orderedFor(61)
    const worktrees = [{ path: runner.path, repo_full_name: runner.repo, branch: 'main', head: null }]
    const { runner_id } = await done(runner.call('register_runner', { name: runner.name, agents: [], worktrees }))
    await look()
    const made = { session_id, runner_id, path: '/code/new', branch: 'new', head: null }
    await done(runner.call('add_worktree', made))
    expect(await session()).toMatchObject({ status: 'running', error: null })
  })

  test('a session that is concluded before its worktree is made still waits for it, no longer than others', async () => {
    const { age, session, session_id, task_id, team_id, call } = await orderedFor(0)
    await done(viaRest(parley())('conclude_session', { session_id, summary_section: 'Over.' }, { team: team_id }))
    await look()
    expect((await done(call('get_task', { task_id }))).task.status).toBe('interrupted')
    expect((await session()).status).toBe('creating')
    await age(61)
    await look()
    expect(await session()).toMatchObject({ status: 'failed', error: { code: 'no_runner' } })
  })
})

// A runner that is no longer heard of: when its task is lost, and what may still be said of it then.
import { expect, test } from 'bun:test'
import { leaseJob } from '../../../src/control/runner/lease.ts'
import { controlScene } from '../../support/control-scene.ts'
import { done, onEveryEngine, refused } from '../../support/parley.ts'
import { said } from '../../support/played-runner.ts'

const SHORT_MS = 300

onEveryEngine((parley) => {
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

  test('within its lease it keeps its task', async () => {
    const { runner, task, task_id } = await silentFor(50)
    await look()
    expect((await task()).status).toBe('running')
    await runner.finish(task_id, 'Done.')
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
})

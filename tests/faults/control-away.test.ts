// What may befall a task while its CLI works: the server away, the lease lost, its key revoked, its session concluded or archived, a clock
// that is hours off, another runner of the same name.
//   FULL=1 bun test tests/faults/control-away.test.ts    the server is away for two minutes too; for a second, in both forms: client/runner-real-hub
// Elsewhere: `timeout_ms` 300,001 (conformance/control/tasks), 50 open tasks below a root (conformance/control/genealogy), what a session that
// is archived refuses (conformance/control/managing), each of the runner's answers to 409 and 401 (client/runner-tasks), from when leases run (conformance/control/leases).
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { symlinkSync, writeFileSync } from 'node:fs'
import { leaseJob } from '../../src/control/runner/lease.ts'
import { revokeByPrefix } from '../../src/control/keys/keys.ts'
import { startControlled } from '../support/controlled.ts'
import { bearer, keyOf } from '../support/keys.ts'
import { buildRunner, newSite, processesWith, until, type Site, type Started } from '../support/runner.ts'
import { serveSite, type Site as Served } from '../support/site.ts'
import { FULL } from '../support/full.ts'

const AWAY_S = 120
const PROMPTS = FULL ? 1_000 : 100
const LONG_MS = 240_000
const HOUR_MS = 3_600_000

let program = ''
beforeAll(async () => void (program = await buildRunner()), 180_000)

const steps = (...all: object[]) => JSON.stringify(all)
const numbered = (count: number, text = 'line') => Array.from({ length: count }, (_, n) => `${text} ${n}`)

test.skipIf(!FULL).concurrent(
  `the server away for ${AWAY_S} s while a CLI works: what it prints is told when the server is back, in order, once`,
  async () => {
    const hub = await startControlled()
    const site = newSite(program)
    try {
      await site.start(hub)
      const { session_id } = await hub.control('create_session', {
        title: 'Away',
        agentic_tool: 'scripted',
        repo_full_name: 'app',
        branch: 'main',
      })
      const said = ['before', ...numbered(AWAY_S), 'after']
      const prompt = steps(...said.map((say) => ({ say, sleep: say.startsWith('line') ? 1_000 : 200 })))
      const { task_id } = await hub.control('send_prompt', { session_id, prompt })
      await until(async () => (await hub.feed(session_id)).some(({ content }) => content.text === 'before'))
      await hub.server.kill()
      await Bun.sleep(AWAY_S * 1_000)
      await hub.server.restart()
      await until(async () => (await hub.control('get_task', { task_id })).task.status === 'completed', 60_000)
      const told = (await hub.feed(session_id)).filter(({ type }) => type === 'assistant_response')
      expect(told.map(({ content }) => content.text)).toEqual(said)
      expect(site.prompts()).toHaveLength(1)
    } finally {
      await site.drop()
      await hub.server.remove()
    }
  },
  LONG_MS,
)

describe('with a server in this process', () => {
  let served: Served
  let full = ''
  const sites: Site[] = []
  beforeAll(async () => {
    served = await serveSite({}, { jobs: (services) => [leaseJob(services, 0)], intervals: { 'runner-leases': 100 } })
    full = await keyOf(asServed(), 'full')
  }, LONG_MS)
  afterEach(async () => {
    for (const site of sites.splice(0)) await site.drop()
  }, LONG_MS)
  afterAll(async () => served?.stop(), LONG_MS)
  const asServed = () => ({ services: served.services, database: served.services.database }) as never
  const ask = async (path: string, body?: object): Promise<any> => {
    const sending = body ? { method: 'POST', body: JSON.stringify(body) } : {}
    return (await fetch(`${served.url}/api/${path}`, { ...sending, headers: bearer(full) })).json()
  }
  const control = (tool: string, input: object) => ask(`control/${tool}`, input)
  const runKey = () => keyOf(asServed(), 'run')
  let count = 0

  /** A runner at work in a session of its own: its CLI has said that it began. */
  const scene = async (then: object[] = [{ deaf: 1 }], more: (site: Site) => Record<string, string> = () => ({})) => {
    const site = newSite(program, `app-${++count}`)
    sites.push(site)
    const [key, name] = [await runKey(), `desk ${count}`]
    const start = (asKey = key): Promise<Started> =>
      site.start({ url: served.url, key: asKey }, ['--name', name, '--worktree', site.app], more(site))
    const runner = await start()
    const { session_id } = await control('create_session', {
      title: name,
      agentic_tool: 'scripted',
      repo_full_name: `app-${count}`,
      branch: 'main',
    })
    const send = async (...prompt: object[]): Promise<string> =>
      (await control('send_prompt', { session_id, prompt: steps(...prompt) })).task_id
    const log = async (id = session_id): Promise<any[]> => (await ask(`sessions/${id}/messages?include_trace=true&limit=500`)).messages
    const said = async () => (await log()).filter(({ type }) => type === 'assistant_response').map(({ content }) => content.text)
    const task_id = await send({ say: 'mine' }, ...then)
    await until(async () => (await said()).includes('mine'))
    return { site, key, start, runner, session_id, send, log, said, task_id }
  }
  const taskOf = async (task_id: string) => (await control('get_task', { task_id })).task
  const ended = async (task_id: string, within = 20_000) => {
    await until(async () => !['queued', 'running'].includes((await taskOf(task_id)).status), within)
    return taskOf(task_id)
  }
  const cliIsGone = (site: Site) => until(() => processesWith(`${site.path('bin')}/scripted-agent`).length === 0)
  /** As though this runner had last called so long ago. */
  const silentFor = (session_id: string, seconds: number) =>
    served.services.database.query(
      `update runners set seen_at = seen_at - make_interval(secs => $2) where id = (select w.runner_id from sessions s
         join worktrees w on w.id = s.worktree_id where s.id = $1)`,
      [session_id, seconds],
    )

  test.skipIf(!FULL)(
    'a runner that was silent for longer than its lease loses its task; heard again, it ends the CLI, changes nothing, and works on',
    async () => {
      const { site, runner, session_id, send, said, task_id } = await scene([{ sleep: 5_000 }, { say: 'not mine any more' }, { deaf: 1 }])
      runner.child.kill('SIGSTOP')
      await silentFor(session_id, 61)
      expect(await ended(task_id)).toMatchObject({ status: 'failed', error: { code: 'runner_lost' } })
      runner.child.kill('SIGCONT')
      await until(() => runner.output().includes('no longer ours'))
      await cliIsGone(site)
      expect(await said()).toEqual(['mine'])
      expect(await ended(await send({ say: 'next' }))).toMatchObject({ status: 'completed' })
      expect((await taskOf(task_id)).status).toBe('failed')
    },
    LONG_MS,
  )

  test(
    'its key revoked, a runner ends its CLI and itself with a sentence, and the task fails with the lease',
    async () => {
      const { site, key, runner, session_id, task_id } = await scene()
      await revokeByPrefix(served.services, key)
      expect(await runner.ended).toBe(1)
      expect(runner.output()).toContain('has ended')
      await cliIsGone(site)
      await silentFor(session_id, 61)
      expect(await ended(task_id)).toMatchObject({ status: 'failed', error: { code: 'runner_lost' } })
    },
    LONG_MS,
  )

  test.skipIf(!FULL)(
    'a session that is concluded while its CLI works gets the rest and the answer; what was queued behind ends',
    async () => {
      const { session_id, send, log, task_id } = await scene([{ sleep: 5_000 }, { say: 'the rest' }])
      const queued = await send({ say: 'never' })
      await ask(`sessions/${session_id}/conclude`, { summary_section: 'Over.' })
      expect((await control('get_session', { session_id })).session.room_status).toBe('closed')
      expect(await ended(queued)).toMatchObject({ status: 'interrupted', error: { code: 'session_closed' } })
      expect(await ended(task_id)).toMatchObject({ status: 'completed', answer: { text: 'Done.' } })
      const after = (await log()).filter((event) => event.task_id === task_id).map(({ content }) => content.text)
      expect(after.slice(-3)).toEqual(['mine', 'the rest', 'Done.'])
    },
    LONG_MS,
  )

  test.skipIf(!FULL)(
    'a session that is archived while its CLI works: the CLI is interrupted, nothing of it is left, and the runner works on elsewhere',
    async () => {
      const { site, session_id, send, task_id } = await scene()
      const queued = await send({ say: 'never' })
      await control('manage_session', { session_id, action: 'delete' })
      expect((await ended(queued)).status).toBe('interrupted')
      expect((await ended(task_id)).status).toBe('interrupted')
      await cliIsGone(site)
      await control('manage_session', { session_id, action: 'start' })
      expect(await ended(await send({ say: 'again' }))).toMatchObject({ status: 'completed' })
      expect(site.prompts()).toHaveLength(2)
    },
    LONG_MS,
  )

  test.skipIf(!FULL)(
    'a parent that is archived while its child works: the child ends as it would, and the parent has it in its log when it is restored',
    async () => {
      const { session_id, log, task_id } = await scene()
      const prompt = steps({ say: 'child' }, { sleep: 1_500 }, { say: 'still here' })
      const child = await control('send_prompt', { session_id, prompt, mode: 'subsession' })
      await until(async () => (await log(child.session_id)).some(({ content }) => content.text === 'child'))
      await control('manage_session', { session_id, action: 'delete' })
      expect((await ended(task_id)).status).toBe('interrupted')
      expect(await ended(child.task_id)).toMatchObject({ status: 'completed', answer: { text: 'Done.' } })
      await control('manage_session', { session_id, action: 'start' })
      const told = (await log()).filter(({ event }) => event === 'subsession_finished')
      expect(told).toMatchObject([{ session_id: child.session_id, task_id: child.task_id, status: 'completed' }])
    },
    LONG_MS,
  )

  test.skipIf(!FULL)(
    'a runner whose clock is hours off: the server’s time counts',
    async () => {
      const hoursAgo = (site: Site) => {
        writeFileSync(site.path('clock.mjs'), `const { now } = Date; Date.now = () => now() - ${5 * HOUR_MS}`)
        return { NODE_OPTIONS: `--import=${site.path('clock.mjs')}` }
      }
      const { log, send, task_id } = await scene([{ sleep: 100 }], hoursAgo)
      expect((await ended(task_id)).status).toBe('completed')
      expect((await ended(await send({ many: 3 }))).status).toBe('completed')
      const times = (await log()).map(({ at }) => Date.parse(at))
      expect(times).toEqual(times.toSorted((a, b) => a - b))
      expect(Math.min(...times)).toBeGreaterThan(Date.now() - HOUR_MS)
      const { started_at, ended_at } = await taskOf(task_id)
      expect(Date.parse(ended_at)).toBeGreaterThanOrEqual(Date.parse(started_at))
    },
    LONG_MS,
  )

  test.skipIf(!FULL)(
    'two runners of one name: with another key the second is refused; with the same it takes the place of the first, which ends its CLI and itself',
    async () => {
      const { site, start, runner, send, task_id } = await scene()
      const stranger = await start(await runKey())
      expect(await stranger.ended).not.toBe(0)
      expect(stranger.output()).toContain('--name')
      expect((await taskOf(task_id)).status).toBe('running')
      const second = await start()
      expect(await runner.ended).toBe(1)
      expect(runner.output()).toContain('taken the place of this one')
      expect(await ended(task_id)).toMatchObject({ status: 'failed', error: { code: 'runner_lost' } })
      await cliIsGone(site)
      expect(await ended(await send({ say: 'next' }))).toMatchObject({ status: 'completed' })
      expect(second.child.exitCode).toBeNull()
    },
    LONG_MS,
  )

  test.skipIf(!FULL)(
    'a worktree that is given twice is one; that of two runners is two, and each works for the sessions of its own',
    async () => {
      const site = newSite(program, `app-${++count}`)
      sites.push(site)
      const repo_full_name = `app-${count}`
      symlinkSync(site.app, site.path('link'))
      const words = (name: string) => ['--name', name, '--worktree', site.app, '--worktree', site.path('link')]
      const names = [`first ${count}`, `second ${count}`]
      const runners = [
        await site.start({ url: served.url, key: await runKey() }, words(names[0]!)),
        await site.start({ url: served.url, key: await runKey() }, words(names[1]!)),
      ]
      const { worktrees } = await control('list_worktrees', { repo_full_name })
      expect(worktrees.map(({ path }: any) => path)).toEqual([site.app, site.app])
      for (const { worktree_id, runner } of worktrees) {
        const { task_id } = await control('create_session', { title: 'Own', worktree_id, agentic_tool: 'scripted', initial_prompt: 'Here' })
        expect((await ended(task_id)).status).toBe('completed')
        const which = runners[names.indexOf(runner.name ?? runner)]!
        expect(which.output()).toContain(task_id.slice(0, 8))
      }
    },
    LONG_MS,
  )

  test.skipIf(!FULL)(
    'of many prompts to one session, 50 at a time, 50 are taken, in the order of the log, and the others are told to wait',
    async () => {
      const { session_id } = await scene()
      const answers: any[] = []
      while (answers.length < PROMPTS) {
        const fifty = await Promise.all(Array.from({ length: 50 }, (_, n) => control('send_prompt', { session_id, prompt: `${n}` })))
        answers.push(...fifty.filter(({ error }) => error?.code !== 'unavailable')) // on a busy machine: sent again
      }
      const taken = answers.filter(({ started }) => started)
      expect(taken).toHaveLength(49) // and the one that runs
      const refusals = answers.flatMap(({ error }) => error ?? [])
      expect(Object.keys(Object.groupBy(refusals, ({ code }: any) => code))).toEqual(['rate_limited'])
      expect(refusals.every(({ details }: any) => details.retry_after > 0)).toBe(true)
      const { tasks } = await control('list_tasks', { session_id, limit: 200 })
      const newestFirst = taken.map(({ start_sequence }) => start_sequence).toSorted((a, b) => b - a)
      expect(tasks.slice(0, -1).map((task: any) => task.start_sequence)).toEqual(newestFirst)
      await control('manage_session', { session_id, action: 'delete' })
    },
    LONG_MS,
  )
})

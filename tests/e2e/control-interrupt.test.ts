// Whatever ends a task, nothing of it is left: the real programs, with commands of their shells that do all to stay.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { whileBusy } from '../support/cpu.ts'
import { allowingUntil, clientsAreThere, personAt, startControlSite, type ControlSite } from '../support/control-site.ts'
import { processesWith, until, type Started } from '../support/runner.ts'

const CLIENTS = ['claude', 'codex']
const LONG_MS = 300_000
const AFTER_INTERRUPT_MS = 2_000
const AFTER_ALL_ELSE_MS = 5_000
const TIMED_OUT_S = 30
const areThere = clientsAreThere(...CLIENTS)

const SECONDS = `300.${Date.now()}` // of each sleep: by it a process is known that has no mark
const PLAIN = `touch begun; sleep ${SECONDS}`
// In a session of its own, deaf to SIGHUP and SIGTERM, with children that are, too, one of them without any environment.
const STUBBORN = `touch begun; setsid bash -c 'trap "" HUP TERM; (sleep ${SECONDS}; true) & env -i sleep ${SECONDS} & while :; do sleep ${SECONDS}; done' & wait`

describe.skipIf(!areThere)('What a task has started is gone with it', () => {
  let at: ControlSite
  let runner: Started
  let robin: Awaited<ReturnType<typeof personAt>>

  beforeAll(async () => {
    at = await startControlSite({ clients: CLIENTS, env: { TASK_TIMEOUT: String(TIMED_OUT_S) } })
    runner = at.runner
    robin = await personAt(at, 'Robin')
    at.agents.scripts.plain = ([answer]) => (answer === undefined ? { shell: PLAIN } : 'It ended.')
    at.agents.scripts.stubborn = ([answer]) => (answer === undefined ? { shell: STUBBORN } : 'It ended.')
  }, LONG_MS)
  afterAll(() => at?.drop(), LONG_MS)

  const begun = () => join(at.site.app, 'begun')
  afterEach(() => rmSync(begun(), { force: true }))

  // The programs bear the task's mark; the runner and its guardian do not.
  const alive = (task_id: string) => [...processesWith(`.${task_id}`), ...processesWith(SECONDS)]
  const working = async (agentic_tool: string, script: string): Promise<{ session_id: string; task_id: string }> => {
    const { session_id } = await at.create({ agentic_tool })
    const { task_id } = await at.prompt(session_id, `Run it. #${script}`)
    await allowingUntil(at, robin, session_id, () => existsSync(begun()), `${agentic_tool} runs its command`)
    expect(alive(task_id).length).toBeGreaterThan(1)
    return { session_id, task_id }
  }
  const goneWithin = (task_id: string, ms: number) =>
    until(() => alive(task_id).length === 0, whileBusy(ms), 'nothing of the task is alive')

  describe.each(['claude-code', 'codex'])('%s', (agentic_tool) => {
    test.each(['plain', 'stubborn'])(
      'an interrupt, of a command that is %s: 2 s',
      async (script) => {
        const { session_id, task_id } = await working(agentic_tool, script)
        expect(await at.control('interrupt_session', { session_id })).toEqual({ interrupted: true })
        await goneWithin(task_id, AFTER_INTERRUPT_MS)
        expect(await at.ended(task_id)).toMatchObject({ status: 'interrupted' })
      },
      LONG_MS,
    )

    test(
      'the time-out of the task: 5 s',
      async () => {
        const { task_id } = await working(agentic_tool, 'stubborn')
        const { started_at } = (await at.control('get_task', { task_id })).task
        await until(() => Date.now() > Date.parse(started_at) + TIMED_OUT_S * 1_000, LONG_MS)
        await goneWithin(task_id, AFTER_ALL_ELSE_MS)
        expect(await at.ended(task_id)).toMatchObject({ status: 'failed', error: { code: 'timed_out' } })
      },
      LONG_MS,
    )

    test.each([
      ['SIGTERM', 'interrupted'],
      ['SIGKILL', 'failed'],
    ] as const)(
      '%s of the runner: 5 s, and the task is %s',
      async (signal, status) => {
        const { task_id } = await working(agentic_tool, 'stubborn')
        runner.child.kill(signal)
        await goneWithin(task_id, AFTER_ALL_ELSE_MS)
        await runner.ended
        runner = await at.startRunner()
        expect(await at.ended(task_id)).toMatchObject({ status, ...(status === 'failed' && { error: { code: 'runner_lost' } }) })
      },
      LONG_MS,
    )
  })
})

import { expect, test } from 'bun:test'
import { spawn } from 'node:child_process'
import { endMarked, marked, taskMark } from '../../src/client/runner/processes.ts'
import { whileBusy } from '../support/cpu.ts'
import { processesWith, until, type Site, type Started } from '../support/runner.ts'
import { type HubTask, type RunnerHub } from '../support/runner-hub.ts'
import { FULL, shortOf } from '../support/full.ts'
import { LONG_MS, steps, withRunners } from '../support/runner-scene.ts'

const INTERRUPTED_MS = 2_000 // from an order to interrupt until nothing of the task is left
const OTHERWISE_MS = 5_000
const STOPS_MS = 10_000

const { scene, ending } = withRunners()

// What a shell tool may leave behind: each of these outlives its parent and its group. `tag` stands in the command line of all of them.
const STUBBORN: Record<string, (tag: string) => string> = {
  'a plain command': (tag) => `exec sleep 600.${tag}`,
  'one that ignores SIGHUP and SIGTERM': (tag) => `trap "" HUP TERM; while :; do sleep 600.${tag}; done`,
  'one in a session of its own, with children': (tag) =>
    `setsid sh -c 'trap "" HUP TERM INT; sleep 600.${tag} & sleep 601.${tag} & while :; do sleep 602.${tag}; done' & exit`,
  'one that cleared its environment and outlives its parent': (tag) =>
    `env -i /bin/sh -c 'trap "" TERM; while :; do /bin/sleep 600.${tag}; done' & wait`,
  'one that starts itself anew when it is told to end': (tag) =>
    `again() { sh -c 'exec sleep 600.${tag}' & wait; }; trap again TERM; again; again`,
}

const busy = async (hub: RunnerHub, site: Site, command: (tag: string) => string, ...then: object[]) => {
  const tag = String(Math.floor(Math.random() * 1e12))
  const task = hub.prompt(site.app, steps({ sh: command(tag) }, { say: 'Started.' }, ...then))
  await until(() => task.events.length > 0 && processesWith(tag).length > 0)
  await Bun.sleep(150)
  return { task, left: () => processesWith(tag) }
}
const goneAfter = async (left: () => number[], task?: HubTask): Promise<number> => {
  const began = Date.now()
  await until(() => left().length === 0 && (!task || processesWith(task.task_id).length === 0), whileBusy(12_000), 'its processes are gone')
  return Date.now() - began
}

for (const [what, command] of shortOf(Object.entries(STUBBORN), 2)) {
  test(
    `an interrupt ends ${what} within two seconds`,
    async () => {
      const { hub, site } = await scene()
      await site.start(hub)
      const { task, left } = await busy(hub, site, command, { deaf: 1 })
      hub.interrupt(task)
      expect(await goneAfter(left, task)).toBeLessThan(whileBusy(INTERRUPTED_MS))
      await until(() => task.finished)
      expect(task.finished).toMatchObject({ status: 'interrupted' })
    },
    LONG_MS,
  )

  test(
    `kill -9 of the runner ends ${what} within five seconds, and the same runner starts at once`,
    async () => {
      const { hub, site } = await scene()
      const runner = await site.start(hub)
      const { task, left } = await busy(hub, site, command, { deaf: 1 })
      runner.child.kill('SIGKILL')
      expect(await goneAfter(left, task)).toBeLessThan(whileBusy(OTHERWISE_MS))
      const began = Date.now()
      await site.start(hub)
      expect(Date.now() - began).toBeLessThan(whileBusy(3_000))
    },
    LONG_MS,
  )
}

test.skipIf(!FULL)(
  'the end of a task ends what it left behind; the CLI has the time to exit by itself',
  async () => {
    const { hub, site } = await scene()
    await site.start(hub)
    const { task, left } = await busy(hub, site, STUBBORN['one in a session of its own, with children']!, { sleep: 3_000 })
    await until(() => task.finished)
    expect(task.finished).toMatchObject({ status: 'completed', answer: 'Done.' })
    expect(left()).toEqual([])
  },
  LONG_MS,
)

test.skipIf(!FULL)(
  'a CLI that works too long is ended as timed_out, and one that stops when it is asked keeps its own word',
  async () => {
    const { hub, site } = await scene()
    await site.start(hub)
    const late = hub.prompt(site.app, steps({ say: 'a' }, { deaf: 1 }), { max_s: 1 })
    const asked = hub.prompt(site.app, steps({ say: 'a' }, { sleep: 60_000 }, { say: 'not this' }))
    await until(() => asked.events.length > 0)
    hub.interrupt(asked)
    await until(() => asked.finished && late.finished)
    expect(late.finished).toMatchObject({ status: 'failed', error: { code: 'timed_out' } })
    expect(asked.finished).toMatchObject({ status: 'interrupted', conversation: 'c-1' })
    expect(asked.events).toHaveLength(1)
  },
  LONG_MS,
)

const stopsWith = async (signal: NodeJS.Signals, runner: Started) => {
  const began = Date.now()
  runner.child.kill(signal)
  expect(await runner.ended).toBe(0)
  return Date.now() - began
}

test(
  'SIGTERM: what runs is interrupted, the hub is told, nothing is left',
  async () => {
    const { hub, site } = await scene()
    const runner = await site.start(hub)
    const { task, left } = await busy(hub, site, STUBBORN['one that ignores SIGHUP and SIGTERM']!, { deaf: 1 })
    runner.child.kill('SIGINT') // one Ctrl-C may come twice
    expect(await stopsWith('SIGTERM', runner)).toBeLessThan(whileBusy(STOPS_MS))
    expect(task.finished).toMatchObject({ status: 'interrupted' })
    expect(hub.calls.at(-1)).toMatchObject({ call: 'unregister', body: { runner_id: task.finished.runner_id } })
    expect(left()).toEqual([])
    const takes = hub.calls.length
    hub.prompt(site.app, 'Nobody takes this')
    await Bun.sleep(500)
    expect(hub.calls).toHaveLength(takes)
  },
  LONG_MS,
)

test.skipIf(!FULL)(
  'SIGTERM while the hub is away ends the runner within ten seconds all the same',
  async () => {
    const { hub, site } = await scene()
    const runner = await site.start(hub)
    const { left } = await busy(hub, site, STUBBORN['a plain command']!, { deaf: 1 })
    await hub.away()
    expect(await stopsWith('SIGTERM', runner)).toBeLessThan(whileBusy(STOPS_MS))
    expect(left()).toEqual([])
  },
  LONG_MS,
)

test.skipIf(!FULL)(
  'a guardian that was killed is replaced, and no guardian outlives its runner',
  async () => {
    const { hub, site } = await scene()
    const runner = await site.start(hub)
    const guardians = () => processesWith(site.folder).filter((pid) => commandOf(pid).includes('runner-guardian'))
    await until(() => guardians().length === 1)
    const [first] = guardians()
    process.kill(first!, 'SIGKILL')
    await until(() => guardians().some((pid) => pid !== first))
    const { task, left } = await busy(hub, site, STUBBORN['a plain command']!, { deaf: 1 })
    runner.child.kill('SIGKILL')
    expect(await goneAfter(left, task)).toBeLessThan(whileBusy(OTHERWISE_MS))
    await until(() => guardians().length === 0)
  },
  LONG_MS,
)

const commandOf = (pid: number): string => Bun.spawnSync(['ps', '-ww', '-o', 'args=', '-p', String(pid)]).stdout.toString()

const ENDINGS = [
  ['ends with code 1 without a result', [{ say: 'a' }, { exit: 1 }], 'failed'],
  ['exits while something of it holds its output', [{ say: 'a' }, { hold: 1 }, { exit: 3 }], 'failed'],
  ['prints no JSON and half a character', [{ raw: 'no JSON\n' }, { raw: '{"event":' }, { raw: '\u0000\ud800\n' }], 'completed'],
  ['closes its output and goes on', [{ say: 'a' }, { closeOut: 1 }, { deaf: 1 }], 'failed'],
] as const

test(
  'a CLI that ends oddly ends its task alone',
  async () => {
    const { hub, site } = await scene()
    await site.start(hub)
    for (const [what, list, status] of shortOf(ENDINGS, 3)) {
      const task = hub.prompt(site.app, steps(...list), status === 'failed' ? { max_s: 4 } : {})
      await until(() => task.finished)
      expect([what, task.finished.status]).toEqual([what, status])
      if (status === 'failed') expect(task.finished.error.message).toMatch(/\w+ .*\.$/)
      const next = hub.prompt(site.app, 'Next')
      await until(() => next.finished?.status === 'completed')
      await until(() => processesWith(task.task_id).length === 0)
    }
  },
  LONG_MS,
)

test('a mark ends its own processes alone: those of another task stay, those of a runner within a task go with either', async () => {
  const [outer, inner] = [`outer-${crypto.randomUUID()}`, `inner-${crypto.randomUUID()}`]
  const env = { PATH: process.env.PATH! }
  const start = (with_: Record<string, string>) => {
    const child = spawn('sleep', ['60'], { env: with_, stdio: 'ignore' })
    ending.push(() => child.kill('SIGKILL'))
    return { child, lives: () => child.exitCode === null && child.signalCode === null }
  }
  const one = start(marked(env, taskMark(outer, '1')))
  const ten = start(marked(env, taskMark(outer, '10')))
  const nested = start(marked(marked(env, taskMark(outer, '1')), taskMark(inner, '7')))
  const lives = () => [one, ten, nested].map((each) => each.lives())
  const KILLING = { graceMs: 100, withinMs: 3_000 }
  expect(await endMarked(taskMark(inner, '7'), KILLING)).toBe(0)
  await until(() => !nested.lives())
  expect(lives()).toEqual([true, true, false])
  expect(await endMarked(taskMark(outer, '1'), KILLING)).toBe(0)
  await until(() => !one.lives())
  expect(lives()).toEqual([false, true, false])
  expect(await endMarked(outer, KILLING)).toBe(0)
  await until(() => !ten.lives())
})

// The runner at work: takes tasks and orders from the hub until it is told to stop.
import { setTimeout as sleep } from 'node:timers/promises'
import { Stop } from '../machine.ts'
import { stateOf, type Repository } from './git.ts'
import { HELD_S, HELD_WITHIN_MS, Refused, type Order, type Registering, type Taken } from './hub-calls.ts'
import { isShutOut, startTask, type RunnerParts, type Task } from './task.ts'
import { keepMade, madeOnes, makeWorktree } from './worktrees.ts'

// An order is repeated until it is carried out, which takes up to two seconds.
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 1_000
const REMEMBERED = 10_000
const UNREGISTERS_WITHIN_MS = 2_000

export interface Serving {
  parts: RunnerParts & { worktrees: Map<string, Repository> }
  home: string
  /** What the hub is told of this runner now. */
  registering(signal: AbortSignal): Promise<Registering>
  registered(runnerId: string): void
}

/** Serves until `signal` aborts, and returns when each task has ended and the hub knows, also that this runner ends. Throws Stop where the hub
 *  wants no more of it; its tasks have ended then, too. */
export const serve = async (serving: Serving, signal: AbortSignal): Promise<void> => {
  const { parts } = serving
  const shut = new AbortController()
  const until = AbortSignal.any([signal, shut.signal])
  const tasks = new Map<string, Task>()
  let runnerId: string | undefined
  const registered = (id: string) => {
    runnerId = id
    serving.registered(id)
  }
  const watched: Serving = { ...serving, registered, parts: { ...parts, shutOut: (error) => shut.abort(error) } }
  try {
    for (;;) {
      await takeAsOne(watched, tasks, until)
      // The hub knows this runner no more: what it has run for it is nobody's.
      await endAll(tasks, 'lose')
      parts.say('The hub does not know this runner any more, and is told of it again.')
    }
  } catch (error) {
    const reason = shut.signal.reason ?? error
    if (signal.aborted && !shut.signal.aborted) {
      await endAll(tasks, 'interrupt')
      if (runnerId !== undefined) await parts.hub.tell('unregister', { runner_id: runnerId }, UNREGISTERS_WITHIN_MS)
      return
    }
    await endAll(tasks, 'lose')
    throw reason instanceof Refused ? new Stop(inWords(reason)) : reason
  }
}

const endAll = async (tasks: Map<string, Task>, how: 'interrupt' | 'lose') => {
  for (const task of tasks.values()) task[how]()
  await Promise.all([...tasks.values()].map(({ done }) => done))
}

const inWords = ({ status, message }: Refused): string => {
  if (status === 401) return `The hub does not take this runner's key: ${message} What ran here was ended.`
  if (status === 409) return `This runner ends: ${message}`
  return `The hub refused this runner (${status}): ${message}`
}

// Registers, and takes work as long as the hub knows this registration; returns when it does not.
const takeAsOne = async (serving: Serving, tasks: Map<string, Task>, signal: AbortSignal): Promise<void> => {
  const { parts } = serving
  const registering = await serving.registering(signal)
  const { runner_id: runnerId } = await parts.hub.ask<{ runner_id: string }>('register', () => registering, { signal })
  serving.registered(runnerId)
  const seen = new Set<string>()
  const making = new Map<string, Promise<void>>()
  const ending = new Set<string>()
  for (let wait = 0; ;) {
    const asking = { signal, withinMs: HELD_WITHIN_MS }
    const taken = await parts.hub
      .ask<Taken>('take', () => ({ runner_id: runnerId, running: [...tasks.keys()], timeout: HELD_S }), asking)
      .catch(unlessUnknown)
    if (!taken) return
    const isNew = begin(serving, taken, { runnerId, tasks, seen, making, ending, signal })
    wait = isNew ? 0 : Math.min(Math.max(FIRST_PAUSE_MS, wait * 2), LONGEST_PAUSE_MS)
    if (wait > 0) await sleep(wait, undefined, { signal })
  }
}

const unlessUnknown = (error: unknown): undefined => {
  if (!(error instanceof Refused) || error.status !== 404) throw error
}

interface Work {
  runnerId: string
  tasks: Map<string, Task>
  /** Tasks that were started: one that is handed out again, since an answer was lost, is not run twice. */
  seen: Set<string>
  /** Sessions whose worktree is being made. */
  making: Map<string, Promise<void>>
  /** Tasks that are not here any more, and whose end the hub is being told. */
  ending: Set<string>
  signal: AbortSignal
}

// Begins what is new among the tasks and orders. Returns whether anything was.
const begin = (serving: Serving, taken: Taken, work: Work): boolean => {
  let isNew = false
  for (const task of taken.tasks ?? []) {
    if (typeof task.task_id !== 'string' || work.seen.has(task.task_id)) continue
    isNew = true
    remember(work.seen, task.task_id)
    const started = startTask(task, work.runnerId, serving.parts, endOfSession(task.session_id, work))
    work.tasks.set(task.task_id, started)
    void started.done.then(() => work.tasks.delete(task.task_id))
  }
  for (const order of taken.orders ?? []) {
    if (order.order === 'interrupt') interrupt(serving, order.task_id, work)
    if (order.order !== 'worktree' || work.making.has(order.session_id)) continue
    isNew = true
    const before = [...work.making.values()].at(-1) ?? Promise.resolve() // git makes one at a time
    const made = before
      .then(() => worktreeFor(serving, order, work))
      .catch(() => {})
      .finally(() => work.making.delete(order.session_id))
    work.making.set(order.session_id, made)
  }
  return isNew
}

// A session's next task is handed out once the one before has ended at the hub. That one may run here still, if the hub has given it up: two
// CLIs would go on with one conversation in one worktree. Resolves when none of the session is left here.
const endOfSession = (id: string, { tasks }: Work): Promise<unknown> => {
  const former = [...tasks.values()].filter(({ sessionId }) => sessionId === id)
  for (const task of former) task.lose()
  return Promise.all(former.map(({ done }) => done))
}

// A task that the hub has running and that is not here any more has ended without the hub's knowing: it took none of what it was told of its
// end. Its session would wait for it until its time is over.
const interrupt = ({ parts }: Serving, taskId: string, { runnerId, tasks, ending, signal }: Work) => {
  const task = tasks.get(taskId)
  if (task) return task.interrupt()
  if (ending.has(taskId)) return
  ending.add(taskId)
  const end = { runner_id: runnerId, task_id: taskId, status: 'failed', error: { code: 'agent_failed', message: ENDED_UNREPORTED } }
  parts.hub
    .ask('finish', () => end, { signal })
    .catch((error) => {
      if (error instanceof Refused && isShutOut(error)) parts.shutOut(error)
    })
    .finally(() => ending.delete(taskId))
}

const ENDED_UNREPORTED = 'The agent had ended before, and how could not be told. What it did stands in the log and in its worktree.'

const remember = (seen: Set<string>, id: string) => {
  seen.add(id)
  if (seen.size > REMEMBERED) seen.delete(seen.values().next().value!)
}

const worktreeFor = async ({ parts, home }: Serving, order: Order & { order: 'worktree' }, { runnerId, signal }: Work): Promise<void> => {
  const { git, hub, base, worktrees, say } = parts
  const of = { runner_id: runnerId, session_id: order.session_id }
  try {
    const made = await makeWorktree(git, [...worktrees.values()], madeOnes(home), order)
    const others = madeOnes(home)
    // A worktree that a person registered is not ours, and nothing may remove it.
    if (!worktrees.has(made.path) || others.some(({ path }) => path === made.path)) {
      worktrees.delete(made.path) // it is the newest now
      worktrees.set(made.path, made)
      const entry = { hub: base, session_id: order.session_id, path: made.path, home: made.home, branch: order.branch }
      keepMade(home, [...others.filter(({ path, session_id: id }) => path !== made.path || id !== order.session_id), entry])
    }
    const { branch, head } = await stateOf(git, made.path)
    say(`worktree  ${made.path}  ${branch}`)
    await hub.ask('worktree', () => ({ ...of, path: made.path, branch, head }), { signal })
  } catch (error) {
    if (error instanceof Refused && isShutOut(error)) return parts.shutOut(error)
    if (error instanceof Refused || signal.aborted) return
    const { message } = error as Error
    say(`worktree  not made: ${message}`)
    await hub.ask('worktree', () => ({ ...of, error: { code: 'agent_failed', message } }), { signal })
  }
}

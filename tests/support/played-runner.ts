// A runner as tests play it, over REST: it registers, takes tasks, tells what their agent printed, and how they ended.
import { bearer, keyOf } from './keys.ts'
import { done, viaRest, type Answer, type Served } from './parley.ts'

export interface Told {
  key?: string
  type: string
  content: Record<string, unknown>
  tool_name?: string
  model?: string
}

let count = 0

/** A registered runner of its own name and key, with one worktree of a repository of its own. `more` goes into `register`. */
export const runnerAt = async (served: Served, more: Record<string, unknown> = {}) => {
  const number = ++count
  const [key, repo] = [await keyOf(served, 'run'), `acme/parser-${number}`]
  const rest = viaRest(served)
  /** A runner's call, refused or not: register_runner, take_tasks, add_task_events, finish_task, add_worktree. */
  const call = (name: string, input: Record<string, unknown> = {}): Promise<Answer> =>
    rest(`control.${name}`, input, { headers: bearer(key) })
  const name = `runner ${number}`
  const worktree = { path: `/code/parser-${number}`, repo_full_name: repo, branch: 'main', head: '0'.repeat(40) }
  const registered = await done(
    call('register_runner', { name, agents: [{ agentic_tool: 'claude-code', version: '2.1.330' }], worktrees: [worktree], ...more }),
  )
  const runner_id = registered.runner_id as string

  /** Tasks and orders that there are now, or within so many seconds. */
  const take = (timeout = 0, running: string[] = []) => done(call('take_tasks', { runner_id, running, timeout }))
  /** The next task, which must be there within 10 s. */
  const takeOne = async (): Promise<any> => {
    const { tasks } = await take(10)
    if (tasks.length === 0) throw new Error('there is no task for the runner')
    return tasks[0]
  }
  /** What the agent of a task printed. Each event is a new one unless it has a key. */
  const print = (task_id: string, events: Told[]) =>
    done(call('add_task_events', { runner_id, task_id, events: events.map((event) => ({ key: crypto.randomUUID(), ...event })) }))
  /** The task's end: completed, with this answer, unless `more` says otherwise. */
  const finish = (task_id: string, answer?: string, more: Record<string, unknown> = {}) =>
    done(call('finish_task', { runner_id, task_id, status: 'completed', answer, ...more }))
  /** Takes the next task, prints these events, finishes it with this answer, and returns the task as it was taken. */
  const work = async (answer: string, events: Told[] = [], more: Record<string, unknown> = {}) => {
    const task = await takeOne()
    if (events.length > 0) await print(task.task_id, events)
    await finish(task.task_id, answer, more)
    return task
  }
  return {
    id: runner_id,
    key,
    name,
    repo,
    path: worktree.path,
    worktree: registered.worktrees[0]?.worktree_id as string,
    call,
    take,
    takeOne,
    print,
    finish,
    work,
  }
}
export type TestRunner = Awaited<ReturnType<typeof runnerAt>>

export const said = (text: string): Told => ({ type: 'assistant_response', content: { text } })
export const called = (tool_name: string, given: Record<string, unknown>): Told => ({
  type: 'tool_call',
  tool_name,
  content: { arguments: given },
})
export const gave = (text: string): Told => ({ type: 'tool_response', content: { text } })

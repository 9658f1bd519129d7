// A runner's calls, played: it registers, takes tasks, tells what their agents print, asks for permission, and ends them.
import { pick, refuses, upTo, type Command, type Verdict } from '../command.ts'
import { named, workOf } from './sessions.ts'
import { shown, taskNamed } from './tasks.ts'
import { end, PARALLEL, runningOf, taskAnswer, taskOf, type Control } from './work.ts'

const NO_RUNNER = '00000000-0000-4000-8000-000000000000'

const taskScope = ({ task_id }: any) => `task/${task_id}`

/** The runner as it is, or as it was before it registered again. */
const runnerId = ({ runner }: Control, old: number) => (old === 0 && runner.former.at(-1)) || runner.id

const register: Command = {
  op: 'control.register_runner',
  draws: { other: upTo(3) },
  weight: 1,
  scope: ({ name }) => `runner/${name}`,
  input: (_, { other }, { control: { runner } }) => ({
    name: other === 0 ? `${runner.name} two` : runner.name,
    agents: [{ agentic_tool: 'claude-code', version: '2.1.330' }],
    worktrees: [{ path: runner.path, repo_full_name: runner.repo, branch: 'main', head: '0'.repeat(40) }],
    parallel: PARALLEL,
  }),
  judge({ state: { control }, input: { name } }) {
    const { runner, work } = control
    if (name !== runner.name) return refuses('conflict') // its key belongs to the first name
    return {
      answers: { worktrees: [{ worktree_id: runner.worktree, path: runner.path }] },
      after({ runner_id }) {
        Object.assign(runner, { id: runner_id, former: [...runner.former, runner.id] })
        for (const of of work) {
          const task = runningOf(of)
          if (task) end(of, task, 'failed', { error: 'runner_lost' })
        }
      },
    }
  },
}

// The oldest prompt of each session that may run one.
const next = (control: Control) => {
  const first = control.work.flatMap((of) => {
    const task = of.tasks.find(({ status }) => status === 'queued')
    return of.agent && !of.held && !of.archived && !runningOf(of) && task ? [task] : []
  })
  const room = PARALLEL - control.work.filter(runningOf).length
  return first.toSorted((a, b) => control.order.indexOf(a.id) - control.order.indexOf(b.id)).slice(0, Math.max(0, room))
}

const take: Command = {
  op: 'control.take_tasks',
  draws: { names: upTo(3), old: upTo(9) },
  weight: 16,
  input: (_, { names, old }, { control }) => ({
    runner_id: runnerId(control, old),
    running: names === 0 ? [] : control.work.flatMap((of) => runningOf(of)?.id ?? []),
    timeout: 0,
  }),
  judge({ state: { control, crowded }, input: { runner_id, running } }) {
    if (runner_id !== control.runner.id) return refuses('conflict')
    const again = control.work.flatMap((of) => of.tasks).filter(({ id, handed, status }) => status === 'running' && handed && !running.includes(id)) // prettier-ignore
    const given = [...again, ...next(control)].toSorted((a, b) => control.order.indexOf(a.id) - control.order.indexOf(b.id))
    const tasks = given.map(({ id, prompt, mode }) => ({ task_id: id, path: control.runner.path, ...(mode !== 'fork' && { prompt }) }))
    const isGiven = (task: any) => tasks.some((one) => Bun.deepMatch(one, task))
    return {
      answers: crowded ? {} : { tasks }, // prompts of two sessions that came at once have no order
      // An order that was told just now is not told again.
      also: (body) =>
        body.orders.every(({ order, task_id }: any) => order === 'interrupt' && taskOf(control, task_id)?.task.interruptAsked) &&
        body.tasks.length === tasks.length &&
        body.tasks.every(isGiven),
      after() {
        for (const id of running) taskOf(control, id)!.task.handed = false
        for (const task of given) Object.assign(task, { status: 'running', handed: true })
      },
    }
  },
}

/** The running task of a runner's call, or how the call is refused. */
const running = (control: Control, { runner_id, task_id }: any) => {
  const found = taskOf(control, task_id)
  if (!found) return refuses('not_found')
  return runner_id !== control.runner.id || found.task.status !== 'running' ? refuses('conflict') : found
}
const isRefused = (found: ReturnType<typeof running>): found is Verdict => 'refuses' in found

const ofTask = { which: upTo(4), old: upTo(9) }
const taskInput = (control: Control, { which, old }: any) => {
  const active = control.work.flatMap((of) => runningOf(of)?.id ?? [])
  return { runner_id: runnerId(control, old), task_id: which < 3 && active.length > 0 ? pick(active, which) : taskNamed(control, which) }
}

const print: Command = {
  op: 'control.add_task_events',
  draws: { ...ofTask, name: upTo(2) },
  weight: 3,
  scope: taskScope,
  input: (_, choices, { control }) => ({
    ...taskInput(control, choices),
    events: [{ key: `line ${choices.name}`, type: 'assistant_response', content: { text: `Line ${choices.name}` } }],
  }),
  judge({ state: { control }, input }) {
    const found = running(control, input)
    if (isRefused(found)) return found
    const { task } = found
    const [{ key }] = input.events
    return {
      answers: {},
      after() {
        task.handed = false
        if (!task.printed.includes(key)) task.printed.push(key)
      },
    }
  },
}

const finish: Command = {
  op: 'control.finish_task',
  draws: { ...ofTask, status: upTo(4), answer: upTo(1) },
  weight: 8,
  scope: taskScope,
  input: (_, { status, answer, ...choices }, { control }) => ({
    ...taskInput(control, choices),
    status: pick(['completed', 'completed', 'completed', 'failed', 'interrupted'], status),
    ...(answer === 1 && { answer: 'It is done.' }),
  }),
  judge({ state: { control }, input: { runner_id, task_id, status, answer } }) {
    const found = taskOf(control, task_id)
    if (!found) return refuses('not_found')
    const { of, task } = found
    const told = JSON.stringify([runner_id, status, answer])
    if (runner_id !== control.runner.id || task.status === 'queued') return refuses('conflict')
    if (task.finish === told) return { answers: { task: shown(taskAnswer(of, task)) } }
    if (task.status !== 'running') return refuses('conflict')
    const error = status === 'failed' ? 'agent_failed' : undefined
    return {
      answers: { task: { task_id, status, answer: answer ? { text: answer } : null, error: error ? { code: error } : null } },
      after() {
        end(of, task, status, { answer, ...(error && { error }) })
        task.finish = told
      },
    }
  },
}
const madeWorktree: Command = {
  op: 'control.add_worktree',
  draws: { on: upTo(5), old: upTo(3) },
  weight: 1,
  scope: ({ session_id }) => session_id,
  input: (_, { on, old }, { control }) => ({ runner_id: runnerId(control, old), session_id: named(control, on), path: '/code/new' }),
  judge: ({ state: { control }, input: { session_id } }) => refuses(workOf(control, session_id) ? 'conflict' : 'not_found'), // nobody ordered one
}

const ask: Command = {
  op: 'control.ask_permission',
  draws: { ...ofTask, request: upTo(1) },
  weight: 6,
  scope: taskScope,
  input: (_, choices, { control }) => ({
    ...taskInput(control, choices),
    request_id: `request ${choices.request}`,
    tool_name: 'Bash',
    text: 'npm test',
    timeout: 0,
  }),
  judge({ state: { control }, input }) {
    const found = running(control, input)
    if (isRefused(found)) return found
    const { of, task } = found
    const known = of.questions.find(({ id }) => id === input.request_id)
    if (known && known.task !== task.id) return refuses('conflict')
    if (known) return { answers: known.allow === null ? { waiting: true } : { allow: known.allow } }
    return { answers: { waiting: true }, after: () => void of.questions.push({ id: input.request_id, task: task.id, allow: null }) }
  },
}

const answer: Command = {
  op: 'control.answer_permission',
  draws: { on: upTo(5), request: upTo(1), allow: upTo(1) },
  weight: 6,
  scope: ({ session_id }) => session_id,
  input: (_, { on, request, allow }, { control }) => {
    const asking = control.work.find(({ questions }) => questions.some((one) => one.allow === null))
    return { session_id: on < 3 && asking ? asking.id : named(control, on), request_id: `request ${request}`, allow: allow === 1 }
  },
  judge({ state: { control }, input: { session_id, request_id, allow } }) {
    const question = workOf(control, session_id)?.questions.find(({ id }) => id === request_id)
    if (!question) return refuses('not_found')
    const isOver = taskOf(control, question.task)!.task.status !== 'running'
    if (question.allow !== null || isOver) return refuses('conflict')
    return { answers: { answered: true }, after: () => void (question.allow = allow) }
  },
}

const archived: Command = {
  op: 'control.list_archived',
  weight: 1,
  input: (_, __, { control }) => ({ session_ids: control.work.map(({ id }) => id) }),
  judge: ({ state: { control } }) => ({
    answers: {},
    also: (body) => Bun.deepEquals(body.archived.toSorted(), control.work.filter((of) => of.archived).map(({ id }) => id).toSorted()), // prettier-ignore
  }),
}

// Named is a runner that was replaced, or an unknown one: when the end of a lease takes effect no model can say
// (conformance/control/leases.test.ts has that).
const unregister: Command = {
  op: 'control.unregister_runner',
  weight: 1,
  input: (_, __, { control }) => ({ runner_id: control.runner.former.at(-1) ?? NO_RUNNER }),
  judge: ({ input: { runner_id } }) => refuses(runner_id === NO_RUNNER ? 'not_found' : 'conflict'),
}

export const runner = [register, take, print, finish, madeWorktree, ask, answer, archived, unregister]

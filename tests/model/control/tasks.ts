// Prompts, what became of them, and what is read of that.
import { pick, refuses, upTo, type Command } from '../command.ts'
import { named, opened, PROMPTS, queued, workOf } from './sessions.ts'
import { taskAnswer, taskOf, type Control, type Task } from './work.ts'

const sendPrompt: Command = {
  op: 'control.send_prompt',
  draws: { on: upTo(5), prompt: upTo(2), mode: upTo(7) },
  weight: 12,
  scope: ({ session_id }) => session_id,
  // To sessions that have an agent: elsewhere teams answer, which is no business of a runner's.
  input: (_, { on, prompt, mode }, { control }) => ({
    session_id: on < 5 ? pick(control.work.filter(({ agent }) => agent), on).id : named(control, on), // prettier-ignore
    prompt: pick(PROMPTS, prompt),
    mode: pick(['continue', 'continue', 'continue', 'continue', 'continue', 'continue', 'fork', 'subsession'], mode),
  }),
  judge({ state: { control }, input: { session_id, prompt, mode } }) {
    const of = workOf(control, session_id)
    if (!of) return refuses('not_found')
    if (of.archived) return refuses('session_closed')
    if (mode !== 'continue' && generation(control, of.id) >= 7) return refuses('rate_limited')
    return {
      answers: { started: true },
      also: ({ session_id: id }) => (id === session_id) === (mode === 'continue'),
      after({ session_id: id, task_id, message_id }) {
        const task = queued(message_id, task_id, prompt, mode)
        control.order.push(task_id)
        if (mode === 'continue') return void (of.tasks.push(task), (of.status = 'running'))
        const origin = mode === 'fork' ? { forkedFrom: of.id } : { parent: of.id }
        const title = `${of.title} (${mode === 'fork' ? 'fork' : 'part'})`
        control.work.push(opened(id, title, { ...origin, status: 'running', mode: of.mode, tasks: [task] }))
      },
    }
  },
}

const generation = ({ work }: Control, id: string): number => {
  const { parent, forkedFrom } = work.find((one) => one.id === id)!
  const above = parent ?? forkedFrom
  return above === null ? 0 : generation({ work } as Control, above) + 1
}

/** The task that a number picks, or one that does not exist. The newest first. */
export const taskNamed = ({ order }: Control, which: number): string => (which < 6 && order.at(-1 - which)) || crypto.randomUUID()

const getTask: Command = {
  op: 'control.get_task',
  draws: { which: upTo(6) },
  weight: 3,
  input: (_, { which }, { control }) => ({ task_id: taskNamed(control, which) }),
  judge({ state: { control }, input: { task_id } }) {
    const found = taskOf(control, task_id)
    return found ? { answers: { task: shown(taskAnswer(found.of, found.task)) } } : refuses('not_found')
  },
}

// The answer of create_session does not name the message of its prompt.
export const shown = ({ message_id, ...rest }: ReturnType<typeof taskAnswer>) => (message_id === '' ? rest : { message_id, ...rest })

/** The rows of list_tasks, the newest first. */
export const taskRows = ({ work }: Control, id: string, status?: Task['status']) => {
  const of = work.find((one) => one.id === id)!
  const tasks = of.tasks.filter((task) => status === undefined || task.status === status)
  return tasks.map((task) => shown(taskAnswer(of, task))).toReversed()
}

const listTasks: Command = {
  op: 'control.list_tasks',
  draws: { on: upTo(5), status: upTo(9) },
  input: (_, { on, status }, { control }) => ({
    session_id: named(control, on),
    limit: 200,
    ...(status < 5 && { status: pick(['queued', 'running', 'completed', 'failed', 'interrupted'], status) }),
  }),
  judge: ({ state: { control }, input: { session_id, status } }) =>
    workOf(control, session_id) ? { answers: { tasks: taskRows(control, session_id, status), has_more: false } } : refuses('not_found'),
}

const getMessages: Command = {
  op: 'control.get_messages',
  draws: { on: upTo(5), after: upTo(5) },
  input: (_, { on, after }, { control }) => ({
    session_id: named(control, on),
    ...(after < 4 && {
      after_message_id: (after < 3 && workOf(control, named(control, on))?.tasks[after]?.message) || crypto.randomUUID(),
    }),
  }),
  judge({ state: { control }, input: { session_id, after_message_id } }) {
    const of = workOf(control, session_id)
    if (!of || (after_message_id && !of.tasks.some(({ message }) => message === after_message_id))) return refuses('not_found')
    const prompts = of.tasks.map(({ prompt }) => prompt)
    return { answers: {}, also: ({ messages }) => messages.every(({ type, text }: any) => type !== 'user_input' || prompts.includes(text)) }
  },
}

const getMessage: Command = {
  op: 'control.get_message',
  draws: { which: upTo(6) },
  input: (_, { which }, { control }) => ({ message_id: taskOf(control, taskNamed(control, which))?.task.message || crypto.randomUUID() }),
  judge({ state: { control }, input: { message_id } }) {
    const found = control.work.flatMap((of) => of.tasks.map((task) => ({ of, task }))).find(({ task }) => task.message === message_id)
    if (!found) return refuses('not_found')
    const { of, task } = found
    const message = { session_id: of.id, id: message_id, type: 'user_input', content: { text: task.prompt }, task_id: task.id }
    return { answers: { message } }
  },
}

const listWorktrees: Command = {
  op: 'control.list_worktrees',
  weight: 1,
  input: (_, __, { control }) => ({ repo_full_name: control.runner.repo }),
  judge({ state: { control } }) {
    const { id, name, worktree, path, repo } = control.runner
    return {
      answers: { worktrees: [{ worktree_id: worktree, path, repo_full_name: repo, runner: { runner_id: id, name, online: true } }] },
    }
  },
}

export const tasks = [sendPrompt, getTask, listTasks, getMessages, getMessage, listWorktrees]

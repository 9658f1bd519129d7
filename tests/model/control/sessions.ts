// Sessions of agents: opened, listed, changed, held, put away.
import { pick, refuses, upTo, type Command } from '../command.ts'
import { ENDED } from './callers.ts'
import { end, isOpen, runningOf, workAnswer, type Control, type Task, type Work } from './work.ts'

const TITLES = ['Empty files', 'Long lines']
export const PROMPTS = ['Add a test.', 'And another one.', 'Now the docs.']

/** The session that a number picks, or one that does not exist. */
export const named = ({ work }: Control, on: number): string => (on < 5 ? (pick(work, on)?.id ?? crypto.randomUUID()) : crypto.randomUUID())
export const workOf = ({ work }: Control, id: string): Work | undefined => work.find((one) => one.id === id)

export const queued = (message: string, id: string, prompt: string, mode: Task['mode']): Task => ({
  id,
  message,
  prompt,
  mode,
  status: 'queued',
  answer: null,
  error: null,
  handed: false,
  interruptAsked: false,
  finish: null,
  printed: [],
})

export const opened = (id: string, title: string, more: Partial<Work>): Work => ({
  id,
  title,
  agent: true,
  status: 'idle',
  mode: 'acceptEdits',
  held: false,
  archived: false,
  parent: null,
  forkedFrom: null,
  tasks: [],
  questions: [],
  ...more,
})

const create: Command = {
  op: 'control.create_session',
  draws: { title: upTo(1), where: upTo(5), prompt: upTo(3) },
  weight: 2,
  scope: () => 'open',
  input: (_, { title, where, prompt }, { control }) => ({
    title: pick(TITLES, title),
    ...(where < 4 && { worktree_id: where === 0 ? crypto.randomUUID() : control.runner.worktree }),
    ...(where === 4 && { agentic_tool: 'codex' }), // without a worktree
    ...(prompt === 0 && where < 4 && { initial_prompt: PROMPTS[0] }),
  }),
  judge({ state: { control }, input: { title, worktree_id, agentic_tool, initial_prompt } }) {
    if (agentic_tool) return refuses('invalid_request')
    if (worktree_id && worktree_id !== control.runner.worktree) return refuses('not_found')
    const agent = worktree_id !== undefined
    const status = agent ? (initial_prompt ? 'running' : 'idle') : null
    return {
      answers: { status, cursor: 0, session: { title } },
      also: ({ task_id }) => (task_id !== undefined) === (initial_prompt !== undefined),
      after({ session_id, task_id }) {
        const tasks = task_id ? [queued('', task_id, initial_prompt, 'continue')] : []
        control.work.push(opened(session_id, title, { agent, status, mode: agent ? 'acceptEdits' : null, tasks }))
        if (task_id) control.order.push(task_id)
      },
    }
  },
}

const listSessions: Command = {
  op: 'control.list_sessions',
  draws: { archived: upTo(1), status: upTo(5) },
  input: (_, { archived, status }) => ({ limit: 200, include_archived: archived === 1, ...(status < 3 && { status: pick(['idle', 'running', 'failed'], status) }) }), // prettier-ignore
  judge: ({ state: { control }, input: { include_archived, status } }) => ({
    answers: {},
    also({ sessions }) {
      const listed = control.work.filter((of) => (include_archived || !of.archived) && (!status || of.status === status))
      const mine = sessions.filter(({ session_id }: any) => workOf(control, session_id)).map(({ session_id }: any) => session_id)
      return Bun.deepEquals(mine, listed.map(({ id }) => id).toReversed())
    },
  }),
}

/** What get_session says of a session. */
export const wholeAnswer = (of: Work, control: Control) => ({ ...workAnswer(of, control), room_status: 'active', permission_config: { mode: of.mode } }) // prettier-ignore

const getSession: Command = {
  op: 'control.get_session',
  draws: { on: upTo(5) },
  input: (_, { on }, { control }) => ({ session_id: named(control, on) }),
  judge({ state: { control, crowded }, input: { session_id } }) {
    const of = workOf(control, session_id)
    if (!of) return refuses('not_found')
    return { answers: { session: crowded ? { session_id } : wholeAnswer(of, control) } } // beside writes each part is of a moment of its own
  },
}

const update: Command = {
  op: 'control.update_session',
  draws: { on: upTo(5), title: upTo(3), status: upTo(5), mode: upTo(4), usd: upTo(9) },
  input: (_, { on, title, status, mode, usd }, { control }) => ({
    session_id: named(control, on),
    ...(title < 2 && { title: TITLES[title] }),
    ...(status < 4 && { status: pick(['idle', 'running', 'completed', 'failed'], status) }),
    ...(mode < 2 && { permission_mode: pick(['plan', 'default'], mode) }),
    ...(usd === 0 && { max_usd: 100 }),
  }),
  scope: ({ session_id }) => session_id,
  judge({ state: { control }, person, input: { session_id, title, status, permission_mode, max_usd } }) {
    const of = workOf(control, session_id)
    if (!of) return refuses('not_found')
    if ([title, status, permission_mode, max_usd].every((value) => value === undefined)) return refuses('invalid_request')
    if (of.archived) return refuses('session_closed')
    if (status && (!of.agent || (status === 'running' && !of.tasks.some(isOpen)))) return refuses('conflict')
    if (permission_mode && !of.agent) return refuses('conflict')
    if (max_usd && !person) return refuses('forbidden')
    if (max_usd && !of.agent) return refuses('conflict')
    const next = { title: title ?? of.title, status: status ?? of.status, mode: permission_mode ?? of.mode }
    return { answers: { session: wholeAnswer({ ...of, ...next }, control) }, after: () => void Object.assign(of, next) }
  },
}

const interrupt: Command = {
  op: 'control.interrupt_session',
  draws: { on: upTo(5) },
  scope: ({ session_id }) => session_id,
  input: (_, { on }, { control }) => ({ session_id: named(control, on) }),
  judge({ state: { control }, input: { session_id } }) {
    const of = workOf(control, session_id)
    if (!of) return refuses('not_found')
    const task = runningOf(of)
    return { answers: { interrupted: task !== undefined }, after: () => void (task && (task.interruptAsked = true)) }
  },
}

const manage: Command = {
  op: 'control.manage_session',
  draws: { on: upTo(5), action: upTo(4) },
  weight: 3,
  scope: ({ session_id }) => session_id,
  input: (_, { on, action }, { control }) => ({
    session_id: named(control, on),
    action: pick(['start', 'start', 'start', 'stop', 'delete'], action),
  }),
  judge({ state: { control }, input: { session_id, action } }) {
    const of = workOf(control, session_id)
    if (!of) return refuses('not_found')
    if (action === 'stop' && !of.agent) return refuses('conflict')
    return {
      answers: { success: true },
      also: ({ session }) => (session.archived_at !== null) === (action === 'delete' || (action === 'stop' && of.archived)),
      after() {
        if (action === 'start') Object.assign(of, { held: false, archived: false })
        else if (action === 'stop') of.held = true
        if (action === 'start' || (action === 'delete' && of.archived)) return
        const task = runningOf(of)
        if (task) task.interruptAsked = true
        if (action !== 'delete') return
        for (const one of of.tasks.filter(({ status }) => status === 'queued')) end(of, one, 'interrupted')
        of.archived = true
        if (of === control.work[0]) control.keys.sess = ENDED
      },
    }
  },
}

const setName: Command = {
  op: 'control.set_session_name',
  draws: { title: upTo(1) },
  scope: () => 'open',
  input: (_, { title }) => ({ name: pick(TITLES, title) }),
  judge({ state: { control, crowded }, person, input: { name } }) {
    if (person) return refuses('forbidden')
    if (control.keys.sess === ENDED) return crowded ? refuses(['unauthorized', 'session_closed']) : refuses('unauthorized')
    const of = control.work[0]! // the key's own
    return { answers: { session_id: of.id, title: name }, after: () => void (of.title = name) }
  },
}

export const sessions = [create, listSessions, getSession, update, interrupt, manage, setName]

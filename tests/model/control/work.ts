// What the model knows of sessions whose agents are steered: their tasks, and what a runner has of them.

export interface Task {
  id: string
  message: string // the id of its prompt
  prompt: string
  mode: 'continue' | 'fork' | 'subsession'
  status: 'queued' | 'running' | 'completed' | 'failed' | 'interrupted'
  answer: string | null
  error: string | null
  handed: boolean // and its runner has not named it yet
  interruptAsked: boolean
  finish: string | null // which runner told what: after it registered anew, it is another one
  printed: string[] // the keys of its events
}

/** A request of an agent for permission; `allow` is null while it waits. */
export interface Question {
  id: string
  task: string
  allow: boolean | null
}

export interface Work {
  id: string
  title: string
  agent: boolean
  status: string | null // of the agent
  mode: string | null // what it may do
  held: boolean
  archived: boolean
  parent: string | null
  forkedFrom: string | null
  tasks: Task[]
  questions: Question[]
}

/** `order`: all tasks in the order of their prompts. */
export interface Control {
  keys: Record<string, string> // by scope
  runner: { id: string; name: string; worktree: string; path: string; repo: string; former: string[] }
  work: Work[]
  order: string[]
}

export const PARALLEL = 4 // tasks that a runner works on at once

export const isOpen = ({ status }: Task): boolean => status === 'queued' || status === 'running'
export const runningOf = ({ tasks }: Work): Task | undefined => tasks.find(({ status }) => status === 'running')
export const taskOf = ({ work }: Control, id: string): { task: Task; of: Work } | undefined =>
  work.flatMap((of) => of.tasks.map((task) => ({ task, of }))).find(({ task }) => task.id === id)

/** Ends a task, and frees its agent. */
export const end = (
  of: Work,
  task: Task,
  status: 'completed' | 'failed' | 'interrupted',
  told: { answer?: string; error?: string } = {},
) => {
  Object.assign(task, { status, answer: told.answer ?? null, error: told.error ?? null, handed: false })
  const said = status === 'completed' && (of.status === 'completed' || of.status === 'failed') ? of.status : 'idle'
  of.status = of.tasks.some(isOpen) ? 'running' : status === 'failed' ? 'failed' : said
}

/** A task as every door shows it. */
export const taskAnswer = (of: Work, { id, message, prompt, mode, status, answer, error }: Task) => ({
  task_id: id,
  session_id: of.id,
  message_id: message,
  mode,
  status,
  ...(mode !== 'fork' && { prompt }), // that of a fork begins with a digest
  answer: answer === null ? null : { text: answer },
  error: error === null ? null : { code: error },
})

/** A session as control's lists show it. */
export const workAnswer = (of: Work, { work }: Control) => ({
  session_id: of.id,
  title: of.title,
  status: of.status,
  is_agent_running: runningOf(of) !== undefined,
  agentic_tool: of.agent ? 'claude-code' : null,
  genealogy: {
    parent_session_id: of.parent,
    forked_from_session_id: of.forkedFrom,
    children: work.filter(({ parent }) => parent === of.id).map(({ id }) => id),
  },
})

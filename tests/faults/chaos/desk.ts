// A runner as these tests play it: it takes tasks from whichever instance answers, tells what their agents print, asks for permission, and
// ends them. Now and then it dies and registers again, and knows nothing of what it ran.
import { good, type Answer } from './ask.ts'
import { PACE_MS, withKey, type Scene } from './scene.ts'

const EVENTS = 3 // that each agent prints
const DIES_AFTER = [3, 10] as const // tasks, in the middle of the last ones: by time a busy machine would get nothing done
const ASKS = 0.2 // of all tasks

/** What runners saw and did, as the hub acknowledged it. */
export interface Book {
  handed: { task: string; runner: string }[]
  said: Map<string, string[]>
  finished: Map<string, string>
  /** What was answered to a request for permission, by its id. */
  allowed: Map<string, boolean>
  /** Tasks that were handed out while another one of their session ran. */
  together: string[]
  /** Of each session the task that its runner believes to run. */
  running: Map<string, string>
  deaths: number
}

export const newBook = (): Book => ({
  handed: [],
  said: new Map(),
  finished: new Map(),
  allowed: new Map(),
  together: [],
  running: new Map(),
  deaths: 0,
})

export interface Desk {
  worktree: string
  /** Resolves once it is told to stop and has ended what it ran. */
  done: Promise<void>
  stop(): void
}

/** The desk lives on at once, under its name and with its one worktree, after each death. */
export const startDesk = async (scene: Scene, book: Book, name: string): Promise<Desk> => {
  const { key } = await scene.makeKey('run', name)
  const call = withKey(scene.ask, key)
  const worktrees = [{ path: `/code/${name}`, repo_full_name: `acme/${name}`, branch: 'main', head: '0'.repeat(40) }]
  const register = async () =>
    good(await call('runner/register', { name, agents: [{ agentic_tool: 'claude-code', version: '2.1.330' }], worktrees, parallel: 4 }))
  const first = await register()
  let stopping = false
  const live = async () => {
    for (let registered = first; ; registered = await register()) {
      await liveOnce(scene, book, call, registered.runner_id, () => stopping)
      if (stopping) return
      book.deaths++
    }
  }
  return { worktree: first.worktrees[0].worktree_id, done: live(), stop: () => void (stopping = true) }
}

type Call = (path: string, body: object) => Promise<Answer>

const liveOnce = async (scene: Scene, book: Book, call: Call, runner_id: string, stopping: () => boolean) => {
  const [least, most] = DIES_AFTER
  const lives = least + Math.floor(Math.random() * (most - least))
  let taken = 0
  let died = false
  const dead = () => taken >= lives && (died ||= Math.random() < 0.3)
  const own = new Map<string, Promise<void>>()
  while (!dead() && !(stopping() && own.size === 0)) {
    const { tasks } = good(await call('runner/take', { runner_id, running: [...own.keys()], timeout: 1 }))
    for (const task of tasks) {
      if (own.has(task.task_id)) continue
      taken++
      book.handed.push({ task: task.task_id, runner: runner_id })
      own.set(
        task.task_id,
        work(scene, book, call, { ...task, runner_id }, dead).finally(() => own.delete(task.task_id)),
      )
    }
    await Bun.sleep(PACE_MS)
  }
  await Promise.all(own.values())
}

interface Taken {
  runner_id: string
  task_id: string
  session_id: string
  prompt: string
}

const work = async (scene: Scene, book: Book, call: Call, { runner_id, task_id, session_id, prompt }: Taken, dead: () => boolean) => {
  const other = book.running.get(session_id)
  if (other !== undefined) book.together.push(`${task_id} beside ${other}`)
  book.running.set(session_id, task_id)
  const over = () => void (book.running.get(session_id) === task_id && book.running.delete(session_id))
  try {
    for (let n = 0; n < EVENTS; n++) {
      await Bun.sleep(Math.random() * 50)
      if (dead()) return
      const events = [{ key: `event ${n}`, type: 'assistant_response', content: { text: `${prompt}, line ${n}` } }]
      const { status } = await call('runner/events', { runner_id, task_id, events })
      if (status !== 200) return
      book.said.set(task_id, [...(book.said.get(task_id) ?? []), `${prompt}, line ${n}`])
    }
    if (Math.random() < ASKS) await askPermission(scene, book, call, { runner_id, task_id, session_id })
    if (dead()) return
    over() // once the end is under way, the next one may come
    const { status } = await call('runner/finish', { runner_id, task_id, status: 'completed', answer: `Answer to ${prompt}` })
    if (status === 200) book.finished.set(task_id, `Answer to ${prompt}`)
  } finally {
    over()
  }
}

// Two persons answer at once: one of them is heard, and the runner hears that one.
const askPermission = async ({ ask, people }: Scene, book: Book, call: Call, { session_id, ...task }: Omit<Taken, 'prompt'>) => {
  const request_id = `permission for ${task.task_id}`
  const asked = { ...task, request_id, tool_name: 'Bash', text: 'rm -rf build', timeout: 0 }
  if ((await call('runner/ask', asked)).status !== 200) return
  const words = [true, false]
  const answers = await Promise.all(
    people.map((cookie, n) =>
      ask('/api/control/answer_permission', { body: { session_id, request_id, allow: words[n] }, headers: { cookie } }),
    ),
  )
  const heard = answers.findIndex(({ status }) => status === 200)
  if (heard < 0) return // the task has ended meanwhile
  book.allowed.set(request_id, words[heard]!)
  const { status, body } = await call('runner/ask', asked)
  if (status === 200 && body.allow !== words[heard]) throw new Error(`${request_id}: ${JSON.stringify(body)} instead of ${words[heard]}`)
}

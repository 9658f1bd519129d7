// Agents are given work while their instances are disturbed and their runners die: no task runs twice or ends twice, none is lost, and what
// came from what (forks, children) is whole.
import { expect } from 'bun:test'
import type postgres from 'postgres'
import { FULL } from '../../support/full.ts'
import { good } from './ask.ts'
import { newBook, startDesk, type Book } from './desk.ts'
import { withKey, type Part, type Scene } from './scene.ts'

const DESKS = 2
const SESSIONS = 2 // of each desk
const MODES = ['continue', 'continue', 'subsession', 'fork'] as const
const LOOK_EVERY_MS = 200

interface Prompt {
  task: string
  session: string
  origin: string
  mode: (typeof MODES)[number]
}

export const giveWork = async (scene: Scene): Promise<Part> => {
  const { ask, over } = scene
  const book = newBook()
  const desks = await Promise.all(Array.from({ length: DESKS }, (_, n) => startDesk(scene, book, `desk-${n}`)))
  const call = withKey(ask, (await scene.makeKey('full', 'Steering')).key)
  const prompts: Prompt[] = []

  const ended = async (task_id: string) => {
    for (;;) {
      const { task } = good(await call('control/get_task', { task_id }))
      if (['completed', 'failed', 'interrupted'].includes(task.status)) return
      await Bun.sleep(LOOK_EVERY_MS)
    }
  }
  const steer = async (worktree_id: string, title: string) => {
    const { session_id } = good(await call('control/create_session', { title, worktree_id }))
    for (let n = 0; !over.now; n++) {
      const mode = MODES[n % MODES.length]!
      const sent = good(await call('control/send_prompt', { session_id, mode, prompt: `${title}, prompt ${n}` }))
      prompts.push({ task: sent.task_id, session: sent.session_id, origin: session_id, mode })
      if (n % 2 === 1) await ended(sent.task_id) // every other prompt is queued behind the one before
    }
    for (const { task } of prompts) await ended(task)
  }
  const steering = desks.flatMap(({ worktree }, desk) =>
    Array.from({ length: SESSIONS }, (_, n) => steer(worktree, `Session ${desk}.${n}`)),
  )
  const working = async () => {
    await Promise.all(steering)
    for (const desk of desks) desk.stop()
    await Promise.all(desks.map(({ done }) => done))
  }
  return {
    done: working(),
    async verdict(sql) {
      const lost = await expectEndedOnce(sql, prompts, book)
      expect(book.finished.size).toBeGreaterThan(0)
      if (FULL) expect(new Set(prompts.map(({ mode }) => mode))).toEqual(new Set(MODES))
      await expectTold(sql, prompts, book)
      await expectGenealogy(sql, prompts)
      await expectOneOfEachName(sql)
      return `${prompts.length} prompts, ${lost} lost with ${book.deaths} deaths of runners, ${book.allowed.size} permissions answered`
    },
  }
}

interface Task {
  id: string
  session_id: string
  status: string
  answer: string | null
  error: { code: string } | null
  backwards: boolean
}

// A task is there for each prompt, reached one run of a runner at most, and ended once, as its runner was told; not two of a session at a time.
const expectEndedOnce = async (sql: postgres.Sql, prompts: Prompt[], book: Book): Promise<number> => {
  const tasks = await sql<Task[]>`select id, session_id, status, answer, error, ended_at < started_at as backwards from tasks`
  expect(tasks.map(({ id }) => id).toSorted()).toEqual(prompts.map(({ task }) => task).toSorted())
  const runs = Map.groupBy(book.handed, ({ task }) => task)
  expect([...runs].filter(([, of]) => of.length > 1)).toEqual([])
  expect(book.together).toEqual([])
  for (const { id, status, answer, error } of tasks) {
    if (book.finished.has(id)) expect([id, status, answer]).toEqual([id, 'completed', book.finished.get(id)!])
    else if (status !== 'completed') expect([id, status, error?.code]).toEqual([id, 'failed', 'runner_lost'])
  }
  expect(tasks.filter(({ backwards }) => backwards)).toEqual([])
  return tasks.filter(({ status }) => status === 'failed').length
}

interface Row {
  session_id: string
  sequence: string
  type: string
  task_id: string | null
  content: { event?: string; text?: string; request_id?: string; task_id?: string; allow?: boolean }
}

// Each log is whole; what a runner told stands there once, in order; the end of each task is told once, in its log and to its parent.
const expectTold = async (sql: postgres.Sql, prompts: Prompt[], book: Book) => {
  const rows = await sql<Row[]>`select session_id, sequence, type, task_id, content from events order by session_id, sequence`
  for (const [session, own] of Map.groupBy(rows, ({ session_id }) => session_id))
    expect([session, own.map(({ sequence }) => Number(sequence))]).toEqual([session, own.map((_, n) => n + 1)])
  const ofTask = Map.groupBy(rows, ({ task_id }) => task_id)
  const finished = Map.groupBy(
    rows.filter(({ content }) => content.event === 'subsession_finished'),
    ({ content }) => content.task_id,
  )
  for (const { task, mode, origin } of prompts) {
    const own = ofTask.get(task) ?? []
    const ends = own.filter(({ type, content }) => type === 'chat' || content.event === 'task_failed')
    expect([task, ends.length]).toEqual([task, 1])
    const said = own.filter(({ type }) => type === 'assistant_response').map(({ content }) => content.text!)
    const acknowledged = book.said.get(task) ?? []
    expect([task, said.slice(0, acknowledged.length)]).toEqual([task, acknowledged])
    expect(new Set(said).size).toBe(said.length)
    const told = (finished.get(task) ?? []).map(({ session_id }) => session_id)
    expect([task, told]).toEqual([task, mode === 'subsession' ? [origin] : []])
  }
  const decided = rows.filter(({ content }) => content.event === 'permission_decided')
  for (const [request, allow] of book.allowed) {
    const own = decided.filter(({ content }) => content.request_id === request)
    expect([request, own.map(({ content }) => content.allow)]).toEqual([request, [allow]])
  }
}

interface Kin {
  id: string
  parent: string | null
  forked: string | null
  root: string
  first: string | null
}

// A session for each fork and child, which names its origin and its root; no session that nobody asked for.
const expectGenealogy = async (sql: postgres.Sql, prompts: Prompt[]) => {
  const kin = await sql<Kin[]>`
    select s.id, s.parent_session_id as parent, s.forked_from_session_id as forked, a.root_session_id as root,
      (select content->>'event' from events e where e.session_id = s.id and e.sequence = 1) as first
    from sessions s join agents a on a.session_id = s.id`
  const known = new Map(kin.map((one) => [one.id, one]))
  expect(kin).toHaveLength(DESKS * SESSIONS + prompts.filter(({ mode }) => mode !== 'continue').length)
  for (const { session, origin, mode } of prompts) {
    const { parent, forked, root, first } = known.get(session)!
    if (mode === 'continue') expect([session, parent, forked, root]).toEqual([origin, null, null, origin])
    if (mode === 'subsession') expect([parent, forked, root]).toEqual([origin, null, origin])
    if (mode === 'fork') expect([parent, forked, first]).toEqual([null, origin, 'session_forked'])
  }
}

// Of the runs of one runner the newest alone has a lease: each one before it had ended.
const expectOneOfEachName = async (sql: postgres.Sql) => {
  const names = await sql<{ name: string; alive: number; newest: boolean }[]>`
    select name, count(*) filter (where ended_at is null)::int as alive,
      (array_agg(ended_at is null order by registered_at desc))[1] as newest
    from runners group by name`
  expect(names.map(({ alive, newest }) => [alive, newest])).toEqual(Array.from({ length: DESKS }, () => [1, true]))
}

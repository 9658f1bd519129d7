// No task runs twice and none is lost: tasks over runners, which are killed with -9 at random and started again, while the server is
// killed twice; with Postgres there are two instances, each killed once.
//   FULL=1 bun test tests/faults/control.test.ts    50 tasks over 5 runners and 32 kills; the short form has chaos.test.ts and the client's tests of runners
// Elsewhere: a `take` whose answer is lost (conformance/control/tasks, client/runner-tasks), a `finish` that comes late (conformance/control/tasks).
// No lease runs out here: a runner that comes back takes its former place at once.
import { beforeAll, expect, test } from 'bun:test'
import { bearer } from '../support/keys.ts'
import { startControlled, type Controlled } from '../support/controlled.ts'
import { buildRunner, newSite, until, type Site, type Started } from '../support/runner.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { databaseOf, ENGINES } from './engines.ts'
import { FULL } from '../support/full.ts'

const RUNNERS = 5
const SESSIONS = 10
const PROMPTS = 5 // to each session
const KILLS = 32 // of runners
const ALL_ENDED_WITHIN_MS = 240_000
const LINES = 8 // that each CLI prints

let program = ''
beforeAll(async () => {
  if (FULL) program = await buildRunner()
}, 180_000)

test.skipIf(!FULL).concurrent.each(ENGINES)(
  'on %s each task ends once, each prompt reaches a CLI at most once, and what a CLI printed is there in order, once',
  async (engine) => {
    const { environment, drop } = await databaseOf(engine)
    const hub = await startControlled(environment)
    const servers = [hub.server, ...(engine === 'postgres' ? [await startServer(environment)] : [])]
    const site = newSite(program)
    try {
      const ask = patientCaller(servers, hub.full)
      const runners = await startRunners(hub, site, servers)
      const sessions = await makeSessions(ask)
      const finals = watchFinals(ask, sessions)
      const sent = sendAll(ask, sessions)
      await Promise.all([killRunners(runners), killServers(servers)])
      const tasks = await sent
      await until(() => tasks.every(({ task_id }) => isFinal(finals.known.get(task_id))), ALL_ENDED_WITHIN_MS, 'all have ended')
      finals.over = true
      await finals.done
      expect(finals.changed).toEqual([])
      const outcomes = await expectTold(ask, site, tasks)
      expect(finals.known).toEqual(new Map(outcomes.map(({ task_id, status }) => [task_id, status])))
      const count = (status: string) => outcomes.filter((each) => each.status === status).length
      expect(count('completed')).toBeGreaterThan(0)
      expect(count('failed')).toBeLessThanOrEqual(2 * KILLS) // each ends what runs there
      console.log(`${engine}: ${count('completed')} completed, ${count('failed')} lost with their runners, over ${KILLS} kills of runners`)
    } finally {
      await site.drop()
      for (const server of servers) await server.remove()
      await drop()
    }
  },
  600_000,
)

type Ask = (path: string, body?: object, key?: string) => Promise<any>

// Asks one server after the other until one answers; a write has a key, so that it is applied once.
const patientCaller =
  (servers: TestServer[], full: string): Ask =>
  async (path, body, key = crypto.randomUUID()) => {
    for (let tries = 0; ; tries++) {
      const { url } = servers[tries % servers.length]!
      const headers = { ...bearer(full), 'idempotency-key': key }
      const sending = body ? { method: 'POST', headers, body: JSON.stringify(body) } : { headers }
      const response = await fetch(`${url}/api/${path}`, sending).catch(() => undefined)
      const answer: any = await response?.json().catch(() => undefined)
      if (response?.ok && answer) return answer
      if (response && response.status < 500) throw new Error(JSON.stringify(answer))
      if (tries > 1_000) throw new Error(`no server answers ${path}`)
      await Bun.sleep(100)
    }
  }

interface Desk {
  runner: Started
  again(): Started
}

const startRunners = async ({ newKey }: Controlled, site: Site, servers: TestServer[]): Promise<Desk[]> => {
  const keys = await Promise.all(Array.from({ length: RUNNERS }, (_, n) => newKey('run', `Desk ${n}`)))
  const desks = keys.map((key, n) => {
    const words = ['--name', `desk ${n}`, '--worktree', site.repository(`app-${n}`), '--parallel', '2']
    const again = () => site.launch({ url: servers[n % servers.length]!.url, key }, words)
    return { runner: again(), again }
  })
  await until(() => desks.every(({ runner }) => runner.output().includes('Registered as')), 60_000, 'all have registered')
  return desks
}

const makeSessions = async (ask: Ask): Promise<string[]> => {
  const { worktrees } = await ask('control/list_worktrees', {})
  expect(worktrees).toHaveLength(RUNNERS)
  const made = Array.from({ length: SESSIONS }, (_, n) => {
    const { worktree_id } = worktrees[n % RUNNERS]
    return ask('control/create_session', { title: `Session ${n}`, agentic_tool: 'scripted', worktree_id })
  })
  return (await Promise.all(made)).map(({ session_id }) => session_id)
}

interface Sent {
  task_id: string
  session_id: string
  prompt: string
  lines: string[]
}

const sendAll = async (ask: Ask, sessions: string[]): Promise<Sent[]> => {
  const sent: Sent[] = []
  for (let round = 0; round < PROMPTS; round++) {
    for (const [n, session_id] of sessions.entries()) {
      const lines = Array.from({ length: LINES }, (_, line) => `session ${n}, prompt ${round}, line ${line}`)
      const prompt = JSON.stringify(lines.map((say) => ({ say, sleep: Math.round(Math.random() * 100) })))
      const { task_id } = await ask('control/send_prompt', { session_id, prompt })
      sent.push({ task_id, session_id, prompt, lines })
    }
    await Bun.sleep(500)
  }
  return sent
}

const killRunners = async (desks: Desk[]) => {
  for (let kill = 0; kill < KILLS; kill++) {
    await Bun.sleep(300 + Math.random() * 1_200)
    const desk = desks[Math.floor(Math.random() * desks.length)]!
    desk.runner.child.kill('SIGKILL')
    await desk.runner.ended
    desk.runner = desk.again()
  }
}

const killServers = async (servers: TestServer[]) => {
  for (const server of [servers[0]!, servers.at(-1)!]) {
    await Bun.sleep(2_000 + Math.random() * 2_000)
    await server.kill()
    await Bun.sleep(500)
    await server.restart()
  }
}

const isFinal = (status: string | undefined) => status !== undefined && ['completed', 'failed', 'interrupted'].includes(status)

const LOOK_EVERY_MS = 1_000

// Looks at the status of each task all the time: a final one must never be another one later.
const watchFinals = (ask: Ask, sessions: string[]) => {
  const watched = { known: new Map<string, string>(), changed: [] as string[], over: false, done: Promise.resolve() }
  const { known, changed } = watched
  const look = async (session_id: string) => {
    const { tasks } = await ask('control/list_tasks', { session_id })
    for (const { task_id, status } of tasks) {
      const before = known.get(task_id)
      if (isFinal(before) && before !== status) changed.push(`${task_id}: ${before}, then ${status}`)
      known.set(task_id, status)
    }
  }
  const watch = async () => {
    while (!watched.over) {
      await Bun.sleep(LOOK_EVERY_MS)
      for (const session_id of sessions) await look(session_id)
    }
  }
  watched.done = watch()
  return watched
}

const expectTold = async (ask: Ask, site: Site, tasks: Sent[]) => {
  const reached = site.prompts()
  const outcomes: { task_id: string; status: string }[] = []
  for (const session_id of new Set(tasks.map((task) => task.session_id))) {
    const own = tasks.filter((task) => task.session_id === session_id)
    const { messages } = await ask(`sessions/${session_id}/messages?include_trace=true&limit=500`)
    expect(messages.map(({ sequence }: any) => sequence)).toEqual(messages.map((_: unknown, n: number) => n + 1))
    for (const { task_id, prompt, lines } of own) {
      const { task } = await ask('control/get_task', { task_id })
      const events = messages.filter((event: any) => event.task_id === task_id)
      const told = events.filter(({ type }: any) => type === 'assistant_response').map(({ content }: any) => content.text)
      const times = reached.filter((each) => each === prompt || each.endsWith(`\n\n${prompt}`)).length // after a digest, where a task before it was lost
      const ends = events.filter(({ type, content }: any) => type === 'chat' || content.event === 'task_failed')
      expect(ends).toHaveLength(1)
      if (task.status === 'completed') {
        expect([times, told]).toEqual([1, lines])
        expect(task.answer.text).toBe('Done.')
      } else {
        expect(task).toMatchObject({ status: 'failed', error: { code: 'runner_lost' } })
        expect(times).toBeLessThanOrEqual(1)
        expect(told).toEqual(lines.slice(0, told.length))
      }
      outcomes.push({ task_id, status: task.status })
    }
    const order = reached.filter((prompt) => own.some((task) => task.prompt === prompt))
    expect(order).toEqual(own.map(({ prompt }) => prompt).filter((prompt) => order.includes(prompt)))
  }
  return outcomes
}

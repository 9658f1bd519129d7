// A hub as a runner sees it: it answers what a runner calls (src/control/runner) over HTTP, keeps what it is told, and can be away, forget, revoke and lose answers.
import type { Server } from 'bun'
import { newKey } from '../../src/core/ids.ts'
import { freePort } from './server.ts'

export interface HubTask {
  task_id: string
  session_id: string
  events: { key: string; type: string; content: any; tool_name?: string; at: number }[]
  finished?: any
  asked: any[]
  handedOut: number
}

type Answered = { status?: number; body: any } | undefined

const HELD_MS = 30_000

export const startRunnerHub = async (config: Record<string, unknown> = { pages_open: false }) => {
  const key = newKey('run')
  const calls: { call: string; body: any; at: number }[] = []
  const tasks = new Map<string, HubTask>()
  const queue: any[] = []
  const wanted: any[] = [] // worktree orders
  const made: any[] = []
  const interrupts = new Set<string>()
  const lost = new Set<string>()
  const twice = new Set<string>()
  const given = new Map<string, any>()
  const archived = new Set<string>()
  const inUse = new Set<string>()
  const decisions: { allow: boolean; message?: string }[] = []
  let registered: any
  let runnerId = ''
  let revoked = false
  let loseTakes = 0
  let takesPaths = true
  let takesNot: (result: any) => boolean = () => false
  let wake = () => {}
  const news = () => wake()

  const refuse = (status: number, code: string, message: string): Answered => ({ status, body: { error: { code, message, details: {} } } })
  const taskOf = (body: any) => {
    const task = tasks.get(body.task_id)
    return !task || body.runner_id !== runnerId || lost.has(body.task_id) || task.finished ? undefined : task
  }
  const answers: Record<string, (body: any) => Answered | Promise<Answered>> = {
    register(body) {
      registered = body
      for (const task of tasks.values()) if (task.handedOut > 0 && !task.finished) lost.add(task.task_id)
      runnerId = crypto.randomUUID()
      return {
        body: {
          runner_id: runnerId,
          worktrees: body.worktrees.map(({ path }: any) => ({ path, worktree_id: crypto.randomUUID() })),
          lease_s: 60,
        },
      }
    },
    async take({ runner_id, running, timeout }) {
      if (runner_id !== runnerId)
        return runnerId === ''
          ? refuse(404, 'not_found', 'No such runner.')
          : refuse(409, 'conflict', 'Another runner of this name has registered.')
      for (const id of running) queue.splice(0, queue.length, ...queue.filter((task) => task.task_id !== id))
      const ends = Date.now() + Math.min(timeout * 1_000, HELD_MS)
      for (;;) {
        const orders = [
          ...[...interrupts].filter((id) => !tasks.get(id)?.finished).map((task_id) => ({ task_id, order: 'interrupt' })),
          ...wanted.map((each) => ({ ...each, order: 'worktree' })),
        ]
        if (revoked) return undefined
        if (runner_id !== runnerId) return answers.take!({ runner_id, running, timeout: 0 })
        const again = [...twice].map((id) => given.get(id))
        twice.clear()
        if (queue.length > 0 || again.length > 0 || orders.length > 0 || Date.now() >= ends) {
          for (const task of [...queue, ...again]) {
            tasks.get(task.task_id)!.handedOut++
            given.set(task.task_id, task)
          }
          return { body: { tasks: [...queue, ...again], orders, waiting_s: 0 } }
        }
        await Promise.race([new Promise<void>((resolve) => (wake = resolve)), Bun.sleep(ends - Date.now())])
      }
    },
    events(body) {
      const task = taskOf(body)
      if (!task) return refuse(409, 'conflict', 'This task is not yours any more.')
      if (body.events.length < 1 || body.events.length > 200) return refuse(400, 'invalid_request', 'events: 1 to 200.')
      if (body.events.some(({ content }: any) => content.text === 'not taken')) return refuse(400, 'invalid_request', 'content')
      for (const event of body.events)
        if (!task.events.some(({ key: there }) => there === event.key)) task.events.push({ ...event, at: Date.now() })
      return { body: { last_sequence: task.events.length } }
    },
    finish(body) {
      const task = tasks.get(body.task_id)
      if (task?.finished && JSON.stringify(task.finished) === JSON.stringify(body)) return { body: { task } }
      if (!taskOf(body)) return refuse(409, 'conflict', 'This task has ended.')
      if (takesNot(body)) return refuse(400, 'invalid_request', 'usage: Invalid input')
      task!.finished = body
      return { body: { task } }
    },
    worktree(body) {
      made.push(body)
      wanted.splice(0, wanted.length, ...wanted.filter(({ session_id }) => session_id !== body.session_id))
      return { body: { worktree_id: crypto.randomUUID() } }
    },
    unregister: () => ({ body: {} }),
    archived({ session_ids, paths }) {
      if (paths && !takesPaths) return refuse(400, 'invalid_request', 'paths: Unrecognized key')
      const isKept = (id: string, i: number) => !archived.has(id) || inUse.has(paths?.[i])
      return { body: { archived: session_ids.filter((id: string, i: number) => !isKept(id, i)) } }
    },
    async ask(body) {
      const task = taskOf(body)
      if (!task) return refuse(409, 'conflict', 'This task is not yours any more.')
      task.asked.push(body)
      await Bun.sleep(20)
      return { body: decisions.length > 0 ? decisions.shift() : { waiting: true } }
    },
  }
  const answer = async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url)
    if (pathname === '/api/config') return Response.json({ mcp_url: `${hub.url}/mcp`, ...config })
    if (!pathname.startsWith('/api/runner/')) return new Response('Something else')
    const call = pathname.replace('/api/runner/', '')
    const body = await request.json()
    calls.push({ call, body, at: Date.now() })
    const known = request.headers.get('authorization') === `Bearer ${key}`
    if (!known || revoked) return unauthorized()
    if (!answers[call] || request.method !== 'POST')
      return Response.json({ error: { code: 'not_found', message: call, details: {} } }, { status: 404 })
    const given = await answers[call]!(body)
    if (!given) return unauthorized()
    const isLost = call === 'take' && given.body.tasks?.length > 0 && loseTakes-- > 0
    if (isLost) return new Response('half an ans', { headers: { 'content-length': '1000' } })
    return Response.json(given.body, { status: given.status ?? 200 })
  }
  const unauthorized = () =>
    Response.json({ error: { code: 'unauthorized', message: 'This key was revoked.', details: {} } }, { status: 401 })
  let server: Server<undefined> | undefined
  const listen = (port: number) => Bun.serve({ port, hostname: '127.0.0.1', idleTimeout: 60, fetch: answer })
  server = listen(await freePort()) // nobody is given it while it is away
  const port = server.port!
  const hub = {
    url: `http://127.0.0.1:${port}`,
    key,
    calls,
    tasks,
    made,
    decisions,
    /** Session ids. */
    archived,
    /** Folders in which sessions work. */
    inUse,
    get registered() {
      return registered
    },
    /** Queues a task for the worktree at `path`. */
    prompt(path: string, prompt: string, more: Record<string, unknown> = {}): HubTask {
      const task: HubTask = { task_id: crypto.randomUUID(), session_id: crypto.randomUUID(), events: [], asked: [], handedOut: 0 }
      tasks.set(task.task_id, task)
      const { task_id, session_id } = task
      const rest = { conversation: null, fork: null, context_files: [], mcp_servers: [], mcp_url: `${hub.url}/mcp?toolsets=rooms,control` }
      queue.push({
        task_id,
        session_id,
        prompt,
        agentic_tool: 'scripted',
        permission_mode: 'default',
        path,
        ...rest,
        agent_key: newKey('agent'),
        max_s: 3600,
        ...more,
      })
      news()
      return task
    },
    /** Hands a task out once more, whatever the runner has said of it. */
    async again({ task_id }: HubTask) {
      twice.add(task_id)
      news()
      while (twice.has(task_id)) await Bun.sleep(10)
    },
    interrupt({ task_id }: HubTask) {
      interrupts.add(task_id)
      news()
    },
    wantWorktree(order: { session_id: string; repo_full_name: string; branch: string }) {
      wanted.push(order)
      news()
    },
    /** The task's lease is over: every further call for it gets 409. */
    lose: ({ task_id }: HubTask) => void lost.add(task_id),
    /** Refuses results that are so, with 400. */
    refuseResults: (so: (result: any) => boolean) => void (takesNot = so),
    /** Does not know this call, as an earlier version. */
    knowNoMore: (call: string) => void delete answers[call],
    /** Refuses paths where it is asked which sessions are archived, as an earlier version. */
    takeNoPaths: () => void (takesPaths = false),
    loseNextTake: () => void (loseTakes = 1),
    revoke() {
      revoked = true
      news()
    },
    /** Knows no runner any more. */
    forget() {
      runnerId = ''
      news()
    },
    /** Another process registers under this runner's name. */
    takePlace() {
      runnerId = crypto.randomUUID()
      news()
    },
    /** Nobody listens at its port. */
    async away() {
      await server?.stop(true)
      server = undefined
    },
    back: () => void (server = listen(port)),
    end: () => server?.stop(true),
  }
  return hub
}

export type RunnerHub = Awaited<ReturnType<typeof startRunnerHub>>

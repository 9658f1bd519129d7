// One agent steers another through a runner beside the server: how long a prompt takes to its CLI, a printed line to its readers, and what
// the traffic of a task and an idle runner cost everybody else. The runner is the real client program as a process of its own, with a scripted
// agent. `bun bench/control.ts`, or one part alone with `sends` or `events` behind it.
import { chmodSync, cpSync, readFileSync, writeFileSync } from 'node:fs'
import { hubCalls } from '../src/client/runner/hub-calls.ts'
import { newOutbox, Store } from '../src/client/runner/outbox.ts'
import { makeKey } from '../src/control/keys/keys.ts'
import { bearer } from '../tests/support/keys.ts'
import { buildRunner, newSite, until, type Site } from '../tests/support/runner.ts'
import { loadFrom } from './client.ts'
import { bench, median, newRoom, row, spread } from './support.ts'

const PROMPTS = 50
const WARM_UP = 5
const LINES = 60
const SENDS = 300
const PER_SESSION = 40 // below the limit of open tasks
const EVENTS_PER_SECOND = 2_000
const AHEAD_BYTES = 256 * 1024 // more than one call takes
const ROUNDS = 10 // short ones in turn: what else the machine does falls on all alike
const POSTERS = 4
const POST_SECONDS = 2
const IDLE_S = 60
const TEXT = 'The parser reads the empty file as one line without an end, which is why the count is off. '.repeat(3)

type At = Parameters<Parameters<typeof bench>[0]>[0]
type Api = (path: string, body: object, key?: string) => Promise<any>

const part = process.argv[2]
if (part === 'tell') {
  console.log(await tell(await Bun.stdin.json()))
  process.exit(0)
}
await bench(async (at) => {
  const full = await makeKey(at.services, { scope: 'full', name: 'Robin', sessionId: undefined, by: 'the bench' })
  const key = await makeKey(at.services, { scope: 'run', name: 'A runner', sessionId: undefined, by: 'the bench' })
  const api = apiOf(at.url, full)
  if (part !== 'events') await sendingAlone(at, api)
  if (part !== 'sends') await manyEvents(at, api)
  if (part !== undefined) return
  const alone = await statementsOf(at, 'server without a runner')
  const site = newSite(await buildRunner())
  try {
    timedAgent(site)
    await site.start({ url: at.url, key })
    await throughTheRunner(at, api, site, full)
    await Bun.sleep(2_000)
    const before = await takesOf(at.url)
    const idle = await statementsOf(at, 'server with an idle runner')
    row('an idle runner costs', `${((idle - alone) / IDLE_S).toFixed(2)} statements a second  (aim: less than 1)`)
    row('requests of an idle runner in a minute', `${(((await takesOf(at.url)) - before) * 60) / IDLE_S}  (aim: at most 4)`)
  } finally {
    await site.drop()
  }
})

function apiOf(url: string, full: string): Api {
  return async (path, body, key = full) => {
    const response = await fetch(`${url}/api/${path}`, { method: 'POST', headers: bearer(key), body: JSON.stringify(body) })
    const answer: any = await response.json()
    if (!response.ok) throw new Error(`${path}: ${JSON.stringify(answer)}`)
    return answer
  }
}

// A runner that does not take: the prompts stay queued.
async function registered({ services }: At, api: Api, name: string) {
  const key = await makeKey(services, { scope: 'run', name, sessionId: undefined, by: 'the bench' })
  const worktree = { path: `/code/${name}`, repo_full_name: name, branch: 'main', head: null }
  const { runner_id, worktrees } = await api('runner/register', { name, agents: [], worktrees: [worktree] }, key)
  const session = async (): Promise<string> =>
    (await api('control/create_session', { title: 'Bench', worktree_id: worktrees[0].worktree_id })).session_id
  return { key, runner_id, session }
}

async function sendingAlone(at: At, api: Api) {
  const { session } = await registered(at, api, 'sends')
  const room = await newRoom(at.url)
  const post = () =>
    fetch(`${at.url}/api/sessions/${room.session_id}/messages`, {
      method: 'POST',
      headers: { 'x-team-id': room.team_id },
      body: JSON.stringify({ content: { text: TEXT } }),
    }).then((response) => response.json())
  const [posts, sends]: [number[], number[]] = [[], []]
  let session_id = ''
  for (let n = -PER_SESSION; n < SENDS; n++) {
    if (n % PER_SESSION === 0) session_id = await session()
    const [posted, sent] = [await timed(post), await timed(() => api('control/send_prompt', { session_id, prompt: TEXT }))]
    if (n < 0) continue
    posts.push(posted)
    sends.push(sent)
  }
  row('post_message, one at a time, ms', spread(posts))
  row('send_prompt, one at a time, ms', spread(sends))
  row('ratio of the medians', `${(median(sends) / median(posts)).toFixed(2)}  (aim: at most 2)`)
}

async function manyEvents(at: At, api: Api) {
  const rooms = await Promise.all(Array.from({ length: POSTERS }, () => newRoom(at.url)))
  const posting = () =>
    loadFrom({
      url: at.url,
      connections: POSTERS,
      seconds: POST_SECONDS,
      requests: rooms.map(({ session_id, team_id }) => ({
        method: 'POST',
        path: `/api/sessions/${session_id}/messages`,
        headers: { 'x-team-id': team_id },
        body: JSON.stringify({ content: { text: TEXT } }),
      })),
    })
  const { key, runner_id, session } = await registered(at, api, 'events')
  const { task_id } = await api('control/send_prompt', { session_id: await session(), prompt: 'Go.' })
  await api('runner/take', { runner_id, timeout: 5 }, key)
  const samples = { rates: [] as number[], alone: [] as number[], paced: [] as number[], full: [] as number[] }
  const ratios = { paced: [] as number[], full: [] as number[] }
  for (let round = -1; round < ROUNDS; round++) {
    const quiet = await posting()
    if (round >= 0) samples.alone.push(...quiet.took)
    for (const [pace, perSecond] of [
      ['paced', EVENTS_PER_SECOND],
      ['full', Number.MAX_SAFE_INTEGER],
    ] as const) {
      const teller = tellIn({ url: at.url, key, runner_id, task_id, name: `${pace}-${round}`, perSecond })
      const busy = await posting()
      const rate = await teller
      await at.services.indexer.run()
      if (round < 0) continue
      if (pace === 'full') samples.rates.push(rate)
      samples[pace].push(...busy.took)
      ratios[pace].push(median(busy.took) / median(quiet.took))
    }
  }
  row('events of one task, a second', `${spread(samples.rates, 0)}  (aim: at least ${EVENTS_PER_SECOND})`)
  row(`posts of ${POSTERS} other sessions, ms`, spread(samples.alone))
  row(`the same beside ${EVENTS_PER_SECOND} events a second, ms`, spread(samples.paced))
  row('ratio of the medians', `${median(ratios.paced).toFixed(2)}  (aim: at most 1.5)`)
  row('the same beside as many events as are taken, ms', spread(samples.full))
  row('ratio of the medians', `${median(ratios.full).toFixed(2)}  (aim: at most 1.5)`)
}

interface Telling {
  url: string
  key: string
  runner_id: string
  task_id: string
  name: string
  perSecond: number
}

// In a process of its own, as a runner is one; resolves to how many were taken a second.
async function tellIn(telling: Telling): Promise<number> {
  const child = Bun.spawn([process.execPath, import.meta.path, 'tell'], {
    stdin: new Blob([JSON.stringify(telling)]),
    stdout: 'pipe',
    stderr: 'inherit',
  })
  return Number(await new Response(child.stdout).text())
}

// Through a runner's own outbox, for as long as the others post. As fast as the hub takes them: there is always something to send.
async function tell({ url, key, name, perSecond, ...of }: Telling): Promise<number> {
  const store = new Store()
  const outbox = newOutbox(hubCalls(url, key, console.error), store, of, new AbortController().signal, console.error)
  const begin = performance.now()
  const seconds = () => (performance.now() - begin) / 1_000
  let told = 0
  while (seconds() < POST_SECONDS) {
    for (const due = seconds() * perSecond; told < due && store.bytes < AHEAD_BYTES; told++)
      outbox.add({ key: `${name}-${told}`, type: 'assistant_response', content: { text: TEXT } })
    await Bun.sleep(1)
  }
  await outbox.drained()
  return told / seconds()
}

// The scripted agent behind a shell that notes when it was spawned: Node takes longer to start than what is measured.
function timedAgent(site: Site) {
  const [agent, real] = [site.path('bin', 'scripted-agent'), site.path('agent.mjs')]
  cpSync(agent, real)
  writeFileSync(agent, `#!/bin/sh\n[ "$1" = --version ] || date +%s%N >> ${site.path('spawned')}\nexec node ${real} "$@"\n`)
  chmodSync(agent, 0o755)
}

async function throughTheRunner({ url }: At, api: Api, site: Site, full: string) {
  const { session_id } = await api('control/create_session', {
    title: 'Bench',
    agentic_tool: 'scripted',
    repo_full_name: 'app',
    branch: 'main',
  })
  const spawned: number[] = []
  for (let n = -WARM_UP; n < PROMPTS; n++) {
    const { task_id } = await api('control/send_prompt', { session_id, prompt: 'Go.' })
    const answered = now()
    await api('control/get_task', { task_id, timeout_ms: 60_000 })
    if (n >= 0) spawned.push(Number(readFileSync(site.path('spawned'), 'utf8').trim().split('\n').at(-1)) / 1e6 - answered)
  }
  row('send_prompt answered → its CLI is spawned, ms', `${spread(spawned)}  (aim: p50 at most 100)`)
  const printed = await printedToReadable(url, api, session_id, full)
  row('a line printed → in the stream, ms', `${spread(printed)}  (aim: p50 at most 100)`)
}

async function printedToReadable(url: string, api: Api, session_id: string, full: string): Promise<number[]> {
  const steps = Array.from({ length: LINES }, () => ({ now: 1, sleep: 50 }))
  const stream = await fetch(`${url}/api/sessions/${session_id}/stream?include_trace=true`, { headers: bearer(full) })
  const lags: number[] = []
  const { task_id } = await api('control/send_prompt', { session_id, prompt: JSON.stringify(steps) })
  let rest = ''
  for await (const chunk of stream.body!.pipeThrough(new TextDecoderStream()) as unknown as AsyncIterable<string>) {
    const at = now()
    const blocks = (rest + chunk).split('\n\n')
    rest = blocks.pop()!
    for (const block of blocks) {
      const data = /^data: (.*)$/m.exec(block)?.[1]
      const event = data ? JSON.parse(data) : {}
      if (event.task_id === task_id && event.type === 'assistant_response') lags.push(at - Number(event.content.text))
    }
    if (lags.length === LINES) break
  }
  await until(async () => (await api('control/get_task', { task_id })).task.status === 'completed')
  return lags.slice(WARM_UP)
}

function now(): number {
  return performance.timeOrigin + performance.now()
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begin = performance.now()
  await work()
  return performance.now() - begin
}

async function statementsOf({ services }: At, name: string): Promise<number> {
  const before = services.database.statements()
  await Bun.sleep(IDLE_S * 1_000)
  const count = services.database.statements() - before
  row(`statements in ${IDLE_S} s, ${name}`, `${count}`)
  return count
}

async function takesOf(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return [...text.matchAll(/^parley_calls_total\{operation="[\w.]*(?:take_tasks|register_runner)".*\} (\d+)$/gm)].reduce(
    (sum, [, count]) => sum + Number(count),
    0,
  )
}

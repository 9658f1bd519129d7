// Hours of work of every kind leave nothing behind: memory and open files stay flat, and tables grow with what was said, or not at all. In its
// short form it is a minute of light work.
//   FULL=1 bun test tests/faults/soak.test.ts            half an hour
//   SOAK_MINUTES=120 bun test tests/faults/soak.test.ts  as long as said; RESULTS.md has what came of it
import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import { startControlled, type Controlled } from '../support/controlled.ts'
import { whileBusy } from '../support/cpu.ts'
import { FULL } from '../support/full.ts'
import type { TestServer } from '../support/server.ts'
import { databaseOf } from './engines.ts'
import { call, gauge, openRoom, until, wait, type Room } from './rooms.ts'

const LONG = FULL || process.env.SOAK_MINUTES !== undefined
const MINUTES = Number(process.env.SOAK_MINUTES ?? (LONG ? 30 : 1))
const LOOKS = LONG ? 40 : 10 // at figures, evenly over the time
const WARM = 0.5 // of the time: until then caches fill and code is compiled
const ROOMS = 4
const TEAMS = 3 // in each
const REST_MS = LONG ? 150 : 1_500 // between two calls of a team
const MOST_HELD_MIB_A_MINUTE = LONG ? 2 : 5 // 0.5 to 1.4 at the end of a first minute, with what is remembered of what was said last
const MOST_MIB_A_MINUTE = 2
const SLACK_MIB = 24 // what a process takes and gives back as it likes
const MOST_MIB = 400
const MOST_LAG_MS = 10_000 // for what hangs: to collect takes 50 ms, and a busy machine stands still for a second or two
const MIB = 1024 ** 2

const COLLECTING = `--preload=${join(import.meta.dir, '../support/collecting.mjs')}`

interface Look {
  minutes: number
  /** What the process takes of the machine's memory. */
  mib: number
  /** What JavaScript holds once it has collected. Asked in the second half: to collect takes time, and code is compiled meanwhile. */
  heldMib: number
  files: number
  waits: number
  rows: Record<string, number>
}

test.skipIf(process.platform !== 'linux')(
  'rooms, boards, records and agents at work: memory and open files stay flat, tables grow with the log or not at all',
  async () => {
    const { environment, drop } = await databaseOf('postgres')
    const hub = await startControlled({ ...environment, WAKES_PER_HOUR: '1000', LOOP_GUARD: 'off', BUN_OPTIONS: COLLECTING })
    const sql = postgres(environment.DATABASE_URL!, { max: 1, onnotice() {} })
    const over = { now: false }
    try {
      const rooms = await Promise.all(Array.from({ length: ROOMS }, () => openRoom(hub.url, TEAMS)))
      const work = [
        ...rooms.flatMap((room) => room.teams.map((_, n) => teamAtWork(room, n, over))),
        agentAtWork(hub, over),
        reader(hub, rooms, over),
      ]
      const working = Promise.all(work)
      working.catch(() => {}) // a failure is thrown where all of it is awaited
      const looks = await lookOn(hub, sql)
      const lagMs = 1_000 * (await gauge(hub.url, 'event_loop_lag_seconds'))
      over.now = true
      const done = await working
      report(looks, done.reduce((sum, one) => sum + one, 0), lagMs) // prettier-ignore
      expect(Math.min(...done)).toBeGreaterThan(0) // each has worked; how much in the time is the machine's affair
      expectFlat(looks)
      expect(lagMs).toBeLessThan(whileBusy(MOST_LAG_MS))
      expectBounded(looks)
    } finally {
      over.now = true
      await sql.end({ timeout: 1 })
      await hub.server.remove()
      await drop()
    }
  },
  MINUTES * 60_000 + 300_000,
)

/** A team waits, speaks, writes the document, works at the board and proposes, until it is over. Resolves to how many calls it made. */
const teamAtWork = async (room: Room, n: number, over: { now: boolean }): Promise<number> => {
  const { url, session, teams } = room
  const team = teams[n]!
  const write = async (path: string, body: object) => {
    const key = crypto.randomUUID()
    for (;;) {
      const answer = await call(url, 'POST', `/api/${path}`, { team, body, key }).catch(unlessCut)
      if (answer?.status === 200 || answer?.status === 409) return answer
      if (answer && answer.status !== 503) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
      await Bun.sleep(500) // a machine that is busy with others
    }
  }
  let cursor = 0
  let calls = 0
  for (; !over.now; calls++) {
    await Bun.sleep(REST_MS)
    if (calls % 3 === 0) cursor = (await wait(room, cursor, { team, timeout: 0.5 })).body.next_cursor ?? cursor
    else if (calls % 40 === 1) await write(`sessions/${session}/doc/append`, { text: `- ${calls}` }).catch(() => rewrite(room, team))
    else if (calls % 40 === 2) await workOn(write, session)
    else if (n === 0 && calls % 100 === 5)
      // the convener
      await write('records/propose_decision', { meeting_id: session, title: `Part ${calls} of ${n} ships`, description: 'So it is.' })
    else await write(`sessions/${session}/messages`, { content: { text: `Number ${calls} of team ${n}: ${crypto.randomUUID()}` } })
  }
  return calls
}

/** A connection that has said nothing for a while may be closed just when it is used again: what was sent is sent again, with its key. */
const unlessCut = (error: unknown): undefined => {
  if ((error as { code?: string }).code !== 'ECONNRESET') throw error
}

/** The document begins anew when it has reached its limit. */
const rewrite = async ({ url, session }: Room, team: string) => {
  const { body } = await call(url, 'GET', `/api/sessions/${session}/doc`, { team })
  await call(url, 'POST', `/api/sessions/${session}/doc`, { team, body: { content: '# Plan', expected_version: body.version } })
}

const workOn = async (write: (path: string, body: object) => Promise<{ status: number; body: any }>, session: string) => {
  const planned = await write(`sessions/${session}/work`, { items: [{ title: `Item ${crypto.randomUUID()}` }] })
  const item = planned.body.items?.[0]?.item_id
  if (!item) return
  await write(`sessions/${session}/work/claim`, { item_id: item })
  await write(`sessions/${session}/work/${item}`, { status: 'done', result: 'Done.' })
}

/** A runner that is played: prompts are queued, taken, told of and finished. */
const agentAtWork = async (hub: Controlled, over: { now: boolean }): Promise<number> => {
  const { key } = hub
  const control: Controlled['control'] = async (...call) => {
    for (;;)
      try {
        return await hub.control(...call)
      } catch (error) {
        if (!String(error).includes('"unavailable"')) throw error
        await Bun.sleep(500) // a machine that is busy with others
      }
  }
  const worktree = { path: '/code/parser', repo_full_name: 'acme/parser', branch: 'main', head: '0'.repeat(40) }
  const agents = [{ agentic_tool: 'claude-code', version: '2.1.330' }]
  const { runner_id } = await control('runner/register', { name: 'soak', agents, worktrees: [worktree] }, key)
  const { session_id } = await control('create_session', { title: 'Parser', repo_full_name: 'acme/parser', branch: 'main' })
  let calls = 0
  for (; !over.now; calls++) {
    await control('send_prompt', { session_id, prompt: `Add test ${calls}.` })
    const { tasks } = await control('runner/take', { runner_id, running: [], timeout: 5 }, key)
    for (const { task_id } of tasks) {
      const events = [{ key: crypto.randomUUID(), type: 'assistant_response', content: { text: `Test ${calls} is there.` } }]
      await control('runner/events', { runner_id, task_id, events }, key)
      await control('runner/finish', { runner_id, task_id, status: 'completed', answer: 'Done.' }, key)
    }
    await Bun.sleep(REST_MS * 4)
  }
  return calls
}

/** Somebody opens pages, follows streams for a moment, and searches. */
const reader = async ({ url }: Controlled, rooms: Room[], over: { now: boolean }): Promise<number> => {
  let calls = 0
  for (; !over.now; calls++) {
    const { session, teams } = rooms[calls % ROOMS]!
    await (await fetch(`${url}/sessions/${session}`)).text()
    await (await fetch(`${url}/search?q=number`)).text()
    const hangUp = new AbortController()
    const stream = await fetch(`${url}/api/sessions/${session}/stream`, { headers: { 'x-team-id': teams[0]! }, signal: hangUp.signal })
    await stream.body!.getReader().read()
    hangUp.abort()
    await Bun.sleep(REST_MS * 10)
  }
  return calls
}

const lookOn = async ({ server }: Controlled, sql: postgres.Sql): Promise<Look[]> => {
  const looks: Look[] = []
  const from = performance.now()
  for (let n = 1; n <= LOOKS; n++) {
    await Bun.sleep(Math.max(0, from + (n / LOOKS) * MINUTES * 60_000 - performance.now()))
    const heldMib = n > LOOKS * WARM ? await heldBy(server) : NaN
    const mib = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))![1]) / 1024
    const files = readdirSync(`/proc/${server.pid}/fd`).length
    const waits = await gauge(server.url, 'waits_held')
    looks.push({ minutes: (performance.now() - from) / 60_000, mib, heldMib, files, waits, rows: await rowsOf(sql) })
  }
  return looks
}

const heldBy = async (server: TestServer): Promise<number> => {
  const said = () => [...server.output().matchAll(/^Held: (\d+)$/gm)]
  const before = said().length
  process.kill(server.pid, 'SIGUSR2')
  await until('it has collected', 60_000, () => said().length > before)
  return Number(said().at(-1)![1]) / MIB
}

const rowsOf = async (sql: postgres.Sql): Promise<Record<string, number>> => {
  const tables = await sql<{ name: string }[]>`select tablename as name from pg_tables where schemaname = 'public'`
  const counts = await sql.unsafe<{ name: string; rows: number }[]>(
    tables.map(({ name }) => `select '${name}' as name, count(*)::int as rows from "${name}"`).join(' union all '),
  )
  return Object.fromEntries(counts.map(({ name, rows }) => [name, rows]))
}

const warm = (looks: Look[]) => looks.slice(Math.floor(LOOKS * WARM))

/** The slope of a straight line through the figures, in MiB a minute (least squares). */
const slope = (looks: Look[], figure: 'mib' | 'heldMib'): number => {
  const mean = (of: (look: Look) => number) => looks.reduce((sum, look) => sum + of(look), 0) / looks.length
  const [x, y] = [mean(({ minutes }) => minutes), mean((look) => look[figure])]
  const over = looks.reduce((sum, look) => sum + (look.minutes - x) * (look[figure] - y), 0)
  return over / looks.reduce((sum, { minutes }) => sum + (minutes - x) ** 2, 0)
}

const expectFlat = (looks: Look[]) => {
  const late = warm(looks)
  const minutes = late.at(-1)!.minutes - late[0]!.minutes
  expect(slope(late, 'heldMib')).toBeLessThan(MOST_HELD_MIB_A_MINUTE)
  expect(slope(late, 'mib') * minutes).toBeLessThan(Math.max(SLACK_MIB, MOST_MIB_A_MINUTE * minutes))
  expect(Math.max(...looks.map(({ mib }) => mib))).toBeLessThan(MOST_MIB)
  const half = Math.floor(late.length / 2)
  const most = (part: Look[]) => Math.max(...part.map(({ files }) => files))
  expect(most(late.slice(half))).toBeLessThanOrEqual(most(looks.slice(0, -half)) + 8) // the database's connections come and go
}

// The load has so many rooms, teams and runners: rows of these stay as they are. What is said is kept for ever, with its search index, the
// answers of its idempotency keys and the ended keys of its tasks: these grow with the log, and no faster.
const STAY = ['sessions', 'participants', 'runners', 'worktrees', 'agents', 'sign_ins', 'people', 'settings', 'shares', 'invitations', 'wakes', 'loops', 'seats', 'push_subscriptions', 'session_docs', 'parley_migrations', 'imports'] // prettier-ignore
const EMPTY = ['notice_deliveries']
// In the first minute the index is behind the log, and words are new.
const OF_THE_INDEX: Record<string, number> = { event_search: 1, search_terms: 20 } // rows an event, at most

const expectBounded = (looks: Look[]) => {
  const late = warm(looks)
  const [first, last] = [late[0]!.rows, late.at(-1)!.rows]
  for (const name of STAY) expect([name, last[name]]).toEqual([name, first[name]])
  for (const name of EMPTY) expect([name, last[name]]).toEqual([name, 0])
  for (const [name, rows] of Object.entries(last)) {
    if (STAY.includes(name)) continue
    const asBefore = 1.3 * (first[name]! / first.events!) + 0.05
    const bound = LONG ? asBefore : (OF_THE_INDEX[name] ?? asBefore)
    expect(rows / last.events!, `${name} for each event`).toBeLessThanOrEqual(bound)
  }
}

const report = (looks: Look[], done: number, lagMs: number) => {
  const late = warm(looks)
  const [first, last] = [late[0]!, late.at(-1)!]
  const figures = {
    minutes: Math.round(last.minutes * 10) / 10,
    calls: done,
    events: last.rows.events,
    memory: `${first.mib.toFixed(0)} MiB after ${first.minutes.toFixed(1)} minutes, ${last.mib.toFixed(0)} at the end, ${slope(late, 'mib').toFixed(2)} a minute`,
    held: `${first.heldMib.toFixed(1)} MiB, then ${last.heldMib.toFixed(1)}, ${slope(late, 'heldMib').toFixed(2)} a minute`,
    files: `${first.files} and ${last.files}`,
    lag: `${lagMs.toFixed(0)} ms`,
    load: loadavg()[0]!.toFixed(1),
  }
  console.log(`soak: ${JSON.stringify(figures)}\n${JSON.stringify({ first: first.rows, last: last.rows })}`)
}

// How cost grows with the agents: N agents in N/10 sessions, each holding a wait over REST at one of two instances that share a Postgres, all
// on this machine; N/50 posts a second among them. For each N: processor time and memory for each agent, statements and processor time for
// each post, and how long a post takes to the agents of its session. Every agent checks that it is handed each message once, in order.
// With the most agents the rate is then raised until the wakes are late or the loader is: where the limit lies.
//   bun bench/scale.ts                        100 and 1,000 agents, 20 s of posts each: about 4 minutes
//   bun bench/scale.ts full                   100, 1,000, 3,000 and 10,000, the last with 200 posts/s for ten minutes: about 25 minutes
//   bun bench/scale.ts --agents 10000 --rate 200 --seconds 60 [--no-limit] [--statements]
// --statements lists the statements that Postgres was sent most often, by its module pg_stat_statements.
// What each part uses of the processors is printed beside every figure: on two cores the loader, the servers and Postgres share them.
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { freshDatabase, startPostgres, type TestPostgres } from '../tests/support/postgres.ts'
import { cpuOf, cpuOfFamily } from './processes.ts'
import type { Command, Report, Seat } from './scale-agents.ts'
import { AIM_MS, faults, figuresOf, HEAD, lineOf, parts, printFigures, wakes, type Phase, type Used } from './scale-figures.ts'
import { countStatements, printStatements } from './scale-statements.ts'
import { load, metricsOf, percentile, row, serverProcess, type Room } from './support.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    agents: { type: 'string' },
    rate: { type: 'string' },
    seconds: { type: 'string' },
    'no-limit': { type: 'boolean' },
    statements: { type: 'boolean' },
  },
})
const FULL = positionals.includes('full')
const INSTANCES = 2
const LOADERS = 2 // processes that hold the agents
const IN_SESSION = 10 // agents
const AGENTS_PER_POST = 50 // of so many agents one posts each second
const LEAST_RATE = 20 // a second, so that there is something to measure
const TRIES = 30 // of a call that sets the sessions up
const WARM_UP_S = 5
const SETTLE_S = 5
const IDLE_S = 31 // every wait ends once and is held again
const TELL_EVERY_MS = 15_000
const STEP_S = FULL ? 20 : 10 // for each rate, on the way to the limit
const STEP = 1.5
const MOST_RATE = 20_000
const LOADER_LATE_MS = 50 // p99 of how late the loader itself sends: the limit is then its own

const phases = (): Phase[] => {
  const chosen = values.agents?.split(',').map(Number) ?? (FULL ? [100, 1_000, 3_000, 10_000] : [100, 1_000])
  return chosen.map((agents, i) => ({
    agents,
    rate: Number(values.rate ?? Math.max(LEAST_RATE, agents / AGENTS_PER_POST)),
    seconds: Number(values.seconds ?? (FULL ? (i === chosen.length - 1 ? 600 : 60) : 20)),
  }))
}

const main = async () => {
  const postgres = await startPostgres({
    own: true,
    settings: { max_connections: '100', ...(values.statements && { shared_preload_libraries: 'pg_stat_statements' }) },
  })
  console.log(`Bun ${Bun.version}, PostgreSQL ${postgres.version}, ${cpus().length} processors, ${INSTANCES} instances, ${LOADERS} loaders`)
  load()
  const all = phases()
  const table: string[] = []
  for (const [i, phase] of all.entries()) table.push(await onServers(postgres, phase, i === all.length - 1 && !values['no-limit']))
  load()
  console.log(`\n${HEAD}\n${table.join('\n')}`)
  await postgres.stop()
  process.exit(0)
}

const onServers = async (postgres: TestPostgres, phase: Phase, andLimit: boolean): Promise<string> => {
  const database = await freshDatabase(postgres.url)
  const servers = [await serverProcess(database.url), await serverProcess(database.url)]
  const loaders = Array.from({ length: LOADERS }, startLoader)
  try {
    const team = new Team(postgres, servers, loaders)
    return await team.run(phase, andLimit)
  } finally {
    for (const { stop } of [...loaders, ...servers]) await stop()
    await database.drop()
  }
}

// A run is long: what it has come to, now and then.
const tell = (text: string) => console.log(`  … ${text}`)

const telling = async <Result>(what: string, count: () => number | Promise<number>, work: Promise<Result>): Promise<Result> => {
  const timer = setInterval(async () => tell(`${await count()} ${what}`), TELL_EVERY_MS)
  return work.finally(() => clearInterval(timer))
}

// ---- the loaders, which hold the agents

type Loader = ReturnType<typeof startLoader>

const startLoader = () => {
  let done = (_: unknown) => {}
  const child = Bun.spawn([process.execPath, new URL('scale-agents.ts', import.meta.url).pathname], {
    stdout: 'inherit',
    stderr: 'inherit',
    ipc: (message) => done(message.done),
  })
  const ask = <Answer>(command: Command): Promise<Answer> =>
    new Promise((resolve, reject) => {
      done = (answer) => resolve(answer as Answer)
      void child.exited.then((code) => reject(new Error(`a loader ended with ${code}`)))
      child.send(command)
    })
  const stop = async () => {
    child.kill('SIGTERM')
    await child.exited
  }
  return { pid: child.pid, ask, stop }
}

// ---- what is measured

class Team {
  constructor(
    readonly postgres: TestPostgres,
    readonly servers: { url: string; pid: number }[],
    readonly loaders: Loader[],
  ) {}

  async run({ agents, rate, seconds }: Phase, andLimit: boolean): Promise<string> {
    console.log(`\n${agents} agents in ${agents / IN_SESSION} sessions`)
    const seats = await this.#seat(agents)
    await Bun.sleep(SETTLE_S * 1000)
    const empty = await this.#used()
    await telling('waits held', () => this.#waits(), this.#hold(agents, seats))
    await Bun.sleep(SETTLE_S * 1000)
    const held = await this.#used()
    tell(`idle for ${IDLE_S} s`)
    await Bun.sleep(IDLE_S * 1000)
    const idle = await this.#used()
    await this.#post(rate, WARM_UP_S)
    if (values.statements) await countStatements(this.postgres.url)
    const before = await this.#used()
    const report = await this.#post(rate, seconds)
    const after = await this.#used()
    const figures = figuresOf({ agents, empty, held, idle, before, after, report })
    printFigures(figures, report, parts(before, after))
    if (values.statements) await printStatements(this.postgres.url, report.posted)
    if (andLimit) await this.#findLimit(rate)
    return lineOf({ agents, rate, seconds }, figures, report)
  }

  // Each session's agents are at both instances in turn, and all in one loader.
  async #seat(agents: number): Promise<Seat[][]> {
    const seats: Seat[][] = this.loaders.map(() => [])
    const sessions = Array.from({ length: agents / IN_SESSION }, (_, n) => n)
    const open = async () => {
      for (let n = sessions.pop(); n !== undefined; n = sessions.pop()) seats[n % LOADERS]!.push(...(await this.#session(n)))
    }
    await telling('sessions to fill', () => sessions.length, Promise.all(Array.from({ length: 16 }, open)))
    return seats
  }

  async #hold(agents: number, seats: Seat[][]) {
    await Promise.all(this.loaders.map((loader, n) => loader.ask({ seats: seats[n]! })))
    while ((await this.#waits()) < agents * 0.99) await Bun.sleep(100) // a wait ends after 30 s and is held again: never are all held at the same moment
  }

  async #session(n: number): Promise<Seat[]> {
    const urlOf = (agent: number) => this.servers[(n + agent) % INSTANCES]!.url
    const title = `Bench ${n}`
    const first = await answerOf<Room & { cursor: number }>(`${urlOf(0)}/api/sessions`, {
      title,
      description: '',
      creator_team_name: 'Team 0',
    })
    const seats = [{ url: urlOf(0), session: first.session_id, token: first.team_id, cursor: first.cursor }]
    for (let agent = 1; agent < IN_SESSION; agent++) {
      const path = `${urlOf(agent)}/api/sessions/${first.session_id}/join`
      const { team_id, cursor } = await answerOf<Room & { cursor: number }>(path, { team_name: `Team ${agent}` })
      seats.push({ url: urlOf(agent), session: first.session_id, token: team_id, cursor })
    }
    return seats
  }

  async #waits(): Promise<number> {
    const metrics = await Promise.all(this.servers.map(({ url }) => metricsOf(url)))
    return metrics.reduce((sum, { waits_held }) => sum + waits_held!, 0)
  }

  async #used(): Promise<Used> {
    const metrics = await Promise.all(this.servers.map(({ url }) => metricsOf(url)))
    const sum = (pids: { pid: number }[]) => pids.reduce((total, { pid }) => total + cpuOf(pid), 0)
    return {
      at: performance.now() / 1000,
      servers: sum(this.servers),
      postgres: cpuOfFamily(this.postgres.pid!),
      loaders: sum(this.loaders),
      statements: metrics.reduce((total, { database_statements }) => total + database_statements!, 0),
      resident: metrics.map(({ resident_bytes }) => resident_bytes!),
    }
  }

  async #post(rate: number, seconds: number): Promise<Report> {
    const command = { perSecond: rate / LOADERS, seconds }
    const from = performance.now()
    const asked = Promise.all(this.loaders.map((loader) => loader.ask<Report>(command)))
    const reports = await telling(`of ${seconds} s, ${rate.toFixed(0)} posts/s`, () => Math.round((performance.now() - from) / 1000), asked)
    const sum = (of: (report: Report) => number) => reports.reduce((total, report) => total + of(report), 0)
    return {
      posted: sum(({ posted }) => posted),
      refused: sum(({ refused }) => refused),
      here: reports.flatMap(({ here }) => here),
      there: reports.flatMap(({ there }) => there),
      lost: sum(({ lost }) => lost),
      disordered: sum(({ disordered }) => disordered),
      brokenWaits: sum(({ brokenWaits }) => brokenWaits),
      lagMs: Math.max(...reports.map(({ lagMs }) => lagMs)),
      cpuSeconds: sum(({ cpuSeconds }) => cpuSeconds),
    }
  }

  async #findLimit(from: number) {
    console.log(`  the limit: ${STEP_S} s at each rate, until p99 is beyond ${AIM_MS} ms`)
    for (let rate = from * STEP; rate < MOST_RATE; rate *= STEP) {
      const before = await this.#used()
      const report = await this.#post(rate, STEP_S)
      const after = await this.#used()
      const p99 = percentile([...report.here, ...report.there], 0.99)
      row(`  ${rate.toFixed(0)} posts/s`, `wake ${wakes([...report.here, ...report.there])}  ${faults(report)}  ${parts(before, after)}`)
      if (report.lagMs > LOADER_LATE_MS) return row('  the limit', 'is the loader’s own: it sends too late')
      if (p99 > AIM_MS) return row('  the limit', `is between ${(rate / STEP).toFixed(0)} and ${rate.toFixed(0)} posts/s`)
    }
  }
}

// On a busy machine the database may be late while so many join: a write that is sent again with its key is applied once.
const answerOf = async <Answer>(url: string, body: object): Promise<Answer> => {
  const request = { method: 'POST', headers: { 'idempotency-key': crypto.randomUUID() }, body: JSON.stringify(body) }
  for (let tried = 1; ; tried++) {
    const response = await fetch(url, request).catch(() => undefined) // undefined: the connection was closed
    if (response?.ok) return (await response.json()) as Answer
    if (tried === TRIES || (response && response.status !== 503)) throw new Error(`${url}: ${await response?.text()}`)
    await Bun.sleep(1_000)
  }
}

await main()

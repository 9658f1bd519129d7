// Searching while a large corpus comes in by POST /api/traces, and while the index catches up with it: bench/search.ts import.
import postgres from 'postgres'
import { freshDatabase, startPostgres } from '../tests/support/postgres.ts'
import { history, type Made } from './corpus.ts'
import { classes, firstWords, sampled } from './questions.ts'
import { load, metricsOf, percentile, row, serverProcess, spread } from './support.ts'

const UPLOADS = 2 // transcripts at a time
const CALLERS = 2 // that ask
const PER_CLASS = 60 // different questions
const SLOW_MS = 1_000
const SAMPLED = 60_000 // events that the questions are made of

interface Timing {
  name: string
  phase: string
  ms: number
  code: string // of the error; '' for an answer
  warned: boolean // that the index is behind
}

interface Options {
  events: number
  queries: number
  statistics: boolean // false: Postgres is kept from gathering any
  words: number // of a text, at most
  keep: boolean // the database, for another run
  on: string | undefined // a database that was kept, with what of it is not indexed yet: nothing is imported
}

/** Imports the corpus through a server of its own and asks all the time. */
export const whileImporting = async ({ events, queries, statistics, words, keep, on }: Options) => {
  const { url, version, remove } = await databaseFor(on, keep)
  console.log(`Bun ${Bun.version}, PostgreSQL ${version}, ${events} events, ${statistics ? 'autovacuum on' : 'no statistics'}`)
  load()
  const sql = postgres(url, { max: 2, onnotice() {} })
  const { truth, samples } = sampled(events, Math.min(events, SAMPLED), words)
  const asked = [...classes(samples, truth, PER_CLASS, true)].filter(([, own]) => own.length > 0)
  await Bun.spawn([process.execPath, 'src/server.ts', 'migrate'], { env: { ...process.env, DATABASE_URL: url } }).exited
  if (!statistics) await withoutStatistics(sql)
  const server = await serverProcess(url, { LOG_LEVEL: 'warn' })
  const address = server.url
  const caller = new Caller(address, asked)
  const asking = Array.from({ length: CALLERS }, () => caller.askOn())
  const begun = performance.now()
  const progress = setInterval(() => void printProgress(sql, address, caller, begun), 30_000)
  if (on === undefined) await importing(address, transcriptsOf(events, words))
  load()
  caller.phase = 'while the index catches up'
  const caughtFrom = performance.now()
  while ((await behind(sql)) > 0 && !(on !== undefined && caller.all.length >= queries)) await Bun.sleep(100)
  const caughtUp = (await behind(sql)) === 0
  row(
    caughtUp ? 'the index caught up after' : 'the index is still behind after',
    `${((performance.now() - caughtFrom) / 1000).toFixed(1)} s more`,
  )
  load()
  caller.phase = 'when all is indexed'
  const enough = Math.max(queries, caughtUp ? caller.all.length + asked.length * 20 : 0)
  while (caller.all.length < enough) await Bun.sleep(100)
  caller.stopped = true
  await Promise.all(asking)
  clearInterval(progress)
  load()
  print(caller.all)
  if (caughtUp) await inOneSession(address, sql, asked)
  load()
  await server.stop()
  await sql.end()
  await remove()
}

const databaseFor = async (on: string | undefined, keep: boolean) => {
  if (on !== undefined) return { url: on, version: 'as it was', remove: async () => {} }
  const server = await startPostgres()
  const { url, drop } = await freshDatabase(server.url)
  if (keep) row('database', url)
  const remove = async () => {
    if (keep) return
    await drop()
    await server.stop()
  }
  return { url, version: server.version, remove }
}

const withoutStatistics = async (sql: postgres.Sql) => {
  const tables = await sql`select relname from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`
  for (const { relname } of tables) await sql.unsafe(`alter table "${relname}" set (autovacuum_enabled = false)`)
}

const behind = async (sql: postgres.Sql): Promise<number> => {
  const [row] =
    await sql`select (select coalesce(sum(last_sequence), 0) from sessions)::int - (select events from search_corpus)::int as events`
  return row!.events
}

const printProgress = async (sql: postgres.Sql, address: string, { all }: Caller, begun: number) => {
  const [events, metrics] = await Promise.all([
    behind(sql).catch(() => NaN),
    metricsOf(address).catch(() => ({}) as Record<string, number>),
  ])
  const lag = metrics.search_index_lag_seconds?.toFixed(0) ?? '?'
  row(
    `  after ${((performance.now() - begun) / 1000).toFixed(0)} s`,
    `${events} events not indexed, lag ${lag} s, ${all.length} questions asked`,
  )
}

const importing = async (address: string, transcripts: Generator<{ text: string; events: number }>) => {
  const begun = performance.now()
  let events = 0
  await Promise.all(
    Array.from({ length: UPLOADS }, async () => {
      for (let next = transcripts.next(); !next.done; next = transcripts.next()) {
        await imported(address, next.value.text)
        events += next.value.events
      }
    }),
  )
  row('imported by POST /api/traces', `${events} events, ${(events / ((performance.now() - begun) / 1000)).toFixed(0)} events/s`)
}

const imported = async (address: string, body: string): Promise<string> => {
  const response = await fetch(`${address}/api/traces`, { method: 'POST', body })
  const report = (await response.json()) as any
  if (!response.ok) throw new Error(JSON.stringify(report))
  return report.session_id
}

class Caller {
  all: Timing[] = []
  phase = 'while it comes in'
  stopped = false
  #turn = 0

  constructor(
    readonly address: string,
    readonly asked: [name: string, queries: string[]][],
  ) {}

  /** One question after the other, of each class in turn. */
  async askOn() {
    while (!this.stopped) {
      const n = this.#turn++
      const [name, own] = this.asked[n % this.asked.length]!
      const query = own[Math.floor(n / this.asked.length) % own.length]!
      const { phase } = this
      const start = performance.now()
      const body = await ask(this.address, 'search_sessions', { query })
      const ms = performance.now() - start
      const code = body.error?.code ?? ''
      const warned = body.warnings.some((line: string) => line.includes(' s behind'))
      this.all.push({ name, phase, ms, code, warned })
      if (code || ms > SLOW_MS) row(`  ${ms.toFixed(0)} ms ${code}`, `${phase}, ${name}: ${JSON.stringify(query)}`)
      await Bun.sleep(10)
    }
  }
}

const ask = async (address: string, tool: string, input: object) =>
  (await (await fetch(`${address}/api/history/${tool}`, { method: 'POST', body: JSON.stringify(input) })).json()) as any

// ---- a long session among all the others

const inOneSession = async (address: string, sql: postgres.Sql, asked: [string, string[]][]) => {
  const long = await imported(address, transcriptOf(250))
  const longer = await imported(address, transcriptOf(1_000))
  while ((await behind(sql)) > 0) await Bun.sleep(100)
  console.log('\nsearch_sessions within a session of 250 turns, ms')
  const took: number[] = []
  for (const [name, queries] of asked) {
    const own: number[] = []
    for (const query of queries.slice(0, 20))
      own.push(await timed(() => ask(address, 'search_sessions', { query, within_id: `session:${long}` })))
    row(`  ${name}`, spread(own, 0))
    took.push(...own)
  }
  row('  all', spread(took, 0))
  for (const [name, id] of [
    ['250 turns', long],
    ['1,000 turns', longer],
  ]) {
    const own: number[] = []
    for (let i = 0; i < 60; i++) own.push(await timed(() => ask(address, 'open', { id: `session:${id}` })))
    row(`open(session) of ${name}, ms`, spread(own.slice(10), 0))
  }
}

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const start = performance.now()
  await work()
  return performance.now() - start
}

const print = (all: Timing[]) => {
  for (const [phase, inPhase] of Map.groupBy(all, ({ phase }) => phase)) {
    console.log(`\nsearch_sessions, ${phase}: ${inPhase.length} questions, ms`)
    for (const [name, own] of Map.groupBy(inPhase, ({ name }) => name)) row(`  ${name}`, figures(own))
    row('  all', figures(inPhase))
  }
  row('\nall of it', figures(all))
}

const figures = (asked: Timing[]) => {
  const took = asked.map(({ ms }) => ms)
  const parts = [0.5, 0.95, 0.99, 1]
    .map((part) => `${part === 1 ? 'max' : `p${part * 100}`} ${percentile(took, part).toFixed(0)}`)
    .join('  ')
  const codes = [
    ...Map.groupBy(
      asked.filter(({ code }) => code !== ''),
      ({ code }) => code,
    ),
  ].map(([code, own]) => `${own.length} ${code}`)
  const warned = asked.filter((one) => one.warned).length
  return `${parts}  n ${took.length}${codes.length > 0 ? `  ${codes.join(', ')}` : '  0 errors'}${warned > 0 ? `  ${warned} said that the index is behind` : ''}`
}

// ---- the corpus as Codex would have written it

function* transcriptsOf(events: number, words: number): Generator<{ text: string; events: number }> {
  let [session, lines, count] = [-1, '', 0]
  for (const made of history(events)) {
    if (made.session !== session) {
      if (count > 0) yield { text: lines, events: count }
      session = made.session
      lines = headOf(session)
      count = 0
    }
    lines += `${lineOf({ ...made, text: firstWords(made.text, words) })}\n`
    count++
  }
  if (count > 0) yield { text: lines, events: count }
}

/** A session of so many turns of about twelve events. */
const transcriptOf = (turns: number): string => {
  const session = 900_000 + turns
  let [text, sequence, turn] = [headOf(session), 0, 0]
  for (const made of history(turns * 25)) {
    if (made.ordinal === 1 && ++turn > turns) break
    text += `${lineOf({ ...made, session, turn, sequence: ++sequence })}\n`
  }
  return text
}

const START = Date.UTC(2026, 0, 1)
const timeOf = ({ session, sequence }: Pick<Made, 'session' | 'sequence'>) =>
  new Date(START + session * 2_700_000 + sequence * 5_000).toISOString()

const headOf = (session: number) =>
  `${JSON.stringify({
    timestamp: timeOf({ session, sequence: 0 }),
    type: 'session_meta',
    payload: { id: `0b5e7a11-0000-4000-8000-${String(session).padStart(12, '0')}`, cwd: '/work' },
  })}\n`

const lineOf = (made: Made) => {
  const { type, text, tool, terminal, session, turn, ordinal } = made
  const spoken = (role: string, kind: string) => ({
    type: 'message',
    role,
    content: [{ type: kind, text }],
    ...(terminal && { phase: 'final_answer' }),
  })
  const payload =
    type === 'user_input'
      ? spoken('user', 'input_text')
      : type === 'assistant_response'
        ? spoken('assistant', 'output_text')
        : type === 'reasoning'
          ? { type: 'reasoning', summary: [{ type: 'summary_text', text }] }
          : type === 'tool_call'
            ? { type: 'function_call', name: tool, call_id: `${session}-${turn}-${ordinal}`, arguments: JSON.stringify({ cmd: text }) }
            : { type: 'function_call_output', call_id: `${session}-${turn}-${ordinal - 1}`, output: text }
  return JSON.stringify({ timestamp: timeOf(made), type: 'response_item', payload })
}

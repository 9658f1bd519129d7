// History over a made-up corpus (bench/corpus.ts): how long questions take, alone and while events are being added, and whether the
// answers are the right ones, against BM25 computed here over every event.
//   bun bench/search.ts [postgres|pglite] [events, 100000]
//   bun bench/search.ts postgres 10000000 --folder FOLDER [--judged]    in a corpus that is built there once, and stays for the next run
// The same questions through a server of its own while the corpus comes in by POST /api/traces, while the index catches up and after that:
// at least 5,000, with the percentiles and the errors of each class (aims: 0 deadlines, p99 300 ms); then a search within a session of 250
// turns (aim p95 50 ms) and open(session) of 1,000 (aim p95 150 ms).
//   bun bench/search.ts import [events, 100000] [--no-statistics] [--short] [--keep]
//   bun bench/search.ts import --on URL
// In a folder only the questions are timed, unless --judged: BM25 over so many events takes long.
// --no-statistics keeps Postgres from gathering any; --short takes the first 25 words of each text, so that batches have more events;
// --keep leaves the database, and --on asks such a one while its index catches up with what it is behind.
import { rmSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Database } from '../db/database.ts'
import { migrate } from '../db/migrate.ts'
import { openPglite } from '../db/pglite.ts'
import { openPostgres } from '../db/postgres.ts'
import { createApp } from '../src/app.ts'
import { readConfig } from '../src/config.ts'
import { SEARCHED_BY_DEFAULT } from '../src/core/events/event-types.ts'
import { silent } from '../src/core/runtime/log.ts'
import { B, K1, termsOf } from '../src/search/tokenizer.ts'
import { createServices } from '../src/process/services.ts'
import { Indexer } from '../src/search/indexer.ts'
import { freshDatabase, startPostgres } from '../tests/support/postgres.ts'
import { history, needles, type Needle } from './corpus.ts'
import { classes, type Classes, type Sample, type Truth } from './questions.ts'
import { keptCorpus, type Corpus } from './search-kept.ts'
import { eventRow, timeOf, uuid } from './search-rows.ts'
import { whileImporting } from './search-import.ts'
import { load, row, spread } from './support.ts'

const MODE = process.argv[2]
const ENGINE = MODE === 'pglite' ? 'pglite' : 'postgres'
const EVENTS = Number(/^\d+$/.exec(process.argv[3] ?? '')?.[0] ?? 100_000)
const QUERIES = 25 // of each class
const ROUNDS = 2
const ADDED = 500 // events a second
const SESSIONS = 100_000 // for the list
const MAY_TAKE_MS = 600_000 // to make them
const has = (flag: string) => process.argv.includes(flag)
const after = (flag: string) => (has(flag) ? process.argv[process.argv.indexOf(flag) + 1] : undefined)
const FOLDER = after('--folder')
const FOR_MANY = { shared_buffers: '4GB', max_wal_size: '8GB' } // with more than a million events, as an operator would

const open = async () => {
  if (ENGINE === 'pglite') {
    const folder = mkdtempSync(join(tmpdir(), 'parley-bench-'))
    return { database: await openPglite(folder), remove: async () => rmSync(folder, { recursive: true }) }
  }
  const postgres = await startPostgres(EVENTS > 1_000_000 ? { own: true, settings: FOR_MANY } : {})
  const { url, drop } = await freshDatabase(postgres.url)
  console.log(`PostgreSQL ${postgres.version}`)
  return { database: await openPostgres(url), remove: async () => void (await drop(), await postgres.stop()) }
}

const made = async () => {
  const { database, remove } = await open()
  await migrate(database)
  const corpus = await fill(database)
  await makeIndex(database)
  return { database, corpus, remove }
}

const main = async () => {
  console.log(`Bun ${Bun.version}, ${ENGINE}, ${EVENTS} events`)
  load()
  const { database, corpus, remove } = FOLDER === undefined ? await made() : await keptCorpus(FOLDER, EVENTS, FOR_MANY)
  const { truth, samples, placed } = corpus
  await sizes(database)
  const services = await createServices(database, readConfig({}), silent)
  const app = await createApp(services)
  const ask: Ask = async (tool, input) => {
    await new Promise(setImmediate) // what goes on in the background has its turn, as it has between real requests
    const start = performance.now()
    const response = await app.fetch(
      new Request(`http://127.0.0.1:7423/api/history/${tool}`, {
        method: 'POST',
        headers: { host: '127.0.0.1:7423' },
        body: JSON.stringify(input),
      }),
    )
    const body = (await response.json()) as any
    const ms = performance.now() - start
    if (body.error) throw new Error(`${tool} ${JSON.stringify(input)}: ${JSON.stringify(body.error)}`)
    return { ms, data: body.data }
  }
  const asked = classes(samples, truth, QUERIES)
  if (FOLDER === undefined || has('--judged')) await judge(await answersTo(ask, asked), truth)
  await findNeedles(ask, placed)
  await times('alone', ask, asked)
  if (ENGINE === 'postgres') await whileAdding(services, database, () => times(`while ${ADDED} events/s are added`, ask, asked))
  if (FOLDER === undefined) {
    await opening(ask, database)
    await listing(ask, database)
  }
  load()
  await services.close()
  await remove()
  process.exit(0)
}

type Ask = (tool: string, input: object) => Promise<{ ms: number; data: any }>

// ---- the corpus

const fill = async (database: Database): Promise<Corpus> => {
  const start = performance.now()
  const placed = new Map<string, string>()
  const frequency = new Map<string, number>()
  const samples: Sample[] = []
  let [length, n] = [0, 0]
  let batch: object[] = []
  let sessions = new Map<number, { events: number; turns: number }>()
  const flush = async () => {
    const heads = [...sessions].map(([session, { events, turns }]) => ({ id: uuid(1, session), events, turns }))
    await database.transaction(async ({ query }) => {
      await query(
        `insert into sessions (id, title, description, series_id, source, last_sequence, turn, created_at, last_event_at)
         select id, 'Session ' || id, '', id, 'codex', events, turns, now() - interval '1 day', now()
         from json_to_recordset($1::json) as s(id uuid, events bigint, turns int)
         on conflict (id) do update set last_sequence = excluded.last_sequence, turn = excluded.turn`,
        [JSON.stringify(heads)],
      )
      await query(
        `insert into events (session_id, sequence, id, turn, ordinal, type, author, content, size, tool_name, terminal, at)
         select session_id, sequence, id, turn, ordinal, type, 'agent', json_build_object('text', text), length(text), tool, terminal,
           $2::timestamptz + n * interval '1 second'
         from json_to_recordset($1::json) as e(n int, session_id uuid, sequence bigint, id uuid, turn int, ordinal int, type text, text text, tool text, terminal bool)`,
        [JSON.stringify(batch), timeOf(0)],
      )
    })
    batch = []
    sessions = new Map()
  }
  const planted = (needle: Needle, session: number, sequence: number) => placed.set(needle.whole, `event:${uuid(2, session, sequence)}`)
  for (const made of history(EVENTS, planted)) {
    const { session, sequence, turn, type, text } = made
    const terms = termsOf(text)
    for (const [term, count] of terms) {
      length += count
      frequency.set(term, (frequency.get(term) ?? 0) + 1)
    }
    if (n % Math.floor(EVENTS / 1_000) === 0 && SEARCHED_BY_DEFAULT.includes(type as never)) samples.push({ terms: [...terms.keys()] })
    batch.push(eventRow(made, n++))
    sessions.set(session, { events: sequence, turns: turn })
    if (batch.length === 1_000) await flush()
  }
  if (batch.length > 0) await flush()
  row(
    'corpus made and stored',
    `${((performance.now() - start) / 1000).toFixed(0)} s, ${frequency.size} different terms, ${(length / n).toFixed(0)} to an event`,
  )
  return { truth: { events: n, average: length / n, frequency }, samples, placed }
}

const makeIndex = async (database: Database) => {
  const start = performance.now()
  let done = 0
  await new Indexer(database).run(undefined, (events) => {
    const before = Math.floor(done / 50_000)
    done += events
    if (Math.floor(done / 50_000) > before) row(`  indexed ${done}`, `${((performance.now() - start) / 1000).toFixed(0)} s`)
  })
  row('index made', `${(done / ((performance.now() - start) / 1000)).toFixed(0)} events/s`)
  if (ENGINE === 'pglite')
    for (const table of ['events', 'sessions', 'session_index', 'event_search', 'search_terms'])
      await database.query(`vacuum (analyze) ${table}`)
  else await database.query('analyze')
}

const sizes = async (database: Database) => {
  const tables = await database.query<{ name: string; bytes: number }>(
    `select name, pg_total_relation_size(name::regclass)::float8 as bytes from unnest(array['events', 'event_search', 'search_terms']) name`,
  )
  for (const { name, bytes } of tables)
    row(`  ${name}, with its indexes`, `${(bytes / 2 ** 20).toFixed(0)} MiB, ${(bytes / EVENTS).toFixed(0)} bytes for each event`)
}

// ---- are the answers right?

interface Answered {
  name: string
  query: string
  found: string[]
}

const answersTo = async (ask: Ask, asked: Classes): Promise<Answered[]> => {
  const answers: Answered[] = []
  for (const [name, queries] of asked)
    for (const query of queries)
      answers.push({ name, query, found: (await ask('search_sessions', { query })).data.results.map(({ id }: any) => id) })
  return answers
}

// BM25 of every event for every question; the gain of an answer is its true score.
const judge = async (answers: Answered[], { events, average, frequency }: Truth) => {
  const wanting = new Map<string, number[]>()
  const weights = new Map<string, number>()
  const terms = answers.map(({ query }) => [...termsOf(query).keys()])
  terms.forEach((own, i) =>
    own.forEach((term) => {
      wanting.set(term, [...(wanting.get(term) ?? []), i])
      const often = frequency.get(term) ?? 0
      weights.set(term, Math.log(1 + (events - often + 0.5) / (often + 0.5)))
    }),
  )
  const best = answers.map(() => [] as number[])
  const gained = answers.map(({ found }) => new Map(found.map((id) => [id, 0])))
  for (const { session, sequence, type, text } of history(EVENTS)) {
    if (!SEARCHED_BY_DEFAULT.includes(type as never)) continue
    const counts = termsOf(text)
    let length = 0
    for (const count of counts.values()) length += count
    const slowdown = K1 * (1 - B + (B * length) / average)
    const scores = new Map<number, number>()
    for (const [term, count] of counts) {
      for (const i of wanting.get(term) ?? [])
        scores.set(i, (scores.get(i) ?? 0) + (weights.get(term)! * count * (K1 + 1)) / (count + slowdown))
    }
    const id = `event:${uuid(2, session, sequence)}`
    for (const [i, score] of scores) {
      if (gained[i]!.has(id)) gained[i]!.set(id, score)
      const top = best[i]!
      if (top.length === 10 && score <= top[9]!) continue
      top.push(score)
      top.sort((a, b) => b - a)
      top.length = Math.min(top.length, 10)
    }
  }
  const discounted = (gains: number[]) => gains.reduce((sum, gain, i) => sum + gain / Math.log2(i + 2), 0)
  const judged = answers.map(({ name, query }, i) => {
    const gains = [...gained[i]!.values()]
    const tenth = best[i]!.at(-1)!
    return {
      name,
      query,
      ndcg: discounted(gains) / discounted(best[i]!),
      overlap: gains.filter((gain) => gain >= tenth * 0.999).length / best[i]!.length,
    }
  })
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  console.log('\nnDCG@10 against BM25 over every event; in brackets, the share of the true ten that is among the answers')
  const byClass = [...Map.groupBy(judged, ({ name }) => name)]
  for (const [name, own] of byClass)
    row(`  ${name}`, `${mean(own.map(({ ndcg }) => ndcg)).toFixed(3)}  (${mean(own.map(({ overlap }) => overlap)).toFixed(2)})`)
  const worst = Math.min(...byClass.map(([, own]) => mean(own.map(({ ndcg }) => ndcg))))
  row('  overall', `${mean(judged.map(({ ndcg }) => ndcg)).toFixed(3)}  aim 0.95; worst class ${worst.toFixed(3)}, aim 0.85`)
}

const findNeedles = async (ask: Ask, placed: Map<string, string>) => {
  const misses: string[] = []
  const all = needles(EVENTS)
  for (const way of ['whole', 'parts', 'typo'] as const) {
    for (const needle of all) {
      const { data } = await ask('search_sessions', { query: needle[way] })
      const first = data.results.slice(0, 3).map(({ id }: any) => id)
      if (!first.includes(placed.get(needle.whole)!)) misses.push(`${way}: ${needle[way]}`)
    }
  }
  console.log()
  row('needles among the first three', `${all.length * 3 - misses.length} of ${all.length * 3} (whole, by parts, with a typo)`)
  for (const miss of misses.slice(0, 10)) row('  missed', miss)
}

// ---- how long do they take?

const times = async (when: string, ask: Ask, asked: Classes) => {
  const took = new Map<string, number[]>()
  for (let round = 0; round < ROUNDS; round++) {
    for (let i = 0; i < QUERIES; i++) {
      for (const [name, queries] of asked) {
        if (queries[i] === undefined) continue
        const { ms } = await ask('search_sessions', { query: queries[i] })
        took.set(name, [...(took.get(name) ?? []), ms])
      }
    }
  }
  console.log(`\nsearch_sessions, ten hits, ms, ${when}`)
  for (const [name, own] of took) row(`  ${name}`, spread(own, 0))
  const all = [...took.values()].flat()
  row('  all', `${spread(all, 0)}  worst ${Math.max(...all).toFixed(0)}`)
}

const whileAdding = async (services: Services, database: Database, work: () => Promise<void>) => {
  const texts: string[] = []
  for (const { text } of history(2_000)) texts.push(text.slice(0, 2_000))
  const room = crypto.randomUUID()
  await database.query(`insert into sessions (id, title, description, series_id) values ($1, 'Busy', '', $1)`, [room])
  await database.query(`insert into session_index (session_id, started_at, updated_at) values ($1, now(), now())`, [room])
  let [added, stopped] = [0, false]
  const start = performance.now()
  const adding = (async () => {
    const pending = new Set<Promise<unknown>>()
    while (!stopped) {
      const due = Math.min(((performance.now() - start) / 1000) * ADDED - added, ADDED)
      for (let i = 0; i < due; i++) {
        const draft = {
          sessionId: room,
          type: 'chat' as const,
          author: 'person' as const,
          authorName: 'Bench',
          holder: `person:${added % 7}`,
        }
        const post = services.groupCommit
          .post({ ...draft, content: { text: texts[added++ % texts.length] } })
          .catch((error) => console.error(error))
        pending.add(post)
        void post.finally(() => pending.delete(post))
      }
      await Bun.sleep(20)
    }
    await Promise.all(pending)
  })()
  await work()
  const seconds = (performance.now() - start) / 1000
  const [behind] = await database.query<{ events: number }>(
    `select (s.last_sequence - i.indexed_sequence)::int as events from sessions s join session_index i on i.session_id = s.id where s.id = $1`,
    [room],
  )
  stopped = true
  await adding
  row('  added meanwhile', `${(added / seconds).toFixed(0)} events/s, the index ${behind!.events} behind at the end`)
}

type Services = Awaited<ReturnType<typeof createServices>>

const repeatedly = async (ask: Ask, tool: string, inputs: object[]) => {
  const took: number[] = []
  for (const input of [...inputs.slice(0, 3), ...inputs]) took.push((await ask(tool, input)).ms)
  return took.slice(Math.min(3, inputs.length))
}

const opening = async (ask: Ask, database: Database) => {
  console.log('\nopen, ms')
  const events = await database.query<{ id: string }>(
    `select id from events where session_id = any(select id from sessions limit 40) limit 200`,
  )
  row(
    '  an event up to 64 KiB',
    `${spread(
      await repeatedly(
        ask,
        'open',
        events.map(({ id }) => ({ id: `event:${id}` })),
      ),
    )}  aim p95 20`,
  )
  for (const [name, turns, each, aim] of [
    ['a turn of 100 events', 3, 100, 40],
    ['a session of 100 turns', 100, 12, 40],
    ['a session of 1,000 turns', 1_000, 12, 150],
  ] as const) {
    const session = crypto.randomUUID()
    await database.query(
      `with s as (insert into sessions (id, title, description, series_id, source, last_sequence, turn, last_event_at)
         values ($1, 'Long', '', $1, 'codex', $2::int * $3::int, $2, now()) returning id),
       i as (insert into session_index (session_id, started_at, updated_at) select id, now(), now() from s)
       insert into events (session_id, sequence, id, turn, ordinal, type, author, content, size, tool_name, terminal, at)
       select $1, n, gen_random_uuid(), (n - 1) / $3 + 1, (n - 1) % $3 + 1,
         case when n % $3 = 1 then 'user_input' when n % $3 = 0 then 'assistant_response' when n % 2 = 0 then 'tool_call' else 'tool_response' end, 'agent',
         json_build_object('text', repeat('what an agent says and does ', 60)), 1700, case when n % $3 > 1 then 'tool_' || n % 3 end, n % $3 = 0, now()
       from generate_series(1, $2::int * $3::int) n`,
      [session, turns, each],
    )
    await new Indexer(database).run()
    const id = turns === 3 ? `turn:${session}_2` : `session:${session}`
    row(
      `  ${name}`,
      `${spread(
        await repeatedly(
          ask,
          'open',
          Array.from({ length: 30 }, () => ({ id })),
        ),
      )}  aim ${aim}`,
    )
  }
}

const listing = async (ask: Ask, database: Database) => {
  const insert = `with s as (insert into sessions (id, title, description, series_id, created_at)
       select id, 'Meeting ' || n, 'One of many.', id, '2025-01-01'::timestamptz + n * interval '5 minutes'
       from (select n, gen_random_uuid() as id from generate_series(1, ${SESSIONS}) n) made returning id, created_at)
     insert into session_index (session_id, started_at, updated_at, mode)
     select id, created_at, created_at + interval '1 hour', case when random() < 0.3 then 'tool_calling' else 'chat' end from s`
  await database.unhurried(({ query }) => query(insert), MAY_TAKE_MS)
  await database.query('vacuum (analyze) session_index')
  await database.query('analyze sessions')
  console.log(`\nlist_sessions over ${SESSIONS} sessions, 50 of them, ms; aim 50`)
  const year = { start_datetime: '2024-12-31T00:00:00Z', end_datetime: '2027-12-31T00:00:00Z', limit: 50 }
  const { data } = await ask('list_sessions', year)
  for (const [name, input] of [
    ['all, newest first', year],
    ['all, oldest first', { ...year, sort: 'asc' }],
    ['of one mode', { ...year, mode: 'tool_calling' }],
    ['the second page', { ...year, cursor: data.next_cursor }],
    ['one day, long ago', { ...year, start_datetime: '2025-01-10T00:00:00Z', end_datetime: '2025-01-11T00:00:00Z' }],
  ] as const)
    row(
      `  ${name}`,
      spread(
        await repeatedly(
          ask,
          'list_sessions',
          Array.from({ length: 40 }, () => input),
        ),
      ),
    )
}

if (MODE === 'import') {
  const on = after('--on')
  const words = has('--short') ? 25 : Infinity
  await whileImporting({ events: EVENTS, queries: 5_000, statistics: !has('--no-statistics'), words, keep: has('--keep'), on })
  process.exit(0)
}
await main()

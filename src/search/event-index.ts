// Writing the search index: a batch of the log's events at a time, in one transaction that also says how far it has come. So it is
// exact after a crash, and several instances may try: one at a time gets to.
import type { Database, Queries } from '../../db/database.ts'
import { textOf, type Content } from '../core/event-text.ts'
import { kindNumber, kindOf } from '../core/event-types.ts'
import { modeAfter, type Mode } from '../core/session-kind.ts'
import { pause } from '../core/pause.ts'
import { indexed, LEVELS, termsOf } from './tokenizer.ts'
import { plainArray } from '../../db/arrays.ts'
import { isMessage } from '../stores/events.ts'
import { UPDATED } from '../stores/history.ts'

const LOCK = 7_423_000_002
// Of content in a batch, the first event always. Postgres: 1 MiB of large texts took 100 MiB more memory (bench/import). PGlite works on
// this very thread: whatever else goes on here waits for the longest statement of a batch, and posts for all of it (bench/stall).
const BATCH_BYTES = { pglite: 32 * 1024, postgres: 384 * 1024 }
const WORDS_AT_ONCE = { pglite: 500, postgres: Infinity } // different ones, in a statement

// What the GIN indexes gather before they sort it in: more makes a batch cheaper, and every look into the index reads through it. So it
// is much while a lot is indexed at once, and little otherwise. PGlite sorts in on this very thread.
const PENDING = { pglite: '64kB', postgres: '512kB' }
const PENDING_IN_BULK = { ...PENDING, postgres: '1MB' } // 4MB made no batch cheaper (bench/import)
const BULK = 1_000 // events in a batch

export type Batch = { events: number; more: boolean; reached: Reached[] } | 'busy'

/** A session that was behind, how far it is indexed now, and how far its log went when the batch began. */
export interface Reached {
  session: string
  through: number
  newest: number
}

interface Logged {
  session_id: string
  sequence: number
  id: string
  turn: number
  type: string
  author: string
  content: Content
  tool_name: string | null
  at: string
}

/** Indexes up to `limit` events of these sessions, in this order, or those first that have the least to index. `busy`: another instance is
 *  at it. */
export const indexBatch = (database: Database, sessionIds: string[], limit: number, leastFirst = false): Promise<Batch> =>
  database.transaction(async (tx) => {
    const [lock] = await tx.query<{ mine: boolean }>('select pg_try_advisory_xact_lock($1) as mine', [LOCK])
    if (!lock?.mine) return 'busy'
    const ranges = await behind(tx, sessionIds, limit, leastFirst)
    if (ranges.length === 0) return { events: 0, more: false, reached: [] }
    const logged = await read(tx, ranges, BATCH_BYTES[database.engine])
    const pending = logged.length < BULK ? PENDING : PENDING_IN_BULK
    await tx.query(`select set_config('gin_pending_list_limit', $1, true)`, [pending[database.engine]])
    const tallied = tally(logged, new Map(ranges.map(({ session_id, mode }) => [session_id, mode])))
    await write(tx, tallied, WORDS_AT_ONCE[database.engine])
    const throughOf = new Map(tallied.sessions.map(({ session_id, sequence }) => [session_id, sequence]))
    const reached = ranges.map(({ session_id, from, newest }) => ({
      session: session_id,
      through: throughOf.get(session_id) ?? from,
      newest,
    }))
    return { events: logged.length, more: reached.some(({ through, newest }) => through < newest), reached }
  }, BATCH_MAY_TAKE_MS)

const BATCH_MAY_TAKE_MS = 60_000

interface Range {
  n: number
  session_id: string
  mode: Mode
  from: number
  to: number
  newest: number
}

const behind = async ({ query }: Queries, sessionIds: string[], limit: number, leastFirst: boolean): Promise<Range[]> => {
  const rows = await query<{ session_id: string; mode: Mode; indexed: number; last: number }>(
    `select i.session_id, i.mode, i.indexed_sequence as indexed, s.last_sequence as last
     from unnest($1::uuid[]) with ordinality as asked (id, place)
     join session_index i on i.session_id = asked.id join sessions s on s.id = i.session_id
     where i.indexed_sequence < s.last_sequence order by place`,
    [plainArray(sessionIds)],
  )
  if (leastFirst) rows.sort((a, b) => a.last - a.indexed - (b.last - b.indexed))
  let left = limit
  return rows.flatMap(({ session_id, mode, indexed: from, last }, n) => {
    const to = Math.min(last, from + left)
    left -= to - from
    return [{ n, session_id, mode, from, to, newest: last }]
  })
}

// The sum over the sizes ends a batch before large contents are read at all.
const read = ({ query }: Queries, ranges: Range[], bytes: number) =>
  query<Logged>(
    `with sized as (
       select r.n, e.session_id, e.sequence, sum(e.size) over (order by r.n, e.sequence) - e.size as before
       from json_to_recordset($1::json) as r(n int, session_id uuid, "from" bigint, "to" bigint)
       join events e on e.session_id = r.session_id and e.sequence > r."from" and e.sequence <= r."to"
     )
     select session_id, sequence, id, turn, type, author, content, tool_name, at from sized join events using (session_id, sequence)
     where before < $2::int8 order by n, sequence`,
    [JSON.stringify(ranges), bytes],
  )

interface Word {
  term: string
  events: number
  levels?: number[]
}

// In the order of the index, so that neighbours share its pages: twice as fast.
const byTerm = (a: Word, b: Word) => (a.term < b.term ? -1 : 1)

const count = (words: Map<string, Word>, term: string, level: number | undefined) => {
  const word = words.get(term) ?? { term, events: 0 }
  word.events++
  if (level !== undefined) {
    word.levels ??= LEVELS.map(() => 0)
    word.levels[level]!++
  }
  words.set(term, word)
}

// What these events come to in each table. `modes`: the sessions' before them.
const tally = (logged: Logged[], modes: Map<string, Mode>) => {
  const words = new Map<string, Word>()
  const reached = new Map<string, { sequence: number; messages: number }>()
  let length = 0
  const rows = logged.map(({ session_id, sequence, id, turn, type, author, content, tool_name, at }) => {
    const kind = kindOf(type, author)
    const counts = termsOf(textOf(kind, content, tool_name))
    const { levels, ...made } = indexed(counts)
    for (const term of counts.keys()) count(words, term, levels.get(term))
    length += made.length
    reached.set(session_id, { sequence, messages: (reached.get(session_id)?.messages ?? 0) + Number(isMessage(type)) })
    modes.set(session_id, modeAfter(modes.get(session_id)!, kind, tool_name))
    return { session_id, turn, sequence, id, kind: kindNumber(kind), at, ...made }
  })
  const sessions = [...reached].map(([session_id, upTo]) => ({ session_id, ...upTo, mode: modes.get(session_id) }))
  return { rows, words: [...words.values()].sort(byTerm), sessions, length }
}

function* inPieces<Item>(items: Item[], most: number): Generator<Item[]> {
  for (let from = 0; from < items.length; from += most) yield items.slice(from, from + most)
}

const write = async (tx: Queries, { rows, words, sessions, length }: ReturnType<typeof tally>, wordsAtOnce: number) => {
  await tx.query(
    `insert into event_search (session_id, turn, sequence, id, kind, at, length, tsv, hot)
     select session_id, turn, sequence, id, kind, at, length, tsv::tsvector, hot::tsvector
     from json_to_recordset($1::json) as r(session_id uuid, turn int, sequence bigint, id uuid, kind int2, at timestamptz, length int, tsv text, hot text)`,
    [JSON.stringify(rows)],
  )
  for (const some of inPieces(words, wordsAtOnce)) {
    await pause() // between two statements others have their turn
    await tx.query(
      `insert into search_terms (term, events, levels)
       select term, events, levels from json_to_recordset($1::json) as w(term text, events int, levels int[])
       on conflict (term) do update set events = search_terms.events + excluded.events, levels = case
         when excluded.levels is null then search_terms.levels when search_terms.levels is null then excluded.levels
         else array[${LEVELS.map((_, i) => `search_terms.levels[${i + 1}] + excluded.levels[${i + 1}]`).join(', ')}] end`,
      [JSON.stringify(some)],
    )
  }
  await tx.query(
    `update session_index i set indexed_sequence = r.sequence, mode = r.mode, messages = i.messages + r.messages,
       updated_at = ${UPDATED}
     from json_to_recordset($1::json) as r(session_id uuid, sequence bigint, messages int, mode text), sessions s
     where i.session_id = r.session_id and s.id = r.session_id`,
    [JSON.stringify(sessions)],
  )
  await tx.query(
    `update search_corpus set events = events + $1, length = length + $2,
       rebuilding = case when events + $1 < rebuilding then rebuilding end`,
    [rows.length, length],
  )
}

/** A session whose log is ahead of the index. */
export interface Behind {
  id: string
  newest: number
  /** Since when its first event that is not indexed waits; null if nobody knows: an imported event has its transcript's time, and what is
   *  being rebuilt was indexed before. */
  age_ms: number | null
}

/** The sessions whose log is ahead of the index: after a crash, or of a database that had none. Newest first. */
export const sessionsBehind = async ({ query }: Queries): Promise<Behind[]> => {
  await query(
    `insert into session_index (session_id, started_at, updated_at)
     select id, created_at, ${UPDATED} from sessions s
     where not exists (select from session_index where session_id = s.id) on conflict do nothing`,
  )
  return query<Behind>(
    `select s.id, s.last_sequence as newest, (
       select extract(epoch from clock_timestamp() - e.at)::float8 * 1000 from events e
       where e.session_id = s.id and e.sequence = i.indexed_sequence + 1 and e.source_line is null and c.rebuilding is null
     ) as age_ms
     from session_index i join sessions s on s.id = i.session_id cross join search_corpus c where i.indexed_sequence < s.last_sequence
     order by i.updated_at desc`,
  )
}

/** Which of these sessions are still behind. */
export const stillBehind = async ({ query }: Queries, sessionIds: string[]): Promise<Reached[]> =>
  query<Reached>(
    `select i.session_id as session, i.indexed_sequence as through, s.last_sequence as newest
     from session_index i join sessions s on s.id = i.session_id
     where i.session_id = any($1::uuid[]) and i.indexed_sequence < s.last_sequence`,
    [plainArray(sessionIds)],
  )

/** Throws the whole index away; what it is made of is all in the log. Returns how many events there are to index. */
export const emptyIndex = (database: Database): Promise<number> =>
  database.transaction(async ({ query }) => {
    await query('select pg_advisory_xact_lock($1)', [LOCK])
    await query('truncate event_search, search_terms')
    await query(`update session_index set indexed_sequence = 0, mode = 'chat', messages = 0`)
    const [row] = await query<{ events: number }>(
      `update search_corpus set events = 0, length = 0, rebuilding = (select sum(last_sequence)::int8 from sessions) returning coalesce(rebuilding, 0) as events`,
    )
    return row!.events
  }, EMPTYING_MAY_TAKE_MS)

const EMPTYING_MAY_TAKE_MS = 120_000

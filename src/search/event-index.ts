// Writes the search index of events: a batch of the log at a time, in one transaction that also records how far each session is indexed. So
// the index is exact after a crash. Of several instances one at a time holds the lock.
import type { Database, Queries } from '../../db/database.ts'
import type { SessionKind } from '../core/session-kind.ts'
import { pause } from '../core/runtime/pause.ts'
import { IndexRows, type Added, type EventRows, type LoggedEvent } from './event-rows.ts'
import { LEVELS } from './tokenizer.ts'
import { plainArray } from '../../db/arrays.ts'
import { repeatedBy } from '../stores/control/repeated.ts'
import { LAST_EVENT_AT } from '../stores/last-event-at.ts'

/** The advisory lock of whoever writes the index. */
export const INDEX_LOCK = 7_423_000_002

// Content that a batch reads at a time, in bytes; the first event always fits. PGlite works on this very thread: whatever else goes on here
// waits for the longest statement of a batch, and posts for all of it (bench/stall). In bulk, 256 KiB at a time were no faster than 64, and
// took 30 to 80 MiB more memory (bench/import).
const READ_BYTES = { pglite: 32 * 1024, postgres: 256 * 1024 }
const READ_BYTES_IN_BULK = { ...READ_BYTES, postgres: 64 * 1024 }
const MOST_TERMS = 50_000 // different ones, after which a batch reads no more: they are kept in memory until its end
// Pieces between which a batch gives way: events and terms in a statement. In one statement, the events of a batch held a processor for 0.7 to
// 1.3 s on a busy machine, and questions waited for it.
const EVENTS_AT_ONCE = 50
const TERMS_AT_ONCE = { pglite: 500, postgres: 1_000 }

// The size of the GIN indexes' pending lists, which gather entries before they are sorted in: more makes a batch cheaper, but every search
// reads through it. So the list is large while a lot is indexed and nobody asks, and small otherwise. A search that meets a large one took
// 79 ms at p99 in place of 41 (bench/search import, a question every 400 ms). PGlite sorts in on this very thread.
const PENDING = { pglite: '64kB', postgres: '512kB' }
const PENDING_IN_BULK = { ...PENDING, postgres: '8MB' }
// What Postgres may use to sort such a list in. With the default of 4 MB, Postgres went through the index several times for one list, and
// large texts were indexed by a sixth slower (bench/import --bytes).
const WORK_MEM_IN_BULK = '64MB'

/** A session that was behind: how far it is indexed now, and where its log ended when the batch began. */
export interface SessionProgress {
  session: string
  indexed: number
  newest: number
}

export type BatchResult = { events: number; more: boolean; progress: SessionProgress[] } | 'busy'

export interface BatchOptions {
  /** Events at most. */
  limit: number
  /** Sessions with the least to index come first; otherwise they are taken in the order given. */
  leastFirst?: boolean
  /** The names of this server's tools, by which a session's kind is known. */
  ownTools?: ReadonlySet<string>
  /** Called between the pieces of the batch. */
  giveWay?: () => Promise<void>
  /** Given for a batch in bulk: whether it may read on once it has read what fits into memory at a time. The batch writes the count of each
   *  term once, whatever it reads: with a few large texts in each batch, that took as long as their rows. No statement of it is hurried: on a slow
   *  disk, sorting a large list in takes longer than a caller would wait. */
  goOn?: () => boolean
}

/** Indexes a batch of these sessions' events. Returns `busy` while another instance is at it. */
export const indexBatch = (
  database: Database,
  sessionIds: string[],
  { limit, leastFirst = false, ownTools = new Set(), giveWay = pause, goOn }: BatchOptions,
): Promise<BatchResult> =>
  (goOn ? database.unhurried : database.transaction)(async (tx) => {
    const [lock] = await tx.query<{ mine: boolean }>('select pg_try_advisory_xact_lock($1) as mine', [INDEX_LOCK])
    if (!lock?.mine) return 'busy'
    const ranges = await unindexedRanges(tx, sessionIds, limit, leastFirst)
    if (ranges.length === 0) return { events: 0, more: false, progress: [] }
    const setPending = (sizes: typeof PENDING) =>
      tx.query(`select set_config('gin_pending_list_limit', $1, true)`, [sizes[database.engine]])
    await setPending(goOn ? PENDING_IN_BULK : PENDING)
    if (goOn) await tx.query(`select set_config('work_mem', $1, true)`, [WORK_MEM_IN_BULK])
    const rows = new IndexRows({ kinds: new Map(ranges.map(({ session_id, mode }) => [session_id, mode])), ownTools, giveWay })
    const bySession = new Map(ranges.map((range) => [range.session_id, range]))
    const next = async () => {
      const logged = await read(tx, ranges, (goOn ? READ_BYTES_IN_BULK : READ_BYTES)[database.engine])
      for (const { session_id, sequence } of logged) bySession.get(session_id)!.indexed = sequence
      return rows.of(logged)
    }
    const mayRead = () => ranges.some(({ indexed, to }) => indexed < to) && rows.terms < MOST_TERMS && goOn?.() === true
    // The database writes a piece while this thread makes the rows of the next. In bulk, the rows of the last sort in all that is pending: there
    // may be no others for long.
    for (let piece: EventRows | undefined = await next(); piece;) {
      if (goOn && ranges.every(({ indexed, newest }) => indexed === newest)) await setPending(PENDING)
      ;[piece] = await both(mayRead() ? next() : undefined, writeEvents(tx, piece, giveWay))
    }
    const { added } = rows
    await writeAdded(tx, added, TERMS_AT_ONCE[database.engine], giveWay)
    const progress = ranges.map(({ session_id, indexed, newest }) => ({ session: session_id, indexed, newest }))
    return { events: added.events + added.repeats, more: progress.some((session) => session.indexed < session.newest), progress }
  }, BATCH_MAY_TAKE_MS)

const BATCH_MAY_TAKE_MS = 60_000

/** Both results once both are over: after a failure nothing more is sent in a transaction that is rolled back. */
const both = async <A, B>(a: A, b: B): Promise<[Awaited<A>, Awaited<B>]> => {
  await Promise.allSettled([a, b])
  return [await a, await b]
}

interface UnindexedRange {
  n: number
  session_id: string
  mode: SessionKind
  indexed: number // the sequence up to which it is
  to: number // up to which this batch may index it
  newest: number
}

const unindexedRanges = async ({ query }: Queries, sessionIds: string[], limit: number, leastFirst: boolean): Promise<UnindexedRange[]> => {
  const rows = await query<{ session_id: string; mode: SessionKind; indexed: number; last: number }>(
    `select i.session_id, i.mode, i.indexed_sequence as indexed, s.last_sequence as last
     from unnest($1::uuid[]) with ordinality as given (id, place)
     join session_index i on i.session_id = given.id join sessions s on s.id = i.session_id
     where i.indexed_sequence < s.last_sequence order by place`,
    [plainArray(sessionIds)],
  )
  if (leastFirst) rows.sort((a, b) => a.last - a.indexed - (b.last - b.indexed))
  let left = limit
  return rows.map(({ session_id, mode, indexed, last }, n) => {
    const to = Math.min(last, indexed + left)
    left -= to - indexed
    return { n, session_id, mode, indexed, to, newest: last }
  })
}

// The running sum of sizes ends the batch before large contents are read at all.
const read = ({ query }: Queries, ranges: UnindexedRange[], bytes: number) =>
  query<LoggedEvent>(
    `with sized as (
       select r.n, e.session_id, e.sequence, sum(e.size) over (order by r.n, e.sequence) - e.size as before
       from json_to_recordset($1::json) as r(n int, session_id uuid, indexed bigint, "to" bigint)
       join events e on e.session_id = r.session_id and e.sequence > r.indexed and e.sequence <= r."to"
     )
     select session_id, sequence, id, turn, type, author, content, tool_name, at,
       case when type = 'chat' and task_id is not null then ${repeatedBy('e')} end as repeats
     from sized join events e using (session_id, sequence)
     where before < $2::int8 order by n, sequence`,
    [JSON.stringify(ranges), bytes],
  )

function* inPieces<Item>(items: Item[], most: number): Generator<Item[]> {
  for (let from = 0; from < items.length; from += most) yield items.slice(from, from + most)
}

const writeEvents = async (tx: Queries, { events, moves }: EventRows, giveWay: () => Promise<void>) => {
  for (const some of inPieces(events, EVENTS_AT_ONCE)) {
    await giveWay()
    await tx.query(
      `insert into event_search (session_id, turn, sequence, id, kind, at, length, tsv, hot)
       select session_id, turn, sequence, id, kind, at, length, tsv::tsvector, hot::tsvector
       from json_to_recordset($1::json) as r(session_id uuid, turn int, sequence bigint, id uuid, kind int2, at timestamptz, length int, tsv text, hot text)`,
      [JSON.stringify(some)],
    )
  }
  if (moves.length > 0)
    await tx.query(
      `update event_search e set sequence = r.sequence, id = r.id, at = r.at
       from json_to_recordset($1::json) as r(session_id uuid, turn int, repeats bigint, sequence bigint, id uuid, at timestamptz)
       where e.session_id = r.session_id and e.turn = r.turn and e.sequence = r.repeats`,
      [JSON.stringify(moves)],
    )
}

/** Adds to the counts of terms, sessions and the whole corpus what events have added that are written. `termsAtOnce`: in one statement. */
export const writeAdded = async (
  tx: Queries,
  { terms, sessions, events, repeats, length }: Added,
  termsAtOnce: number,
  giveWay: () => Promise<void> = pause,
) => {
  for (const some of inPieces(terms, termsAtOnce)) {
    await giveWay()
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
       updated_at = ${LAST_EVENT_AT}
     from json_to_recordset($1::json) as r(session_id uuid, sequence bigint, messages int, mode text), sessions s
     where i.session_id = r.session_id and s.id = r.session_id`,
    [JSON.stringify(sessions)],
  )
  await tx.query(
    'update search_corpus set events = events + $1, length = length + $2, rebuilding = rebuilding - $3', // that stays null
    [events, length, repeats],
  )
}

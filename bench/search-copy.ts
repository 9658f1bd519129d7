// One of the processes that build a large corpus for bench/search.ts: it copies the log and the index rows of its share of the sessions into
// tables without indexes. The rows are those that the indexer writes: its own functions make them.
import { openPostgres } from '../db/postgres.ts'
import postgres from 'postgres'
import { SEARCHED_BY_DEFAULT } from '../src/core/events/event-types.ts'
import type { SessionKind } from '../src/core/session-kind.ts'
import { writeAdded } from '../src/search/event-index.ts'
import { IndexRows, type LoggedEvent } from '../src/search/event-rows.ts'
import { termsOf } from '../src/search/tokenizer.ts'
import { history } from './corpus.ts'
import { eventRow, timeOf, uuid } from './search-rows.ts'

/** Of `processes`, the one with this number takes every how-manieth session. */
export interface Share {
  url: string
  events: number // of the whole corpus
  number: number
  processes: number
}

/** What the questions of bench/search.ts are made of. */
export interface Copied {
  samples: { n: number; terms: string[] }[]
  placed: [needle: string, event: string][]
}

const AT_ONCE = 200 // events in a copy, at least: it ends with a session
const TOLD_EVERY = 20_000
const MAY_TAKE_MS = 30 * 60_000
const TERMS_AT_ONCE = 5_000

const TABLES = {
  sessions: ['id', 'title', 'description', 'series_id', 'source', 'last_sequence', 'turn', 'created_at', 'last_event_at'],
  session_index: ['session_id', 'started_at', 'updated_at'],
  events: ['session_id', 'sequence', 'id', 'turn', 'ordinal', 'type', 'author', 'content', 'size', 'tool_name', 'terminal', 'at'],
  event_search: ['session_id', 'turn', 'sequence', 'id', 'kind', 'at', 'length', 'tsv', 'hot'],
}
type Table = keyof typeof TABLES

const ESCAPES: Record<string, string> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' }
const cell = (value: unknown) => (value === null ? '\\N' : String(value).replace(/[\\\n\r\t]/g, (found) => ESCAPES[found]!))

class Copier {
  #rows: Record<Table, string[]> = { sessions: [], session_index: [], events: [], event_search: [] }
  #kinds = new Map<string, SessionKind>()
  #index = new IndexRows({ kinds: this.#kinds, ownTools: new Set(), giveWay: async () => {} })
  #began = new Date().toISOString()

  constructor(readonly sql: postgres.Sql) {}

  session(session: number, events: number, turns: number) {
    const id = uuid(1, session)
    this.#add('sessions', [id, `Session ${id}`, '', id, 'codex', events, turns, this.#began, this.#began])
    this.#add('session_index', [id, this.#began, this.#began])
  }

  async events(logged: (LoggedEvent & { ordinal: number; terminal: boolean | null; text: string })[]) {
    for (const event of logged) {
      const { session_id, sequence, id, turn, ordinal, type, content, text, tool_name, terminal, at } = event
      const author = 'agent'
      this.#add('events', [
        session_id,
        sequence,
        id,
        turn,
        ordinal,
        type,
        author,
        JSON.stringify(content),
        text.length,
        tool_name,
        terminal,
        at,
      ])
    }
    for (const { session_id } of logged) if (!this.#kinds.has(session_id)) this.#kinds.set(session_id, 'chat') // as a session begins
    const { events } = await this.#index.of(logged)
    for (const row of events)
      this.#add(
        'event_search',
        TABLES.event_search.map((column) => row[column as keyof typeof row]),
      )
    await this.#flush()
  }

  /** Writes what all events have added to the counts. */
  async end(url: string) {
    const database = await openPostgres(url)
    await database.unhurried((tx) => writeAdded(tx, this.#index.added, TERMS_AT_ONCE), MAY_TAKE_MS)
    await database.close()
  }

  #add(table: Table, values: unknown[]) {
    this.#rows[table].push(`${values.map(cell).join('\t')}\n`)
  }

  async #flush() {
    await this.sql.begin(async (tx) => {
      for (const table of Object.keys(TABLES) as Table[]) {
        const into = await tx.unsafe(`copy ${table} (${TABLES[table].join(', ')}) from stdin`).writable()
        const copied = new Promise((resolve, reject) => into.once('finish', resolve).once('error', reject))
        into.end(this.#rows[table].join(''))
        await copied
        this.#rows[table] = []
      }
    })
  }
}

const copy = async ({ url, events, number, processes }: Share, tell: (events: number) => void): Promise<Copied> => {
  const sql = postgres(url, { max: 1, onnotice() {} })
  const copier = new Copier(sql)
  const copied: Copied = { samples: [], placed: [] }
  const isMine = (session: number) => session % processes === number
  const placed = (needle: { whole: string }, session: number, sequence: number) => {
    if (isMine(session)) copied.placed.push([needle.whole, `event:${uuid(2, session, sequence)}`])
  }
  let batch: Parameters<Copier['events']>[0] = []
  let [n, mine] = [0, 0]
  let last: { session: number; sequence: number; turn: number } | undefined
  for (const made of history(events, placed)) {
    const at = n++
    if (!isMine(made.session)) continue
    if (last && last.session !== made.session) {
      copier.session(last.session, last.sequence, last.turn)
      if (batch.length >= AT_ONCE) await copier.events(batch.splice(0))
    }
    last = made
    const { text, tool, ...row } = eventRow(made, at)
    batch.push({ ...row, text, content: { text }, tool_name: tool, author: 'agent', at: timeOf(at), repeats: null })
    if (at % Math.floor(events / 1_000) === 0 && SEARCHED_BY_DEFAULT.includes(made.type as never))
      copied.samples.push({ n: at, terms: [...termsOf(text).keys()] })
    if (++mine % TOLD_EVERY === 0) tell(TOLD_EVERY)
  }
  if (last) copier.session(last.session, last.sequence, last.turn)
  if (batch.length > 0) await copier.events(batch)
  await copier.end(url)
  await sql.end()
  return copied
}

if (import.meta.main) {
  const share = JSON.parse(process.argv[2]!) as Share
  process.on('disconnect', () => process.exit(0)) // not before what it says has been read
  process.send!({ done: await copy(share, (events) => process.send!({ events })) })
}

// Writes the index of sessions: a row for each, of its title, description and document. A row has the version of the document and the hash of
// the rest that it was made of, so that a change is found by comparing, also without a notification.
import type { Database, Queries } from '../../db/database.ts'
import { pause } from '../core/runtime/pause.ts'
import { MOST_COUNTED, quoted, termsOf } from './tokenizer.ts'
import { utf8Bytes } from '../core/text/text.ts'
import { plainArray } from '../../db/arrays.ts'
import { isAway } from '../../db/errors.ts'

const SESSIONS_AT_ONCE = 200
const BATCH_BYTES = 1024 * 1024 // of documents, the first always
const CHUNK = 64 * 1024 // characters that are tokenized at a time: of a longer text termsOf leaves out the middle
const MOST_BYTES = 1_000_000 // of terms and their places: a tsvector holds 1 MiB, and only a text made for it has more
const RESTS = 20 // times as long as its text took: indexing a large document that keeps changing takes a twentieth of the time at most
const WORTH_RESTING_MS = 15
const FAILED_RESTS_MS = 5_000
const KEEP_UP_EVERY_MS = 300
const BATCH_MAY_TAKE_MS = 60_000

const HEAD = `md5(s.title || E'\\n' || s.description)`
const CHANGED = `sessions s left join session_docs d on d.session_id = s.id left join session_search i on i.session_id = s.id
  where (i.doc_version, i.head) is distinct from (coalesce(d.version, 0), ${HEAD})`

/** `moved` and `compare` say what there is to do, `run` and `keepUp` do it. */
export class SessionIndexer {
  #moved = new Set<string>()
  #uncompared = new Set<string>() // of these, those of which it is not known whether they have changed
  #changed = new Map<string, number>() // those that have, and since when that is known
  #resting = new Map<string, number>() // until when
  #ranAt = 0

  constructor(readonly database: Database) {}

  /** The session may have another title, description or document. */
  moved(session: string) {
    this.#moved.add(session)
    this.#uncompared.add(session)
  }

  /** For how many seconds a changed title, description or document has not been found by its new words, as far as this instance knows; 0 when
   *  there is none. One that rests here may have been indexed by another instance. */
  get lagSeconds(): number {
    const [oldest] = this.#changed.values()
    return oldest === undefined ? 0 : (performance.now() - oldest) / 1_000
  }

  /** Finds those of these sessions that have changed without a notification. */
  async compare(ids: string[]): Promise<void> {
    for (const { id } of await changedAmong(this.database, ids)) {
      this.#moved.add(id)
      this.#noteChanged(id)
    }
  }

  /** Runs if the last run is a while ago: called between batches of events, of which there may be no end. */
  async keepUp(goOn: () => boolean): Promise<void> {
    if (performance.now() - this.#ranAt >= KEEP_UP_EVERY_MS) await this.run(goOn)
  }

  /** Indexes the sessions that have changed, until none has: another instance may write the row of an older text meanwhile. */
  async run(goOn: () => boolean): Promise<void> {
    this.#ranAt = performance.now()
    for (let due = this.#due(); due.length > 0 && goOn(); due = this.#due()) {
      const changed = await this.#compared(due)
      const batch = withinBatch(changed.filter(({ id }) => !this.#resting.has(id)))
      const start = performance.now()
      await this.#index(batch.map(({ id }) => id))
      this.#rest(batch, performance.now() - start)
      await pause() // whatever else waits for this thread has its turn
    }
  }

  // Returns the sessions that have changed. One that moves from here on is compared again.
  async #compared(ids: string[]): Promise<ChangedSession[]> {
    for (const id of ids) this.#uncompared.delete(id)
    const changed = await changedAmong(this.database, ids).catch((error) => {
      for (const id of ids) this.#uncompared.add(id)
      throw error
    })
    const behind = new Set(changed.map(({ id }) => id))
    for (const id of ids)
      if (behind.has(id)) this.#noteChanged(id)
      else if (!this.#uncompared.has(id)) {
        this.#moved.delete(id)
        this.#changed.delete(id)
      }
    return changed
  }

  #noteChanged(id: string) {
    if (!this.#changed.has(id)) this.#changed.set(id, performance.now())
  }

  // Each rests for what its own document took of the time.
  #rest(batch: ChangedSession[], took: number) {
    const all = batch.reduce((sum, { bytes }) => sum + bytes, 0)
    for (const { id, bytes } of batch) {
      const own = all === 0 ? 0 : (took * bytes) / all
      if (own >= WORTH_RESTING_MS) this.#resting.set(id, performance.now() + RESTS * own)
    }
  }

  /** The index was emptied: no session rests. */
  emptied(): void {
    this.#resting.clear()
  }

  // A session whose text cannot be indexed rests for a while, so that it holds up no other.
  async #index(batch: string[]): Promise<void> {
    try {
      await indexSessions(this.database, batch)
      for (const id of batch) this.#changed.delete(id)
      return
    } catch (error) {
      if (isAway(error)) throw error
      if (batch.length === 1) {
        this.#resting.set(batch[0]!, performance.now() + FAILED_RESTS_MS)
        throw error
      }
    }
    for (const id of batch) await this.#index([id])
  }

  #due(): string[] {
    const now = performance.now()
    for (const [id, until] of this.#resting) if (until <= now) this.#resting.delete(id)
    return [...this.#moved].filter((id) => this.#uncompared.has(id) || !this.#resting.has(id)).slice(0, SESSIONS_AT_ONCE)
  }
}

interface ChangedSession {
  id: string
  bytes: number
}

const changedAmong = ({ query }: Queries, ids: string[]): Promise<ChangedSession[]> =>
  query(`select s.id, coalesce(octet_length(d.content), 0) as bytes from ${CHANGED} and s.id = any($1::uuid[])`, [plainArray(ids)])

const withinBatch = (changed: ChangedSession[]): ChangedSession[] => {
  let left = BATCH_BYTES
  return changed.filter(({ bytes }, i) => (left -= bytes) >= 0 || i === 0)
}

interface SessionTexts {
  session_id: string
  title: string
  description: string
  content: string
  doc_version: number
  head: string
}

const indexSessions = async (database: Database, ids: string[]): Promise<void> => {
  if (ids.length === 0) return
  const sessions = await database.query<SessionTexts>(
    `select s.id as session_id, case when s.purged_at is null then s.title else '' end as title, s.description, coalesce(d.content, '') as content, coalesce(d.version, 0) as doc_version, ${HEAD} as head
     from sessions s left join session_docs d on d.session_id = s.id where s.id = any($1::uuid[])`,
    [plainArray(ids)],
  )
  const rows = sessions.map(({ session_id, doc_version, head, ...texts }) => ({ session_id, doc_version, head, ...indexedSession(texts) }))
  await database.transaction(
    ({ query }) =>
      query(
        `insert into session_search (session_id, doc_version, head, length, tsv)
         select session_id, doc_version, head, length, tsv::tsvector
         from json_to_recordset($1::json) as r(session_id uuid, doc_version int, head text, length int, tsv text)
         where exists (select from sessions where id = session_id) order by session_id
         on conflict (session_id) do update
           set doc_version = excluded.doc_version, head = excluded.head, length = excluded.length, tsv = excluded.tsv`,
        [JSON.stringify(rows)],
      ),
    BATCH_MAY_TAKE_MS,
  )
}

/** A session's terms as Postgres' tsvector: with counts as positions, the first of them with the label A if the title has the term. */
export const indexedSession = ({ title, description, content }: Pick<SessionTexts, 'title' | 'description' | 'content'>) => {
  const titled = termsOf(title)
  const counts = new Map<string, number>()
  for (const terms of [titled, termsOf(description), ...chunksOf(content).map((piece) => termsOf(piece))])
    for (const [term, count] of terms) counts.set(term, Math.min((counts.get(term) ?? 0) + count, MOST_COUNTED))
  let [length, left, tsv] = [0, MOST_BYTES, '']
  for (const [term, count] of counts) {
    left -= utf8Bytes(term) + 3 + 2 * count
    if (left < 0) break
    length += count
    tsv += `${quoted(term)}:1${titled.has(term) ? 'A' : ''}${placesAfterFirst(count)} `
  }
  return { length, tsv }
}

const PLACES = Array.from({ length: MOST_COUNTED }, (_, i) => Array.from({ length: i }, (_, n) => `,${n + 2}`).join(''))
const placesAfterFirst = (count: number) => PLACES[count - 1]!

const chunksOf = (text: string): string[] => {
  const pieces: string[] = []
  for (let from = 0; from < text.length;) {
    const blank = text.slice(from, from + CHUNK).search(/\s\S*$/)
    const to = from + CHUNK >= text.length ? text.length : from + (blank > 0 ? blank : CHUNK)
    pieces.push(text.slice(from, to))
    from = to
  }
  return pieces
}

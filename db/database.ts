// The one seam between Parley and its two engines: PGlite and Postgres answer the same calls in the same shapes. Times are RFC 3339
// strings (UTC, milliseconds), bigints are numbers, jsonb is parsed.
//
// Stores use Drizzle's query builder to read and write single rows, and for conditions that are put together. They use SQL text for sets
// (arrays, json_to_recordset, aggregates), recursion, and hot paths.
import { drizzle, type PgRemoteDatabase } from 'drizzle-orm/pg-proxy'

export interface SqlStatement {
  text: string
  params: unknown[]
  asArrays: boolean
}
/** Runs one statement, on a given connection or on any free one. */
export type RunStatement = (statement: SqlStatement) => Promise<unknown[]>

/** What stores run statements on: the database or a transaction, by the query builder (`db`) or as SQL text (`query`). */
export interface Queries {
  db: PgRemoteDatabase
  query<Row>(text: string, params?: unknown[]): Promise<Row[]>
}

export const CHANNEL = 'parley' // for NOTIFY between instances (log/notifier.ts)

export interface Database extends Queries {
  engine: 'pglite' | 'postgres'
  /** Commits everything in `work` together or not at all. `work` must use the `tx` that it is given. */
  transaction<T>(work: (tx: Queries) => Promise<T>, withinMs?: number): Promise<T>
  /** A transaction on a connection of its own, without a time limit for a single statement: for migrations, purges
   *  and the index. */
  unhurried<T>(work: (tx: Queries) => Promise<T>, withinMs: number): Promise<T>
  /** Receives the notifications of other instances. `onListening` is called whenever listening begins, at first and after a reconnect:
   *  notifications from before it may have been missed. `others` resolves to whether another program listens on this database, or may do,
   *  even one that is frozen. */
  listen(onMessage: (payload: string) => void, onListening: (others: Promise<boolean>) => void): Promise<void>
  /** Copies the embedded database's files into this folder, which must not be there; statements wait meanwhile. */
  copyTo?(folder: string): Promise<void>
  /** Bounds the embedded database's journal, where it has grown: Postgres does that by itself. */
  checkpoint?(): Promise<void>
  /** How many programs listen on this Postgres, this one included, also those that are frozen. */
  listeners?(): Promise<number>
  /** The space left on the disk of the embedded database's folder, in bytes; undefined where the system cannot tell. */
  freeBytes?(): number | undefined
  close(): Promise<void>
  /** The number of statements sent so far: for metrics and tests. */
  readonly statements: () => number
}

/** SQLSTATEs of a prepared statement that failed before it did anything: it was deallocated (invalid_sql_statement_name), or its columns
 *  have changed type (feature_not_supported: "cached plan must not change result type"). */
export const STALE_STATEMENT = ['26000', '0A000']

/** The database did not answer in time. Whether a write took effect is unknown. */
export class DatabaseTimeout extends Error {
  override name = 'DatabaseTimeout'
  constructor(ms = ANSWER_WITHIN_MS) {
    super(`The database did not answer within ${ms} ms.`)
  }
}

/** What must be free on the disk of an embedded database for it to be written to: without space for its next 16 MiB of journal, PGlite never returns
 *  and blocks this thread forever. */
export const SPARE_BYTES = 64 * 1024 * 1024

export const ANSWER_WITHIN_MS = 5_000 // postgres-js has no time limit: a frozen server would hold its callers forever

export const queriesOver = (run: RunStatement): Queries => ({
  db: drizzle(async (text, params, method) => ({ rows: (await run({ text, params, asArrays: method === 'all' })) as never[] }), {
    casing: 'snake_case',
  }),
  query: async <Row>(text: string, params: unknown[] = []) => (await run({ text, params, asArrays: false })) as Row[],
})

/** A statement that is built once and run with changing values (`sql.placeholder`): to build it takes drizzle longer than everything else
 *  that a small read does here. Each transaction builds its own. */
export const prepared = <Statement>(build: (db: Queries['db']) => Statement) => {
  const built = new WeakMap<Queries['db'], Statement>()
  return ({ db }: Queries): Statement => {
    const statement = built.get(db) ?? build(db)
    built.set(db, statement)
    return statement
  }
}

/** The result of `work`, or DatabaseTimeout after `ms`. The work itself goes on, and its result is dropped. */
export const withinDeadline = <T>(work: Promise<T>, ms = ANSWER_WITHIN_MS): Promise<T> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new DatabaseTimeout(ms)), ms)
    const after =
      <Result>(settle: (result: Result) => void) =>
      (result: Result) => {
        clearTimeout(timer)
        settle(result)
      }
    work.then(after(resolve), after(reject))
  })

/** A transaction's work that throws DatabaseTimeout if it begins only after `ms`: its caller has then got that error already, and must not
 *  find later that the work was done. */
export const unlessLate = <T>(work: (tx: Queries) => Promise<T>, ms = ANSWER_WITHIN_MS): typeof work => {
  const from = performance.now()
  return async (tx) => {
    if (performance.now() - from >= ms) throw new DatabaseTimeout(ms)
    return work(tx)
  }
}

/** A time as Postgres prints it on a UTC connection (`2026-11-22 02:29:07.12+00`, without trailing zeros), in RFC 3339. The usual form is
 *  converted without a Date, because a long session has thousands of times. */
export const rfc3339 = (text: string): string => {
  if (UTC_MILLISECONDS.test(text)) return `${text.slice(0, 10)}T${text.slice(11, 19)}.${text.slice(20, -3).padEnd(3, '0')}Z`
  return new Date(text.replace(' ', 'T').replace(/([+-]\d\d)$/, '$1:00')).toISOString()
}

const UTC_MILLISECONDS = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,3})?\+00$/

export const OID = { int8: 20, json: 114, jsonb: 3802, timestamptz: 1184 }

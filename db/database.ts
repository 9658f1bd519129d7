// The one seam between Parley and its two engines: PGlite and Postgres answer the same calls in the same shapes.
// Times come as RFC 3339 strings (UTC, milliseconds), bigints as numbers, jsonb parsed.
import { drizzle, type PgRemoteDatabase } from 'drizzle-orm/pg-proxy'

export interface Statement {
  text: string
  params: unknown[]
  asArrays: boolean
}
/** Runs one statement on a connection (or whatever connection is free). */
export type Run = (statement: Statement) => Promise<unknown[]>

/** What stores speak to: the query builder, or a statement by hand. A transaction and the database look the same. */
export interface Queries {
  db: PgRemoteDatabase
  query<Row>(text: string, params?: unknown[]): Promise<Row[]>
}

export const CHANNEL = 'parley' // instances speak to each other on it (log/notifier.ts)

export interface Database extends Queries {
  engine: 'pglite' | 'postgres'
  /** Everything in `work` commits together or not at all. It must use the queries that it is given. */
  transaction<T>(work: (tx: Queries) => Promise<T>, withinMs?: number): Promise<T>
  /** A transaction on a connection of its own, in which a single statement may take as long as all of it: for migrations. */
  unhurried<T>(work: (tx: Queries) => Promise<T>, withinMs: number): Promise<T>
  /** Hears other instances. `connected` is called at each (re)connect: whatever was said before it may have been missed. It is given
   *  whether another program listens on this database, or may do, even one that is frozen or cannot answer. */
  listen(heard: (payload: string) => void, connected: (others: Promise<boolean>) => void): Promise<void>
  close(): Promise<void>
  /** Statements sent so far, for the metrics and for tests that count. */
  readonly statements: () => number
}

/** SQLSTATEs of a prepared statement that died before it did anything: deallocated (invalid_sql_statement_name), or its columns are of
 *  other types since (feature_not_supported: "cached plan must not change result type"). */
export const STALE_STATEMENT = ['26000', '0A000']

/** The database did not answer in time; whether a write happened is unknown. */
export class DatabaseTimeout extends Error {
  override name = 'DatabaseTimeout'
  constructor(ms = ANSWER_WITHIN_MS) {
    super(`The database did not answer within ${ms} ms.`)
  }
}

export const ANSWER_WITHIN_MS = 5_000 // postgres-js has no time-out of its own: a frozen server would hold its callers for good

export const queriesOver = (run: Run): Queries => ({
  db: drizzle(async (text, params, method) => ({ rows: (await run({ text, params, asArrays: method === 'all' })) as never[] }), {
    casing: 'snake_case',
  }),
  query: async <Row>(text: string, params: unknown[] = []) => (await run({ text, params, asArrays: false })) as Row[],
})

/** A statement that is built once and then run with other values (`sql.placeholder`): to build one again takes drizzle longer than all
 *  else that a small read does here. Inside a transaction it is built for that transaction. */
export const prepared = <Statement>(build: (db: Queries['db']) => Statement) => {
  const built = new WeakMap<Queries['db'], Statement>()
  return ({ db }: Queries): Statement => {
    const statement = built.get(db) ?? build(db)
    built.set(db, statement)
    return statement
  }
}

/** `work`, or DatabaseTimeout after `ms`; the work itself goes on, and nobody hears of it. */
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

/** A transaction's work, which throws DatabaseTimeout when it begins only after `ms`: by then its caller was told that it failed, and would
 *  not know what it wrote. */
export const unlessLate = <T>(work: (tx: Queries) => Promise<T>, ms = ANSWER_WITHIN_MS): typeof work => {
  const from = performance.now()
  return async (tx) => {
    if (performance.now() - from >= ms) throw new DatabaseTimeout(ms)
    return work(tx)
  }
}

/** `2026-11-22 02:29:07.12+00`, as Postgres prints it to a UTC connection without the zeros at its end, in RFC 3339. Where that is plain
 *  it is done without a Date: a long session has thousands of times. */
export const rfc3339 = (text: string): string => {
  if (UTC_MILLISECONDS.test(text)) return `${text.slice(0, 10)}T${text.slice(11, 19)}.${text.slice(20, -3).padEnd(3, '0')}Z`
  return new Date(text.replace(' ', 'T').replace(/([+-]\d\d)$/, '$1:00')).toISOString()
}

const UTC_MILLISECONDS = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,3})?\+00$/

export const OID = { int8: 20, json: 114, jsonb: 3802, timestamptz: 1184 }

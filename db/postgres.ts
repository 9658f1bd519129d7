// A Postgres server: a pool of connections, statements prepared once on each.
//
// Why postgres-js with a patch, and not pg (node-postgres 8.23.1). What makes a wrong answer impossible is one statement at a time on a
// connection, and both drivers can do that. Under the load of tests/faults/stale-statements (60 callers, types that change, deallocated
// statements, 30 s each) neither gave a wrong row then; before, postgres-js gave up to 49, patched or not, because it sent a stale statement
// again on a connection that took others' statements meanwhile. pg behind this seam passed tests/faults as well, with 670 lines of our own
// for pool, listener and types in place of 120 here and a patch that changes 144. It was as quick within what a busy machine can tell
// (bench/post, bench/wake). It takes a stray answer for the next caller's, and one statement text that is no string breaks into other
// connections' messages; the patch ends a connection on the first message that belongs to no statement.
import postgres from 'postgres'
import {
  CHANNEL,
  OID,
  STALE_STATEMENT,
  queriesOver,
  rfc3339,
  unlessLate,
  withinDeadline,
  type Database,
  type Queries,
  type Run,
} from './database.ts'
import { hostsOf } from './postgres-hosts.ts'
import { sessionSettings } from './session-settings.ts'

const CONNECTIONS = 16
const ASKS_LISTENER_EVERY_MS = 15_000 // it owes no answer: without a question nobody would see that the other end is gone
// Back within half a second of the server's return; the driver's own schedule took 7 s.
const backoff = (tries: number) => Math.min(0.1 * 2 ** tries, 0.5)
// One statement at a time on a connection. The driver could send several ahead of their answers, which come without a name and are told
// apart by their order alone: one answer too many or too few there, and every later one reaches the wrong caller.
const NO_PIPELINE = { max_pipeline: 0 }
const asText = (value: unknown) => value

// The database ends a statement after 5 s (session-settings.ts). Whoever owes an answer for longer is gone without a word, and the driver
// (db/patches) lets go of it: the system would wait for a quarter of an hour.
const ANSWER_LIMIT = { answer_timeout: 8 } // seconds

const open = (url: string, max: number, hurried = true) =>
  postgres(url, {
    ...hostsOf(url),
    max,
    ...NO_PIPELINE,
    backoff,
    connect_timeout: 5,
    ...(hurried && ANSWER_LIMIT),
    onnotice() {},
    connection: { application_name: 'parley' },
    ...({ settings: sessionSettings(hurried) } as object), // sent first on each new connection (db/patches)
    types: {
      int8: { to: OID.int8, from: [OID.int8], serialize: String, parse: Number },
      json: { to: OID.json, from: [OID.json, OID.jsonb], serialize: asText, parse: JSON.parse },
      jsonb: { to: OID.jsonb, from: [], serialize: asText, parse: JSON.parse },
      timestamptz: { to: OID.timestamptz, from: [OID.timestamptz], serialize: asText, parse: rfc3339 },
    } as never,
  })

/** Opens a pool on `url` (postgres://user:password@host:port/database). Rejects when the server does not answer. */
export const openPostgres = async (url: string): Promise<Database> => {
  const client = open(url, CONNECTIONS)
  let sent = 0
  const over =
    (connection: postgres.Sql | postgres.TransactionSql): Run =>
    ({ text, params, asArrays }) => {
      sent++
      const pending = connection.unsafe(text, params as never[], { prepare: true })
      return asArrays ? pending.values() : (pending as Promise<unknown[]>)
    }
  await withinDeadline(client`select 1`).catch(async (error) => {
    await client.end({ timeout: 0 })
    throw error
  })
  const run = withStaleRetry(over(client))
  const transactionOn = <T>(connections: postgres.Sql, work: (tx: Queries) => Promise<T>, ms?: number) => {
    const begun = unlessLate(work, ms)
    return withinDeadline(connections.begin((tx) => begun(queriesOver(over(tx)))) as Promise<T>, ms)
  }
  let question: ReturnType<typeof setInterval> | undefined
  return {
    engine: 'postgres',
    ...queriesOver((statement) => withinDeadline(run(statement))),
    transaction: (work, ms) => transactionOn(client, work, ms),
    unhurried: async (work, ms) => {
      const own = open(url, 1, false)
      return transactionOn(own, work, ms).finally(() => own.end({ timeout: 5 }))
    },
    listen: async (heard, connected) => {
      const begun = () => connected(markOf(listenerOf(client)).catch(() => true)) // who cannot tell is not alone
      await client.listen(CHANNEL, heard, begun)
      const ask = () => void listensAgain(listenerOf(client)).then((again) => again && begun(), nothing) // a failure: asked again
      question ??= setInterval(ask, ASKS_LISTENER_EVERY_MS)
    },
    close: () => {
      clearInterval(question)
      return client.end({ timeout: 5 })
    },
    statements: () => sent,
  }
}

const TRIES = 4 // while a schema changes again and again, one more was not always enough (tests/faults/stale-statements)

// A statement that was prepared before the schema changed, or before somebody deallocated it, is refused before it does anything, and the
// driver prepares all statements anew: it can be tried again. Inside a transaction the refusal has undone the transaction, and its owner
// starts over (db/errors.ts).
const withStaleRetry =
  (run: Run): Run =>
  async (statement) => {
    for (let tried = 1; ; tried++) {
      try {
        return await run(statement)
      } catch (error) {
        if (tried === TRIES || !STALE_STATEMENT.includes((error as { code?: string }).code ?? '')) throw error
      }
    }
  }

// Whoever listens holds a lock that others can share and see, for as long as the connection lives. Resolves whether another one holds it.
const markOf = async (listener: postgres.Sql): Promise<boolean> => {
  const [, , others] = (await withinDeadline(listener.unsafe(MARK))) as unknown as { found: boolean }[][]
  return others![0]!.found
}

// Begins with LISTEN, which changes nothing: pg_stat_activity shows by its last statement which connection it is.
const MARK = `listen ${CHANNEL}; select pg_try_advisory_lock_shared(7423, 2);
  select exists (
    select from pg_locks
    where locktype = 'advisory' and (classid, objid, objsubid) = (7423, 2, 2) and granted and pid <> pg_backend_pid()
      and database = (select oid from pg_database where datname = current_database())
  ) as found`

// The driver listens on each new connection, once: a standby that is about to take over refuses that, and keeps the connection. What is
// asked for is in force when both have been done, so that the answer is whether it was before.
const listensAgain = async (listener: postgres.Sql): Promise<boolean> => {
  const [, before] = (await listener.unsafe(`listen ${CHANNEL}; select pg_listening_channels()`)) as unknown as unknown[][]
  return before!.length === 0
}

const nothing = () => {}

const listenerOf = ({ listen }: postgres.Sql) => (listen as unknown as { sql: postgres.Sql }).sql

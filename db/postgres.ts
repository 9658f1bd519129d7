// A Postgres server: a pool of connections, statements prepared once on each.
//
// Why postgres-js with a patch (db/patches/README.md explains each hunk) and not pg (node-postgres 8.23.1). Both drivers can keep to one
// statement at a time on a connection, which is what makes wrong answers impossible: under the load of tests/faults/stale-statements
// neither then gave a wrong row. pg behind this seam passed tests/faults as well, and was as fast within what a busy machine can tell
// (bench/post, bench/wake), but needed 670 lines of our own for pool, listener and types, in place of 120 here and the patch's 149. And pg
// takes a stray answer for the next caller's, where the patched driver ends the connection.
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
  type RunStatement,
} from './database.ts'
import { hostsOf } from './postgres-hosts.ts'
import { sessionSettings } from './session-settings.ts'

const CONNECTIONS = 16
const IDLE_S = 60 // after a burst its connections go back: a pooler, and Postgres itself, have only so many
const LISTENER_CHECK_MS = 15_000 // the listening connection owes no answer, so only a question shows that its other end is gone
// Reconnects within half a second of the server's return. The driver's own schedule took 7 s.
const backoff = (tries: number) => Math.min(0.1 * 2 ** tries, 0.5)
// One statement at a time on a connection. The driver can send several before the first is answered, but answers carry no name and are
// matched by their order alone: after one answer too many or too few, every later one would reach the wrong caller.
const NO_PIPELINE = { max_pipeline: 0 }
const asText = (value: unknown) => value

// The database ends a statement after 5 s (session-settings.ts). A server that owes an answer for longer is gone, and the patched driver
// gives the connection up; the system would take a quarter of an hour to notice.
const ANSWER_LIMIT = { answer_timeout: 8 } // seconds

const open = (url: string, max: number, { hurried = true, idleS = IDLE_S } = {}) =>
  postgres(url, {
    ...hostsOf(url),
    max,
    ...NO_PIPELINE,
    backoff,
    connect_timeout: 5,
    idle_timeout: idleS,
    ...(hurried && ANSWER_LIMIT),
    onnotice() {},
    connection: { application_name: 'parley' },
    ...({ settings: sessionSettings(hurried) } as object), // sent first on each new connection, by the patched driver
    types: {
      int8: { to: OID.int8, from: [OID.int8], serialize: String, parse: Number },
      json: { to: OID.json, from: [OID.json, OID.jsonb], serialize: asText, parse: JSON.parse },
      jsonb: { to: OID.jsonb, from: [], serialize: asText, parse: JSON.parse },
      timestamptz: { to: OID.timestamptz, from: [OID.timestamptz], serialize: asText, parse: rfc3339 },
    } as never,
  })

/** Opens a pool on `url` (postgres://user:password@host:port/database). Rejects when the server does not answer. Tests hand in a shorter
 *  `listenerCheckMs` and `idleS`. */
export const openPostgres = async (url: string, listenerCheckMs = LISTENER_CHECK_MS, idleS = IDLE_S): Promise<Database> => {
  const client = open(url, CONNECTIONS, { idleS })
  let sent = 0
  const over =
    (connection: postgres.Sql | postgres.TransactionSql): RunStatement =>
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
  let listenerCheck: ReturnType<typeof setInterval> | undefined
  return {
    engine: 'postgres',
    ...queriesOver((statement) => withinDeadline(run(statement))),
    transaction: (work, ms) => transactionOn(client, work, ms),
    unhurried: async (work, ms) => {
      const own = open(url, 1, { hurried: false })
      return transactionOn(own, work, ms).finally(() => own.end({ timeout: 5 }))
    },
    listen: async (onMessage, onListening) => {
      const begun = () => onListening(hasOtherListeners(listenerOf(client)).catch(() => true)) // if it cannot be told, assume others
      await client.listen(CHANNEL, onMessage, begun)
      const ask = () => void relisten(listenerOf(client)).then((again) => again && begun(), ignore) // after a failure the next check asks again
      listenerCheck ??= setInterval(ask, listenerCheckMs)
    },
    listeners: async () => {
      const [row] = (await withinDeadline(run({ text: LISTENERS, params: [], asArrays: false }))) as { count: number }[]
      return row!.count
    },
    close: () => {
      clearInterval(listenerCheck)
      return client.end({ timeout: 5 })
    },
    statements: () => sent,
  }
}

const TRIES = 10 // four were not always enough while a schema kept changing on a busy machine (tests/faults/stale-statements)

// A stale prepared statement (the schema has changed, or somebody has deallocated it) is refused before it does anything, and the driver
// then prepares all statements anew: it can be tried again. Inside a transaction the refusal has rolled the transaction back, and its owner
// starts over (isUndone in db/errors.ts).
const withStaleRetry =
  (run: RunStatement): RunStatement =>
  async (statement) => {
    for (let tried = 1; ; tried++) {
      try {
        return await run(statement)
      } catch (error) {
        if (tried === TRIES || !STALE_STATEMENT.includes((error as { code?: string }).code ?? '')) throw error
      }
    }
  }

// Everybody who listens holds a shared advisory lock for as long as its connection lives. Takes it, and resolves to whether others hold it.
const hasOtherListeners = async (listener: postgres.Sql): Promise<boolean> => {
  const [, , others] = (await withinDeadline(listener.unsafe(LISTEN_AND_MARK))) as unknown as { found: boolean }[][]
  return others![0]!.found
}

// Begins with LISTEN, which changes nothing, so that pg_stat_activity shows which connection listens.
const MARKS = `from pg_locks
    where locktype = 'advisory' and (classid, objid, objsubid) = (7423, 2, 2) and granted
      and database = (select oid from pg_database where datname = current_database())`
const LISTEN_AND_MARK = `listen ${CHANNEL}; select pg_try_advisory_lock_shared(7423, 2);
  select exists (select ${MARKS} and pid <> pg_backend_pid()) as found`
const LISTENERS = `select count(distinct pid)::int as count ${MARKS}`

// The driver sends LISTEN once for each connection. A standby that is about to be promoted rejects it but keeps the connection, which
// would stay deaf. This sends LISTEN again, and resolves to whether it had been missing: within one message, pg_listening_channels() still
// shows the channels from before.
const relisten = async (listener: postgres.Sql): Promise<boolean> => {
  const [, before] = (await listener.unsafe(`listen ${CHANNEL}; select pg_listening_channels()`)) as unknown as unknown[][]
  return before!.length === 0
}

const ignore = () => {}

const listenerOf = ({ listen }: postgres.Sql) => (listen as unknown as { sql: postgres.Sql }).sql

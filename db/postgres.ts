// A Postgres server: a pool of connections, statements prepared once on each.
import postgres from 'postgres'
import {
  ANSWER_WITHIN_MS,
  CHANNEL,
  OID,
  queriesOver,
  rfc3339,
  unlessLate,
  withinDeadline,
  type Database,
  type Queries,
  type Run,
} from './database.ts'

const CONNECTIONS = 16
const ASKS_LISTENER_EVERY_MS = 15_000 // it owes no answer: without a question nobody would see that the other end is gone
// Back within half a second of the server's return; the driver's own schedule took 7 s.
const backoff = (tries: number) => Math.min(0.1 * 2 ** tries, 0.5)
// Every statement of ours goes by an index, and is planned once for each connection: planning the append each time took a fifth of its
// time (bench/post), and a plan made while a table was empty must not read it whole when it is large. Statements are short and many run
// at once: starting workers for one of them takes longer than it does.
const PLANS = { jit: 'off', plan_cache_mode: 'force_generic_plan', enable_seqscan: 'off', max_parallel_workers_per_gather: '0' }
// What an instance that froze, or whose host is gone, holds is free again after so long: its rows when its transaction idles, its
// connection when its host does not answer. No transaction of ours waits for anything but its own statements.
const GIVEN_UP = {
  idle_in_transaction_session_timeout: 10_000,
  tcp_keepalives_idle: 15,
  tcp_keepalives_interval: 5,
  tcp_keepalives_count: 3,
}
const asText = (value: unknown) => value

// A statement ends within 5 s. Whoever owes an answer for longer is gone without a word, and the driver (db/patches) lets go of it: the
// system would wait for a quarter of an hour.
const STATEMENT_LIMIT = { statement_timeout: ANSWER_WITHIN_MS }
const ANSWER_LIMIT = { answer_timeout: 8 } // seconds

const open = (url: string, max: number, hurried = true) =>
  postgres(url, {
    max,
    backoff,
    connect_timeout: 5,
    ...(hurried && ANSWER_LIMIT),
    onnotice() {},
    connection: { application_name: 'parley', TimeZone: 'UTC', ...(hurried && STATEMENT_LIMIT), ...GIVEN_UP, ...PLANS } as never,
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
  const run = over(client)
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
      await client.listen(CHANNEL, heard, connected)
      const ask = () => void listensAgain(listenerOf(client)).then((again) => again && connected(), nothing) // a failure: asked again
      question ??= setInterval(ask, ASKS_LISTENER_EVERY_MS)
    },
    close: () => {
      clearInterval(question)
      return client.end({ timeout: 5 })
    },
    statements: () => sent,
  }
}

// The driver listens on each new connection, once: a standby that is about to take over refuses that, and keeps the connection. What is
// asked for is in force when both have been done, so that the answer is whether it was before.
const listensAgain = async (listener: postgres.Sql): Promise<boolean> => {
  const [, before] = (await listener.unsafe(`listen ${CHANNEL}; select pg_listening_channels()`)) as unknown as unknown[][]
  return before!.length === 0
}

const nothing = () => {}

const listenerOf = ({ listen }: postgres.Sql) => (listen as unknown as { sql: postgres.Sql }).sql

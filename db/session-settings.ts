// What a connection is set to before anything else is sent on it. A database or a role may have defaults of its own for each of these,
// and what this program reads, writes or promises must not depend on them.
import { ANSWER_WITHIN_MS } from './database.ts'

// How values are read and printed.
const FORMATS = {
  TimeZone: 'UTC',
  DateStyle: 'ISO',
  IntervalStyle: 'postgres',
  bytea_output: 'hex',
  extra_float_digits: '1',
  standard_conforming_strings: 'on',
  transform_null_equals: 'off',
  array_nulls: 'on',
}

// Transactions take their locks explicitly and may wait for them: a default that ends the wait early, or checks for conflicts instead,
// fails writes that nothing is wrong with. The listening connection is idle most of the time.
const PATIENCE = {
  default_transaction_isolation: 'read committed',
  lock_timeout: '0',
  idle_session_timeout: '0', // from Postgres 14 on
  transaction_timeout: '0', // from Postgres 17 on
  exit_on_error: 'off',
  gin_fuzzy_search_limit: '0', // another value lets a search leave out what it found
  client_min_messages: 'warning',
}

// Every statement of ours goes by an index, and is planned once for each connection: planning the append each time took a fifth of its
// time (bench/post), and a plan made while a table was empty must not read it whole when it is large. Statements are short and many run
// at once: starting workers for one of them takes longer than it does.
const PLANS = { jit: 'off', plan_cache_mode: 'force_generic_plan', enable_seqscan: 'off', max_parallel_workers_per_gather: '0' }

// What an instance that froze, or whose host is gone, holds is free again after so long: its rows when its transaction idles, its
// connection when its host does not answer. No transaction of ours waits for anything but its own statements.
const GIVEN_UP = {
  idle_in_transaction_session_timeout: '10000',
  tcp_keepalives_idle: '15',
  tcp_keepalives_interval: '5',
  tcp_keepalives_count: '3',
}

/** The statement that puts a new connection's settings in force. They are not in the startup message, because a pooler such as PgBouncer
 *  refuses most of them there. What the server's version does not know is left out. `hurried`: no statement may take longer than a caller
 *  waits for it. */
export const sessionSettings = (hurried: boolean): string => {
  const wanted = {
    ...FORMATS,
    ...PATIENCE,
    ...PLANS,
    ...GIVEN_UP,
    statement_timeout: String(hurried ? ANSWER_WITHIN_MS : 0),
    synchronous_commit: 'on',
  }
  const rows = Object.entries(wanted).map(([name, value]) => `('${name}', '${value}')`)
  // An answer to a write means that it is on disk. Of the values of synchronous_commit only `off` breaks that; the others are kept.
  return `select set_config(name, value, false) from (values ${rows.join(', ')}) as wanted (name, value)
    where current_setting(name, true) is not null and (name <> 'synchronous_commit' or current_setting(name) = 'off')`
}

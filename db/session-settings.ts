// The settings that each connection gets before anything else is sent on it. A database or a role may have its own default for each of
// them, and what this program reads, writes or promises must not depend on those.
import { ANSWER_WITHIN_MS } from './database.ts'

// How values are parsed and printed.
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

// Our transactions lock rows explicitly and may wait for them: a default that ends such waits early, or a stricter isolation level, would
// fail writes that are fine. The listening connection is idle most of the time.
const PATIENCE = {
  default_transaction_isolation: 'read committed',
  lock_timeout: '0',
  idle_session_timeout: '0', // from Postgres 14 on
  transaction_timeout: '0', // from Postgres 17 on
  exit_on_error: 'off',
  gin_fuzzy_search_limit: '0', // any other value lets a search drop results at random
  client_min_messages: 'warning',
}

// Each of our statements uses an index and is planned once for each connection: planning the append each time took a fifth of its time
// (bench/post). A plan that was made while a table was empty must not scan it when it is large. Statements are short and many run at once:
// to start parallel workers takes longer than the statement.
const PLANS = { jit: 'off', plan_cache_mode: 'force_generic_plan', enable_seqscan: 'off', max_parallel_workers_per_gather: '0' }

// When an instance freezes or its host is lost, the server frees its locks when its transaction has idled for so long, and its connection
// when its host no longer answers. Our own transactions wait for nothing but their statements.
const GIVEN_UP = {
  idle_in_transaction_session_timeout: '10000',
  tcp_keepalives_idle: '15',
  tcp_keepalives_interval: '5',
  tcp_keepalives_count: '3',
}

/** The statement that applies the settings to a new connection. They are not in the startup message, because a pooler such as PgBouncer
 *  refuses most of them there. A setting that the server's version does not know is skipped. `hurried`: limits each statement to the time
 *  that a caller waits for it. */
export const sessionSettings = (hurried: boolean): string => {
  const settings = {
    ...FORMATS,
    ...PATIENCE,
    ...PLANS,
    ...GIVEN_UP,
    statement_timeout: String(hurried ? ANSWER_WITHIN_MS : 0),
    synchronous_commit: 'on',
  }
  const rows = Object.entries(settings).map(([name, value]) => `('${name}', '${value}')`)
  // An answer to a write promises that it is on disk. Only synchronous_commit = off breaks that; its other values are kept.
  return `select set_config(name, value, false) from (values ${rows.join(', ')}) as wanted (name, value)
    where current_setting(name, true) is not null and (name <> 'synchronous_commit' or current_setting(name) = 'off')`
}

// Checks at the start, before anything is written, that a Postgres can be used: that it stores every text, takes writes, gives each
// connection a session of its own, and delivers notifications. If not, the start ends with a sentence.
import postgres from 'postgres'
import { setTimeout as sleep } from 'node:timers/promises'
import { ANSWER_WITHIN_MS, DatabaseTimeout, withinDeadline, type Queries } from './database.ts'
import { hostsOf } from './postgres-hosts.ts'

const DELIVERED_WITHIN_MS = 2_000
const TRIES = 2 // a database that is still starting delivers the first notification late
const LAST_READ_MS = 50 // time to read a notification that arrived while this process was busy

/** Throws Unfit when the database cannot be used as it is set up. `warn` gets what is no reason to stop. */
export const checkPostgres = async (url: string, warn: (line: string) => void): Promise<void> => {
  let received = 0
  const speaker = connection(url)
  const listener = connection(url, () => void received++)
  try {
    await withinDeadline(speaker.unsafe('select 1')).catch((error) => noPrimary(url, error))
    await checkDatabase(speaker, warn)
    if (!(await keepsItsSession(listener, speaker))) throw new Unfit(SHARED_SESSIONS)
    await assertDelivers(listener, speaker, () => received)
  } finally {
    await Promise.all([speaker.end({ timeout: 0 }), listener.end({ timeout: 0 })])
  }
}

/** Warns where the database takes letters outside ASCII for no letters, as with LC_CTYPE C: searches of titles and records go by its lower(),
 *  ilike and trigrams. */
export const warnOfLetters = async ({ query }: Queries, warn: (line: string) => void): Promise<void> => {
  const [row] = await query<{ known: boolean }>(`select lower('ÀЖ') = 'àж' as known`)
  if (!row!.known)
    warn(
      `The database knows the letters of ASCII alone (its LC_CTYPE is C): searches of titles and records tell É from é, and forgive no typo in words with such letters. To change that, move it with pg_dump and pg_restore into one made with create database … locale 'C.UTF-8' template template0.`,
    )
}

/** The database answers, but cannot be used as it is set up; the message says why and what to do. */
export class Unfit extends Error {
  override name = 'Unfit'
}

const POOLER = 'Use a direct connection, or a pooler in session mode (PgBouncer: pool_mode = session).'
const SHARED_SESSIONS = `It shares one session among several connections, as a pooler in transaction or statement mode does. LISTEN does not come through such a pooler. ${POOLER}`
const NOT_DELIVERED = `LISTEN does not come through: a notification was not delivered within ${DELIVERED_WITHIN_MS / 1_000} s, twice. A pooler in transaction or statement mode swallows them. ${POOLER}`

// Without the settings of db/session-settings.ts: behind a pooler in transaction mode they would stay on connections that others use.
const connection = (url: string, received: () => void = () => {}) =>
  postgres(url, {
    ...hostsOf(url),
    max: 1,
    connect_timeout: ANSWER_WITHIN_MS / 1_000,
    fetch_types: false,
    onnotice() {},
    onnotify: received,
    connection: { application_name: 'parley' },
  } as postgres.Options<Record<string, never>>)

const noPrimary = (url: string, error: unknown): never => {
  if (!(error instanceof DatabaseTimeout) || !hostsOf(url).target_session_attrs) throw error
  throw new Unfit(
    `None of its hosts was found to be a primary, which takes writes, within ${ANSWER_WITHIN_MS / 1_000} s. Check that one is running.`,
  )
}

const selectOne = async (on: postgres.Sql, text: string): Promise<postgres.Row> => {
  const [row] = await withinDeadline(on.unsafe(text))
  return row ?? {}
}

const checkDatabase = async (on: postgres.Sql, warn: (line: string) => void) => {
  const { name, encoding, standby, readonly, schema, path, fsync } = await selectOne(
    on,
    `select current_database() as name, current_setting('server_encoding') as encoding, pg_is_in_recovery() as standby,
       current_setting('transaction_read_only') = 'on' as readonly, current_schema()::text as schema, current_setting('search_path') as path,
       current_setting('fsync') as fsync`,
  )
  if (encoding !== 'UTF8')
    throw new Unfit(
      `Its encoding is ${encoding}, which cannot store every text. Make a database with create database … encoding 'UTF8' template template0, and name that one.`,
    )
  if (standby) throw new Unfit('It is a standby, which takes no writes. Name the primary; with several hosts in the URL it is found.')
  if (readonly)
    throw new Unfit(
      `It takes no writes: default_transaction_read_only is on. Turn it off for the database or the user, as with alter database "${name}" reset default_transaction_read_only.`,
    )
  if (!schema || schema.startsWith('pg_'))
    throw new Unfit(
      `No table can be made: the search_path (${path || 'empty'}) begins with no schema for tables. Set it for the user or the database, as with alter database "${name}" set search_path = public.`,
    )
  if (fsync === 'off') warn('fsync is off at the Postgres server: a power cut there can lose what was acknowledged. Turn it on.')
}

// Behind a pooler in transaction mode, the second connection gets the server session that the first one has just left.
const keepsItsSession = async (first: postgres.Sql, second: postgres.Sql): Promise<boolean> => {
  const own = crypto.randomUUID()
  await selectOne(first, `select set_config('parley.session', '${own}', false)`)
  await selectOne(second, `select set_config('parley.session', '${crypto.randomUUID()}', false)`)
  const { session } = await selectOne(first, `select current_setting('parley.session', true) as session`)
  return session === own
}

// The listener sends nothing while it waits. A pooler in transaction mode then has no server session for it, so that nothing can be
// delivered by luck.
const assertDelivers = async (listener: postgres.Sql, speaker: postgres.Sql, received: () => number) => {
  const channel = `parley_${crypto.randomUUID().replaceAll('-', '')}`
  await selectOne(listener, `listen ${channel}`)
  for (let tried = 0; tried < TRIES; tried++) {
    await selectOne(speaker, `notify ${channel}, '${tried}'`)
    const until = performance.now() + DELIVERED_WITHIN_MS // counted from the answer to NOTIFY, which may have been slow
    while (received() === 0 && performance.now() < until) await sleep(5)
    if (received() === 0) await sleep(LAST_READ_MS)
    if (received() > 0) return
  }
  throw new Unfit(NOT_DELIVERED)
}

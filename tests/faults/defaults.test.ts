// A database, or the role that connects, has defaults of its own. Whatever they are, Parley works as ever, or the start ends with a
// sentence that says what to do.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import postgres from 'postgres'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ANSWER_WITHIN_MS, type Database } from '../../db/database.ts'
import { openPostgres } from '../../db/postgres.ts'
import { warnOfLetters } from '../../db/start-checks.ts'
import { emptyDatabase, startPostgres, type TestPostgres } from '../support/postgres.ts'
import { FULL, shortOf } from '../support/full.ts'
import { holdLock } from '../support/held-lock.ts'
import { runServer, startServer } from '../support/server.ts'
import { expectFaultless } from './checker.ts'
import { acked, call, openRoom, post, readBy, readFeed, sent, until, wait, type Room, type Send } from './rooms.ts'

let database: TestPostgres
beforeAll(async () => void (database = await startPostgres()), 180_000)
afterAll(async () => database?.stop(), 180_000)

const run = async (url: string, ...statements: string[]): Promise<postgres.Row[]> => {
  const sql = postgres(url, { max: 1, onnotice() {} })
  try {
    const rows: postgres.Row[] = []
    for (const statement of statements) rows.push(...(await sql.unsafe(statement)))
    return rows
  } finally {
    await sql.end()
  }
}

/** An empty database after these statements, in which DATABASE stands for its name. */
const withDatabase = async (statements: string[], work: (url: string) => Promise<void>) => {
  const { url, drop } = await emptyDatabase(database.url)
  try {
    await run(url, ...statements.map((statement) => statement.replaceAll('DATABASE', new URL(url).pathname.slice(1))))
    await work(url)
  } finally {
    await drop()
  }
}

const expectRefused = async (url: string, sentence: RegExp, commands: string[][] = shortOf([[], ['migrate']], 1)) => {
  for (const command of commands) {
    const { code, output } = await runServer(command, { DATABASE_URL: url, PORT: '0' })
    expect(output.trim()).toMatch(sentence)
    expect(output.trim().split('\n')).toHaveLength(1)
    expect(code).toBe(1)
  }
}

const expectWorks = async (url: string) => {
  const server = await startServer({ DATABASE_URL: url })
  const own = await openPostgres(url)
  try {
    await expectTalk(await openRoom(server.url, 2, patiently))
    await expectContention(await openRoom(server.url, 2, patiently), own)
    expect(await own.query(IDLE_FOR_LONG)).not.toBeEmpty()
  } finally {
    await own.close()
    await server.remove()
  }
}

// The one that listens, above all: it has had nothing to say since the start.
const IDLE_FOR_LONG = `select pid from pg_stat_activity
  where datname = current_database() and application_name = 'parley' and state = 'idle' and now() - state_change > interval '1200 ms'`

// A busy machine may answer only after the server's own limit, with 503: that call is sent again. An earlier 503 is the settings' doing.
const patiently: Send = async (request) => {
  for (let tried = 1; ; tried++) {
    const from = performance.now()
    const response = await fetch(request.clone())
    if (response.status !== 503 || !isLate(performance.now() - from) || tried === 5) return response
  }
}

const isLate = (ms: number) => ms >= ANSWER_WITHIN_MS

const TEXT = `It's 100 % done\\n – 蜂鳥 and a \\ backslash`

// A text is posted, wakes who waits, is read again, stands in the document and is found.
const expectTalk = async (room: Room) => {
  const [convener, other] = room.teams as [string, string]
  const document = `/api/sessions/${room.session}/doc`
  const waiting = wait(room, 1, { team: other, timeout: 40, send: patiently })
  waiting.catch(() => {}) // told below, unless the post fails first
  await Bun.sleep(100)
  const sentAt = Date.now()
  expect((await post(room, TEXT, { key: 'one', send: patiently })).status).toBe(200)
  const { messages } = (await waiting).body
  expect(messages).toMatchObject([{ sequence: 2, content: { text: TEXT } }])
  expect(Date.parse(messages[0].at)).toBeWithin(sentAt - 1_000, Date.now() + 1_000)
  const append = { team: convener, key: 'two', body: { text: TEXT }, send: patiently }
  expect((await call(room.url, 'POST', `${document}/append`, append)).status).toBe(200)
  const { body } = await call(room.url, 'GET', document, { team: convener, send: patiently })
  expect(body.content).toContain(TEXT)
  await until('it is found', 60_000, async () => {
    const query = { body: { query: '蜂鳥 backslash' }, send: patiently }
    const found = await call(room.url, 'POST', '/api/history/search_sessions', query)
    return found.body.data?.result_count > 0
  })
}

const HELD_MS = 1_500 // longer than each limit in SETTINGS

// Many write to one session while somebody holds its tables, then all at once: they wait for each other's locks.
const expectContention = async (room: Room, own: Database) => {
  const release = await holdLock(own, 'lock table sessions, events in exclusive mode')
  const timed = async (text: string, n: number) => {
    const from = performance.now()
    const { status, body } = await post(room, text, { team: room.teams[n % 2]!, ...(n % 3 === 0 && { key: `key ${n}` }) })
    return { text, status, body, late: isLate(performance.now() - from) }
  }
  const append = (n: number) => {
    const request = { team: room.teams[n % 2]!, key: `line ${n}`, body: { text: `line ${n}` }, send: patiently }
    return call(room.url, 'POST', `/api/sessions/${room.session}/doc/append`, request)
  }
  const posting = Promise.all(Array.from({ length: 24 }, (_, n) => timed(`number ${n}`, n)))
  const appending = Promise.all(Array.from({ length: 8 }, (_, n) => append(n)))
  await Bun.sleep(HELD_MS)
  await release()
  const [posts, appends] = await Promise.all([posting, appending])
  expect(posts.filter(({ status, late }) => status !== 200 && !(status === 503 && late))).toEqual([])
  expect(appends.map(({ status }) => status)).toEqual(appends.map(() => 200))
  const said = posts.map(({ text, status }) => (status === 200 ? acked(text) : sent(text)))
  expectFaultless([...said, readBy('the reader', await readFeed(room, patiently))])
}

// A limit that also holds while a connection is opened, before it has settings of ours, is one that a busy machine keeps there.
const SETTINGS = [
  `lock_timeout = '20ms'`,
  `statement_timeout = '1s'`,
  `default_transaction_isolation = serializable`,
  `DateStyle = 'SQL, DMY'`,
  `standard_conforming_strings = off`,
  `client_encoding = LATIN1`,
  `gin_fuzzy_search_limit = 1`,
  `DateStyle = 'German'`,
  `TimeZone = 'Asia/Kathmandu'`,
  `IntervalStyle = iso_8601`,
  `bytea_output = escape`,
  `extra_float_digits = -10`,
  `transform_null_equals = on`,
  `array_nulls = off`,
  `idle_session_timeout = '1s'`,
  `idle_in_transaction_session_timeout = '20ms'`,
  `client_min_messages = debug5`,
  `row_security = off`,
  `synchronous_commit = off`,
  `exit_on_error = on`,
]

// In the short form all of them together.
test.each(FULL ? SETTINGS.map((setting) => [setting]) : [SETTINGS])(
  'with %s as the default of the database, all works',
  (...settings) =>
    withDatabase(
      settings.map((setting) => `alter database DATABASE set ${setting}`),
      expectWorks,
    ),
  180_000,
)

test.skipIf(!FULL)(
  'with a schema of its own in search_path, all works, and its tables are there',
  () =>
    withDatabase(['create schema rooms', 'alter database DATABASE set search_path = rooms', 'drop schema public'], async (url) => {
      await expectWorks(url)
      const tables = await run(url, `select distinct schemaname as name from pg_tables where tablename in ('sessions', 'events', 'acks')`)
      expect(tables.map(({ name }) => name)).toEqual(['rooms'])
    }),
  180_000,
)

const REFUSED: [string, RegExp][] = [
  [`search_path = ''`, /search_path .* begins with no schema for tables\. .* set search_path = public/],
  [`search_path = nowhere`, /search_path \(nowhere\) begins with no schema for tables/],
  [`search_path = pg_catalog, public`, /search_path .* begins with no schema for tables/],
  [`default_transaction_read_only = on`, /takes no writes: default_transaction_read_only is on\. Turn it off/],
]

test.each(shortOf(REFUSED, 1))(
  'with %s the start ends with a sentence',
  (setting, sentence) => withDatabase([`alter database DATABASE set ${setting}`], (url) => expectRefused(url, sentence)),
  180_000,
)

test(
  'in a database with another encoding than UTF8 the start ends with a sentence',
  () =>
    withDatabase([], async (url) => {
      const name = `parley_test_${crypto.randomUUID().replaceAll('-', '')}`
      await run(url, `create database ${name} encoding 'LATIN1' locale 'C' template template0`)
      try {
        const latin = new URL(url)
        latin.pathname = `/${name}`
        await expectRefused(latin.href, /Its encoding is LATIN1, .*create database .* encoding 'UTF8'/)
      } finally {
        await run(url, `drop database ${name}`)
      }
    }),
  180_000,
)

test('a database that knows the letters of ASCII alone is used, with a warning; one with a locale of UTF-8 without', () =>
  withDatabase([], async (url) => {
    const warningsOf = async (locale: string) => {
      const name = `parley_test_${crypto.randomUUID().replaceAll('-', '')}`
      await run(url, `create database ${name} locale '${locale}' template template0`)
      const own = await openPostgres(url.replace(/[^/]*$/, name))
      const warnings: string[] = []
      await warnOfLetters(own, (line) => void warnings.push(line)).finally(() => own.close())
      await run(url, `drop database ${name}`)
      return warnings
    }
    expect(await warningsOf('C')).toEqual([expect.stringMatching(/LC_CTYPE is C.*create database .* locale 'C\.UTF-8'/)])
    expect(await warningsOf('C.UTF-8')).toEqual([])
  }))

test.skipIf(!FULL)(
  'a user who may not make tables is told so',
  () =>
    withDatabase([], async (url) => {
      const name = `parley_test_${crypto.randomUUID().replaceAll('-', '')}`
      await run(url, `create role ${name} login`, `revoke create on schema public from public`)
      try {
        const as = new URL(url)
        as.username = name
        await expectRefused(
          as.href,
          /^The tables in the database could not be brought up to date: permission denied for schema public\. Nothing was/,
        )
      } finally {
        await run(url, `drop role ${name}`)
      }
    }),
  180_000,
)

test.skipIf(!FULL)(
  'a database with tables of another program is refused as that, and taken once its user has a schema of its own there',
  () =>
    withDatabase(['create table sessions (id int)'], async (url) => {
      const sentence = /"sessions" already exists\. Nothing was changed\. The schema has tables of another program\. Name an empty database/
      await expectRefused(url, sentence, [['migrate']])
      await run(url, 'create schema parley', `alter database ${new URL(url).pathname.slice(1)} set search_path = parley, public`)
      expect((await runServer(['migrate'], { DATABASE_URL: url })).code).toBe(0)
    }),
  180_000,
)

test.each([
  ['off', 'on'],
  ['local', 'local'],
])(
  'where synchronous_commit is %s by default, our connections have it %s',
  (given, kept) =>
    withDatabase([`alter database DATABASE set synchronous_commit = ${given}`], async (url) => {
      const own = await openPostgres(url)
      try {
        const asked = await Promise.all(
          Array.from({ length: 20 }, () => own.query('select setting from pg_settings where name = $1', ['synchronous_commit'])),
        )
        expect(asked.flat()).toEqual(Array.from({ length: 20 }, () => ({ setting: kept })))
      } finally {
        await own.close()
      }
    }),
  180_000,
)

test.skipIf(!FULL)(
  'a standby ends the start with a sentence, and is passed over where the URL names the primary as well',
  async () => {
    const [standby, primary] = [await startPostgres({ own: true }), await startPostgres({ own: true })]
    try {
      await standby.kill('SIGINT')
      writeFileSync(join(standby.dir!, 'standby.signal'), '')
      await standby.start()
      await expectRefused(standby.url, /It is a standby, which takes no writes\. Name the primary/)
      const both = `postgres://parley@127.0.0.1:${standby.port},127.0.0.1:${primary.port}/parley`
      await expectWorks(both)
      await primary.kill('SIGINT')
      await expectRefused(
        both,
        /^The Postgres .* in DATABASE_URL \(127\.0\.0\.1:\d+,127\.0\.0\.1:\d+\/parley\) .* None of its hosts was found to be a primary/,
        [[]],
      )
    } finally {
      await standby.stop()
      await primary.stop()
    }
  },
  180_000,
)

test.skipIf(!FULL)(
  'a Postgres that does not write to disk what it acknowledges is used, with a warning',
  async () => {
    const careless = await startPostgres({ own: true, settings: { fsync: 'off' } })
    const server = await startServer({ DATABASE_URL: careless.url })
    try {
      expect(server.output().match(/warn.*fsync is off at the Postgres server/g)).toHaveLength(1)
      expect(server.output().match(/warn.*LC_CTYPE is C/g)).toHaveLength(1)
    } finally {
      await server.remove()
      await careless.stop()
    }
  },
  180_000,
)

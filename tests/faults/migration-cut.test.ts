// A migration whose connection dies at any of its statements, or whose process is killed, leaves the database as it was, and the next one
// brings it up to date [P2].
//   FULL=1 bun test tests/faults/migration-cut.test.ts    at every statement of a database of 11,000 rows, instead of at a few; both engines
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import postgres from 'postgres'
import type { Database } from '../../db/database.ts'
import { migrate } from '../../db/migrate.ts'
import { OPTIONS } from '../../db/pglite.ts'
import { openPostgres } from '../../db/postgres.ts'
import { beforeOf, DUMPS, sqlOf } from '../support/dumps.ts'
import { FULL } from '../support/full.ts'
import { emptyDatabase, startPostgres, type TestPostgres } from '../support/postgres.ts'
import { thatCounts } from '../support/proxy.ts'
import { emptyFolderAt, gone, runServer, spawnServer, startServer, type TestServer } from '../support/server.ts'
import { call, numbers, wait } from './rooms.ts'

const CUTS = FULL ? Infinity : 4
const MAY_TAKE_MS = FULL ? 1_200_000 : 180_000
const KILLS = FULL ? 12 : 1
const STARTS = FULL ? 2 : 1 // at once, after each kill
const MANY = FULL ? 1_000 : 10 // sessions, each with a team and nine events
const before = beforeOf(DUMPS[0]!)
const ONE = `'${before.rooms[0]!.session_id}'`
const SESSION = `md5('session ' || n)::uuid`
const copiesOf = (table: string, which: string, each: number, changed: string) => `
  insert into ${table} select (jsonb_populate_record(one, jsonb_build_object(${changed}))).*
  from ${table} one, generate_series(1, ${MANY}) n, generate_series(1, ${each}) k
  where one.ctid = (select ctid from ${table} where ${which} limit 1)`
const dump = `${sqlOf(DUMPS[0]!)}; reset all;
  ${copiesOf('sessions', `id = ${ONE}`, 1, `'id', ${SESSION}, 'last_sequence', 9`)};
  ${copiesOf('participants', `session_id = ${ONE}`, 1, `'session_id', ${SESSION}`)};
  ${copiesOf('events', `session_id = ${ONE} and type = 'chat'`, 9, `'id', md5('event ' || n || ' ' || k)::uuid, 'session_id', ${SESSION}, 'sequence', k`)}`

let server: TestPostgres
let old: { url: string; drop(): Promise<void> } // a database of an earlier version
const asked = async <Answer>(url: string, work: (sql: postgres.Sql) => Promise<Answer>): Promise<Answer> => {
  const sql = postgres(url, { max: 1, onnotice() {} })
  return work(sql).finally(() => sql.end())
}
beforeAll(async () => {
  server = await startPostgres()
  old = await emptyDatabase(server.url)
  await asked(old.url, (sql) => sql.unsafe(dump))
}, 120_000)
const copies = new Set<string>()
const copyOfOld = async (): Promise<string> => {
  const name = `parley_test_${crypto.randomUUID().replaceAll('-', '')}`
  await asked(server.url, (sql) => sql.unsafe(`create database ${name} template ${new URL(old.url).pathname.slice(1)}`))
  copies.add(name)
  return Object.assign(new URL(old.url), { pathname: `/${name}` }).href
}
afterAll(async () => {
  for (const name of copies) await asked(server.url, (sql) => sql.unsafe(`drop database if exists ${name} with (force)`))
  await old?.drop()
  await server?.stop()
}, 120_000)

/** The same database, whose connection dies as the statement with this number is sent. `sent` counts them. */
const cutAt = (database: Database, number: number) => {
  const cut = { sent: 0 }
  const unhurried: Database['unhurried'] = (work, mayTakeMs) =>
    database.unhurried(
      (tx) =>
        work({
          ...tx,
          async query(...statement: Parameters<typeof tx.query>) {
            if (++cut.sent === number) await tx.query('select pg_terminate_backend(pg_backend_pid())')
            return tx.query(...statement)
          },
        } as typeof tx),
      mayTakeMs,
    )
  return { ...database, unhurried, cut }
}

type Ask = (text: string) => Promise<Record<string, unknown>[]>

/** Every row and every column there is. */
const stateBy = async (ask: Ask): Promise<string> => {
  const columns = await ask(
    `select table_name, column_name, data_type from information_schema.columns where table_schema = 'public' order by 1, 2`,
  )
  const tables = [...new Set(columns.map(({ table_name }) => String(table_name)))]
  const counts: Record<string, unknown> = {}
  for (const table of tables)
    counts[table] = (await ask(`select count(*)::int as rows, md5(string_agg(t::text, '' order by t::text)) from "${table}" t`))[0]
  return JSON.stringify({ columns, counts })
}
const columnsOf = (state: string): string => JSON.stringify(JSON.parse(state).columns)
const stateOf = (url: string) => asked(url, (sql) => stateBy((text) => sql.unsafe(text)))

test(
  'cut at any statement, nothing is changed; of two that migrate then at once one applies it all',
  async () => {
    const whole = await openPostgres(await copyOfOld())
    const counting = cutAt(whole, 0)
    const pending = await migrate(counting)
    await whole.close()
    const statements = counting.cut.sent
    expect(pending).toBeGreaterThan(0)
    const unchanged = await stateOf(old.url)
    const step = Math.max(1, Math.floor(statements / CUTS))
    let cuts = 0
    for (let number = 1; number <= statements; number += step, cuts++) {
      const url = await copyOfOld()
      const [one, other] = [await openPostgres(url), await openPostgres(url)]
      try {
        await expect(migrate(cutAt(one, number))).rejects.toThrow('Nothing was changed')
        expect(await stateOf(url)).toBe(unchanged)
        expect((await Promise.all([migrate(one), migrate(other)])).toSorted((a, b) => a - b)).toEqual([0, pending])
      } finally {
        await one.close()
        await other.close()
      }
    }
    console.log(`${pending} migrations of ${statements} statements, cut at ${cuts} of them`)
  },
  MAY_TAKE_MS,
)

test('a migration that waits for a transaction which waits for it gives way, and is applied when that is over', async () => {
  const url = await copyOfOld()
  const [serving, looking, database] = [postgres(url, { max: 1, onnotice() {} }), postgres(url, { max: 1 }), await openPostgres(url)]
  const said: string[] = []
  try {
    let migrated: Promise<number> | undefined
    await serving.begin(async (tx) => {
      await tx`select from participants limit 1`
      migrated = migrate(database, (level, line) => void said.push(`${level} ${line}`))
      const isWaiting = () => looking`select from pg_locks where not granted and relation = 'participants'::regclass`
      while ((await isWaiting()).length === 0) await Bun.sleep(5)
      await tx`select from events limit 1` // which the migration has locked
    })
    expect(await migrated).toBeGreaterThan(3)
    expect(said).toEqual([
      expect.stringMatching(/^warn .* in use/),
      expect.stringMatching(/^info The database was updated: \d+ migration\(s\) ran\.$/),
    ])
  } finally {
    await Promise.all([serving.end(), looking.end(), database.close()])
  }
}, 180_000)

/** Ends the server after it was seen to have everything that it had before the update. */
const expectUpdated = async (server: TestServer) => {
  try {
    for (const { session_id, team, feed, doc } of before.rooms) {
      const room = { url: server.url, session: session_id, teams: [team] }
      expect((await wait(room, 0, { timeout: 0 })).body.messages).toMatchObject(feed)
      expect((await call(server.url, 'GET', `/api/sessions/${session_id}/doc`, { team })).body).toMatchObject(doc)
    }
  } finally {
    await server.remove()
  }
}

test(
  'a server that is killed within its migration, at whatever statement, has changed nothing, and the next start brings it up to date',
  async () => {
    const unchanged = await stateOf(old.url)
    let statements = 0
    const counted = await thatCounts(await copyOfOld(), (count) => (statements = Math.max(statements, count)))
    const told = expect.stringMatching(/"level":"info","message":"The database was updated: \d+ migration\(s\) ran\."/)
    expect(await runServer(['migrate'], { DATABASE_URL: counted.url })).toMatchObject({ code: 0, output: told })
    await counted.close()
    for (const kill of numbers(KILLS)) {
      const url = await copyOfOld()
      const at = Math.floor((statements * kill) / (KILLS + 1))
      const dying = Promise.withResolvers<void>()
      const proxy = await thatCounts(url, (count) => {
        if (count !== at) return
        child.kill('SIGKILL')
        dying.resolve()
      })
      const child = spawnServer({ DATABASE_URL: proxy.url, PORT: '0' })
      await dying.promise
      await gone(child)
      await proxy.close()
      expect(await stateOf(url)).toBe(unchanged)
      await Promise.all(numbers(STARTS).map(async () => expectUpdated(await startServer({ DATABASE_URL: url }))))
    }
    console.log(`a migration of ${statements} statements, killed at ${KILLS} of them`)
  },
  MAY_TAKE_MS,
)

// On the embedded database nobody sees its statements: it is killed at any time of its start.
test.skipIf(!FULL)(
  'the same on the embedded database, killed at any time of its start',
  async () => {
    const place = mkdtempSync(join(tmpdir(), 'parley-killed-'))
    const opened = async <Answer>(folder: string, work: (client: PGlite) => Promise<Answer>): Promise<Answer> => {
      const client = await PGlite.create({ ...OPTIONS, dataDir: join(folder, 'pg') })
      return work(client).finally(() => client.close())
    }
    const stateIn = (folder: string) => opened(folder, (client) => stateBy(async (text) => (await client.query<any>(text)).rows))
    try {
      const first = await emptyFolderAt(join(place, 'old'))
      await opened(first, (client) => client.exec(`drop schema public cascade; create schema public; ${dump}`))
      const unchanged = await stateIn(first)
      const startOn = async (folder: string) => {
        const from = performance.now()
        await expectUpdated(await startServer({ DATA_DIR: folder }))
        return performance.now() - from
      }
      const copied = (name: string) => (cpSync(first, join(place, name), { recursive: true }), join(place, name))
      const wholeMs = await startOn(copied('whole'))
      const migrated = columnsOf(await stateIn(join(place, 'whole')))
      const within = { before: [] as number[], after: [] as number[] } // milliseconds
      const killAfter = async (ms: number) => {
        const folder = copied('killed')
        const child = spawnServer({ DATA_DIR: folder, PORT: '0' })
        await Bun.sleep(ms)
        child.kill('SIGKILL')
        await gone(child)
        cpSync(join(folder, 'pg'), join(place, 'looked at', 'pg'), { recursive: true })
        const state = await stateIn(join(place, 'looked at'))
        if (state !== unchanged) expect(columnsOf(state)).toBe(migrated)
        within[state === unchanged ? 'before' : 'after'].push(ms)
        rmSync(join(place, 'looked at'), { recursive: true })
        await startOn(folder)
        rmSync(folder, { recursive: true })
      }
      for (const kill of numbers(KILLS)) await killAfter((wholeMs * kill) / KILLS)
      const [from, to] = [Math.max(0, ...within.before), Math.min(wholeMs, ...within.after)] // when it is migrated
      for (const kill of numbers(KILLS)) await killAfter(from + ((to - from) * kill) / KILLS)
      expect(within.before.length).toBeGreaterThan(0)
      console.log(
        `a start of ${wholeMs.toFixed(0)} ms, killed ${2 * KILLS} times: ${within.before.length} with nothing changed, ${within.after.length} migrated`,
      )
    } finally {
      rmSync(place, { recursive: true, force: true })
    }
  },
  MAY_TAKE_MS,
)

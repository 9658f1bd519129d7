// A migration whose connection dies at any of its statements leaves the database as it was, and the next one brings it up to date [P2].
//   FULL=1 bun test tests/faults/migration-cut.test.ts    at every statement, instead of at a few
import { afterAll, beforeAll, expect, test } from 'bun:test'
import postgres from 'postgres'
import type { Database } from '../../db/database.ts'
import { migrate } from '../../db/migrate.ts'
import { openPostgres } from '../../db/postgres.ts'
import { DUMPS, sqlOf } from '../support/dumps.ts'
import { FULL } from '../support/full.ts'
import { emptyDatabase, startPostgres, type TestPostgres } from '../support/postgres.ts'

const CUTS = FULL ? Infinity : 4
const MAY_TAKE_MS = FULL ? 1_200_000 : 180_000
const dump = sqlOf(DUMPS[0]!)

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

/** Every row and every column there is. */
const stateOf = (url: string) =>
  asked(url, async (sql) => {
    const columns =
      await sql`select table_name, column_name, data_type from information_schema.columns where table_schema = 'public' order by 1, 2`
    const tables = [...new Set(columns.map(({ table_name }) => String(table_name)))]
    const counts: Record<string, unknown> = {}
    for (const table of tables)
      counts[table] = (await sql.unsafe(`select count(*)::int as rows, md5(string_agg(t::text, '' order by t::text)) from "${table}" t`))[0]
    return JSON.stringify({ columns, counts })
  })

test(
  'cut at any statement, nothing is changed; of two that migrate then at once one applies it all',
  async () => {
    const whole = await openPostgres(await copyOfOld())
    const counting = cutAt(whole, 0)
    const pending = await migrate(counting)
    await whole.close()
    const statements = counting.cut.sent
    expect(pending).toBeGreaterThan(0)
    const before = await stateOf(old.url)
    const step = Math.max(1, Math.floor(statements / CUTS))
    let cuts = 0
    for (let number = 1; number <= statements; number += step, cuts++) {
      const url = await copyOfOld()
      const [one, other] = [await openPostgres(url), await openPostgres(url)]
      try {
        await expect(migrate(cutAt(one, number))).rejects.toThrow('Nothing was changed')
        expect(await stateOf(url)).toBe(before)
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
      migrated = migrate(database, (line) => void said.push(line))
      const isWaiting = () => looking`select from pg_locks where not granted and relation = 'participants'::regclass`
      while ((await isWaiting()).length === 0) await Bun.sleep(5)
      await tx`select from events limit 1` // which the migration has locked
    })
    expect(await migrated).toBeGreaterThan(3)
    expect(said).toEqual([expect.stringContaining('in use')])
  } finally {
    await Promise.all([serving.end(), looking.end(), database.close()])
  }
}, 60_000)

import { expect, test } from 'bun:test'
import { createVacuum, vacuumAll } from '../../db/vacuum.ts'
import { SPARE_BYTES } from '../../db/database.ts'
import { embeddedDatabase } from '../support/pglite.ts'

const ignore = () => {}

test('the embedded database is vacuumed and analysed once some minutes after the start and after growth, and only then', async () => {
  const database = await embeddedDatabase()
  let [appended, minutes] = [0, 0]
  const tidy = createVacuum(
    database,
    () => appended,
    ignore,
    () => minutes * 60_000,
  )
  const analysed = async () =>
    (await database.query<{ n: number }>(`select count(*)::int as n from pg_stats where tablename = 'sessions'`))[0]!.n
  const session = crypto.randomUUID()
  await database.query(`insert into sessions (id, title, description, series_id) values ($1, 'Shipping the parser', '', $1)`, [session])
  appended = 19_999
  await tidy()
  expect(await analysed()).toBe(0)
  minutes = 5
  await tidy()
  expect(await analysed()).toBeGreaterThan(0)
  const sent = database.statements()
  for ([appended, minutes] of [
    [19_999, 10],
    [39_998, 15],
  ] as const)
    await tidy()
  expect(database.statements()).toBe(sent)
  appended = 39_999
  await tidy()
  expect(database.statements()).toBeGreaterThan(sent)
  await database.close()
})

test('a vacuum that failed is due still', async () => {
  const database = await embeddedDatabase()
  let tried = 0
  const query: typeof database.query = (text, params) =>
    text.startsWith('vacuum') && tried++ === 0 ? Promise.reject(new Error('for a reason')) : database.query(text, params)
  const tidy = createVacuum({ ...database, query }, () => 20_000, ignore)
  await expect(tidy()).rejects.toThrow('for a reason')
  await tidy()
  const tables = tried
  expect(tables).toBeGreaterThan(1)
  await tidy()
  expect(tried).toBe(tables)
  await database.close()
})

test('each table is vacuumed, whatever is added, and the journal bounded before each', async () => {
  const database = await embeddedDatabase()
  await database.query('create table a_new_one (id int)')
  const vacuumed: string[] = []
  let sent = 0
  const checkpoint = async () => void vacuumed.push(`after ${sent}`)
  const query: typeof database.query = (text, params) => (text.startsWith('vacuum') && sent++, database.query(text, params))
  await vacuumAll({ ...database, query, checkpoint }, ignore)
  expect(vacuumed).toEqual(Array.from({ length: sent }, (_, n) => `after ${n}`))
  const never = await database.query<{ name: string }>(
    `select relname as name from pg_class where relkind = 'r' and relnamespace = current_schema()::regnamespace and reltuples < 0`,
  )
  expect(never).toEqual([])
  await database.close()
})

test('a table that a vacuum of could fill the disk is left out, with one line that says so', async () => {
  const database = await embeddedDatabase()
  await database.query('create table a_large_one as select n from generate_series(1, 100000) n')
  const [{ bytes }] = (await database.query<{ bytes: number }>(`select pg_total_relation_size('a_large_one')::int8 as bytes`)) as [any]
  const [vacuumed, warned]: string[][] = [[], []]
  const query: typeof database.query = (text, params) => (text.startsWith('vacuum') && vacuumed!.push(text), database.query(text, params))
  const left = (free: number) => vacuumAll({ ...database, query, freeBytes: () => free }, (message) => void warned!.push(message))
  await left(SPARE_BYTES + bytes - 1)
  expect([vacuumed!.length > 1, vacuumed!.some((text) => text.includes('a_large_one'))]).toEqual([true, false])
  expect(warned).toEqual([expect.stringContaining('to vacuum a_large_one:')])
  await left(SPARE_BYTES + bytes)
  expect([vacuumed!.some((text) => text.includes('a_large_one')), warned!.length]).toEqual([true, 1])
  await database.close()
})

import { expect, test } from 'bun:test'
import { createVacuum, vacuumAll } from '../../db/vacuum.ts'
import { embeddedDatabase } from '../support/pglite.ts'

test('the embedded database is vacuumed and analysed after growth, and only then', async () => {
  const database = await embeddedDatabase()
  let appended = 0
  const tidy = createVacuum(database, () => appended)
  const analysed = async () =>
    (await database.query<{ n: number }>(`select count(*)::int as n from pg_stats where tablename = 'sessions'`))[0]!.n
  const session = crypto.randomUUID()
  await database.query(`insert into sessions (id, title, description, series_id) values ($1, 'Shipping the parser', '', $1)`, [session])
  appended = 19_999
  await tidy()
  expect(await analysed()).toBe(0)
  appended = 20_000
  await tidy()
  expect(await analysed()).toBeGreaterThan(0)
  const sent = database.statements()
  await tidy()
  expect(database.statements()).toBe(sent)
  await database.close()
})

test('each table is vacuumed, whatever is added, and the journal bounded before each', async () => {
  const database = await embeddedDatabase()
  await database.query('create table a_new_one (id int)')
  const vacuumed: string[] = []
  let sent = 0
  const checkpoint = async () => void vacuumed.push(`after ${sent}`)
  const query: typeof database.query = (text, params) => (text.startsWith('vacuum') && sent++, database.query(text, params))
  await vacuumAll({ ...database, query, checkpoint })
  expect(vacuumed).toEqual(Array.from({ length: sent }, (_, n) => `after ${n}`))
  const never = await database.query<{ name: string }>(
    `select relname as name from pg_class where relkind = 'r' and relnamespace = current_schema()::regnamespace and reltuples < 0`,
  )
  expect(never).toEqual([])
  await database.close()
})

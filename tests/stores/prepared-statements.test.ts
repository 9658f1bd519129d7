// The statements of the embedded database are prepared once: what a caller sees is the same as if each were new.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Database } from '../../db/database.ts'
import { embeddedDatabase } from '../support/pglite.ts'

let database: Database
beforeAll(async () => void (database = await embeddedDatabase()), 180_000)
afterAll(() => database?.close())

test('values of every type go in and come out as they would the first time', async () => {
  const values = [1, null, 'a "text"', true, 2 ** 40, '{"a": [1]}', new Date(0).toISOString(), 1.5]
  const text = `select $1::int as i, $2::text as n, $3::text as t, $4::bool as b, $5::int8 as l, $6::jsonb as j, $7::timestamptz as at, $8::float8 as f`
  const first = await database.query(text, values)
  expect(first).toEqual([{ i: 1, n: null, t: 'a "text"', b: true, l: 2 ** 40, j: { a: [1] }, at: '1970-01-01T00:00:00.000Z', f: 1.5 }])
  for (let n = 0; n < 20; n++) expect(await database.query(text, values)).toEqual(first)
})

test('one that failed is refused again, is run when it may, and spoils no other', async () => {
  await database.query('create table things (id int primary key)')
  const insert = () => database.query('insert into things values ($1)', [7])
  await insert()
  for (let n = 0; n < 3; n++) expect(await insert().catch(({ code }) => code)).toBe('23505')
  for (let n = 0; n < 3; n++) await expect(database.query('select nothing from things')).rejects.toThrow('"nothing" does not exist')
  expect(await database.query('select id from things')).toEqual([{ id: 7 }])
  await database.query('delete from things')
  await insert()
})

test('a table that is changed has its new columns in statements that were prepared before', async () => {
  const all = () => database.query('select * from things')
  expect(await all()).toEqual([{ id: 7 }])
  await database.query(`alter table things add column name text default 'a thing'`)
  expect(await all()).toEqual([{ id: 7, name: 'a thing' }])
  await database.transaction(async ({ query }) => void (await query(`alter table things drop column name`)))
  expect(await all()).toEqual([{ id: 7 }])
})

test('thousands of different ones are no more than a few at a time', async () => {
  for (let n = 0; n < 2_500; n++) expect(await database.query(`select ${n} as n`)).toEqual([{ n }])
  const [{ prepared } = { prepared: 0 }] = await database.query<{ prepared: number }>(
    'select count(*)::int as prepared from pg_prepared_statements',
  )
  expect(prepared).toBeWithin(1, 1_001)
})

test('a statement waits for the end of a transaction of others, and none comes after its own', async () => {
  const seen: string[] = []
  let late: () => Promise<unknown> = () => Promise.resolve()
  let statement: Promise<unknown> = Promise.resolve()
  await database.transaction(async ({ query }) => {
    late = () => query('delete from things')
    await query('select 1')
    statement = database.query('select 1').then(() => seen.push('the statement'))
    for (let n = 0; n < 5; n++) await query('select 2')
    seen.push('the transaction')
  })
  await statement
  expect(seen).toEqual(['the transaction', 'the statement'])
  await expect(late()).rejects.toThrow('has ended')
  expect(await database.query('select id from things')).toHaveLength(1)
})

import { expect, test } from 'bun:test'
import { DatabaseTimeout } from '../../db/database.ts'
import { embeddedDatabase } from '../support/pglite.ts'

test('a transaction whose turn comes after its caller got a DatabaseTimeout does nothing', async () => {
  const database = await embeddedDatabase()
  await database.query('create table said (text text)')
  const before = database.transaction(() => Bun.sleep(300))
  const late = database.transaction(({ query }) => query(`insert into said values ('late')`), 100)
  await expect(late).rejects.toBeInstanceOf(DatabaseTimeout)
  await before
  await database.transaction(({ query }) => query(`insert into said values ('in time')`))
  expect(await database.query('select text from said')).toEqual([{ text: 'in time' }])
  await database.close()
}, 180_000) // it begins with a database of its own

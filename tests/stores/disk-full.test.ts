// The embedded database on a disk that is nearly full: without space for its journal it would block the process forever.
import { expect, test } from 'bun:test'
import { isAway } from '../../db/errors.ts'
import { embeddedDatabase } from '../support/pglite.ts'

test('nothing is written while there is no space, what was written can be read, and writing goes on when there is space again', async () => {
  let space = true
  const database = await embeddedDatabase(() => space)
  const write = (text: string) => database.query('insert into said values ($1)', [text])
  const read = () => database.query<{ text: string }>('select text from said')
  await database.query('create table said (text text)')
  await write('before')
  space = false
  const refused = [
    write('full'),
    database.transaction(({ query }) => query('insert into said values ($1)', ['full'])),
    database.query(`with new as (insert into said values ('full') returning text) select text from new`),
  ]
  for (const refusal of refused) {
    const error = await refusal.catch((failure: unknown) => failure)
    expect(isAway(error)).toBe(true)
    expect(String(error)).toContain('less than 64 MiB left')
  }
  expect(await read()).toEqual([{ text: 'before' }])
  space = true
  await write('after')
  expect(await read()).toEqual([{ text: 'before' }, { text: 'after' }])
  await database.close()
}, 30_000)

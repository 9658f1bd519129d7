// What an instance holds in the database when it freezes, or when its host is gone, is free again soon.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { openPostgres } from '../../db/postgres.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { databaseOf } from './engines.ts'
import { expectSaid, openRoom, post, readFeed, until } from './rooms.ts'
import { whileBusy } from '../support/cpu.ts'

let database: Awaited<ReturnType<typeof databaseOf>>
let url: string
let server: TestServer
beforeAll(async () => {
  database = await databaseOf('postgres')
  url = database.environment.DATABASE_URL!
  server = await startServer(database.environment)
}, 180_000)
afterAll(async () => {
  await server?.remove()
  await database?.drop()
}, 180_000)

test('a session that a frozen transaction of another instance holds takes posts again within 11 s', async () => {
  const room = await openRoom(server.url)
  const other = await openPostgres(url)
  const [held, thawed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const frozen = other
    .transaction(async ({ query }) => {
      await query(`set local idle_in_transaction_session_timeout = '2s'`) // it is ten, as the next test holds
      await query('select from sessions where id = $1 for update', [room.session])
      held.resolve()
      await thawed.promise
    }, 60_000)
    .catch((error: unknown) => error)
  await held.promise
  const passedAfter = await until(
    'a post',
    whileBusy(11_000),
    async () => (await post(room, 'Is anybody here?', { key: 'one' })).status === 200,
  )
  thawed.resolve()
  expectSaid(await readFeed(room), ['Is anybody here?'])
  expect(await frozen).toBeInstanceOf(Error)
  expect(await other.query('select 1 as one')).toEqual([{ one: 1 }])
  await other.close()
  console.log(`Locks of a frozen transaction: a post passes after ${passedAfter.toFixed(0)} ms`)
}, 180_000)

test('the server looks for a host that is gone within half a minute', async () => {
  const own = await openPostgres(url)
  const settings = await own.query(
    `select name, setting from pg_settings where name like 'tcp_keepalives_%' or name like 'idle_in_transaction%' order by name`,
  )
  await own.close()
  expect(settings).toEqual([
    { name: 'idle_in_transaction_session_timeout', setting: '10000' },
    { name: 'tcp_keepalives_count', setting: '3' },
    { name: 'tcp_keepalives_idle', setting: '15' },
    { name: 'tcp_keepalives_interval', setting: '5' },
  ])
})

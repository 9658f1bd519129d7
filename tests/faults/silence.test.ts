// The database's connections die without a word, as when its host loses power or a firewall forgets them: the database that answers
// under the same address is used again within seconds, and not when the system gives up after a quarter of an hour.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { openPostgres } from '../../db/postgres.ts'
import { isTimeout } from '../../db/errors.ts'
import { freshDatabase, startPostgres, type TestPostgres } from '../support/postgres.ts'
import { thatCanFallSilent, thatRefusesToListen, type Proxy } from '../support/proxy.ts'
import { serverOn } from './engines.ts'
import { expectSaid, expectUnbroken, gauge, openRoom, post, readFeed, until, wait } from './rooms.ts'
import { FULL } from '../support/full.ts'
import { whileBusy } from '../support/cpu.ts'

const CHECK_MS = 600 // in place of every 15 s: how often it is asked whether its other end lives

let database: TestPostgres
beforeAll(async () => void (database = await startPostgres()), 180_000)
afterAll(async () => database?.stop(), 180_000)

test.concurrent('posts pass again within 15 s, one caller with one try after another, nothing is lost or doubled, and waits are woken', async () => {
  const { url, drop } = await freshDatabase(database.url)
  const proxy = await thatCanFallSilent(url)
  const server = await serverOn({ DATABASE_URL: proxy.url })
  try {
    const [busy, quiet] = [await openRoom(server.url), await openRoom(server.url)]
    const posted = async (room: typeof busy, text: string) => {
      for (;;) if ((await post(room, text, { key: `key ${text}` })).status === 200) return
    }
    const texts = Array.from({ length: 40 }, (_, n) => `number ${n}`)
    await Promise.all(texts.slice(0, 20).map((text) => posted(busy, text)))
    await Promise.all(Array.from({ length: 30 }, () => openRoom(server.url))) // so that there are many connections
    const waiting = wait(quiet, 1, { timeout: 30, team: quiet.teams[1]! })
    await until('it waits', 20_000, async () => (await gauge(server.url, 'waits_held')) === 1)
    proxy.silence()
    const silentAt = performance.now()
    await posted(quiet, 'Are you there?')
    const backAfter = performance.now() - silentAt
    await Promise.all(texts.slice(20).map((text) => posted(busy, text)))
    expect((await waiting).body.messages).toMatchObject([{ content: { text: 'Are you there?' } }])
    const items = await readFeed(busy)
    expectUnbroken(items, texts.length + 1)
    expectSaid(items, texts)
    expectSaid(await readFeed(quiet), ['Are you there?'])
    expect(backAfter).toBeLessThan(whileBusy(15_000))
    console.log(`The connections fell silent: the first post passes after ${backAfter.toFixed(0)} ms`)
  } finally {
    await server.remove()
    await proxy.close()
    await drop()
  }
}, 180_000)

/** A pool that listens through a proxy receives notifications again after `work`. `begun`: how often it has begun to listen. */
const stillHears = async <P extends Proxy>(
  through: (url: string) => Promise<P>,
  work: (proxy: P, begun: () => number) => Promise<void>,
): Promise<void> => {
  const { url, drop } = await freshDatabase(database.url)
  const proxy = await through(url)
  const [own, other] = [await openPostgres(proxy.url, CHECK_MS), await openPostgres(url)]
  try {
    const heard: string[] = []
    let begun = 0
    await own.listen(
      (said) => heard.push(said),
      () => void begun++,
    )
    await work(proxy, () => begun)
    await other.query(`select pg_notify('parley', 'hello')`)
    await until('it hears', 10_000, () => heard.length > 0)
    expect(heard).toEqual(['hello'])
  } finally {
    await Promise.all([own.close(), other.close()])
    await proxy.close()
    await drop()
  }
}

test.skipIf(!FULL).concurrent(
  'the connection that listens is made anew within half a minute, and is left alone while the other end lives',
  () =>
    stillHears(thatCanFallSilent, async (proxy, begun) => {
      await Bun.sleep(5 * CHECK_MS)
      expect(begun()).toBe(1)
      proxy.silence()
      await until('it listens again', 30_000, () => begun() >= 2) // once more where a question was waiting for the new connection
    }),
  180_000,
)

test.concurrent(
  'one that was refused to listen, as by a standby that is about to take over, listens within half a minute',
  () =>
    stillHears(thatRefusesToListen, async (proxy, begun) => {
      proxy.refusing = true
      await until('it is asked and refuses', 20_000, () => proxy.refused >= 1)
      const refused = proxy.refused
      proxy.cut()
      await until('it refuses the next connection', 20_000, () => proxy.refused > refused)
      proxy.refusing = false
      await until('it listens again', 20_000, () => begun() >= 2) // notifications may have been missed meanwhile, so this counts as a new beginning
    }),
  180_000,
)

test.skipIf(!FULL).concurrent(
  'a migration may be silent for longer than a statement elsewhere may take, a long transaction too, and no statement in it',
  async () => {
    const { url, drop } = await freshDatabase(database.url)
    const own = await openPostgres(url)
    try {
      const [migration, statement, statements] = await Promise.all([
        own.unhurried(({ query }) => query('select pg_sleep(10)').then(() => 'done'), 60_000),
        own.transaction(({ query }) => query('select pg_sleep(10)'), 30_000).catch(isTimeout),
        own.transaction(async ({ query }) => {
          for (let n = 0; n < 3; n++) await query('select pg_sleep(4)')
          return 'done'
        }, 30_000),
      ])
      expect([migration, statement, statements]).toEqual(['done', true, 'done'])
    } finally {
      await own.close()
      await drop()
    }
  },
  180_000,
)

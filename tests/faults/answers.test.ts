// Each caller gets its own answer from Postgres, whatever became of what others asked on the same connection.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { heapStats } from 'bun:jsc'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import type { Database } from '../../db/database.ts'
import { openPostgres } from '../../db/postgres.ts'
import { isAway, isTimeout } from '../../db/errors.ts'
import { checkPostgres } from '../../db/start-checks.ts'
import { freshDatabase, startPostgres, type TestPostgres } from '../support/postgres.ts'
import { thatCanBeEmpty } from '../support/proxy.ts'
import { FULL } from '../support/full.ts'
import { until } from './rooms.ts'

const CONNECTIONS = 16

let database: TestPostgres
beforeAll(async () => void (database = await startPostgres()), 180_000)
afterAll(async () => database?.stop(), 180_000)

const withPool = async (work: (pool: Database) => Promise<void>) => {
  const { url, drop } = await freshDatabase(database.url)
  const pool = await openPostgres(url)
  try {
    await work(pool)
  } finally {
    await pool.close()
    await drop()
  }
}

const numbers = (pool: Database, from: number, count: number) =>
  Promise.all(
    Array.from({ length: count }, async (_, n) =>
      (await pool.query<{ number: number }>('select $1::int as number, pg_sleep(0.01)', [from + n])).map((row) => row?.number),
    ),
  )

const each = (from: number, count: number) => Array.from({ length: count }, (_, n) => [from + n])

test(
  'an answer that broke off behind some of its rows leaves no trace in the next one',
  () =>
    withPool(async (pool) => {
      const breaksOff = () =>
        pool.query('select 1 / (3 - n) from generate_series(1, $1::int) n', [5]).catch((error: Error) => error.message)
      for (let round = 0; round < 3; round++) {
        const broken = await Promise.all(Array.from({ length: CONNECTIONS }, breaksOff))
        expect(broken).toEqual(Array.from({ length: CONNECTIONS }, () => 'division by zero'))
        expect(await numbers(pool, 0, 2 * CONNECTIONS)).toEqual(each(0, 2 * CONNECTIONS))
      }
    }),
  180_000,
)

test(
  'a statement that cannot be sent fails alone, and is no more than that',
  () =>
    withPool(async (pool) => {
      const cannotBeSent = (query = pool.query) => query('select $1::text', [undefined]).then(String, (error: Error) => error.message)
      const refusal = 'UNDEFINED_VALUE: Undefined values are not allowed'
      expect(await Promise.all(Array.from({ length: CONNECTIONS }, () => cannotBeSent()))).toEqual(
        Array.from({ length: CONNECTIONS }, () => refusal),
      )
      const before = numbers(pool, 0, 3 * CONNECTIONS)
      const bad = Array.from({ length: CONNECTIONS }, () => cannotBeSent())
      const after = numbers(pool, 1_000, 3 * CONNECTIONS)
      expect(await Promise.all(bad)).toEqual(Array.from({ length: CONNECTIONS }, () => refusal))
      expect(await before).toEqual(each(0, 3 * CONNECTIONS))
      expect(await after).toEqual(each(1_000, 3 * CONNECTIONS))
      const inside = pool.transaction(async ({ query }) => {
        await cannotBeSent(query)
        return query('select 1')
      })
      await expect(inside).rejects.toThrow(refusal)
      expect(await numbers(pool, 0, 2 * CONNECTIONS)).toEqual(each(0, 2 * CONNECTIONS))
    }),
  180_000,
)

test.skipIf(!FULL)(
  'statements that failed leave nothing in memory',
  () =>
    withPool(async (pool) => {
      const fail = async (times: number) => {
        for (let n = 0; n < times; n += 50)
          await Promise.all(Array.from({ length: 50 }, () => pool.query('select 1 / $1::int', [0]).catch(() => {})))
      }
      const arrays = () => {
        Bun.gc(true)
        return heapStats().objectTypeCounts.Array ?? 0
      }
      await fail(500)
      const from = arrays()
      await fail(5_000)
      expect(arrays() - from).toBeLessThan(1_000)
    }),
  180_000,
)

test.concurrent('while a balancer has no server behind it, callers hear so before their time is up, and it is tried a few times a second', async () => {
  const { url, drop } = await freshDatabase(database.url)
  const proxy = await thatCanBeEmpty(url)
  const pool = await openPostgres(proxy.url)
  try {
    let connected = 0
    await pool.listen(
      () => {},
      () => void connected++,
    )
    proxy.empty()
    const ask = () => pool.query('select $1::int as number', [1]).catch((error: unknown) => error)
    const answers = await Promise.all(Array.from({ length: 2 * CONNECTIONS }, ask))
    for (const answer of answers) expect([isAway(answer), isTimeout(answer)]).toEqual([true, false])
    await ask()
    const before = proxy.turnedAway
    await Bun.sleep(2_000)
    expect(proxy.turnedAway - before).toBeLessThan(20)
    proxy.fill()
    await until('it answers again', 10_000, async () => !isAway(await ask()))
    await until('it listens again', 10_000, () => connected === 2)
  } finally {
    await pool.close()
    await proxy.close()
    await drop()
  }
}, 180_000)

test.concurrent('of several hosts none of which serves, each is tried a few times a second, and the first that serves is used', async () => {
  const { url, drop } = await freshDatabase(database.url)
  const proxies = [await thatCanBeEmpty(url), await thatCanBeEmpty(url)]
  const ports = proxies.map((proxy) => new URL(proxy.url).port)
  const pool = await openPostgres(url.replace(/@[^/]*/, `@${ports.map((port) => `127.0.0.1:${port}`).join()}`))
  try {
    const ask = () => pool.query('select $1::int as number', [1]).catch((error: unknown) => error)
    for (const proxy of proxies) proxy.empty()
    const asked = Array.from({ length: 4 }, ask)
    await Bun.sleep(500)
    const before = proxies.map(({ turnedAway }) => turnedAway)
    await Bun.sleep(2_000)
    for (const [n, { turnedAway }] of proxies.entries()) expect(turnedAway - before[n]!).toBeWithin(1, 40)
    proxies[1]!.fill()
    await until('it answers again', 10_000, async () => !isAway(await ask()))
    await Promise.all(asked)
  } finally {
    await pool.close()
    for (const proxy of proxies) await proxy.close()
    await drop()
  }
}, 180_000)

const hasIPv6 = Object.values(networkInterfaces()).some((addresses) => addresses?.some(({ address }) => address === '::1'))
if (!hasIPv6) console.log('Skipped: the test of IPv6 addresses, for this machine has none (::1).')

test.skipIf(!hasIPv6)('an IPv6 address is a host as any other, alone and beside others', async () => {
  const { url, drop } = await freshDatabase(database.url)
  const { hostname, port } = new URL(url)
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname)
    for (const socket of [client, upstream]) sockets.add(socket.on('error', () => {}))
    client.pipe(upstream).pipe(client)
  })
  await new Promise<void>((listening) => server.listen(0, '::1', listening))
  const own = `[::1]:${(server.address() as AddressInfo).port}`
  try {
    for (const hosts of [own, `${own},${hostname}:${port}`, `${hostname}:1,${own}`]) {
      const at = url.replace(/@[^/]*/, `@${hosts}`)
      await checkPostgres(at, () => {})
      const pool = await openPostgres(at)
      expect(await pool.query('select $1::int as number', [1])).toEqual([{ number: 1 }])
      await pool.close()
    }
    expect(sockets.size).toBeGreaterThanOrEqual(6)
  } finally {
    for (const socket of sockets) socket.destroy()
    server.close()
    await drop()
  }
})

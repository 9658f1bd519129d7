// The database's connections are cut, as by an administrator, a restart or a proxy: whoever waited for an answer hears of it at once,
// and a transaction ends with its connection.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import postgres from 'postgres'
import type { Database } from '../../db/database.ts'
import { openPostgres } from '../../db/postgres.ts'
import { isTimeout } from '../../db/errors.ts'
import { freshDatabase, startPostgres, type TestPostgres } from '../support/postgres.ts'
import { thatCanBeEmpty } from '../support/proxy.ts'
import { startServer } from '../support/server.ts'
import { call, openRoom, post, until } from './rooms.ts'
import { FULL } from '../support/full.ts'
import { whileBusy } from '../support/cpu.ts'

const BACK_WITHIN_MS = whileBusy(2_000)

let database: TestPostgres
beforeAll(async () => void (database = await startPostgres()), 180_000)
afterAll(async () => database?.stop(), 180_000)

/** A database of its own, and a connection that can cut all others to it. */
const withCutter = async (work: (url: string, cutAll: () => Promise<unknown>) => Promise<void>) => {
  const { url, drop } = await freshDatabase(database.url)
  const admin = postgres(url, { max: 1, onnotice() {} })
  try {
    await work(
      url,
      () => admin`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
    )
  } finally {
    await admin.end()
    await drop()
  }
}

/** The same, with a connection pool of ours on that database. */
const withPool = (work: (pool: Database, cutAll: () => Promise<unknown>) => Promise<void>) =>
  withCutter(async (url, cutAll) => {
    const pool = await openPostgres(url)
    try {
      await work(pool, cutAll)
    } finally {
      await pool.close()
    }
  })

test.skipIf(!FULL)(
  'connections that are cut again and again, also inside transactions, end no server',
  () =>
    withCutter(async (url, cutAll) => {
      const server = await startServer({ DATABASE_URL: url })
      try {
        const room = await openRoom(server.url)
        const append = (n: number) =>
          call(server.url, 'POST', `/api/sessions/${room.session}/doc/append`, { team: room.teams[0]!, body: { text: `- ${n}` } })
        for (let round = 0; round < 16; round++) {
          const calls = [
            ...Array.from({ length: 20 }, (_, n) => post(room, `${round}/${n}`)),
            ...Array.from({ length: 20 }, (_, n) => append(n)),
          ]
          await Bun.sleep((round * 67) % 330) // at some time in the background's work too
          await cutAll()
          for (const { status } of await Promise.all(calls)) expect([200, 503]).toContain(status)
          await until('an answer again', BACK_WITHIN_MS, async () => (await append(round)).status === 200)
        }
      } finally {
        await server.remove()
      }
    }),
  180_000,
)

test.skipIf(!FULL)(
  'nobody waits for an answer that cannot come',
  () =>
    withPool(async (pool, cutAll) => {
      await pool.query('create table written (round int, caller int, part int)')
      for (let round = 0; round < 25; round++) {
        const calls = Promise.allSettled(
          Array.from({ length: 40 }, (_, caller) =>
            pool.transaction(async (tx) => {
              for (const part of [1, 2, 3]) await tx.query('insert into written values ($1, $2, $3)', [round, caller, part])
            }),
          ),
        )
        await Bun.sleep((round * 7) % 10)
        await cutAll()
        for (const call of await calls) if (call.status === 'rejected') expect(isTimeout(call.reason)).toBe(false)
      }
      const parts = () => pool.query('select round, caller from written group by 1, 2 having count(*) <> 3')
      let torn: unknown
      await until('the last cut is noticed', 60_000, async () => (torn = await parts().catch(() => undefined)) !== undefined)
      expect(torn).toEqual([])
    }),
  120_000,
)

test(
  'what a transaction says after its connection was cut is refused, and does not slip into what others do on the next one',
  () =>
    withPool(async (pool, cutAll) => {
      await pool.query('create table written (who text)')
      let saidLater: Promise<unknown> | undefined
      const cut = pool.transaction(async (tx) => {
        await tx.query('select 1')
        await cutAll()
        await Bun.sleep(50)
        await Promise.all(Array.from({ length: 50 }, () => pool.query('select pg_sleep(0.05)'))) // every connection is open again
        saidLater = tx.query(`insert into written values ('one without a transaction')`)
        await saidLater
      })
      await expect(cut).rejects.toThrow()
      await until('it spoke again', BACK_WITHIN_MS, () => saidLater !== undefined)
      await expect(saidLater!).rejects.toThrow()
      expect(await pool.query('select who from written')).toEqual([])
    }),
  180_000,
)

// Reconnecting begins anew after 0.1 to 0.5 s: these are moments within the pauses, and between them.
const CLOSED_AFTER_MS = [0, 30, 100, 200, 350, 600]
const NEXT_TRY_MS = 1_000

test(
  'a database that is closed while its connections are away leaves none behind',
  () =>
    withCutter(async (url) => {
      const admin = postgres(url, { max: 1, onnotice() {} })
      const open = async (like = '%') => {
        const [row] = await admin<{ count: number }[]>`select count(*)::int from pg_stat_activity
          where datname = current_database() and application_name = 'parley' and query ilike ${like}`
        return row!.count
      }
      const away = await Promise.all(CLOSED_AFTER_MS.map(() => thatCanBeEmpty(url)))
      try {
        const pools = await Promise.all(away.map((proxy) => openPostgres(proxy.url)))
        for (const pool of pools)
          await pool.listen(
            () => {},
            () => {},
          )
        await until('each listens', 10_000, async () => (await open('listen%')) === pools.length)
        for (const proxy of away) proxy.empty()
        await until('all connections are gone', 10_000, async () => (await open()) === 0)
        await Promise.all(pools.map((pool, n) => Bun.sleep(CLOSED_AFTER_MS[n]!).then(() => pool.close())))
        for (const proxy of away) proxy.fill()
        await Bun.sleep(NEXT_TRY_MS)
        expect(await open()).toBe(0)
      } finally {
        for (const proxy of away) await proxy.close()
        await admin.end()
      }
    }),
  180_000,
)

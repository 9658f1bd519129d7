// A pooler between Parley and its Postgres. In session mode it serves as a direct connection does; in any other mode LISTEN does not come
// through it, instances would not hear of each other, and the start ends with a sentence that says what to do.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import postgres from 'postgres'
import { whileBusy } from '../support/cpu.ts'
import { findPgbouncer, startPgbouncer, type Pooler, type PoolMode } from '../support/pgbouncer.ts'
import { freshDatabase, startPostgres, type TestPostgres } from '../support/postgres.ts'
import { withoutNotifications } from '../support/proxy.ts'
import { runServer } from '../support/server.ts'
import { serverOn } from './engines.ts'
import { FULL, shortOf } from '../support/full.ts'
import { openRoom, post, wait } from './rooms.ts'

const program = findPgbouncer()

let database: TestPostgres
beforeAll(async () => void (database = await startPostgres()), 180_000)
afterAll(async () => database?.stop(), 180_000)

const behind = async (mode: PoolMode, more: string[], work: (pooler: Pooler) => Promise<void>) => {
  const { url, drop } = await freshDatabase(database.url)
  const pooler = await startPgbouncer(program!, url, mode, more)
  try {
    await work(pooler)
  } finally {
    await pooler.stop()
    await drop()
  }
}

describe.skipIf(!program)('behind PgBouncer', () => {
  test(
    'in session mode, as it is configured by default, two servers hear of each other and wake each other',
    () =>
      behind('session', [], async ({ url }) => {
        const servers = [await serverOn({ DATABASE_URL: url }), await serverOn({ DATABASE_URL: url })]
        try {
          const room = await openRoom(servers[0]!.url)
          const away = { ...room, url: servers[1]!.url }
          let tookMs = 0
          for (let n = 0; n < 20; n++) {
            const since = n + 1
            const waiting = wait(away, since, { team: room.teams[1]!, timeout: 20 })
            await Bun.sleep(50)
            const from = performance.now()
            expect((await post(room, `number ${n}`)).body.cursor).toBe(since + 1)
            expect((await waiting).body.messages).toMatchObject([{ content: { text: `number ${n}` } }])
            tookMs += performance.now() - from
            expect((await wait(away, since, { team: room.teams[1]!, timeout: 0 })).body.messages).toHaveLength(1)
          }
          expect(tookMs).toBeLessThan(whileBusy(10_000)) // by the sweep alone, every 4.5 s, it would be 45 s
        } finally {
          for (const server of servers) await server.remove()
        }
      }),
    180_000,
  )

  // The settings that operators add when PgBouncer refuses a program's. With few connections, what one client listens for is on the connection that the next
  // one uses; while others keep the pooler busy, a client may get its last connection again by luck.
  const lenient = `ignore_startup_parameters = ${[
    'extra_float_digits,options,jit,plan_cache_mode,enable_seqscan,statement_timeout,idle_in_transaction_session_timeout',
    'tcp_keepalives_idle,tcp_keepalives_interval,tcp_keepalives_count',
  ].join()}`
  const WAYS: [PoolMode, string, string[]][] = [
    ['transaction', 'as by default', []],
    ['transaction', 'and lenient', [lenient]],
    ['transaction', 'with one connection', [lenient, 'default_pool_size = 1']],
    ['transaction', 'that takes its connections in turn', [lenient, 'server_round_robin = 1']],
    ['transaction', 'that is busy', [lenient, 'default_pool_size = 3']],
    ['statement', 'and lenient', [lenient]],
  ]
  test.each(shortOf(WAYS, 1))(
    'in %s mode, %s, the start ends with a sentence that says what to use',
    (mode, how, more) =>
      behind(mode, more, async ({ url }) => {
        const others = how.endsWith('busy') ? postgres(url, { max: 12, fetch_types: false, prepare: false }) : undefined
        let over = false
        const load = Array.from({ length: 12 }, async () => {
          while (others && !over) await others`select pg_sleep(random() * 0.005)`
        })
        for (const command of [[], ['migrate']]) {
          const { code, output } = await runServer(command, { DATABASE_URL: url, PORT: '0' })
          expect(output.trim()).toMatch(/^The Postgres database in DATABASE_URL .*LISTEN does not come through.* session mode .*$/)
          expect(code).toBe(1)
        }
        over = true
        await Promise.all(load)
        await others?.end()
      }),
    180_000,
  )

  test(
    'in transaction mode, the sessions of the others that share its connections are left as they were',
    () =>
      behind('transaction', ['default_pool_size = 1'], async ({ url }) => {
        const other = postgres(url, { max: 1, fetch_types: false, prepare: false })
        const settings = () =>
          other`select name, setting from pg_settings where source = 'session' and name not like 'parley.%' order by name`
        const before = await settings()
        expect((await runServer([], { DATABASE_URL: url, PORT: '0' })).code).toBe(1)
        expect(await settings()).toEqual(before)
        await other.end()
      }),
    180_000,
  )
})

test.skipIf(!FULL)(
  'where notifications do not come through for another reason, the start says so as well',
  async () => {
    const { url, drop } = await freshDatabase(database.url)
    const mute = await withoutNotifications(url)
    try {
      const { code, output } = await runServer([], { DATABASE_URL: mute.url, PORT: '0' })
      expect([code, output.trim().split('\n').length]).toEqual([1, 1])
      expect(output).toContain('LISTEN does not come through: a notification was not delivered within 2 s')
    } finally {
      await mute.close()
      await drop()
    }
  },
  180_000,
)

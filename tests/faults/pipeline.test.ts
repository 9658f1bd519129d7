// More statements at once than the connections to Postgres take, or fewer.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Queries } from '../../db/database.ts'
import { openPostgres } from '../../db/postgres.ts'
import { soon } from '../support/parley.ts'
import { freshDatabase, startPostgres, type TestPostgres } from '../support/postgres.ts'

const CONNECTIONS = 16
const MOST_ON_ONE = 100 // statements that the driver would send ahead of their answers, if it were let

let database: TestPostgres
beforeAll(async () => void (database = await startPostgres()), 180_000)
afterAll(async () => database?.stop(), 180_000)

test('a transaction that begins behind as many statements as a connection takes leaves no acknowledged write uncommitted', async () => {
  const { url, drop } = await freshDatabase(database.url)
  const [pool, other] = [await openPostgres(url), await openPostgres(url)]
  const write = (who: string) => pool.query('insert into written values ($1)', [who])
  try {
    await pool.query('create table written (who text)')
    for (const before of [MOST_ON_ONE - 1, MOST_ON_ONE, MOST_ON_ONE + 1, MOST_ON_ONE + 2]) {
      const busy = Array.from({ length: CONNECTIONS }, () => pool.transaction((tx) => tx.query('select pg_sleep(0.2)')))
      const asked = Array.from({ length: before }, () => pool.query('select $1::int', [1]))
      const transaction = pool.transaction((tx) => tx.query('insert into written values ($1)', ['in a transaction']))
      await Promise.all([...busy, ...asked, transaction])
      await Promise.all(Array.from({ length: CONNECTIONS }, () => write('alone'))) // on every connection
    }
    expect(await other.query('select who, count(*)::int as rows from written group by who order by who')).toEqual([
      { who: 'alone', rows: 4 * CONNECTIONS },
      { who: 'in a transaction', rows: 4 },
    ])
  } finally {
    await Promise.all([pool.close(), other.close()])
    await drop()
  }
}, 180_000)

test('one statement after another goes to one connection, whose backend has its plans at hand', async () => {
  const { url, drop } = await freshDatabase(database.url)
  const pool = await openPostgres(url)
  try {
    await Promise.all(Array.from({ length: CONNECTIONS }, () => pool.query('select pg_sleep(0.1)')))
    const backends = new Set<number>()
    for (let n = 0; n < 2 * CONNECTIONS; n++) backends.add((await pool.query<{ pid: number }>('select pg_backend_pid() as pid'))[0]!.pid)
    expect(backends.size).toBe(1)
  } finally {
    await pool.close()
    await drop()
  }
})

test('the connections of a burst go back when they have rested, and nothing is lost to one that goes', async () => {
  const { url, drop } = await freshDatabase(database.url)
  const [rested, hasty, other] = [
    await openPostgres(url, undefined, 0.3),
    await openPostgres(url, undefined, 0.01),
    await openPostgres(url),
  ]
  const backends = async () => {
    const [row] = await other.query<{ n: number }>(
      `select count(*)::int as n from pg_stat_activity where datname = current_database() and query like '%the burst%' and pid <> pg_backend_pid()`,
    )
    return row!.n
  }
  const burst = () => Promise.all(Array.from({ length: CONNECTIONS }, () => rested.query('select pg_sleep(0.5) as "the burst"')))
  try {
    for (let n = 0; n < 2; n++) {
      const over = burst()
      await soon('it has all connections', async () => (await backends()) === CONNECTIONS)
      await over
      await soon('they have gone back', async () => (await backends()) === 0)
    }
    const told = await Promise.all(
      Array.from({ length: 400 }, async (_, n) => {
        await Bun.sleep(Math.random() * 1_000)
        const say = ({ query }: Queries) => query<{ n: number }>('select $1::int as n', [n])
        return (await (n % 2 ? say(hasty) : hasty.transaction(say)))[0]!.n
      }),
    )
    expect(told).toEqual(Array.from({ length: 400 }, (_, n) => n))
  } finally {
    await Promise.all([rested, hasty, other].map((pool) => pool.close()))
    await drop()
  }
})

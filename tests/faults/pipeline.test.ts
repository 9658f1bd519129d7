// More statements at once than the connections to Postgres take, or fewer.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { openPostgres } from '../../db/postgres.ts'
import { freshDatabase, startPostgres, type TestPostgres } from '../support/postgres.ts'

const CONNECTIONS = 16
const MOST_ON_ONE = 100 // statements that the driver would send ahead of their answers, if it were let

let database: TestPostgres
beforeAll(async () => void (database = await startPostgres()), 60_000)
afterAll(async () => database?.stop(), 30_000)

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

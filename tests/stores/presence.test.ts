import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Database } from '../../db/database.ts'
import { migrate } from '../../db/migrate.ts'
import { openPostgres } from '../../db/postgres.ts'
import type { Seen } from '../../src/core/presence.ts'
import { writePresence } from '../../src/stores/presence.ts'
import { freshDatabase, startPostgres, type TestPostgres } from '../support/postgres.ts'

let server: TestPostgres
let drop: () => Promise<void>
let database: Database
const session = crypto.randomUUID()
const LEASE_S = 1_800
const [first, second, third] = [crypto.randomUUID(), crypto.randomUUID(), crypto.randomUUID()].toSorted() as [string, string, string]

beforeAll(async () => {
  server = await startPostgres()
  const fresh = await freshDatabase(server.url)
  drop = fresh.drop
  database = await openPostgres(fresh.url)
  await migrate(database)
  // Among many, so that rows are gone to in the order in which they are named, as in a table of some size.
  await database.query(
    `insert into sessions (id, title, description, series_id)
     select id, 'Shipping the parser', '', id from (select $1::uuid union all select gen_random_uuid() from generate_series(1, 2000)) as s(id)`,
    [session],
  )
  await database.query(
    `insert into participants (session_id, team_id, token_hash, team_name, hue, last_seen_cursor, delivered_cursor, last_seen_at)
     select id, team, '', 'Alex''s Team', 0, 0, 0, '2026-01-01T12:00:00Z'
     from sessions, unnest(case when id = $1 then $2::uuid[] else array[gen_random_uuid()] end) as team`,
    [session, `{${first},${second},${third}}`],
  )
  await database.query('analyze participants')
}, 180_000)
afterAll(async () => {
  await database?.close()
  await drop?.()
  await server?.stop()
})

const seen = (teamId: string, lastSeenMs: number): Seen => ({
  sessionId: session,
  teamId,
  lastSeenMs,
  pollingUntilMs: undefined,
  seenCursor: 0,
  deliveredCursor: 0,
  addressedCursor: 0,
  sleptMs: undefined,
  sleepingUntilMs: undefined,
})

/** Somebody else holds the team's row until the returned function is called. */
const holding = async (team: string) => {
  const [held, free] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const done = database.transaction(async ({ query }) => {
    await query('select from participants where session_id = $1 and team_id = $2 for update', [session, team])
    held.resolve()
    await free.promise
  })
  await held.promise
  return () => {
    free.resolve()
    return done
  }
}

const waiting = async (count: number) => {
  const blocked = `select count(*) as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  while ((await database.query<{ n: number }>(blocked))[0]!.n < count) await Bun.sleep(10)
}

test('two instances that saw the same teams in opposite order do not get in each other’s way', async () => {
  const release = await holding(second)
  const writing = [
    writePresence(database, [seen(first, 1_800_000_000_000), seen(second, 1_800_000_000_000), seen(third, 1_800_000_000_000)], LEASE_S),
    writePresence(database, [seen(third, 1_800_000_001_000), seen(second, 1_800_000_001_000), seen(first, 1_800_000_001_000)], LEASE_S),
  ]
  await waiting(2)
  await release()
  await Promise.all(writing)
  const written = await database.query('select last_seen_at from participants where team_id = any($1::uuid[])', [
    `{${first},${second},${third}}`,
  ])
  expect([...written]).toEqual(Array.from({ length: 3 }, () => ({ last_seen_at: new Date(1_800_000_001_000).toISOString() })))
})

test('the time that comes back is that of the end of the writing, however long a row was held', async () => {
  const release = await holding(first)
  const written = writePresence(database, [seen(first, 1_800_000_002_000)], LEASE_S)
  await waiting(1)
  await Bun.sleep(100)
  const [{ now } = { now: '' }] = await database.query<{ now: string }>('select clock_timestamp() as now')
  await release()
  expect(Date.parse(await written)).toBeGreaterThanOrEqual(Date.parse(now))
})

test('with nobody seen the time comes back all the same', async () => {
  expect(Date.parse(await writePresence(database, [], LEASE_S))).toBeGreaterThan(0)
})

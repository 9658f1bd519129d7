// The database's clock, from which every time comes, is set while Parley runs, by an hour or a day, there and back: nothing is lost or changes
// its order, waits last as long as they were asked to, and no runner that calls loses its task [P11].
import { afterAll, afterEach, beforeAll, describe, expect, setSystemTime, test } from 'bun:test'
import { migrate } from '../../db/migrate.ts'
import { openPostgres } from '../../db/postgres.ts'
import { leaseJob } from '../../src/control/runner/lease.ts'
import { controlScene } from '../support/control-scene.ts'
import { FULL, shortOf } from '../support/full.ts'
import { done, startParley, type Parley } from '../support/parley.ts'
import { startPostgres, type TestPostgres } from '../support/postgres.ts'
import { serveSite, type Site } from '../support/site.ts'
import { steppingDatabase } from '../support/stepping-database.ts'
import { expectFaultless, type Entry } from './checker.ts'
import { acked, call, follow, followStream, openRoom, post, readBy, readFeed, until, wait, whileUnavailable, type Item } from './rooms.ts'

const HOUR_MS = 3_600_000
const OFF_MS = [HOUR_MS, -HOUR_MS, 24 * HOUR_MS, -24 * HOUR_MS, 0]
const ROUNDS = FULL ? 20 : 1 // through all of these
const WRITERS = 4
const STEP_EVERY_MS = 200
const LEASE_MS = 300

let server: TestPostgres
beforeAll(async () => void (server = await startPostgres()), 180_000)
afterAll(() => server?.stop())

describe('two servers on one Postgres', () => {
  let database: Awaited<ReturnType<typeof steppingDatabase>>
  let instances: Site[] = []
  beforeAll(async () => {
    database = await steppingDatabase(server.url)
    for (let n = 0; n < 2; n++) {
      const pool = await openPostgres(database.url)
      await migrate(pool)
      instances.push(await serveSite({}, { database: pool }))
    }
  }, 180_000)
  afterAll(async () => {
    for (const instance of instances) await instance.stop()
    await database?.drop()
  })

  const setAndReset = async (meanwhile: () => Promise<void> = async () => {}) => {
    for (const offMs of Array.from({ length: ROUNDS }, () => OFF_MS).flat()) {
      await database.setClock(offMs)
      await Promise.all([Bun.sleep(STEP_EVERY_MS), meanwhile()])
    }
  }

  test('what is said and appended meanwhile is whole and in order, and no time runs against it [P11]', async () => {
    const [here, there] = instances.map(({ url }) => url) as [string, string]
    const room = await openRoom(here, WRITERS)
    const rooms = [room, { ...room, url: there }]
    const log: Entry[] = []
    let setting = true
    let said = 0
    const write = async (writer: number) => {
      for (let n = 0; setting; n++) {
        const text = `${writer}/${n}`
        const as = { team: room.teams[writer]!, key: crypto.randomUUID() }
        const { status, body } = await whileUnavailable(() => post(rooms[writer % 2]!, text, as))
        expect([status, body.error]).toEqual([200, undefined])
        log.push(acked(text, body.cursor, `writer ${writer}`))
        said++
      }
    }
    const somethingSaid = () => {
      const from = said
      return until('something is said at that time', 60_000, () => said > from + WRITERS).then(() => {})
    }
    let lines = 0
    const append = async () => {
      for (; setting; lines++) {
        const path = `/api/sessions/${room.session}/doc/append`
        const sending = { team: room.teams[1]!, body: { text: `line ${lines}` }, key: crypto.randomUUID() }
        const { status } = await whileUnavailable(() => call(there, 'POST', path, sending))
        expect(status).toBe(200)
      }
    }
    await Promise.all([
      ...room.teams.map((_, writer) => write(writer)),
      append(),
      setAndReset(somethingSaid).finally(() => (setting = false)),
    ])
    const feed = (await readFeed(room)) as (Item & { at: string })[]
    const all = feed.length
    const [waited, streamed] = await Promise.all([follow(rooms[1]!, room.teams[2]!, all), followStream(room, all, 3)])
    expectFaultless([...log, readBy('the feed', feed), readBy('who waits', waited), readBy('who follows the stream', streamed)])
    expect(feed.filter(({ type }) => type === 'chat')).toHaveLength(said)
    expect(feed.map(({ at }) => at)).toEqual(feed.map(({ at }) => at).toSorted())
    const spanMs = Date.parse(feed.at(-1)!.at) - Date.parse(feed[0]!.at)
    expect(spanMs).toBeGreaterThan(23 * HOUR_MS) // the clock was set indeed
    const doc = await call(here, 'GET', `/api/sessions/${room.session}/doc`, { team: room.teams[0]! })
    expect(doc.body.content.match(/^line \d+$/gm)).toEqual(Array.from({ length: lines }, (_, n) => `line ${n}`))
  }, 300_000)

  test('a wait ends when it was asked to, and hears what is said meanwhile', async () => {
    const room = await openRoom(instances[0]!.url)
    const begun = performance.now()
    const [nothing] = await Promise.all([wait(room, 1, { timeout: 2 }), setAndReset()])
    expect(nothing.body.messages).toEqual([])
    expect(performance.now() - begun).toBeGreaterThan(1_900)
    for (const offMs of OFF_MS) {
      const { sequence } = (await readFeed(room)).at(-1)!
      const heard = wait({ ...room, url: instances[1]!.url }, sequence, { team: room.teams[1]!, timeout: 30 })
      await database.setClock(offMs)
      const key = crypto.randomUUID()
      expect((await whileUnavailable(() => post(room, `at ${offMs}`, { key }))).status).toBe(200)
      expect((await heard).body.messages.map(({ content }: Item) => content!.text)).toEqual([`at ${offMs}`])
    }
  }, 120_000)
})

interface Clocked {
  parley: Parley
  /** Sets the clock so far on, or back. */
  step(ms: number): Promise<void>
  reset(): Promise<void>
}

const CLOCKED: Record<string, () => Promise<Clocked>> = {
  // The clock of an embedded database is that of its process; once it was set it stands still.
  pglite: async () => ({
    parley: await startParley(),
    step: async (ms) => void setSystemTime(Date.now() + ms),
    reset: async () => void setSystemTime(),
  }),
  postgres: async () => {
    const { url, setClock, drop } = await steppingDatabase(server.url)
    const parley = await startParley({ engine: 'postgres', opened: { database: await openPostgres(url), url, drop } })
    let offMs = 0
    return { parley, step: (ms) => setClock((offMs += ms)), reset: () => setClock((offMs = 0)) }
  },
}

describe.each(shortOf(Object.keys(CLOCKED), 1))('runners, on %s', (engine) => {
  let clocked: Clocked
  beforeAll(async () => void (clocked = await CLOCKED[engine]!()), 180_000)
  afterEach(() => clocked.reset())
  afterAll(() => clocked?.parley.close())

  /** A task that a runner has begun, and the job that looks whether that one is gone. */
  const begun = async () => {
    const { runner, call, start } = await controlScene(clocked.parley)
    const { task_id } = await start()
    await runner.takeOne()
    const job = leaseJob(clocked.parley.services, LEASE_MS)
    await job.run()
    await clocked.step(LEASE_MS)
    await job.run()
    const status = async () => (await done(call('get_task', { task_id }))).task.status
    return { runner, call, task_id, job, status }
  }

  for (const [set, offMs] of [
    ['forward', HOUR_MS],
    ['back', -HOUR_MS],
  ] as const) {
    test(`whose clock was set ${set}: the runner that calls keeps its task, and one that is gone loses it when the lease is over [P11]`, async () => {
      const [calls, gone] = [await begun(), await begun()]
      await clocked.step(offMs)
      for (const { job } of [calls, gone]) await job.run()
      expect([await calls.status(), await gone.status()]).toEqual(['running', 'running'])
      await calls.runner.take(0, [calls.task_id])
      await clocked.step(LEASE_MS)
      for (const { job } of [calls, gone]) await job.run()
      expect([await calls.status(), await gone.status()]).toEqual(['running', 'failed'])
      await calls.runner.finish(calls.task_id, 'Done.')
    })
  }

  test('an order to interrupt that was lost is told again after the clock was set back', async () => {
    const { runner, call, task_id } = await begun()
    const { session_id } = (await done(call('get_task', { task_id }))).task
    await done(call('interrupt_session', { session_id }))
    const orders = async () => (await runner.take(0, [task_id])).orders
    expect(await orders()).toMatchObject([{ order: 'interrupt' }])
    expect(await orders()).toEqual([])
    await clocked.step(-HOUR_MS)
    expect(await orders()).toMatchObject([{ order: 'interrupt' }])
    await runner.finish(task_id, 'Done.')
  })
})

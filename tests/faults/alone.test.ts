// An instance that is alone on its Postgres answers from memory and notifies nobody. It must not take itself for alone when it only fails to
// receive notifications.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { migrate } from '../../db/migrate.ts'
import { openPostgres } from '../../db/postgres.ts'
import { findPgbouncer, startPgbouncer } from '../support/pgbouncer.ts'
import { freshDatabase, startPostgres, type TestPostgres } from '../support/postgres.ts'
import { thatCanFallSilent, withoutNotifications } from '../support/proxy.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { NEVER_MS } from '../support/parley.ts'
import { LOCAL, openInProcess } from './engines.ts'
import { FULL, shortOf } from '../support/full.ts'
import { gauge, openRoom, post, until, wait, type Room } from './rooms.ts'

let database: TestPostgres
beforeAll(async () => void (database = await startPostgres()), 180_000)
afterAll(async () => database?.stop(), 180_000)

const ROUNDS = 4
const EVENTS = 60

type Instance = Awaited<ReturnType<typeof openInProcess>>

const open = async (url: string): Promise<Instance> => {
  const pool = await openPostgres(url)
  await migrate(pool)
  return openInProcess({}, pool, { intervals: { sweep: NEVER_MS } }) // the sweep would wake those whom no notification reached
}

/** The messages that a poll of the second team gets with the cursor `since`. */
const poll = async (room: Room, { send }: Instance, since: number) => {
  const { status, body } = await wait(room, since, { team: room.teams[1]!, timeout: 0, send })
  expect(status).toBe(200)
  return body.messages as { sequence: number }[]
}

const saysNext = async (room: Room, { send }: Instance, text: string): Promise<number> => {
  const { status, body } = await post(room, text, { send })
  expect(status).toBe(200)
  return body.cursor
}

// Five polls that ask the database nothing at all. Twice a second something else does: more of them would not come through between.
const untilAlone = (room: Room, instance: Instance) =>
  until('it answers from memory', 60_000, async () => {
    await poll(room, instance, 1)
    const before = instance.database.statements()
    for (let n = 0; n < 5; n++) await poll(room, instance, 1)
    return instance.database.statements() === before
  })

/** The answers that lacked what the other instance had acknowledged before they were asked for. */
const staleAnswers = async (talksToo: boolean): Promise<{ asked: number; stale: string[] }> => {
  const { url, drop } = await freshDatabase(database.url)
  const proxy = await thatCanFallSilent(url)
  const first = await open(proxy.url)
  let second: Instance | undefined
  const stale: string[] = []
  try {
    const room = await openRoom(LOCAL, 2, first.send)
    await untilAlone(room, first)
    await poll(room, first, 1)
    proxy.silence('listening')
    second = await open(url)
    let last = 1
    for (let n = 0; n < EVENTS; n++) {
      const [here, there] = talksToo && n % 3 === 2 ? ([first, second] as const) : ([second, first] as const)
      const cursor = await saysNext(room, here, `number ${n}`)
      if (!(await poll(room, there, last)).some(({ sequence }) => sequence === cursor))
        stale.push(`${cursor} at the ${there === first ? 'first' : 'second'}`)
      last = cursor
      await Bun.sleep(25)
    }
    return { asked: EVENTS, stale }
  } finally {
    await Promise.all([first.close(), second?.close()])
    await proxy.close()
    await drop()
  }
}

test.concurrent.each(shortOf([true, false], 1))(
  'an instance that was alone and hears nothing more has in its next answer what a newcomer acknowledged, and the other way round: %p',
  async (talksToo) => {
    const found = await Promise.all(Array.from({ length: ROUNDS }, () => staleAnswers(talksToo)))
    expect(found.flatMap(({ stale }) => stale)).toEqual([])
  },
  180_000,
)

test.skipIf(!FULL).concurrent(
  'who waits at an instance that believes itself alone is woken by what the first one writes that cannot hear it',
  async () => {
    const { url, drop } = await freshDatabase(database.url)
    const proxy = await thatCanFallSilent(url)
    const first = await open(proxy.url)
    let second: Instance | undefined
    try {
      const room = await openRoom(LOCAL, 2, first.send)
      await untilAlone(room, first)
      proxy.silence('listening')
      second = await open(url)
      await Bun.sleep(2_500) // in which nobody answers its hello
      for (let since = 1; since < 5; since++) {
        const waiting = wait(room, since, { team: room.teams[1]!, timeout: 20, send: second.send })
        await until('it waits', 20_000, () => second!.services.waits.held === 1)
        await saysNext(room, first, 'Are you there?')
        expect((await waiting).body.messages).toHaveLength(1)
      }
    } finally {
      await Promise.all([first.close(), second?.close()])
      await proxy.close()
      await drop()
    }
  },
  180_000,
)

// A team polls meanwhile: a server that is asked looks at once whether it still hears itself, an idle one twice a minute.
const untilListening = (server: TestServer, room: Room, does: 0 | 1) =>
  until(`listening is ${does}`, 60_000, async () => {
    await wait(room, 1, { timeout: 0 })
    await Bun.sleep(100)
    return (await gauge(server.url, 'listening')) === does
  })

test.concurrent('an instance that no longer hears itself says so, in its log and in /metrics, and again when it does', async () => {
  const { url, drop } = await freshDatabase(database.url)
  const proxy = await withoutNotifications(url)
  proxy.swallowing = false
  const server = await startServer({ DATABASE_URL: proxy.url })
  const deaf = () => server.output().match(/Notifications of the database do not come through.*session mode/g)?.length ?? 0
  try {
    const room = await openRoom(server.url)
    await untilListening(server, room, 1)
    await Bun.sleep(2_500)
    await untilListening(server, room, 1)
    const before = deaf() // none, unless the proxy, which is in this process, stood still for two seconds
    proxy.swallowing = true
    await untilListening(server, room, 0)
    await Bun.sleep(3_000)
    expect(deaf()).toBe(before + 1)
    proxy.swallowing = false
    await untilListening(server, room, 1)
    await until('its log says so', 10_000, async () => server.output().includes('Notifications of the database come through again'))
  } finally {
    await server.remove()
    await proxy.close()
    await drop()
  }
}, 120_000)

const program = findPgbouncer()

test.concurrent.skipIf(!program || !FULL)(
  'when the pooler is switched to transaction mode while the server runs, it says so',
  async () => {
    const { url, drop } = await freshDatabase(database.url)
    const pooler = await startPgbouncer(program!, url, 'session')
    const server = await startServer({ DATABASE_URL: pooler.url })
    try {
      const room = await openRoom(server.url)
      await untilListening(server, room, 1)
      pooler.change('transaction')
      await untilListening(server, room, 0)
      expect(server.output()).toContain('use a direct connection, or a pooler in session mode')
    } finally {
      await server.remove()
      await pooler.stop()
      await drop()
    }
  },
  120_000,
)

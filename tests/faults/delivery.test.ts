// Every follower of a session sees all of it, in order and once, however it follows [P3].
//   FULL=1 bun test tests/faults/delivery.test.ts    a hundred cuts instead of twenty, ten times as many lone events
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import postgres from 'postgres'
import { withoutNotifications, type MuteProxy } from '../support/proxy.ts'
import { databaseOf, onEveryServer, serverOn, type Reachable } from './engines.ts'
import { expectFaultless, type Entry } from './checker.ts'
import {
  acked,
  call,
  expectUnbroken,
  follow,
  followStream,
  openRoom,
  postSurely,
  readBy,
  until,
  wait,
  type Item,
  type Room,
} from './rooms.ts'
import { whileBusy } from '../support/cpu.ts'
import { FULL, shortOf } from '../support/full.ts'

const WRITERS = 8
const POSTS = FULL ? 500 : 100 // of each writer
const JOINED = WRITERS - 1
const CUTS = FULL ? 100 : 20
const LONE = FULL ? 20 : 2 // events without a notification
const LATE_MS = 1_000 // by then a second one would have come: reconnecting waits half a second at most
const WAKE_WITHIN_MS = whileBusy(5_500) // a sweep of 4.5 s at most, and a read

/** So many posts of each writer, at these servers in turn; returns what was acknowledged. */
const write = async (rooms: Room[], each: number, acknowledged: (cursor: number) => void = () => {}): Promise<Entry[]> => {
  const log: Entry[] = []
  const writing = Array.from({ length: WRITERS }, async (_, writer) => {
    const room = rooms[writer % rooms.length]!
    for (let n = 0; n < each; n++) {
      const text = `${writer}/${n}`
      const { status, body } = await postSurely(room, text, { team: room.teams[writer]! })
      expect(status).toBe(200)
      acknowledged(body.cursor)
      log.push(acked(text, body.cursor, `writer ${writer}`))
    }
  })
  await Promise.all(writing)
  return log
}

/** Nothing is wrong with what two readers were given, who saw all of it, and the same. */
const expectDelivered = (log: Entry[], waited: Item[], streamed: Item[], all: number) => {
  expectFaultless([...log, readBy('who waits', waited), readBy('who follows the stream', streamed)])
  expect(waited).toHaveLength(all)
  expect(streamed).toEqual(waited)
}

onEveryServer((server) => {
  test('a reader that waits and one whose stream is cut ten times see what eight writers say, each event once and in order', async () => {
    const all = WRITERS * POSTS + JOINED
    const room = await openRoom(server().url, WRITERS)
    const [waited, streamed, log] = await Promise.all([
      follow(room, room.teams[0]!, all),
      followStream(room, all, 10),
      write([room], POSTS),
    ])
    expectDelivered(log, waited, streamed, all)
  }, 120_000)
})

describe('on two servers with one Postgres', () => {
  let servers: Reachable[] = []
  let deaf: Promise<Reachable> | undefined
  let mute: MuteProxy | undefined
  let environment: Record<string, string> = {}
  let drop: () => Promise<void>
  beforeAll(async () => {
    const database = await databaseOf('postgres')
    ;({ environment, drop } = database)
    servers = [await serverOn(environment), await serverOn(environment)]
  }, 180_000)
  afterAll(async () => {
    for (const server of servers) await server.remove()
    await mute?.close()
    await drop?.()
  })

  // A server refuses to start where it receives no notifications, so they are lost only once it runs.
  const deafServer = (): Promise<Reachable> => (deaf ??= startDeaf())
  const startDeaf = async () => {
    mute = await withoutNotifications(environment.DATABASE_URL!)
    mute.swallowing = false
    const server = await serverOn({ DATABASE_URL: mute.url })
    servers.push(server)
    mute.swallowing = true
    return server
  }

  test('nobody misses an event or hears of it late while the listening connections are cut again and again', async () => {
    const [here, there] = servers.map(({ url }) => url) as [string, string]
    const each = FULL ? 1_500 : 40
    const all = WRITERS * each + JOINED
    const room = await openRoom(here, WRITERS)
    const away = { ...room, url: there }
    const clock = wakeClock()
    const admin = postgres(environment.DATABASE_URL!, { max: 1, onnotice() {} })
    let cuts = 0
    let writing = true
    const cutting = (async () => {
      while (writing || cuts < CUTS) {
        const cut =
          await admin`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query ilike 'listen%' and pid <> pg_backend_pid()`
        if (cut.length > 0) cuts++
        await Bun.sleep(60)
      }
    })()
    const [waited, streamed, log] = await Promise.all([
      follow(away, room.teams[0]!, all, clock.seen('wait')),
      followStream(away, all, 0, clock.seen('stream')),
      // Half of them write where nobody reads: their events come to the readers by notification alone.
      write([room, away], each, clock.acknowledged).finally(() => (writing = false)),
    ])
    await cutting
    const listening = async () => {
      const [row] = await admin<{ count: number }[]>`select count(*)::int from pg_stat_activity
        where datname = current_database() and application_name = 'parley' and query ilike 'listen%'`
      return row!.count
    }
    await until('one listening connection of each server', 10_000, async () => (await listening()) === servers.length)
    await Bun.sleep(LATE_MS)
    expect(await listening()).toBe(servers.length)
    await admin.end()
    expectDelivered(log, waited, streamed, all)
    expect(cuts).toBeGreaterThanOrEqual(CUTS)
    expect(clock.slowest('wait')).toBeLessThan(WAKE_WITHIN_MS)
    expect(clock.slowest('stream')).toBeLessThan(WAKE_WITHIN_MS)
    console.log(
      `${cuts} cuts: slowest wake ${clock.slowest('wait').toFixed(0)} ms by wait, ${clock.slowest('stream').toFixed(0)} ms by stream`,
    )
  }, 180_000)

  // These wait for the sweep most of their time.
  test.concurrent.each(shortOf(['wait', 'stream'] as const, 1))(
    'without any notification a %s still hears of each lone event within 5.5 s',
    async (way) => {
      const deaf = await deafServer()
      const room = await openRoom(servers[0]!.url)
      const away = { ...room, url: deaf.url }
      const clock = wakeClock()
      let newest = 0
      const seen = (item: Item) => {
        newest = item.sequence
        clock.seen(way)(item)
      }
      const items = way === 'wait' ? follow(away, room.teams[1]!, LONE + 1, seen) : followStream(away, LONE + 1, 0, seen)
      items.catch(() => {}) // awaited below
      for (let sequence = 2; sequence <= LONE + 1; sequence++) {
        await until('the event before', 10_000, () => newest === sequence - 1)
        await Bun.sleep(200) // the reader waits by now: it has to be woken
        clock.acknowledged((await postSurely(room, `number ${sequence}`)).body.cursor)
        await until(`event ${sequence} by ${way}`, WAKE_WITHIN_MS, () => newest === sequence)
      }
      expectUnbroken(await items, LONE + 1)
      expect(mute!.swallowed).toBeGreaterThanOrEqual(LONE)
      console.log(`no notifications: slowest wake of a ${way} ${clock.slowest(way).toFixed(0)} ms`)
    },
    180_000,
  )

  test.concurrent('a post that one instance acknowledged is in the next answer of another, though its notification is still on the way', async () => {
    const [here, there] = servers.map(({ url }) => url) as [string, string]
    const room = await openRoom(here)
    const away = { ...room, url: there }
    const team = room.teams[1]!
    await wait(away, 1, { team, timeout: 0 })
    for (let n = 0; n < 200; n++) {
      const { cursor } = (await postSurely(room, `number ${n}`)).body
      const { messages } = (await wait(away, cursor - 1, { team, timeout: 0 })).body
      expect(messages.map(({ sequence }: Item) => sequence)).toEqual([cursor])
    }
  }, 180_000)

  test.concurrent('what an instance knew a moment ago refuses nothing and hides nothing that another one wrote, notified or not', async () => {
    const deaf = await deafServer()
    const room = await openRoom(servers[0]!.url)
    const away = { ...room, url: deaf.url }
    const [alex, bea] = room.teams as [string, string]
    for (const team of [alex, bea, alex, bea]) expect((await wait(away, 1, { team, timeout: 0 })).body.messages).toEqual([])
    const { cursor } = (await postSurely(room, 'from afar')).body
    const beyond = await wait(away, cursor, { team: bea, timeout: 0 })
    expect([beyond.status, beyond.body.next_cursor]).toEqual([200, cursor])
    await until('the event by a poll', 10_000, async () => (await wait(away, 1, { team: alex, timeout: 0 })).body.messages.length === 1)
    expect((await call(room.url, 'POST', `/api/sessions/${room.session}/leave`, { team: bea, body: {} })).status).toBe(200)
    await until('no more answers for who has left', 10_000, async () => (await wait(away, 2, { team: bea, timeout: 0 })).status === 401)
  }, 180_000)
})

/** From the writer's answer to the reader's, event by event. */
const wakeClock = () => {
  const acknowledgedAt = new Map<number, number>()
  const seenAt = { wait: new Map<number, number>(), stream: new Map<number, number>() }
  return {
    acknowledged: (cursor: number) => void acknowledgedAt.set(cursor, performance.now()),
    seen: (way: 'wait' | 'stream') => (item: Item) => void seenAt[way].set(item.sequence, performance.now()),
    slowest: (way: 'wait' | 'stream') => Math.max(...[...acknowledgedAt].map(([cursor, at]) => (seenAt[way].get(cursor) ?? Infinity) - at)),
  }
}

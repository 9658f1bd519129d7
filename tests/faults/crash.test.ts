// What was acknowledged is there after a kill -9, a retry with its idempotency key writes nothing twice, and whoever follows misses nothing [P2].
//   FULL=1 bun test tests/faults/crash.test.ts    20,000 posts over twenty kills, by 64 writers on Postgres; ten kills of a first start
import { expect, test } from 'bun:test'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gone, runServer, spawnServer, startServer, type TestServer } from '../support/server.ts'
import { databaseOf, ENGINES } from './engines.ts'
import { expectFaultless, type Entry } from './checker.ts'
import { acked, numbers, openRoom, post, readBy, readFeed, until, wait, type Room } from './rooms.ts'
import { whileBusy } from '../support/cpu.ts'
import { FULL } from '../support/full.ts'

const KILLS = FULL ? 20 : 2
const ROOMS = { postgres: FULL ? 8 : 1, pglite: 1 }
const POSTERS = FULL ? 8 : 6 // in each
const FOLLOWERS = FULL ? 2 : 1 // in each
const ACKNOWLEDGED = FULL ? 20_000 : 300
const FIRST_KILLS = FULL ? 10 : 1
const MAY_TAKE_MS = FULL ? 1_200_000 : 300_000
const UNTIL_THE_NEXT_MS = FULL ? 600_000 : 120_000 // for what hangs
const USUALLY_READY_WITHIN_MS = { postgres: 3_000, pglite: 15_000 }
const READY_WITHIN_MS = 15_000

test.concurrent.each(ENGINES)(
  'on %s kill after kill under load loses nothing that was acknowledged and doubles nothing that was retried',
  async (engine) => {
    const { environment, drop } = await databaseOf(engine)
    const server = await startServer(environment)
    try {
      const rooms = await Promise.all(Array.from({ length: ROOMS[engine] }, () => openRoom(server.url, POSTERS)))
      const over = { now: false, acknowledged: 0 }
      const posters = rooms.flatMap((room) => room.teams.map((team, n) => keepPosting(room, team, n, over)))
      const followers = rooms.flatMap((room) => numbers(FOLLOWERS).map((n) => keepFollowing(room, `follower ${n}`, over)))
      const readyAfter = await killAgainAndAgain(server, over)
      over.now = true
      const written = (await Promise.all(posters)).flat()
      expect(written.length).toBeGreaterThanOrEqual(ACKNOWLEDGED)
      const followed = (await Promise.all(followers)).flat()
      const whole = await Promise.all(rooms.map(async (room) => ({ room, items: await readFeed(room) })))
      expectFaultless([
        ...written.map(({ session, text, cursor, writer }) => acked(text, cursor, writer, session)),
        ...followed,
        ...whole.map(({ room, items }) => readBy('who reads all of it', items, room.session)),
      ])
      expect(whole.flatMap(({ items }) => items)).toHaveLength((POSTERS - 1) * rooms.length + written.length)
      expect(written.some(({ tries }) => tries > 1)).toBe(true)
      const usual = readyAfter.toSorted((a, b) => a - b)[Math.floor((KILLS - 1) / 2)]! // a browser may be starting beside
      expect(usual).toBeLessThan(whileBusy(USUALLY_READY_WITHIN_MS[engine]))
      expect(Math.max(...readyAfter)).toBeLessThan(whileBusy(READY_WITHIN_MS))
      console.log(`${engine}: ${written.length} written over ${KILLS} kills, ready again after ${readyAfter.map(Math.round).join(', ')} ms`)
    } finally {
      await server.remove()
      await drop()
    }
  },
  MAY_TAKE_MS,
)

interface Written {
  session: string
  writer: string
  text: string
  cursor: number
  tries: number
}

interface Over {
  now: boolean
  /** Posts so far, of all who post. */
  acknowledged: number
}

const keepPosting = async (room: Room, team: string, n: number, over: Over): Promise<Written[]> => {
  const written: Written[] = []
  while (!over.now) {
    const text = `${room.session.slice(-8)} ${n}/${written.length}`
    for (let tries = 1; ; tries++) {
      const answer = await post(room, text, { team, key: `key ${text}` }).catch(() => undefined) // the connection died with the server
      if (answer) expect([200, 503]).toContain(answer.status)
      if (answer?.status !== 200) {
        await Bun.sleep(20)
        continue
      }
      written.push({ session: room.session, writer: `poster ${n}`, text, cursor: answer.body.cursor, tries })
      over.acknowledged++
      break
    }
  }
  return written
}

// With its cursor alone, over all kills.
const keepFollowing = async (room: Room, name: string, over: Over): Promise<Entry[]> => {
  const reads: Entry[] = []
  for (let since = 0; !over.now;) {
    const answer = await wait(room, since, { team: room.teams[1]!, timeout: 1 }).catch(() => undefined)
    if (answer?.status !== 200) {
      await Bun.sleep(20)
      continue
    }
    reads.push({ ...readBy(name, answer.body.messages, room.session), since })
    since = answer.body.next_cursor
  }
  return reads
}

// Each kill comes when its share of the posts is acknowledged, and then at any moment: as much is written between any two of them.
const killAgainAndAgain = async (server: TestServer, over: Over): Promise<number[]> => {
  const readyAfter: number[] = []
  const acknowledged = (share: number) => until(`${share} of the posts`, UNTIL_THE_NEXT_MS, () => over.acknowledged >= share * ACKNOWLEDGED)
  for (let kill = 1; kill <= KILLS; kill++) {
    await acknowledged(kill / (KILLS + 1))
    await Bun.sleep(Math.random() * 100)
    await server.kill()
    readyAfter.push(await server.restart())
  }
  await acknowledged(1)
  return readyAfter
}

test(
  'a kill during the very first start leaves a folder on which the next start succeeds',
  async () => {
    for (let killed = 0; killed < FIRST_KILLS;) {
      const folder = mkdtempSync(join(tmpdir(), 'parley-first-'))
      try {
        const first = spawnServer({ DATA_DIR: folder, PORT: '0' })
        await until('it makes its database', UNTIL_THE_NEXT_MS, () => existsSync(join(folder, 'initialising')))
        await Bun.sleep(Math.random() * 1_000)
        first.kill('SIGKILL')
        await gone(first)
        if (existsSync(join(folder, 'initialised'))) continue // it was quicker than that
        killed++
        const next = await runServer(['migrate'], { DATA_DIR: folder })
        expect(next).toMatchObject({ code: 0 })
      } finally {
        rmSync(folder, { recursive: true, force: true })
      }
    }
  },
  MAY_TAKE_MS,
)

test.skipIf(!FULL)(
  'what a very first start left when it was cut short in the middle is made anew, and nothing of it is kept',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-first-'))
    try {
      mkdirSync(join(folder, 'pg', 'base'), { recursive: true })
      writeFileSync(join(folder, 'initialising'), '')
      expect(await runServer(['migrate'], { DATA_DIR: folder })).toMatchObject({ code: 0 })
      expect(readdirSync(folder).toSorted()).toEqual(['initialised', 'pg'])
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  },
  180_000,
)

// What was acknowledged is there after a kill -9, a retry with its idempotency key writes nothing twice, and whoever follows misses nothing [P2].
//   FULL=1 bun test tests/faults/crash.test.ts    twenty kills, eight rooms of eight writers on Postgres, ten kills of a first start
import { expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gone, runServer, spawnServer, startServer, type TestServer } from '../support/server.ts'
import { databaseOf, ENGINES } from './engines.ts'
import { expectFaultless, type Entry } from './checker.ts'
import { acked, openRoom, post, readBy, readFeed, wait, type Room } from './rooms.ts'
import { whileBusy } from '../support/cpu.ts'
import { FULL } from '../support/full.ts'

const KILLS = FULL ? 20 : 2
const ROOMS = { postgres: FULL ? 8 : 1, pglite: 1 }
const POSTERS = 6 // in each
const FIRST_KILLS_MS = FULL ? [100, 200, 300, 400, 500, 600, 700, 900, 1_200, 2_000] : [900]
const MAY_TAKE_MS = FULL ? 1_200_000 : 300_000
const READY_WITHIN_MS = { postgres: 3_000, pglite: 15_000 }

test.concurrent.each(ENGINES)(
  'on %s kill after kill under load loses nothing that was acknowledged and doubles nothing that was retried',
  async (engine) => {
    const { environment, drop } = await databaseOf(engine)
    const server = await startServer(environment)
    try {
      const rooms = await Promise.all(Array.from({ length: ROOMS[engine] }, () => openRoom(server.url, POSTERS)))
      const over = { now: false }
      const posters = rooms.flatMap((room) => room.teams.map((team, n) => keepPosting(room, team, n, over)))
      const followers = rooms.map((room) => keepFollowing(room, over))
      const readyAfter = await killAgainAndAgain(server)
      over.now = true
      const written = (await Promise.all(posters)).flat()
      const followed = (await Promise.all(followers)).flat()
      const whole = await Promise.all(rooms.map(async (room) => ({ room, items: await readFeed(room) })))
      expectFaultless([
        ...written.map(({ session, text, cursor, writer }) => acked(text, cursor, writer, session)),
        ...followed,
        ...whole.map(({ room, items }) => readBy('who reads all of it', items, room.session)),
      ])
      expect(whole.flatMap(({ items }) => items)).toHaveLength((POSTERS - 1) * rooms.length + written.length)
      expect(written.some(({ tries }) => tries > 1)).toBe(true)
      const usual = readyAfter.toSorted((a, b) => a - b)[Math.floor(KILLS / 2)]! // a browser may be starting beside
      expect(usual).toBeLessThan(whileBusy(READY_WITHIN_MS[engine]))
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

const keepPosting = async (room: Room, team: string, n: number, over: { now: boolean }): Promise<Written[]> => {
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
      break
    }
  }
  return written
}

// With its cursor alone, over all kills.
const keepFollowing = async (room: Room, over: { now: boolean }): Promise<Entry[]> => {
  const reads: Entry[] = []
  for (let since = 0; !over.now;) {
    const answer = await wait(room, since, { team: room.teams[1]!, timeout: 1 }).catch(() => undefined)
    if (answer?.status !== 200) {
      await Bun.sleep(20)
      continue
    }
    reads.push({ ...readBy('who follows', answer.body.messages, room.session), since })
    since = answer.body.next_cursor
  }
  return reads
}

const killAgainAndAgain = async (server: TestServer): Promise<number[]> => {
  const readyAfter: number[] = []
  for (let kill = 0; kill < KILLS; kill++) {
    await Bun.sleep(100 + Math.random() * 500)
    await server.kill()
    readyAfter.push(await server.restart())
  }
  await Bun.sleep(200)
  return readyAfter
}

test(
  'a kill during the very first start leaves a folder on which the next start succeeds',
  async () => {
    for (const afterMs of FIRST_KILLS_MS) {
      const folder = mkdtempSync(join(tmpdir(), 'parley-first-'))
      try {
        const first = spawnServer({ DATA_DIR: folder, PORT: '0' })
        await Bun.sleep(afterMs)
        first.kill('SIGKILL')
        await gone(first)
        const next = await runServer(['migrate'], { DATA_DIR: folder })
        expect(next).toMatchObject({ code: 0 })
      } finally {
        rmSync(folder, { recursive: true, force: true })
      }
    }
  },
  MAY_TAKE_MS,
)

test('what a very first start left when it was cut short in the middle is made anew, and nothing of it is kept', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-first-'))
  try {
    mkdirSync(join(folder, 'pg', 'base'), { recursive: true })
    writeFileSync(join(folder, 'initialising'), '')
    expect(await runServer(['migrate'], { DATA_DIR: folder })).toMatchObject({ code: 0 })
    expect(readdirSync(folder).toSorted()).toEqual(['initialised', 'pg'])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}, 180_000)

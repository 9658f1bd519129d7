// What was acknowledged is there after a kill -9, and a retry with its idempotency key writes nothing twice [P2].
import { expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gone, runServer, spawnServer, startServer, type TestServer } from '../support/server.ts'
import { databaseOf, ENGINES } from './engines.ts'
import { expectFaultless } from './checker.ts'
import { acked, openRoom, post, readBy, readFeed, type Room } from './rooms.ts'
import { whileBusy } from '../support/cpu.ts'

const KILLS = process.env.PARLEY_TEST_ALL ? 10 : 4
const POSTERS = 6
const READY_WITHIN_MS = { postgres: 3_000, pglite: 15_000 }

test.concurrent.each(ENGINES)(
  'on %s kill after kill under load loses nothing that was acknowledged and doubles nothing that was retried',
  async (engine) => {
    const { environment, drop } = await databaseOf(engine)
    const server = await startServer(environment)
    try {
      const room = await openRoom(server.url, POSTERS)
      const over = { now: false }
      const posters = room.teams.map((team, n) => keepPosting(room, team, n, over))
      const readyAfter = await killAgainAndAgain(server)
      over.now = true
      const written = (await Promise.all(posters)).flat()
      const items = await readFeed(room)
      expectFaultless([...written.map(({ text, cursor, writer }) => acked(text, cursor, writer)), readBy('the reader', items)])
      expect(items).toHaveLength(POSTERS - 1 + written.length)
      expect(written.some(({ tries }) => tries > 1)).toBe(true)
      const usual = readyAfter.toSorted((a, b) => a - b)[Math.floor(KILLS / 2)]! // a browser may be starting beside
      expect(usual).toBeLessThan(whileBusy(READY_WITHIN_MS[engine]))
      console.log(`${engine}: ${written.length} written over ${KILLS} kills, ready again after ${readyAfter.map(Math.round).join(', ')} ms`)
    } finally {
      await server.remove()
      await drop()
    }
  },
  300_000,
)

interface Written {
  writer: string
  text: string
  cursor: number
  tries: number
}

const keepPosting = async (room: Room, team: string, n: number, over: { now: boolean }): Promise<Written[]> => {
  const written: Written[] = []
  while (!over.now) {
    const text = `${n}/${written.length}`
    for (let tries = 1; ; tries++) {
      const answer = await post(room, text, { team, key: `key ${text}` }).catch(() => undefined) // the connection died with the server
      if (answer) expect([200, 503]).toContain(answer.status)
      if (answer?.status !== 200) {
        await Bun.sleep(20)
        continue
      }
      written.push({ writer: `poster ${n}`, text, cursor: answer.body.cursor, tries })
      break
    }
  }
  return written
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

test('a kill during the very first start leaves a folder on which the next start succeeds', async () => {
  for (const afterMs of [300, 900]) {
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
}, 180_000)

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

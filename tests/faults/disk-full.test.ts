// The disk of Postgres fills up while teams post: who posts is told to try again and nothing is half written, and when there is space again
// the same calls pass. A full disk of the log costs the log alone.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { appendFileSync, closeSync, existsSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FULL } from '../support/full.ts'
import { freshDatabase, startPostgres, type TestPostgres } from '../support/postgres.ts'
import { emptyFolderAt, freePort, gone, spawnServer, startServer, type TestServer } from '../support/server.ts'
import { smallDisk } from '../support/small-disk.ts'
import { expectFaultless, type Entry } from './checker.ts'
import { acked, call, openRoom, post, readBy, readFeed, sent, until } from './rooms.ts'

const SIZE_MIB = 192
const POSTERS = 4
const REFUSED = 10 // answers, until there is space again
const CHUNK = Buffer.alloc(1 << 20)
const MAY_TAKE_MS = 60_000 // for what hangs

const disk = smallDisk(SIZE_MIB)

let database: TestPostgres
let server: TestServer
beforeAll(async () => {
  if (!disk) return
  database = await startPostgres({ own: true, folder: join(disk.path, 'kept'), settings: { min_wal_size: '32MB', max_wal_size: '64MB' } })
  server = await startServer({ DATABASE_URL: (await freshDatabase(database.url)).url })
}, 180_000)
afterAll(async () => {
  await server?.remove()
  await database?.stop()
  disk?.remove()
}, 180_000)

const ballast = () => join(disk!.path, 'ballast')
const fill = () => {
  try {
    for (;;) appendFileSync(ballast(), CHUNK)
  } catch (error) {
    expect((error as NodeJS.ErrnoException).code).toBe('ENOSPC')
  }
}

// Long, and random, so that it does not shrink where it is stored.
const longText = (about: string) => `${about} ${Buffer.from(crypto.getRandomValues(new Uint8Array(18_000))).toString('base64')}`

test.skipIf(!disk)(
  'posts are refused with 503 while the disk of Postgres is full, and pass with their keys when it has space: nothing is lost or doubled',
  async () => {
    const room = await openRoom(server.url, POSTERS)
    const log: Entry[] = []
    const texts: string[] = []
    const refusals: unknown[] = []
    let over = false
    const postAll = async (poster: number) => {
      for (let n = 0; !over || n < 5; n++) {
        const text = longText(`${poster}/${n}`)
        const key = crypto.randomUUID()
        log.push(sent(text))
        for (;;) {
          const { status, body } = await post(room, text, { team: room.teams[poster]!, key })
          if (status === 200) {
            log.push(acked(text, body.cursor, `poster ${poster}`))
            break
          }
          refusals.push([status, body.error.code])
          await Bun.sleep(50)
        }
        texts.push(text)
      }
    }
    const posting = Promise.all(room.teams.map((_, poster) => postAll(poster)))
    await until('posts pass', MAY_TAKE_MS, () => texts.length > 20)
    fill()
    await until('posts are refused', MAY_TAKE_MS, () => refusals.length >= REFUSED)
    const { level } = (await call(server.url, 'GET', '/api/status')).body
    expect([server.running, level]).toEqual([true, expect.stringMatching(/amber|red/)])
    writeFileSync(ballast(), '')
    const before = texts.length
    await until('posts pass again', MAY_TAKE_MS, async () => {
      if (database.pid === undefined) await database.start() // Postgres ends itself, perhaps a moment later, where its journal has no space
      return texts.length > before + POSTERS
    })
    over = true
    await posting
    expect(refusals).toEqual(refusals.map(() => [503, 'unavailable']))
    const feed = await readFeed(room)
    expectFaultless([...log, readBy('the feed', feed)])
    expect(feed.filter(({ type }) => type === 'chat')).toHaveLength(texts.length)
  },
  4 * MAY_TAKE_MS,
)

const FULL_FILE = '/dev/full' // of Linux: each write to it fails as on a full disk

test.skipIf(!FULL || !existsSync(FULL_FILE))(
  'a server goes on when the disk that its log is written to is full',
  async () => {
    const folder = await emptyFolderAt(mkdtempSync(join(tmpdir(), 'parley-test-')))
    const port = await freePort()
    const log = openSync(FULL_FILE, 'w')
    const child = spawnServer({ DATA_DIR: folder, PORT: String(port), LOG_LEVEL: 'debug' }, log)
    closeSync(log)
    try {
      const url = `http://127.0.0.1:${port}`
      const isOpen = () => fetch(`${url}/readyz`).then(({ ok }) => ok, () => false) // prettier-ignore
      await until('it serves', MAY_TAKE_MS, async () => child.exitCode !== null || (await isOpen()))
      const room = await openRoom(url) // of each call a line is logged
      for (let n = 0; n < 3; n++) {
        await Bun.sleep(100) // to end takes a process a moment
        expect((await post(room, 'Is it still there?')).status).toBe(200)
      }
      expect(child.exitCode).toBeNull()
    } finally {
      child.kill('SIGKILL')
      await gone(child)
      rmSync(folder, { recursive: true, force: true })
    }
  },
  2 * MAY_TAKE_MS,
)

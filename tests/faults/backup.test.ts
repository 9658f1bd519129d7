// `bun run backup` and `bun run restore`: one file, written while the server takes posts, from which a database of its own is made.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runServer, startServer, type TestServer } from '../support/server.ts'
import { openRoom, post, readFeed, textsOf, type Room } from './rooms.ts'

let scratch: string
let live: TestServer
let room: Room
beforeAll(async () => {
  scratch = mkdtempSync(join(tmpdir(), 'parley-backup-'))
  live = await startServer()
  room = await openRoom(live.url)
}, 180_000)
afterAll(async () => {
  await live?.remove()
  rmSync(scratch, { recursive: true, force: true })
})

const place = (name: string) => join(scratch, name)
const backup = (file: string) => runServer(['backup', file], { DATA_DIR: live.folder })
const restore = (file: string, folder: string) => runServer(['restore', file], { DATA_DIR: folder })

test('what was acknowledged before a backup is in it, posts go on meanwhile, and what came later is not missed in silence [R27]', async () => {
  const acknowledged: string[] = []
  let done = false
  const posting = (async () => {
    for (let n = 1; !done; n++) if ((await post(room, `Number ${n}.`)).status === 200) acknowledged.push(`Number ${n}.`)
  })()
  while (acknowledged.length < 20) await new Promise(setImmediate)
  const before = acknowledged.length
  const { code, output } = await backup(place('whole.tgz'))
  done = true
  await posting
  expect([code, output]).toEqual([0, expect.stringContaining('Wrote')])
  expect(statSync(place('whole.tgz')).mode & 0o777).toBe(0o600)
  expect(acknowledged.length).toBeGreaterThan(before)

  const folder = place('restored')
  expect(await restore(place('whole.tgz'), folder)).toMatchObject({ code: 0, output: expect.stringContaining('Restored') })
  const copy = await startServer({ DATA_DIR: folder })
  try {
    const there = { ...room, url: copy.url }
    const texts = textsOf(await readFeed(there))
    expect(texts.length).toBeGreaterThanOrEqual(before)
    expect(texts).toEqual(acknowledged.slice(0, texts.length))
    const beyond = await fetch(`${copy.url}/api/sessions/${room.session}/wait?since_cursor=1000000&timeout=0`, {
      headers: { 'x-team-id': room.teams[0]! },
    })
    expect([beyond.status, (await beyond.json()).error.details]).toEqual([
      400,
      expect.objectContaining({ last_sequence: expect.any(Number) }),
    ])
  } finally {
    await copy.remove()
  }
  expect((await post(room, 'And on.')).status).toBe(200)
}, 180_000)

test('nothing is overwritten, neither by a backup nor by a restore', async () => {
  writeFileSync(place('there.tgz'), 'mine')
  expect(await backup(place('there.tgz'))).toMatchObject({ code: 1, output: expect.stringContaining('is there already') })
  expect(readFileSync(place('there.tgz'), 'utf8')).toBe('mine')
  expect(await restore(place('whole.tgz'), live.folder)).toMatchObject({ code: 1, output: expect.stringContaining('in use by process') })
  const used = place('used')
  expect((await restore(place('whole.tgz'), used)).code).toBe(0)
  expect(await restore(place('whole.tgz'), used)).toMatchObject({ code: 1, output: expect.stringContaining('has a database') })
}, 180_000)

test.each([
  ['half of a backup', () => truncateSync(place('bad.tgz'), Math.floor(statSync(place('bad.tgz')).size / 2))],
  ['another file', () => writeFileSync(place('bad.tgz'), 'not a backup at all')],
])(
  '%s is refused, and the folder stays as it was',
  async (_, spoil) => {
    writeFileSync(place('bad.tgz'), readFileSync(place('whole.tgz')))
    spoil()
    const folder = place(crypto.randomUUID())
    expect(await restore(place('bad.tgz'), folder)).toMatchObject({ code: 1, output: expect.stringContaining('no whole backup') })
    expect(readdirSync(folder)).toEqual([])
  },
  180_000,
)

test('each wrong use is told what to do', async () => {
  const postgres = { DATABASE_URL: 'postgres://parley@127.0.0.1:1/parley' }
  expect((await runServer(['backup', place('x')], postgres)).output).toContain('pg_dump')
  expect((await runServer(['restore', place('x')], postgres)).output).toContain('pg_restore')
  expect((await runServer(['backup'], { DATA_DIR: live.folder })).output).toContain('bun run backup FILE')
  expect((await restore(place('nowhere'), place('n'))).output).toContain('There is no file')
  expect((await backup(place('no/such/folder/x.tgz'))).output).toContain('could not be written')
  expect((await runServer(['backup', place('x')], { DATA_DIR: place('empty') })).output).toContain('no embedded database')
  expect(existsSync(place('x'))).toBe(false)
}, 180_000)

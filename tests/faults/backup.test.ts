// `bun run backup` and `bun run restore`, and pg_dump and pg_restore as README has them: one file, written while the server takes posts, from
// which a database of its own is made. And `bun run purge`, which takes from the database of a server that runs.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { emptyDatabase, findDumpPrograms } from '../support/postgres.ts'
import { runServer, startServer, THIS_PROGRAM, type TestServer } from '../support/server.ts'
import { databaseOf } from './engines.ts'
import { FULL } from '../support/full.ts'
import { call, gauge, openRoom, post, readFeed, textsOf, until, wait, type Room } from './rooms.ts'

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

/** Posts while `work` goes on and once more after it. Returns all texts, how many of them were acknowledged before it, and the last number. */
const postsDuring = async (at: Room, work: () => Promise<unknown>) => {
  const acknowledged: string[] = []
  const postNext = async () => {
    const text = `Number ${acknowledged.length + 1}.`
    const key = crypto.randomUUID()
    let answer = await post(at, text, { key })
    while (answer.status === 503) answer = await post(at, text, { key }) // a machine that is busy with others
    expect(answer.status).toBe(200)
    acknowledged.push(text)
    return answer.body.cursor as number
  }
  for (let n = 0; n < 20; n++) await postNext()
  const before = acknowledged.length
  let done = false
  const working = work().finally(() => (done = true))
  while (!done) {
    await postNext()
    await Bun.sleep(20) // a load, but not all that the processors can do
  }
  await working
  expect(acknowledged.length - before).toBeGreaterThan(1) // the first of them was not kept waiting until it was over
  return { acknowledged, before, last: await postNext() }
}

/** A copy has what was acknowledged before it was made. Whoever has a cursor of what came later is told where the copy ends, and does not wait
 *  for that: a wait that was held before still stands then, and gives what is said on the copy, and nothing else. */
const expectOlder = async (copy: Room, { acknowledged, before, last }: Awaited<ReturnType<typeof postsDuring>>) => {
  const items = await readFeed(copy)
  const texts = textsOf(items)
  expect(texts.length).toBeGreaterThanOrEqual(before)
  expect(texts).toEqual(acknowledged.slice(0, texts.length))
  const end = items.at(-1)!.sequence
  expect(end).toBeLessThan(last)
  const held = wait(copy, end, { team: copy.teams[1]!, timeout: 20 })
  await until('it is held', 20_000, async () => (await gauge(copy.url, 'waits_held')) === 1)
  const beyond = await wait(copy, last, { timeout: 20 })
  expect([beyond.status, beyond.body.error.details]).toEqual([400, expect.objectContaining({ last_sequence: end })])
  expect((await post(copy, 'On the copy.')).status).toBe(200)
  const { status, body } = await held
  expect([status, body.messages.map((item: any) => [item.sequence, item.content.text])]).toEqual([200, [[end + 1, 'On the copy.']]])
}

test('what was acknowledged before a backup is in it, posts go on meanwhile, and what came later is not missed in silence [R27]', async () => {
  let made: Awaited<ReturnType<typeof backup>>
  const posts = await postsDuring(room, async () => void (made = await backup(place('whole.tgz'))))
  expect(made!).toMatchObject({ code: 0, output: expect.stringContaining('Wrote') })
  expect(statSync(place('whole.tgz')).mode & 0o777).toBe(0o600)

  const folder = place('restored')
  expect(await restore(place('whole.tgz'), folder)).toMatchObject({ code: 0, output: expect.stringContaining('Restored') })
  const copy = await startServer({ DATA_DIR: folder })
  try {
    await expectOlder({ ...room, url: copy.url }, posts)
  } finally {
    await copy.remove()
  }
  expect((await post(room, 'And on.')).status).toBe(200)
}, 180_000)

const dumpPrograms = findDumpPrograms()

/** Runs the one line of README that begins with this program, as it stands there. */
const runReadmeLine = async (program: string, environment: Record<string, string>) => {
  const lines = readFileSync(join(THIS_PROGRAM, 'README.md'), 'utf8').split('\n').filter((line) => line.startsWith(`${program} `)) // prettier-ignore
  expect(lines).toHaveLength(1)
  const { stderr } = await promisify(execFile)('sh', ['-c', lines[0]!], {
    cwd: scratch,
    env: { PATH: `${dumpPrograms}:${process.env.PATH}`, ...environment },
  })
  expect(stderr).toBe('')
}

test.skipIf(!dumpPrograms)(
  'the same of Postgres, by the lines of README: pg_dump while the server takes posts, pg_restore into an empty database [R27]',
  async () => {
    const { environment, drop } = await databaseOf('postgres')
    const empty = await emptyDatabase(environment.DATABASE_URL!)
    const server = await startServer(environment)
    let copy: TestServer | undefined
    try {
      const there = await openRoom(server.url)
      const document = `/api/sessions/${there.session}/doc`
      const appended = await call(there.url, 'POST', `${document}/append`, { team: there.teams[0]!, body: { text: '- It is kept.' } })
      expect(appended.status).toBe(200)
      const posts = await postsDuring(there, () => runReadmeLine('pg_dump', environment))
      await runReadmeLine('pg_restore', { EMPTY_DATABASE_URL: empty.url })
      copy = await startServer({ DATABASE_URL: empty.url })
      await expectOlder({ ...there, url: copy.url }, posts)
      const read = (url: string) => call(url, 'GET', document, { team: there.teams[1]! }).then(({ body }) => [body.version, body.content])
      expect(await read(copy.url)).toEqual(await read(server.url))
    } finally {
      await copy?.remove()
      await server.remove()
      await empty.drop()
      await drop()
    }
  },
  180_000,
)

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

test('a session is purged beside the server with --yes, and not without: its page and its teams are gone at once, others stay', async () => {
  const gone = await openRoom(live.url)
  expect((await post(gone, 'Forget this.')).status).toBe(200)
  const purge = (...words: string[]) => runServer(['purge', gone.session, ...words], { DATA_DIR: live.folder })
  const page = (session: string) => fetch(`${live.url}/sessions/${session}`).then(({ status }) => status)
  const stays = await readFeed(room)

  expect(await purge()).toMatchObject({ code: 0, output: expect.stringContaining('deleted nothing') })
  expect([await page(gone.session), textsOf(await readFeed(gone))]).toEqual([200, ['Forget this.']])

  expect(await purge('--yes')).toMatchObject({ code: 0, output: expect.stringContaining('Purged 1 session(s)') })
  expect([await page(gone.session), (await wait(gone, 0)).status, (await post(gone, 'Is it?')).status]).toEqual([404, 401, 401])
  expect([await page(room.session), await readFeed(room)]).toEqual([200, stays])
}, 180_000)

test.skipIf(!FULL)(
  'each wrong use is told what to do',
  async () => {
    const postgres = { DATABASE_URL: 'postgres://parley@127.0.0.1:1/parley' }
    expect((await runServer(['backup', place('x')], postgres)).output).toContain('pg_dump')
    expect((await runServer(['restore', place('x')], postgres)).output).toContain('pg_restore')
    expect((await runServer(['backup'], { DATA_DIR: live.folder })).output).toContain('bun run backup FILE')
    expect((await restore(place('nowhere'), place('n'))).output).toContain('There is no file')
    symlinkSync('loop', place('loop'))
    expect((await restore(place('loop'), place('n'))).output).toMatch(/loop cannot be read \(ELOOP.*Let this user read it/)
    expect((await backup(place('no/such/folder/x.tgz'))).output).toContain('could not be written')
    expect((await runServer(['backup', place('x')], { DATA_DIR: place('empty') })).output).toContain('no embedded database')
    expect(existsSync(place('x'))).toBe(false)
  },
  180_000,
)

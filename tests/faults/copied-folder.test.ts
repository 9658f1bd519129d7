// A copy of the embedded database's folder is a database of its own: whatever is run on it never reaches the server of the original.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FULL, shortOf } from '../support/full.ts'
import { runServer, startServer, type TestServer } from '../support/server.ts'
import { claudeLine } from '../support/transcripts.ts'
import { openRoom, post, readFeed, textsOf, type Room } from './rooms.ts'

let scratch: string
let live: TestServer
let room: Room
let key: string
beforeAll(async () => {
  scratch = mkdtempSync(join(tmpdir(), 'parley-copied-'))
  live = await startServer()
  key = keyIn(live.output())
  room = await openRoom(live.url)
  expect((await post(room, 'Before the copy.')).status).toBe(200)
}, 180_000)
afterAll(async () => {
  await live?.remove()
  rmSync(scratch, { recursive: true, force: true })
})

const keyIn = (output: string) => /(op_[A-Za-z0-9_-]{32})/.exec(output)![1]!
const signsIn = async (url: string, with_: string) => {
  const answer = await fetch(`${url}/sign-in?key=${with_}`, { redirect: 'manual' })
  return answer.headers.get('set-cookie') !== null
}
const place = () => join(scratch, crypto.randomUUID())
const lockIn = (folder: string) => JSON.parse(readFileSync(join(folder, 'lock'), 'utf8')) as Record<string, unknown>

const copyTo = (copy: string, how = 'cp -a "$1" "$2"') => {
  execFileSync('sh', ['-c', how, 'copy', live.folder, copy])
  return copy
}
const onServerOf = async <T>(folder: string, work: (server: TestServer) => Promise<T>): Promise<T> => {
  const server = await startServer({ DATA_DIR: folder })
  try {
    return await work(server)
  } finally {
    await server.remove()
  }
}

test.skipIf(!FULL)(
  'operator-key on a copy makes a key for the copy, and everybody stays signed in at the server',
  async () => {
    const copy = copyTo(place())
    const { code, output } = await runServer(['operator-key'], { DATA_DIR: copy })
    expect([code, output]).toEqual([0, expect.stringMatching(/^op_\S+\n$/)])
    expect(await signsIn(live.url, key)).toBe(true)
    expect(await signsIn(live.url, keyIn(output))).toBe(false)
    await onServerOf(copy, async ({ url }) => expect(await signsIn(url, keyIn(output))).toBe(true))
  },
  180_000,
)

test.skipIf(!FULL)(
  'import on a copy fills the copy, and nothing arrives at the server',
  async () => {
    const copy = copyTo(place())
    const id = crypto.randomUUID()
    const path = join(scratch, `${id}.jsonl`)
    writeFileSync(path, `${claudeLine(1, 'user', 'Zebrafish hatch', { session: id })}\n`)
    const { code, output } = await runServer(['import', path], { DATA_DIR: copy })
    expect([code, output.trim()]).toEqual([0, 'Imported 1 event from 1 transcript.'])
    const found = async (url: string) => {
      const answer = await fetch(`${url}/api/history/search_sessions`, { method: 'POST', body: '{"query":"zebrafish"}' })
      return ((await answer.json()) as { data: { results: unknown[] } }).data.results.length > 0
    }
    expect(await found(live.url)).toBe(false)
    await onServerOf(copy, async ({ url }) => expect(await found(url)).toBe(true))
  },
  180_000,
)

test.skipIf(!FULL)(
  'reindex on a copy asks nothing of the server, which may be frozen',
  async () => {
    const copy = copyTo(place())
    process.kill(live.pid, 'SIGSTOP')
    try {
      expect(await runServer(['reindex'], { DATA_DIR: copy })).toMatchObject({ code: 0 })
    } finally {
      process.kill(live.pid, 'SIGCONT')
    }
  },
  180_000,
)

const WAYS = [
  ['cp -r without the socket', 'mkdir "$2" && cp -r "$1/pg" "$1/lock" "$2"'],
  ['cp -a', 'cp -a "$1" "$2"'],
  ['tar', 'mkdir "$2" && tar -C "$1" -cf - . 2>/dev/null | tar -C "$2" -xf -'],
] as const
test.each(shortOf(WAYS, 1))(
  'a copy made with %s while the server runs starts beside it, with what was there',
  async (_, how) => {
    const copy = copyTo(place(), how)
    await onServerOf(copy, async ({ url }) => {
      const twin = { ...room, url }
      expect(textsOf(await readFeed(twin))).toContain('Before the copy.')
      expect((await post(twin, 'Only in the copy.')).status).toBe(200)
      expect((await runServer(['operator-key'], { DATA_DIR: copy })).output).toStartWith(`${url}/sign-in?key=`)
    })
    expect(textsOf(await readFeed(room))).toEqual(['Before the copy.'])
    expect(await signsIn(live.url, key)).toBe(true)
  },
  180_000,
)

test.skipIf(!FULL)(
  'a folder that shares its files with that of a server is refused, for it is no copy',
  async () => {
    const linked = copyTo(place(), 'cp -al "$1" "$2"')
    for (const words of [[], ['operator-key']]) {
      const { code, output } = await runServer(words, { DATA_DIR: linked, PORT: '0' })
      expect([code, output]).toEqual([1, expect.stringContaining(`${linked} is in use by another process`)])
    }
    const elsewhere = place()
    execFileSync('sh', ['-c', 'mkdir "$2" && cp "$1/lock" "$2" && ln -s "$1/pg" "$2/pg"', 'link', live.folder, elsewhere])
    const { code, output } = await runServer([], { DATA_DIR: elsewhere, PORT: '0' })
    expect([code, output]).toEqual([1, expect.stringContaining(`${elsewhere} is in use by process ${live.pid}`)])
    expect(await signsIn(live.url, key)).toBe(true)
  },
  180_000,
)

test.skipIf(!FULL)(
  'the same folder by another path is the same folder: a second start is refused, and commands reach its server',
  async () => {
    const own = await startServer()
    const path = place()
    try {
      symlinkSync(own.folder, path)
      const second = await runServer([], { DATA_DIR: path, PORT: '0' })
      expect([second.code, second.output]).toEqual([1, expect.stringContaining(`in use by process ${own.pid}`)])
      expect((await runServer(['operator-key'], { DATA_DIR: path })).output).toStartWith(`${own.url}/sign-in?key=`)
    } finally {
      await own.remove()
    }
  },
  180_000,
)

test('a folder that was moved after its server was killed starts', async () => {
  const own = await startServer()
  const path = place()
  try {
    const { url: _, ...there } = await openRoom(own.url)
    await own.kill()
    renameSync(own.folder, path)
    await onServerOf(path, async ({ url }) => expect((await readFeed({ ...there, url })).length).toBe(1))
  } finally {
    await own.remove()
  }
}, 180_000)

// An older program wrote neither the folder nor the database into its lock.
test.skipIf(!FULL)(
  'of the lock of an older program, a copy is refused with a way out, and its own folder reaches its server',
  async () => {
    const own = await startServer()
    const copy = place()
    try {
      const { folder: _, database: __, ...older } = lockIn(own.folder)
      writeFileSync(join(own.folder, 'lock'), JSON.stringify(older))
      copyTo(copy, `cp -a "${own.folder}" "$2"`)
      for (const words of [[], ['operator-key']]) {
        const { code, output } = await runServer(words, { DATA_DIR: copy, PORT: '0' })
        expect([code, output]).toEqual([1, expect.stringContaining(`If ${copy} is a copy, delete ${join(copy, 'lock')}`)])
      }
      expect(await signsIn(own.url, keyIn(own.output()))).toBe(true)
      const second = await runServer([], { DATA_DIR: own.folder, PORT: '0' })
      expect([second.code, second.output]).toEqual([1, expect.stringContaining(`in use by process ${own.pid}`)])
      expect(second.output).not.toContain('is a copy')
      expect((await runServer(['operator-key'], { DATA_DIR: own.folder })).output).toStartWith(`${own.url}/sign-in?key=`)
      rmSync(join(copy, 'lock'))
      await onServerOf(copy, async ({ url }) => expect((await fetch(`${url}/readyz`)).status).toBe(200))
    } finally {
      await own.remove()
    }
  },
  180_000,
)

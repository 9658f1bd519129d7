// A start that cannot succeed ends at once, with a sentence that says what to do and no secret in it.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CannotOpen } from '../../db/errors.ts'
import { openDatabase } from '../../db/open.ts'
import { passProxyBy } from '../../src/cli/local-server.ts'
import { readConfig } from '../../src/config.ts'
import { FULL, shortOf } from '../support/full.ts'
import { emptyFolderAt, freePort, runServer, startServer, type TestServer } from '../support/server.ts'
import { expectUnbroken, openRoom, post, readFeed, textsOf, until, whileUnavailable } from './rooms.ts'

const PASSWORD = 'correct-horse-battery'
const PUBLIC = 'https://parley.example'

let server: TestServer
let empty: string
beforeAll(async () => {
  server = await startServer({ MCP_URL: `${PUBLIC}/mcp` })
  empty = mkdtempSync(join(tmpdir(), 'parley-start-'))
}, 180_000)
afterAll(async () => {
  await server?.remove()
  rmSync(empty, { recursive: true, force: true })
})

let shortest: Promise<number> | undefined
/** How long the program takes to load and end, on this machine as busy as it is. */
const shortestRun = () => (shortest ??= runServer([], { PORT: 'eighty' }).then(({ ms }) => ms))

test('a second process on the embedded folder ends as soon as it has started and names the first, which loses nothing', async () => {
  const room = await openRoom(server.url)
  const said: string[] = []
  let over = false
  const posting = (async () => {
    while (!over) {
      const text = `number ${said.length}`
      expect((await whileUnavailable(() => post(room, text, { key: text }))).status).toBe(200)
      said.push(text)
      await Bun.sleep(20) // a load, but not all that the processors can do
    }
  })()
  const second = await runServer([], { DATA_DIR: server.folder, PORT: '0' })
  const leastMs = await shortestRun()
  over = true
  await posting
  expect(second.code).toBe(1)
  expect(second.ms).toBeLessThan(2_000 + 3 * leastMs)
  expect(second.output).toContain(`in use by process ${server.pid}`)
  expect(second.output).toContain('DATA_DIR')
  expect(second.output.trim().split('\n')).toHaveLength(1)
  const items = await readFeed(room)
  expectUnbroken(items, said.length + 1)
  expect(textsOf(items)).toEqual(said)
}, 180_000)

test.skipIf(!FULL)(
  'a server whose embedded database is removed or replaced ends within seconds and says so, instead of taking what it cannot keep',
  async () => {
    const remove = (place: string) => rmSync(place, { recursive: true })
    const replace = (place: string) => {
      renameSync(place, `${place}.bak`)
      cpSync(`${place}.bak`, place, { recursive: true })
    }
    for (const harm of [remove, replace]) {
      const own = await startServer()
      try {
        const room = await openRoom(own.url)
        harm(join(own.folder, 'pg'))
        await until('it ends', 60_000, () => !own.running)
        expect(own.output()).toContain(`The embedded database in ${own.folder} was removed or replaced`)
        await expect(post(room, 'Is it kept?')).rejects.toThrow()
      } finally {
        await own.remove()
      }
    }
  },
  180_000,
)

test('a taken port ends the start with a sentence that names the port, and the folder is free again', async () => {
  const taken = createServer()
  const port = await new Promise<number>((resolve) => taken.listen(0, '127.0.0.1', () => resolve((taken.address() as AddressInfo).port)))
  const folder = await emptyFolderAt(join(empty, 'taken'))
  try {
    const { code, output } = await runServer([], { DATA_DIR: folder, PORT: String(port) })
    expect(code).toBe(1)
    expect(output.trim()).toBe(
      `Port ${port} on 127.0.0.1 is taken. Stop what listens there, or set PORT to another one (0 takes any free port).`,
    )
    const server = await startServer({ DATA_DIR: folder })
    expect(server.output()).toContain('/sign-in?key=') // nobody has seen a key yet
    await server.remove()
  } finally {
    taken.close()
  }
}, 180_000)

test('a HOST that is written as a URL ends the start with a sentence', async () => {
  const { code, output } = await runServer([], { DATA_DIR: await emptyFolderAt(join(empty, 'host')), HOST: 'http://0.0.0.0', PORT: '0' })
  expect([code, output.trim()]).toEqual([
    1,
    expect.stringMatching(/^HOST is http:\/\/0\.0\.0\.0, which is no address of this machine\..*$/),
  ])
}, 180_000)

test.skipIf(!FULL)(
  'a backup of the database alone is used as it is',
  async () => {
    const [first, backup] = [await startServer(), join(empty, 'backup')]
    try {
      const room = await openRoom(first.url)
      expect((await post(room, 'Keep this.')).status).toBe(200)
      await first.terminate()
      mkdirSync(backup)
      cpSync(join(first.folder, 'pg'), join(backup, 'pg'), { recursive: true })
      const second = await startServer({ DATA_DIR: backup })
      try {
        expect(textsOf(await readFeed({ ...room, url: second.url }))).toEqual(['Keep this.'])
      } finally {
        await second.remove()
      }
    } finally {
      await first.remove()
    }
  },
  180_000,
)

test.skipIf(!FULL)(
  'what stands in the place of the database and is none is kept, and a line says where',
  async () => {
    const folder = join(empty, 'other')
    mkdirSync(join(folder, 'pg'), { recursive: true })
    writeFileSync(join(folder, 'pg', 'notes.txt'), 'Mine.')
    const { code, output } = await runServer(['migrate'], { DATA_DIR: folder })
    expect(code).toBe(0)
    const kept = readdirSync(folder).find((name) => name.startsWith('pg.unfinished-'))!
    expect(readFileSync(join(folder, kept, 'notes.txt'), 'utf8')).toBe('Mine.')
    expect(output.split('\n').filter((line) => line.includes(join(folder, kept)))).toHaveLength(1)
  },
  180_000,
)

const LOSSES: [string, (pg: string) => void][] = [
  ['lacks its first file', (pg: string) => rmSync(join(pg, 'PG_VERSION'))],
  [
    'is empty, as where its disk is not mounted',
    (pg: string) => readdirSync(pg).forEach((name) => rmSync(join(pg, name), { recursive: true })),
  ],
  ['is gone', (pg: string) => rmSync(pg, { recursive: true })],
]

test.each(shortOf(LOSSES, 1))(
  'where a database that was whole %s no new one is made, until somebody says so',
  async (_, harm) => {
    const folder = await emptyFolderAt(join(empty, crypto.randomUUID()))
    const pg = join(folder, 'pg')
    writeFileSync(join(folder, 'initialised'), '')
    harm(pg)
    const files = () => readdirSync(folder, { recursive: true }).map(String).toSorted()
    const left = files()
    const { code, output } = await runServer(['migrate'], { DATA_DIR: folder })
    expect([code, output]).toEqual([1, expect.stringContaining(`There was a database in ${pg}, and no whole one is there now`)])
    expect(output).toContain(`delete ${join(folder, 'initialised')} for a new one. Nothing was changed.`)
    expect(files()).toEqual(left)
    if (left.includes('pg')) return
    rmSync(join(folder, 'initialised'))
    expect((await runServer(['migrate'], { DATA_DIR: folder })).code).toBe(0)
  },
  180_000,
)

const BAD_URLS: [string, () => Promise<string>][] = [
  ['an unreachable DATABASE_URL', async () => `postgres://parley:${PASSWORD}@127.0.0.1:${await freePort()}/parley`],
  ['a DATABASE_URL whose host does not exist', async () => `postgres://parley:${PASSWORD}@nowhere.invalid/parley`],
  ['a DATABASE_URL of another scheme', async () => `mysql://parley:${PASSWORD}@127.0.0.1/parley`],
  ['a DATABASE_URL that is no URL', async () => `postgres://parley:${PASSWORD}@127.0.0.1:port/parley`],
  ['a DATABASE_URL whose password is not encoded', async () => `postgres://parley:p@${PASSWORD}/w#rd@127.0.0.1:5432/parley`],
  ['a DATABASE_URL with a stray percent sign', async () => `postgres://parley:${PASSWORD}%@127.0.0.1:5432/parley`],
]

test.each(shortOf(BAD_URLS, 2))(
  '%s ends the start with a sentence that names the variable and not the password',
  async (_, url) => {
    const { code, output, ms } = await runServer([], { DATABASE_URL: await url(), PORT: '0' })
    expect(code).toBe(1)
    expect(output).toContain('DATABASE_URL')
    expect(output).not.toContain(PASSWORD)
    expect(output).not.toMatch(/^ +at .*:\d+/m) // a stack tells an operator nothing
    expect(ms).toBeLessThan(10_000 + 3 * (await shortestRun()))
  },
  180_000,
)

const ENCODED: [url: string, told: boolean][] = [
  [`postgres://parley:sec/${PASSWORD}@127.0.0.1:1/parley`, true],
  ['postgres://127.0.0.1:1/parley', false],
  [`postgres://parley:sec#${PASSWORD}@127.0.0.1:1/parley`, true],
  [`postgres://parley:p@sec?${PASSWORD}@127.0.0.1:1/parley`, true],
  ['postgres://127.0.0.1:1/parley?sslmode=disable', false],
  [`postgres://parley:${PASSWORD}@127.0.0.1:1/parley?options=a@b`, false],
]

test.each(ENCODED)('of %s the start says whether its password is to be encoded: %p', async (DATABASE_URL, encoded) => {
  const refusal = await openDatabase(readConfig({ DATABASE_URL }), () => {}).catch((error: unknown) => error)
  expect(refusal).toBeInstanceOf(CannotOpen)
  const { message } = refusal as CannotOpen
  expect([message.includes('Write it percent-encoded'), message.includes(PASSWORD)]).toEqual([encoded, false])
})

const BAD_VARIABLES: [Record<string, string>, string[]][] = [
  [{ IDLE_LIMIT: '0', LOG_LEVEL: 'loud' }, ['IDLE_LIMIT', 'LOG_LEVEL']],
  [{ ACCESS_TOKEN: 'short-secret' }, ['ACCESS_TOKEN']],
  [{ PORT: 'eighty' }, ['PORT']],
  [{ PORT: '70000' }, ['PORT']],
  [{ MCP_URL: 'parley.example' }, ['MCP_URL']],
  [{ TRUST_PROXY: 'perhaps' }, ['TRUST_PROXY']],
  [{ IDLE_AFTER: '20', DISCONNECTED_AFTER: '5' }, ['DISCONNECTED_AFTER']],
]

test.each(shortOf(BAD_VARIABLES, 1))('the bad variables in %j end the start, each one named', async (environment, names) => {
  const { code, output } = await runServer([], { DATA_DIR: empty, PORT: '0', ...environment })
  expect(code).toBe(1)
  expect([...output.matchAll(/^ {2}([A-Z_]+): \S/gm)].map(([, name]) => name!)).toEqual(names)
  expect(output).toContain('start again')
  expect(output).not.toContain('short-secret')
})

test('an unknown command says which there are', async () => {
  const { code, output } = await runServer(['serve-me'], { DATA_DIR: empty })
  expect(code).toBe(1)
  expect(output).toMatch(/migrate.*operator-key/)
})

test.skipIf(!FULL)(
  'a command that takes no words does nothing when it is given some, and each says by --help how it is used',
  async () => {
    const link = /sign in +(\S+)/.exec(server.output())![1]!
    const run = (...words: string[]) => runServer(words, { DATA_DIR: server.folder })
    for (const name of shortOf(['operator-key', 'reindex', 'migrate'], 1))
      expect(await run(name, 'now')).toMatchObject({ code: 1, output: expect.stringMatching(/^Use it as: bun run \S+, which .*\n$/) })
    for (const name of shortOf(['operator-key', 'key', 'import', 'reindex', 'migrate', 'backup', 'restore', 'purge'], 3))
      expect(await run(name, '--help')).toMatchObject({ code: 0, output: expect.stringMatching(/^Us(e it as|age)\b[^]*bun run [^]*\n$/) })
    expect((await fetch(link, { redirect: 'manual' })).headers.get('set-cookie')).toContain('parley_person=')
  },
  180_000,
)

test('the link that the first start prints signs in at once, and the one for other machines has the same key', async () => {
  const link = /sign in +(\S+)/.exec(server.output())![1]!
  expect(server.output()).toContain(`elsewhere ${link.replace(server.url, PUBLIC)}\n`)
  const answer = await fetch(link, { redirect: 'manual' })
  expect(answer.status).toBe(303)
  expect(answer.headers.get('set-cookie')).toContain('parley_person=')
})

test('operator-key beside a running embedded server makes a new key each time, and the server goes on', async () => {
  const environment = { DATA_DIR: server.folder }
  const link = new RegExp(`^${server.url}/sign-in\\?key=(op_[A-Za-z0-9_-]{32})$`, 'm')
  const made = [await runServer(['operator-key'], environment), await runServer(['operator-key'], environment)]
  const keys = made.map(({ code, output, stdout }) => {
    expect(code).toBe(0)
    const [line, key] = link.exec(stdout)!
    expect([stdout, output]).toEqual([`${line}\n`, expect.stringContaining(`: ${PUBLIC}/sign-in?key=${key}\n`)])
    return key
  })
  expect(keys.every(Boolean)).toBe(true)
  expect(new Set([...keys, /key=(\S+)/.exec(server.output())![1]]).size).toBe(3)
  expect((await fetch(`${server.url}/readyz`)).status).toBe(200)
  const signIn = (key: string) => fetch(`${server.url}/sign-in?key=${key}`, { redirect: 'manual' })
  const newest = await signIn(keys[1]!)
  expect(newest.headers.get('set-cookie')).toBeTruthy()
  expect((await signIn(keys[0]!)).headers.get('set-cookie')).toBeNull()
}, 180_000)

test.skipIf(!FULL).each(['parley.example', '*'])(
  'with NO_PROXY=%s, what a command sends to the server beside it passes the proxy by',
  async (NO_PROXY) => {
    const asked: string[] = []
    const proxy = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: ({ url }) => (asked.push(url), new Response('I am a proxy.')) })
    try {
      const transcript = join(import.meta.dir, '../data/codex.jsonl')
      const http = `http://127.0.0.1:${proxy.port}`
      const environment = { DATA_DIR: server.folder, HTTP_PROXY: http, http_proxy: http, NO_PROXY }
      expect(await runServer(['key', 'list'], environment)).toMatchObject({ code: 0, output: expect.stringContaining('There are no keys') })
      expect((await runServer(['import', transcript, '--url', server.url], environment)).code).toBe(0)
      expect(asked).toEqual([])
    } finally {
      await proxy.stop(true)
    }
  },
  180_000,
)

test.each([
  [{}, { NO_PROXY: 'localhost,127.0.0.1,[::1],parley.lan' }],
  [{ NO_PROXY: 'localhost,one.example' }, { NO_PROXY: 'localhost,one.example,127.0.0.1,[::1],parley.lan' }],
  [
    { no_proxy: '*', NO_PROXY: 'one.example' },
    { no_proxy: '*', NO_PROXY: 'one.example' },
  ],
  [
    { no_proxy: '', NO_PROXY: '*' },
    { no_proxy: '', NO_PROXY: '*' },
  ],
])('of %j, what passes the proxy by stays, and the names of the server beside the command are added', (env, after) => {
  passProxyBy(env, 'http://parley.lan:7423')
  expect(env as object).toEqual(after)
})

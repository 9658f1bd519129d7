// `bun run key` as whoever is on the server's machine uses it: through a running server, beside one on Postgres, and without any.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runnerLine } from '../../src/control/runner/start-line.ts'
import { freshDatabase, startPostgres, type TestPostgres } from '../support/postgres.ts'
import { FULL, shortOf } from '../support/full.ts'
import { bearer } from '../support/keys.ts'
import { emptyFolderAt, runServer, startServer, type TestServer } from '../support/server.ts'

const SLOW_MS = 180_000
const status = async (url: string, key: string) => (await fetch(`${url}/metrics`, { headers: bearer(key) })).status
const keyLine = (output: string, scope: string) => new RegExp(`^(ca_${scope}_[0-9a-f]{32})$`, 'm').exec(output)?.[1]

describe.each(shortOf(['embedded', 'postgres'] as const, 1))('beside a running server, %s', (engine) => {
  let server: TestServer
  let postgres: TestPostgres | undefined
  let environment: Record<string, string> = {}
  let drop = async () => {}
  beforeAll(async () => {
    if (engine === 'postgres') {
      postgres = await startPostgres()
      const fresh = await freshDatabase(postgres.url)
      drop = fresh.drop
      environment = { DATABASE_URL: fresh.url }
    }
    server = await startServer({ VIEWER_PASSWORD: 'look-but-do-not-touch', OPERATOR_KEY: 'chosen by a person', ...environment })
    if (engine === 'embedded') environment = { DATA_DIR: server.folder }
    else environment = { ...environment, PORT: String(server.port) }
  }, SLOW_MS)
  afterAll(async () => {
    await server?.remove()
    await drop()
    await postgres?.stop()
  }, SLOW_MS)
  const key = (...words: string[]) => runServer(['key', ...words], environment)

  test(
    'a key works at once, is listed by its prefix, and is refused at once when it was revoked',
    async () => {
      const made = await key('read', 'My laptop')
      expect(made.code).toBe(0)
      const [made1] = [keyLine(made.output, 'read')!]
      expect(await status(server.url, made1)).toBe(200)
      const list = await key('list')
      expect(list.output).toContain(`${made1.slice(0, 'ca_read_'.length + 8)}  "My laptop"`)
      expect(list.output).not.toContain(made1)
      const revoked = await key('revoke', made1.slice(0, 'ca_read_'.length + 8))
      expect([revoked.code, revoked.output]).toEqual([0, expect.stringContaining('Revoked ca_read_')])
      expect(await status(server.url, made1)).toBe(401)
      expect(await key('revoke', made1)).toMatchObject({ code: 1, output: expect.stringContaining('was revoked at') })
      expect((await key('list')).output).toContain('REVOKED')
      expect(server.output()).not.toContain(made1)
    },
    SLOW_MS,
  )

  test(
    'a key of a runner comes with the line that starts one',
    async () => {
      const { output } = await key('run', "Robin's laptop")
      const starts = new RegExp(
        `^  PARLEY_RUNNER_KEY=${keyLine(output, 'run')} npx -y ${server.url}(/parley-\\S+\\.tgz) runner --hub ${server.url}$`,
        'm',
      )
      expect(output).toMatch(starts)
      expect((await fetch(server.url + starts.exec(output)![1])).status).toBe(200)
      expect((await key('read', 'a dashboard')).output).not.toContain('PARLEY_RUNNER_KEY')
    },
    SLOW_MS,
  )

  test.skipIf(!FULL)(
    'a link signs in under its name, once',
    async () => {
      const { code, output } = await key('person', 'Alex Doe')
      expect(code).toBe(0)
      expect(output).toContain('It signs Alex Doe in once, until ')
      const link = new RegExp(`^${server.url}/sign-in\\?key=\\S+$`, 'm').exec(output)![0]
      const enter = () => fetch(link, { method: 'POST', redirect: 'manual', body: new URLSearchParams({ key: link.split('key=')[1]! }) })
      expect(await (await fetch(link)).text()).toContain('Sign in as Alex Doe')
      expect((await enter()).headers.get('set-cookie')).toContain('parley_person=')
      expect((await enter()).headers.get('set-cookie')).toBeNull()
      expect((await key('list')).output).toContain('person  "Alex Doe"  link used')
    },
    SLOW_MS,
  )

  test(
    'where OPERATOR_KEY is set the start says to sign in with it, and no other one is made',
    async () => {
      expect(server.output()).toContain(`  sign in      at ${server.url}/sign-in, with the OPERATOR_KEY of the environment\n`)
      // On the embedded database it is the server that refuses; beside one on Postgres the command knows its own environment alone.
      const own: Record<string, string> = engine === 'embedded' ? {} : { OPERATOR_KEY: 'chosen by a person' }
      const { code, output } = await runServer(['operator-key'], { ...environment, ...own })
      expect([code, output]).toEqual([1, expect.stringContaining('Sign in with it, or start the server with another one.')])
    },
    SLOW_MS,
  )

  test(
    'a bad word ends it with a sentence, and nothing is made',
    async () => {
      const listed = async () => (await key('list')).output.replace(/(never )?used( \d\S+)?/g, 'used') // a use is written a while later
      const before = await listed()
      const bad: [string[], string][] = [
        [['sess', 'x', '--session', crypto.randomUUID()], 'There is no such session'],
        [['revoke', 'ca_full_00000000'], 'There is no key'],
        [['sess', 'x'], 'belongs to one session'],
        [['bogus', 'x'], 'one of the scopes full, read, sess, run'],
      ]
      for (const [words, sentence] of shortOf(bad, 2)) {
        const { code, output } = await key(...words)
        expect([words, code]).toEqual([words, 1])
        expect(output).toContain(sentence)
        expect(output).not.toMatch(/\bat .*\.ts:/)
      }
      expect(await listed()).toBe(before)
    },
    SLOW_MS,
  )
})

describe('without a server', () => {
  let folder: string
  beforeAll(async () => {
    folder = await emptyFolderAt(mkdtempSync(join(tmpdir(), 'parley-keys-')))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  const key = (...words: string[]) => runServer(['key', ...words], { DATA_DIR: folder, MCP_URL: 'https://parley.example/mcp' })

  test.skipIf(!FULL)(
    'where there was no database, it says that it made one: the server may have another DATA_DIR',
    async () => {
      const DATA_DIR = join(folder, 'mistyped')
      const note = `There was no database in ${DATA_DIR}, so a new one was made.`
      const made = await runServer(['key', 'list'], { DATA_DIR })
      expect([made.code, made.output]).toEqual([0, expect.stringContaining(note)])
      expect(made.stdout).not.toContain(note) // there a script finds the key
      expect((await runServer(['key', 'list'], { DATA_DIR })).output).not.toContain(note)
    },
    SLOW_MS,
  )

  test.skipIf(!FULL)(
    'it works on the database itself, and a link leads to where agents are told to go',
    async () => {
      expect((await key('list')).output).toContain('There are no keys')
      const { output } = await key('run', 'laptop')
      const made = keyLine(output, 'run')!
      expect(output).toMatch(
        new RegExp(
          `^  PARLEY_RUNNER_KEY=${made} npx -y https://parley.example/parley-\\S+\\.tgz runner --hub https://parley.example$`,
          'm',
        ),
      )
      expect((await key('list')).output).toContain(`${made.slice(0, 15)}  "laptop"`)
      expect((await key('person', 'Bea')).output).toMatch(/^https:\/\/parley\.example\/sign-in\?key=\S+$/m)
    },
    SLOW_MS,
  )

  test('the line of a runner for a server without the program `parley` is for a checkout of Parley, and has a place for the repository', () => {
    const line = 'PARLEY_RUNNER_KEY=… bun run runner --worktree PATH --hub https://parley.example'
    expect(runnerLine('https://parley.example', undefined)).toBe(line)
  })

  const BAD: [string[], string][] = [
    [[], 'Use it as one of these'],
    [['full'], 'A name is missing'],
    [['full', '  '], 'A name is missing'],
    [['full', 'My', 'laptop'], 'stands in quotes'],
    [['list', 'all'], 'one word too many'],
    [['full', 'x', '--scope', 'y'], "Unknown option '--scope'"],
    [['full', 'x', '--session'], '--session'],
    [['person', 'Alex', '--session', 'x'], '--session goes with a new key alone'],
    [['revoke'], 'A prefix is missing'],
    [['revoke', 'x'], 'as `bun run key list` shows it'],
    [['agent', 'x'], 'made by the server'],
    [['person', 'operator'], 'Choose another one'],
  ]
  test.each(shortOf(BAD, 2))(
    '%j ends with a sentence',
    async (words, sentence) => {
      const { code, output } = await key(...words)
      expect(code).toBe(1)
      expect(output).toContain(sentence)
      expect(output).not.toMatch(/\bat .*\.ts:/)
    },
    SLOW_MS,
  )
})

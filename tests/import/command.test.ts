import { afterAll, beforeAll, expect, test } from 'bun:test'
import { cpSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import type { ImportReport } from '../../src/import/transcript.ts'
import { runServer, startServer, type TestServer } from '../support/server.ts'
import { FULL, shortOf } from '../support/full.ts'
import { claudeLine, dataFile, scratch } from '../support/transcripts.ts'

const files = scratch()
const TOKEN = 'a-token-of-some-length'
let server: TestServer

beforeAll(async () => {
  for (const name of ['claude-code.jsonl', 'codex.jsonl', 'gemini.json'])
    cpSync(dataFile(name), join(files.folder, name.replace('gemini', 'session-gemini')))
  files.write('notes.jsonl', 'no transcript\n')
  server = await startServer({ ACCESS_TOKEN: TOKEN })
}, 180_000)
afterAll(async () => {
  await server?.remove()
  files.drop()
}, 180_000)

const exported = async (path: string) => fetch(`${server.url}${path}`, { headers: { authorization: `Bearer ${TOKEN}` } })

test('import works through the server that holds the embedded database, and again only what is new', async () => {
  const environment = { DATA_DIR: server.folder, ACCESS_TOKEN: TOKEN }
  const first = await runServer(['import', files.folder], environment)
  expect(first.output).toContain('claude-code.jsonl:21: not JSON')
  expect(first.output).toContain('Imported 54 events from 3 transcripts, 1 other file left out, 1 line skipped.')
  expect(first.code).toBe(0)
  const again = await runServer(['import', files.folder], environment)
  expect([again.code, again.output.trim()]).toEqual([0, 'Imported 0 events from 0 transcripts, 3 had nothing new, 1 other file left out.'])
  expect((await exported('/')).status).toBe(200)
}, 180_000)

test('--hub, also called --url, sends the files to any server', async () => {
  const id = crypto.randomUUID()
  const path = files.write('one.jsonl', `${claudeLine(1, 'user', 'Over HTTP', { session: id })}\n`)
  const { code, output } = await runServer(['import', path, '--hub', `${server.url}/mcp`], { ACCESS_TOKEN: TOKEN })
  expect([code, output.trim()]).toEqual([0, 'Imported 1 event from 1 transcript.'])
  const refused = await runServer(['import', path, `--url=${server.url}`], {})
  expect(refused.code).toBe(1)
  expect(refused.output).toContain('access token')
}, 180_000)

test('a server that does not take the token ends the command at the first file, with its reason and the variable to set', async () => {
  const tokens = [
    ['', 'needs its access token. It says: .*Ask the operator for it'],
    ['another-token-of-some-length', 'does not take this access token. It says: .*Ask the operator for it'],
    [
      `ca_full_${'0'.repeat(32)}`,
      'does not take this access token. It says: Not authenticated. This key is not valid: .* Ask whoever made it for a new one.',
    ],
  ] as const
  for (const [token, says] of shortOf(tokens, 2)) {
    const { code, output } = await runServer(['import', files.folder, '--url', server.url], { ACCESS_TOKEN: token })
    expect([code, output.trim().split('\n')]).toEqual([1, [expect.stringMatching(new RegExp(`${says}.*PARLEY_TOKEN.*ACCESS_TOKEN`))]])
  }
}, 180_000)

test('a command that ends at once names what is not there, too', async () => {
  const nowhere = join(files.folder, 'nowhere')
  const { code, output } = await runServer(['import', nowhere, files.folder, '--url', server.url], {})
  expect([code, output.split('\n')]).toEqual([1, [`There is nothing at ${nowhere}.`, expect.stringContaining('access token'), '']])
}, 180_000)

test.skipIf(!FULL)(
  'of several folders, one that is not there is named and stops nothing',
  async () => {
    const [nowhere, none] = [join(files.folder, 'nowhere'), join(files.folder, 'none')]
    const path = files.write('there.jsonl', `${claudeLine(1, 'user', 'There', { session: crypto.randomUUID() })}\n`)
    const environment = { DATA_DIR: server.folder }
    const { code, output } = await runServer(['import', nowhere, path, none], environment)
    expect([code, output.trim()]).toEqual([0, `Imported 1 event from 1 transcript.\nThere is nothing at ${nowhere}, ${none}.`])
    expect((await runServer(['import', nowhere, none], environment)).code).toBe(1)
  },
  180_000,
)

test('a body that breaks off leaves what came whole, and sent again adds the rest', async () => {
  const id = crypto.randomUUID()
  const lines = Array.from({ length: 3_000 }, (_, i) => `${claudeLine(i, 'user', `Step ${i}`, { session: id })}\n`)
  const text = lines.join('')
  const socket = connect(server.port, '127.0.0.1')
  socket.write(
    `POST /api/traces HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Length: ${text.length}\r\n\r\n${text.slice(0, text.length - 100)}`,
  )
  await Bun.sleep(500)
  socket.destroy()
  await Bun.sleep(500)
  const send = () => fetch(`${server.url}/api/traces`, { method: 'POST', body: text, headers: { authorization: `Bearer ${TOKEN}` } })
  let response = await send()
  while (response.status === 409) response = await send() // the broken one is still being written
  const report = (await response.json()) as ImportReport
  expect(report).toMatchObject({ events: 3_000, turns: 3_000, skipped: [] })
  expect(((await (await send()).json()) as ImportReport).added).toBe(0)
  expect(server.output()).not.toContain('failed')
}, 180_000)

test('a path that is not there, a file that is no transcript and an unknown word end the command with a sentence', async () => {
  const environment = { DATA_DIR: server.folder }
  const wrong = [
    [[join(files.folder, 'nowhere')], 'There is nothing at'],
    [[join(files.folder, 'notes.jsonl')], 'Parley cannot read this transcript'],
    [['--fast', files.folder], 'Usage: bun run import PATH'],
    [[], 'Usage: bun run import PATH'],
    [[files.folder, '--url', 'localhost:7423'], '--hub needs an http:// or https:// URL, and "localhost:7423" is none.'],
  ] as const
  for (const [words, sentence] of shortOf<(typeof wrong)[number]>(wrong, 3)) {
    const { code, output } = await runServer(['import', ...words], environment)
    expect([code, output]).toEqual([1, expect.stringContaining(sentence)])
  }
}, 180_000)

test.skipIf(!FULL)(
  'without a server it goes straight into the embedded database',
  async () => {
    const alone = scratch()
    try {
      const { code, output } = await runServer(['import', dataFile('codex.jsonl')], { DATA_DIR: alone.folder })
      expect([code, output]).toEqual([0, expect.stringMatching(/^Imported 22 events from 1 transcript\.$/m)])
      expect(output).toContain(`There was no database in ${alone.folder}, so a new one was made.`)
    } finally {
      alone.drop()
    }
  },
  180_000,
)

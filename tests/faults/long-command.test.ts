// A command that a server carries out may take longer than a connection may be idle otherwise, and longer than the server runs.
import { afterAll, expect, test } from 'bun:test'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { lockFolder } from '../../db/lock.ts'
import { claudeLine, scratch } from '../support/transcripts.ts'
import { FULL, shortOf } from '../support/full.ts'
import { emptyFolderAt, runServer, spawnServer } from '../support/server.ts'

const IDLE_S = 1 // five minutes, where this is not set; Bun looks every four seconds, and ends such a connection after eight
const TAKES_MS = 12_000
const files = scratch()
const answers: Record<string, () => Response> = {
  '/api/commands/purge': () => Response.json({ sessions: [], unknown: [], purged: 0 }),
  '/api/commands/import': () => new Response(`${JSON.stringify({ report: { added: 1, skipped: [], skipped_count: 0 } })}\n`),
}
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  idleTimeout: 0,
  async fetch(request) {
    await Bun.sleep(TAKES_MS)
    return answers[new URL(request.url).pathname]!()
  },
})
const lock = await lockFolder(files.folder)
lock.announce(`http://127.0.0.1:${server.port}`, 'a-secret')
afterAll(async () => {
  lock.release()
  await server.stop(true)
  files.drop()
})

test.skipIf(!FULL)(
  'a purge, and the import of a file, are waited for as long as the server takes',
  async () => {
    const environment = { DATA_DIR: files.folder, BUN_CONFIG_HTTP_IDLE_TIMEOUT: String(IDLE_S) }
    const transcript = files.write('long.jsonl', '{}\n')
    const [purged, imported] = await Promise.all([
      runServer(['purge', '--older-than', '1', '--rooms', '--yes'], environment),
      runServer(['import', transcript], environment),
    ])
    expect([purged.code, purged.output]).toEqual([0, expect.stringContaining('Purged 0 session(s)')])
    expect([imported.code, imported.output]).toEqual([0, expect.stringContaining('Imported 1 event from 1 transcript')])
  },
  180_000,
)

test.skipIf(!FULL)(
  'a purge without a server that is told to stop says what it has done',
  async () => {
    const DATA_DIR = await emptyFolderAt(join(files.folder, 'alone'))
    const lines = Array.from({ length: 300 }, (_, i) => claudeLine(i, 'user', 'A word. '.repeat(2_000)))
    expect((await runServer(['import', files.write('long-one.jsonl', lines.join('\n'))], { DATA_DIR })).code).toBe(0)
    const child = spawnServer({ DATA_DIR }, 'pipe', ['purge', '--older-than', '1', '--traces', '--yes'])
    const begins = 'a purge begins'
    let output = ''
    for (const stream of [child.stdout!, child.stderr!])
      stream.on('data', (chunk: Buffer) => {
        const had = output.includes(begins)
        output += chunk.toString()
        if (!had && output.includes(begins)) child.kill('SIGINT')
      })
    const code = await new Promise((resolve) => child.once('close', resolve))
    expect([code, output]).toEqual([1, expect.stringMatching(/Purged 0 of 1 session\(s\)\.[^]*stopped before all was deleted/)])
  },
  180_000,
)

const PURGE = ['purge', '--older-than', '1', '--rooms', '--yes']
const IMPORT = ['import', files.write('cut.jsonl', '{}\n')]
const LINES = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'
const CUT = 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"out":'
const SHORT = '{"sessions":[],"unknown":[],"purged":0,"cut_short":true}'
const PAGE = 'content-length: 15\r\n\r\n<p>Hello.</p>\r\n'

/** Runs a command beside a server that says this to whatever it is asked, and ends. */
const runBeside = async (answer: string, words: string[]) => {
  const folder = join(files.folder, crypto.randomUUID())
  const ending = createServer((socket) => socket.once('data', () => socket.write(answer, () => socket.destroy())))
  const port = await new Promise<number>((resolve) => ending.listen(0, '127.0.0.1', () => resolve((ending.address() as AddressInfo).port)))
  const url = `http://127.0.0.1:${port}`
  const held = await lockFolder(folder)
  held.announce(url, 'a-secret')
  try {
    return { url, ...(await runServer(words, { DATA_DIR: folder })) }
  } finally {
    held.release()
    ending.close()
  }
}

test.each(
  shortOf(
    [
      [PURGE, CUT],
      [['reindex'], `${LINES}14\r\n{"done":1,"all":2} \n\r\n`],
      [IMPORT, LINES],
      [PURGE, ''],
      [PURGE, `HTTP/1.1 200 OK\r\ncontent-length: ${SHORT.length}\r\n\r\n${SHORT}`],
      [['key', 'list'], CUT],
      [['operator-key'], CUT],
      [['runner'], CUT],
      [['backup', join(files.folder, 'backup')], CUT],
      [['reindex'], `${LINES}14\r\n{"done":2,"all":2} \n\r\n0\r\n\r\n`],
    ],
    3,
  ),
)(
  '%j says so when its server ends meanwhile',
  async (words, answer) => {
    const { code, output, url } = await runBeside(answer, words)
    expect([code, output]).toEqual([1, expect.stringContaining(`The server at ${url} ended before this was done`)])
    expect(output).not.toContain('ECONN')
  },
  180_000,
)

test.each(
  shortOf(
    [
      [['key', 'list'], `HTTP/1.1 200 OK\r\n${PAGE}`],
      [['reindex'], `HTTP/1.1 200 OK\r\n${PAGE}`],
      [IMPORT, `HTTP/1.1 404 Not Found\r\n${PAGE}`],
      [PURGE, `HTTP/1.1 404 Not Found\r\n${PAGE}`],
      [['operator-key'], `HTTP/1.1 502 Bad Gateway\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}`],
      [['runner'], `HTTP/1.1 302 Found\r\nlocation: /elsewhere\r\n${PAGE}`],
    ],
    3,
  ),
)(
  '%j says so when another program answers where its server should: %j',
  async (words, answer) => {
    const { code, output, url } = await runBeside(answer, words)
    const sentence = `Something answers at ${url} that is not Parley, although a Parley listens there with this database open. End that other program, or start Parley with another PORT, and run the command again.\n`
    expect([code, output]).toEqual([1, expect.stringContaining(sentence)])
    expect(output).not.toMatch(/^ +at .*:\d+/m)
  },
  180_000,
)

// A command that a server carries out may take longer than a connection may be idle otherwise, and longer than the server runs.
import { afterAll, expect, test } from 'bun:test'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { lockFolder } from '../../db/lock.ts'
import { scratch } from '../support/transcripts.ts'
import { runServer } from '../support/server.ts'

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

test('a purge, and the import of a file, are waited for as long as the server takes', async () => {
  const environment = { DATA_DIR: files.folder, BUN_CONFIG_HTTP_IDLE_TIMEOUT: String(IDLE_S) }
  const transcript = files.write('long.jsonl', '{}\n')
  const [purged, imported] = await Promise.all([
    runServer(['purge', '--older-than', '1', '--rooms', '--yes'], environment),
    runServer(['import', transcript], environment),
  ])
  expect([purged.code, purged.output]).toEqual([0, expect.stringContaining('Purged 0 session(s)')])
  expect([imported.code, imported.output]).toEqual([0, expect.stringContaining('Imported 1 event from 1 transcript')])
}, 60_000)

test.each([
  [['purge', '--older-than', '1', '--rooms', '--yes'], ''],
  [['reindex'], 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n14\r\n{"done":1,"all":2} \n\r\n'],
  [['reindex'], 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n14\r\n{"done":2,"all":2} \n\r\n0\r\n\r\n'],
  [['import', files.write('cut.jsonl', '{}\n')], 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'],
])(
  '%j says so when its server ends meanwhile',
  async (words, answer) => {
    const folder = join(files.folder, crypto.randomUUID())
    const ending = createServer((socket) => socket.once('data', () => socket.write(answer, () => socket.destroy())))
    const port = await new Promise<number>((resolve) =>
      ending.listen(0, '127.0.0.1', () => resolve((ending.address() as AddressInfo).port)),
    )
    const held = await lockFolder(folder)
    held.announce(`http://127.0.0.1:${port}`, 'a-secret')
    try {
      const { code, output } = await runServer(words, { DATA_DIR: folder })
      expect([code, output]).toEqual([1, expect.stringContaining(`The server at http://127.0.0.1:${port} ended before this was done`)])
      expect(output).not.toContain('ECONN')
    } finally {
      held.release()
      ending.close()
    }
  },
  60_000,
)

// Of the files of an import, one that cannot be read or sent stops none of the others, and is told with its reason.
import { afterAll, afterEach, expect, test } from 'bun:test'
import { chmodSync, mkdirSync, readdirSync, readlinkSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { createApp } from '../../src/app.ts'
import { intoDatabase } from '../../src/cli/import.ts'
import { transcriptFiles } from '../../src/client/import/files.ts'
import { importAll, ImportFailed, type ImportFile } from '../../src/client/import/run.ts'
import { toServer } from '../../src/client/import/upload.ts'
import { startParley } from '../support/parley.ts'
import { claudeLine, scratch } from '../support/transcripts.ts'

const files = scratch()
afterAll(files.drop)

const servers: { stop(): unknown }[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop()
})

const transcript = (name: string) => files.write(name, `${claudeLine(1, 'user', 'Hello', { session: crypto.randomUUID() })}\n`)

/** What an import of these says at its end, and the error with which it ends. */
const outcomeOf = async (paths: string[], importFile: ImportFile) => {
  const said: string[] = []
  const error = await importAll(paths, importFile, { write: (text) => said.push(text) }).then(
    () => undefined,
    (failure: Error) => failure,
  )
  return { summary: said.at(-1), error }
}

/** Removes this file just before the first of an import is read. */
const removing =
  (path: string, importFile: ImportFile): ImportFile =>
  (file, onProgress) => {
    rmSync(path, { force: true })
    return importFile(file, onProgress)
  }

test('a file that is gone when its turn comes, and a link that leads nowhere, stop no other and are told', async () => {
  const parley = await startParley()
  try {
    const [, gone] = [transcript('a.jsonl'), transcript('b.jsonl'), transcript('c.jsonl')]
    symlinkSync(join(files.folder, 'loop.jsonl'), join(files.folder, 'loop.jsonl'))
    const { summary, error } = await outcomeOf([files.folder], removing(gone, intoDatabase(parley.services)))
    expect(summary).toBe('Imported 2 events from 2 transcripts.\n')
    expect(error).toBeInstanceOf(ImportFailed)
    expect(error!.message.split('\n')).toEqual([expect.stringMatching(/b\.jsonl: ENOENT/), expect.stringMatching(/loop\.jsonl: ELOOP/)])
    const app = await createApp(parley.services, { commandSecret: 's' }) // as the server reads it
    const request = { method: 'POST', headers: { authorization: 'Bearer s', host: '127.0.0.1' }, body: JSON.stringify({ path: gone }) }
    const lines = await (await app.fetch(new Request('http://127.0.0.1/api/commands/import', request))).text()
    expect(JSON.parse(lines.trim().split('\n').at(-1)!)).toEqual({ code: 'conflict', error: expect.stringContaining('ENOENT') })
  } finally {
    rmSync(join(files.folder, 'loop.jsonl'), { force: true })
    await parley.close()
  }
}, 120_000)

const nobody = 65_534
const asNobody = <Result>(act: () => Result): Result => {
  if (process.getuid?.() !== 0) return act()
  process.seteuid!(nobody)
  try {
    return act()
  } finally {
    process.seteuid!(0)
  }
}

/** What is found at these paths by a user who may not read everything, and what is told of the others. */
const foundAt = (...paths: string[]) => {
  const [absent, told] = [[] as string[], [] as string[]]
  const found = asNobody(() =>
    transcriptFiles(
      paths,
      (path) => absent.push(path),
      (line) => told.push(line),
    ),
  )
  return { found: found.map((file) => file.path), absent, told }
}

test('a folder or a file in it that may not be read stops no other and is told', () => {
  chmodSync(files.folder, 0o755)
  const closed = join(files.folder, 'closed')
  mkdirSync(closed, { mode: 0o000 })
  const path = transcript('open.jsonl')
  const { found, told } = foundAt(files.folder, join(closed, 'one.jsonl'))
  expect(found).toContain(path)
  expect(told).toEqual([expect.stringMatching(/closed: EACCES/), expect.stringMatching(/closed\/one\.jsonl: EACCES/)])
  rmSync(closed, { recursive: true })
})

test('a link to itself and a name that no file can have are told; below a file there is nothing', () => {
  const [path, loop, long] = [transcript('file.jsonl'), join(files.folder, 'loop'), join(files.folder, 'x'.repeat(300))]
  symlinkSync('loop', loop)
  const below = join(path, 'below')
  const told = [expect.stringMatching(/loop: ELOOP/), expect.stringMatching(/xxx: ENAMETOOLONG/)]
  expect(foundAt(loop, long, below, path)).toEqual({ found: [path], absent: [below], told })
  rmSync(loop)
})

/** A server that takes each file but answers these by their names. */
const proxyThatAnswers = (answers: Record<string, () => Response>) => {
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      await request.arrayBuffer()
      const answer = answers[new URL(request.url).searchParams.get('name') ?? '']
      return answer?.() ?? Response.json({ added: 1, skipped: [], skipped_count: 0 })
    },
  })
  servers.push(server)
  return `http://127.0.0.1:${server.port}`
}

test('sent to a server, a file that is gone is no fault of the connection, and one that a proxy refuses stops no other', async () => {
  const [, gone] = [transcript('a.jsonl'), transcript('b.jsonl'), transcript('c.jsonl'), transcript('d.jsonl')]
  const html = (status: number) => () => new Response('<html>', { status, headers: { 'content-type': 'text/html' } })
  const url = proxyThatAnswers({ 'c.jsonl': html(413), 'd.jsonl': html(504) })
  const { error } = await outcomeOf(
    ['a', 'b', 'c', 'd'].map((name) => join(files.folder, `${name}.jsonl`)),
    removing(gone, toServer(url, undefined)),
  )
  expect(error!.message.split('\n')).toEqual([
    expect.stringMatching(/b\.jsonl: ENOENT/),
    expect.stringMatching(/c\.jsonl: .* answered 413.*client_max_body_size/),
    expect.stringMatching(/d\.jsonl: .* answered 504/),
  ])
})

test('a file is closed also where no server takes it', async () => {
  const path = transcript('untaken.jsonl')
  const { error } = await outcomeOf([path], toServer('http://127.0.0.1:1', undefined))
  expect(error!.message).toContain('is not reached')
  const isOpen = () => readdirSync('/proc/self/fd').some((fd) => openFile(fd) === path)
  for (let tries = 0; tries < 100 && isOpen(); tries++) await Bun.sleep(10)
  expect(isOpen()).toBe(false)
})

const openFile = (fd: string): string | undefined => {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`)
  } catch {
    return undefined // closed meanwhile
  }
}

test('a proxy that does not reach Parley ends the import at once, which tells what it could not read before', async () => {
  const paths = ['a', 'b'].map((name) => transcript(`${name}.jsonl`))
  const url = proxyThatAnswers({ 'a.jsonl': () => new Response('<html>', { status: 502 }) })
  const { summary, error } = await outcomeOf(paths, toServer(url, undefined))
  expect([summary, error!.message]).toEqual([undefined, expect.stringMatching(/answered 502.*run the command again/)])
  const [gone, ...others] = ['0', 'a'].map((name) => transcript(`${name}.jsonl`))
  const later = await outcomeOf([gone!, ...others], removing(gone!, toServer(url, undefined)))
  expect([later.summary, later.error!.message]).toEqual([
    expect.stringMatching(/0\.jsonl: ENOENT.*\n/),
    expect.stringMatching(/answered 502/),
  ])
})

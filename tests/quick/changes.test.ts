import { afterAll, beforeAll, expect, test } from 'bun:test'
import { appendFileSync, linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeTask, changesSince } from '../../src/client/runner/changes.ts'
import { gitIn } from '../../src/client/runner/git.ts'
import { git } from '../support/runner.ts'

let folder: string
const at = (name: string) => join(folder, name)
const ask = gitIn(process.env)
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-changes-'))
  git(folder, 'init', '-q', '-b', 'main')
  writeFileSync(at('known.txt'), 'one\ntwo\n')
  git(folder, 'add', '.')
  git(folder, '-c', 'user.name=Alex', '-c', 'user.email=alex@example.org', 'commit', '-qm', 'First')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('lines of new files are counted with and without a last line end; an empty and a large file count as files', async () => {
  writeFileSync(at('before.txt'), 'a\nb\n')
  const before = await beforeTask(ask, folder)
  writeFileSync(at('known.txt'), 'one\nthree\nfour')
  appendFileSync(at('before.txt'), 'c')
  writeFileSync(at('empty.txt'), '')
  writeFileSync(at('one.txt'), '\n')
  writeFileSync(at('large.txt'), 'x\n'.repeat(600_000))
  expect(await changesSince(ask, folder, before)).toEqual({ files: 5, added: 2 + 1 + 1, removed: 1 })
  git(folder, 'add', 'before.txt', 'large.txt')
  expect(await changesSince(ask, folder, await beforeTask(ask, folder))).toEqual({ files: 0, added: 0, removed: 0 })
})

test('links are not followed, and a pipe is not waited for: what stands in a worktree holds no runner up', async () => {
  const before = await beforeTask(ask, folder)
  Bun.spawnSync(['mkfifo', at('pipe')])
  symlinkSync(at('pipe'), at('to-the-pipe'))
  symlinkSync('/dev/zero', at('endless'))
  symlinkSync('known.txt', at('to-a-file'))
  expect(await changesSince(ask, folder, before)).toEqual({ files: 3, added: 0, removed: 0 }) // for git a pipe is nothing
})

test('of very many new files the lines of the first are counted, and all of them as files', async () => {
  const before = await beforeTask(ask, folder)
  mkdirSync(at('many'))
  writeFileSync(at('many/0'), 'a line\n')
  for (let i = 1; i < 2_100; i++) linkSync(at('many/0'), at(`many/${i}`)) // which takes a fraction of the time
  const changes = await changesSince(ask, folder, before)
  expect(changes).toMatchObject({ files: 2_100, removed: 0 })
  expect(changes!.added).toBeWithin(1_900, 2_001)
  const again = await beforeTask(ask, folder)
  expect(await changesSince(ask, folder, again)).toEqual({ files: 0, added: 0, removed: 0 })
})

// A backup or a restore that is ended by a signal leaves nothing behind: what it has made so far is as large as the database.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openPglite } from '../../db/pglite.ts'
import { emptyFolderAt, runServer, THIS_PROGRAM } from '../support/server.ts'
import { FULL, shortOf } from '../support/full.ts'
import { scratch } from '../support/transcripts.ts'

const files = scratch()
afterAll(files.drop)
const place = (name: string) => join(files.folder, name)

beforeAll(async () => {
  await emptyFolderAt(place('data'))
  writeFileSync(join(place('data'), 'pg', 'ballast'), randomBytes(16 * 1024 ** 2)) // so that packing takes a while
}, 180_000)

/** Runs a command until there is something under this name in that folder, ends it then, and returns its exit code. */
const endedAt = async (words: string[], folder: string, DATA_DIR: string, begins: string, signal: NodeJS.Signals, under: string[] = []) => {
  const { PATH = '', HOME = '' } = process.env
  const [program, ...given] = [...under, process.execPath, join(THIS_PROGRAM, 'src/server.ts'), ...words]
  const child = spawn(program!, given, { cwd: '/', env: { PATH, HOME, DATA_DIR } })
  const exit = new Promise<number | null>((resolve) => child.once('exit', resolve))
  const isThere = () => existsSync(folder) && readdirSync(folder).some((name) => name.startsWith(begins))
  while (child.exitCode === null && !isThere()) await Bun.sleep(2)
  child.kill(signal)
  return exit
}

const SIGNALS = [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const

test.each(shortOf(SIGNALS, 1))(
  'a backup that is ended by %s',
  async (signal, code) => {
    mkdirSync(place(signal))
    expect(await endedAt(['backup', join(place(signal), 'x.tgz')], place(signal), place('data'), 'x.tgz.', signal)).toBe(code)
    expect(readdirSync(place(signal))).toEqual([])
  },
  180_000,
)

test.skipIf(!FULL)(
  'a backup that nohup runs goes on when its terminal is closed',
  async () => {
    mkdirSync(place('SIGHUP'))
    const file = join(place('SIGHUP'), 'x.tgz')
    expect(await endedAt(['backup', file], place('SIGHUP'), place('data'), 'x.tgz.', 'SIGHUP', ['nohup'])).toBe(0)
    expect(readdirSync(place('SIGHUP'))).toEqual(['x.tgz'])
  },
  180_000,
)

test('a server that comes to the copy when the folder for it is gone makes none', async () => {
  const database = await openPglite(place('data'))
  await expect(database.copyTo!(join(place('gone'), 'pg'))).rejects.toThrow('gone is gone')
  await database.close()
  expect(existsSync(place('gone'))).toBe(false)
})

test('a restore that is ended', async () => {
  expect((await runServer(['backup', place('whole.tgz')], { DATA_DIR: place('data') })).code).toBe(0)
  expect(await endedAt(['restore', place('whole.tgz')], place('restored'), place('restored'), 'restoring-', 'SIGINT')).toBe(130)
  expect(readdirSync(place('restored')).filter((name) => !name.startsWith('lock'))).toEqual([])
  expect(await runServer(['restore', place('whole.tgz')], { DATA_DIR: place('restored') })).toMatchObject({ code: 0 })
}, 120_000)

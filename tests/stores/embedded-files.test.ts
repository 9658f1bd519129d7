// The embedded database's files, in data folders that somebody else has made: open to all, or with the database on another disk.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { chmodSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openPglite } from '../../db/pglite.ts'
import { preparedFolder } from '../../db/pglite-files.ts'
import { emptyFolderAt } from '../support/server.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-files-'))
  chmodSync(folder, 0o755)
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const modeOf = (path: string) => statSync(path).mode & 0o777
const noWarning = (line: string) => expect.unreachable(line)

test('a database in a folder that is open to all is closed to other users, from before its first file on', () => {
  preparedFolder(folder, noWarning)
  expect([modeOf(folder), modeOf(join(folder, 'pg'))]).toEqual([0o755, 0o700])
})

test('a database that was open to all is closed to other users when it is opened, and stays so', async () => {
  await emptyFolderAt(folder)
  chmodSync(folder, 0o755)
  chmodSync(join(folder, 'pg'), 0o755)
  const database = await openPglite(folder, noWarning)
  expect(modeOf(join(folder, 'pg'))).toBe(0o700)
  await database.close()
  expect(modeOf(join(folder, 'pg'))).toBe(0o700)
})

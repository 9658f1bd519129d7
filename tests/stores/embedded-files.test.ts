// The embedded database's files, in data folders that somebody else has made: open to all, or with the database on another disk.
import { afterAll, afterEach, beforeEach, expect, test } from 'bun:test'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { execFileSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isOfLock } from '../../db/lock.ts'
import { reasonOf } from '../../db/errors.ts'
import { openPglite } from '../../db/pglite.ts'
import { copyFiles, holdsDatabase, lossDetector, preparedFolder } from '../../db/pglite-files.ts'
import { createApp } from '../../src/app.ts'
import { restoreBackup, writeBackup } from '../../src/cli/backup.ts'
import { startParley } from '../support/parley.ts'
import { emptyFolderAt, runServer } from '../support/server.ts'
import { FULL } from '../support/full.ts'
import { smallDisk } from '../support/small-disk.ts'

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

/** Moves the database of `folder` to another place, and leaves a link to it. */
const moveTo = (place: string) => {
  execFileSync('mv', [join(folder, 'pg'), place]) // also to another disk
  symlinkSync(place, join(folder, 'pg'))
}
const at = (place: string) => ({ DATABASE_URL: undefined, DATA_DIR: place })

test('while the disk of a linked database is not there, nothing is made in its place; when it is, it is opened', async () => {
  await emptyFolderAt(folder)
  const elsewhere = join(folder, 'elsewhere')
  moveTo(elsewhere)
  for (const isThere of [() => renameSync(elsewhere, `${elsewhere}.away`), () => mkdirSync(elsewhere)]) {
    isThere()
    expect(() => preparedFolder(folder, noWarning)).toThrow(`a link to ${elsewhere}, and there is no database there`)
  }
  rmSync(elsewhere, { recursive: true })
  renameSync(`${elsewhere}.away`, elsewhere)
  expect(preparedFolder(folder, noWarning)).toBe(elsewhere)
})

test('files that cannot be looked at are not taken for removed ones', async () => {
  await emptyFolderAt(folder)
  const [pg, away] = [join(folder, 'pg'), join(folder, 'away')]
  const isLost = lossDetector(folder)
  renameSync(pg, away)
  symlinkSync(pg, pg) // leads nowhere, also for root, who may look into every folder
  expect(isLost()).toBe(false)
  rmSync(pg)
  expect(isLost()).toBe(true)
  writeFileSync(pg, '')
  expect(isLost()).toBe(true)
  rmSync(pg)
  renameSync(away, pg)
  expect(isLost()).toBe(false)
})

test('a backup of a database that lies elsewhere, behind a link, has its files', async () => {
  await emptyFolderAt(folder)
  moveTo(join(folder, 'elsewhere'))
  const restored = join(folder, 'restored')
  const database = await openPglite(folder, noWarning)
  await database.copyTo!(join(folder, 'copy'))
  await database.close()
  expect(holdsDatabase(join(folder, 'copy'))).toBe(true)
  expect(lstatSync(join(folder, 'copy')).isSymbolicLink()).toBe(false)
  await writeBackup(at(folder), ['whole.tgz'], folder)
  await restoreBackup(at(restored), ['whole.tgz'], folder)
  expect(holdsDatabase(join(restored, 'pg'))).toBe(true)
  expect(readdirSync(join(restored, 'pg')).filter(isOfLock)).toEqual([]) // which were there while it was made
})

test('while the files are copied, statements wait, and what needs none does not', async () => {
  await emptyFolderAt(folder)
  const database = await openPglite(folder, noWarning)
  let [turns, over] = [0, false]
  const turn = () => {
    turns++
    if (!over) setTimeout(turn)
  }
  const copied = database.copyTo!(join(folder, 'copy')).then(() => (over = true))
  const answered = database.query('select 1').then(() => over)
  turn()
  await copied
  expect(await answered).toBe(true)
  expect(turns).toBeGreaterThan(3)
  await database.close()
})

test('a data folder that is not there is not made by a backup of it', async () => {
  const wrong = join(folder, 'wrong')
  await expect(writeBackup(at(wrong), ['none.tgz'], folder)).rejects.toThrow(`no embedded database in ${wrong}`)
  expect(readdirSync(folder)).toEqual([])
})

test('a copy that is no whole database is never called a backup', async () => {
  const refused = writeBackup(at(folder), ['none.tgz'], folder, async (to) => void mkdirSync(to))
  await expect(refused).rejects.toThrow('no whole database')
  expect(existsSync(join(folder, 'none.tgz'))).toBe(false)
})

test('a copy that cannot be written is told with its reason, also by the server that makes it', async () => {
  await emptyFolderAt(folder)
  await expect(writeBackup(at(folder), ['x.tgz'], folder, () => copyFiles(join(folder, 'pg'), '/dev/null/pg'))).rejects.toThrow(
    /could not be copied to \/dev\/null\/pg.*ENOTDIR.*, as user \d+\. .*with room/,
  )
  const database = await openPglite(folder, noWarning)
  const own = await startParley({ opened: { database, drop: async () => {} } })
  try {
    const app = await createApp(own.services, { commandSecret: 's' })
    const order = async (name: string, body: object) => {
      const headers = { authorization: 'Bearer s', host: '127.0.0.1' }
      const request = { method: 'POST', headers, body: JSON.stringify(body) }
      const answer = await app.fetch(new Request(`http://127.0.0.1/api/commands/${name}`, request))
      const { error } = (await answer.json()) as any
      return [answer.status, error.message]
    }
    expect(await order('backup', { to: '/dev/null/pg' })).toEqual([
      400,
      expect.stringMatching(/could not be copied to \/dev\/null\/pg.*ENOTDIR/),
    ])
    for (const name of ['key', 'purge', 'backup', 'import'])
      expect([name, await order(name, { by: 'a later program' })]).toEqual([name, [400, expect.stringContaining('older or newer')]])
  } finally {
    await own.close()
  }
})

const small = smallDisk(60) // room for the copy of an empty database, and not for what a server needs beside it
afterAll(() => small?.remove())

test.if(small !== undefined)('a copy that its disk has no room for is not begun', async () => {
  await emptyFolderAt(folder)
  await expect(writeBackup(at(folder), ['x.tgz'], small!.path)).rejects.toThrow(
    /it takes \d+ MiB, with what .*, and there are \d+ MiB free/,
  )
  expect(readdirSync(small!.path)).toEqual([])
})

test.if(small !== undefined)('a restore onto a full disk says so, and does not blame the backup', async () => {
  await emptyFolderAt(folder)
  const said = await writeBackup(at(folder), ['good.tgz'], folder)
  expect(said).toContain(`bun run restore '${join(folder, 'good.tgz')}' brings it back`) // from whatever folder it is given in
  const full = smallDisk(5)!
  try {
    await expect(restoreBackup(at(full.path), ['good.tgz'], folder)).rejects.toThrow(/could not be put into .*ENOSPC.*Make room there/)
    expect(readdirSync(full.path)).toEqual([])
  } finally {
    full.remove()
  }
})

test.skipIf(!FULL).if(small !== undefined)('a start on a full disk says how little is left', async () => {
  const full = smallDisk(20)!
  try {
    const { code, output } = await runServer([], { DATA_DIR: join(full.path, 'data'), PORT: '0' })
    expect(code).toBe(1)
    expect(output).toMatch(/cannot be opened: .*, with \d+ MiB left on its disk/)
  } finally {
    full.remove()
  }
})

test('why PGlite failed is told also where it throws no error', () => {
  expect(reasonOf({ name: 'ErrnoError', errno: 51 })).toBe('ErrnoError')
  expect(reasonOf({ message: 'no space left', code: '53100' })).toBe('no space left')
})

const otherDisk = ['/dev/shm', '/tmp', import.meta.dir].find((place) => existsSync(place) && statSync(place).dev !== statSync(tmpdir()).dev)

test.if(otherDisk !== undefined)('the space that is watched is that of the disk which the database lies on', async () => {
  await emptyFolderAt(folder)
  const elsewhere = mkdtempSync(join(otherDisk!, 'parley-files-'))
  try {
    moveTo(join(elsewhere, 'pg'))
    const database = await openPglite(folder, noWarning)
    const [seen, there, here] = [database.freeBytes!()!, spaceOf(elsewhere), spaceOf(folder)]
    await database.close()
    expect(Math.abs(seen - there)).toBeLessThan(Math.abs(seen - here))
  } finally {
    rmSync(elsewhere, { recursive: true })
  }
})

const spaceOf = (place: string) => {
  const { bavail, bsize } = statfsSync(place)
  return bavail * bsize
}

test.skipIf(!FULL)('the journal goes with checkpoints: it does not keep all that was written since the start', async () => {
  const database = await openPglite(await emptyFolderAt(join(folder, 'data')))
  const journal = async () => {
    const [row] = await database.query<{ mib: number }>(
      `select (pg_wal_lsn_diff(pg_current_wal_lsn(), redo_lsn) / 1048576)::int as mib from pg_control_checkpoint()`,
    )
    return row!.mib
  }
  const write = (mib: number) =>
    database.query(
      `insert into fillers select string_agg(md5(g::text || m), '') from generate_series(1, ${mib}) m, generate_series(1, 32768) g group by m`,
    )
  await database.query('create table fillers (text text)')
  await database.query('alter table fillers alter column text set storage external')
  await write(20)
  await database.checkpoint!()
  expect(await journal()).toBeWithin(20, 64) // for so little none is made
  await write(60)
  await database.checkpoint!()
  expect(await journal()).toBeLessThan(10)
  await database.close()
})

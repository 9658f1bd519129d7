// The files of the embedded database: made ready, copied, put in place, watched. PGlite itself is opened in db/pglite.ts.
import {
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  fstatSync,
  futimesSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { cp } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { SPARE_BYTES } from './database.ts'
import { CopyFailed, FilesGone } from './errors.ts'
import { isOfLock } from './lock.ts'

/** Where the files of the database of a data folder are. */
export const filesIn = (folder: string) => join(folder, 'pg')

/** Copies a database's files, also where they are links to another disk. Where the file system can, they are shared until one of them
 *  changes, which takes no time and no room. Throws CopyFailed. */
export const copyFiles = async (from: string, to: string): Promise<void> => {
  try {
    if (!existsSync(dirname(to))) throw new Error(`${dirname(to)} is gone`) // so is whoever asked for it: cp would make it anew
    refuseWithoutRoom(from, to)
    await cp(from, to, {
      recursive: true,
      dereference: true,
      mode: constants.COPYFILE_FICLONE,
      filter: (path) => !isOfLock(basename(path)),
    })
  } catch (error) {
    throw error instanceof CopyFailed ? error : new CopyFailed(to, `${(error as Error).message}${asUser()}`)
  }
}

const asUser = () => (process.getuid ? `, as user ${process.getuid()}` : '')

const PACKED = 1 / 3 // of the database, about; it is made beside the copy

// Asked beforehand: a copy that fills the disk of a server that runs has it refuse what is written meanwhile.
const refuseWithoutRoom = (from: string, to: string) => {
  const [needed, free] = [bytesIn(from) * (1 + PACKED) + SPARE_BYTES, freeBytes(dirname(to))]
  if (free === undefined || needed <= free || sharesFiles(from, dirname(to))) return
  const mib = (bytes: number) => `${Math.ceil(bytes / 1024 ** 2)} MiB`
  throw new CopyFailed(to, `it takes ${mib(needed)}, with what a server needs meanwhile, and there are ${mib(free)} free`)
}

const bytesIn = (folder: string): number =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => !isOfLock(name))
    .reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)

const sharesFiles = (from: string, to: string): boolean => {
  const probe = join(to, 'probe')
  try {
    copyFileSync(join(from, 'PG_VERSION'), probe, constants.COPYFILE_FICLONE_FORCE)
    rmSync(probe)
    return true
  } catch {
    return false
  }
}

/** Copies the files of an embedded database that no process has open. The caller holds the folder's lock. False when there is none. */
export const copyDatabase = async (folder: string, to: string): Promise<boolean> => {
  if (!holdsDatabase(filesIn(folder))) return false
  await copyFiles(filesIn(folder), to)
  return true
}

/** Puts a database's files (in `files`, a folder within `folder`) in place. The caller holds the folder's lock. False when they are no
 *  whole database; nothing is changed then. */
export const putDatabase = (files: string, folder: string): boolean => {
  if (!holdsDatabase(files)) return false
  renameSync(files, filesIn(folder))
  writeFileSync(join(folder, DONE), '')
  return true
}

export const hasDatabase = (folder: string): boolean => existsSync(filesIn(folder))

/** A function that tells whether the database's files in `folder` have been removed or replaced since now. Writes then go to files that end
 *  with this process. */
export const lossDetector = (folder: string): (() => boolean) => {
  const place = join(filesIn(folder), 'PG_VERSION')
  const ours = openSync(place, 'r')
  const isOurs = ({ ino }: { ino: number }) => {
    if (ino === fstatSync(ours).ino) return true
    const now = new Date() // some file systems renumber their files: if a time set on ours appears at the path, it is the same file
    futimesSync(ours, now, now)
    return statSync(place).mtimeMs === fstatSync(ours).mtimeMs
  }
  return () => {
    try {
      const there = statSync(place, { throwIfNoEntry: false })
      return there === undefined || !isOurs(there)
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === 'ENOTDIR' // else it may be there: this user may not look, or the disk fails
    }
  }
}

/** The space left on the disk that a path is on, in bytes; undefined where the system cannot tell. */
export const freeBytes = (path: string): number | undefined => {
  try {
    const { bavail, bsize } = statfsSync(path)
    return bavail * bsize
  } catch {
    return undefined
  }
}

const BEGUN = 'initialising'
const DONE = 'initialised'

/** Makes the data folder ready for its database to be opened, and returns where its files are, behind whatever link: PGlite follows none.
 *  `warn` gets what an operator must know. */
export const preparedFolder = (folder: string, warn: (line: string) => void) => {
  const data = filesIn(folder)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  refuseLinkToNothing(data)
  refuseLoss(folder)
  // A process that was killed while it made the very first database leaves files that cannot be opened and hold nothing: they are removed.
  // Files that came here in another way, such as a backup, are used if they are a database, and else kept under another name.
  if (existsSync(data) && !existsSync(join(folder, DONE))) {
    const [begunHere, whole] = [existsSync(join(folder, BEGUN)), holdsDatabase(data)]
    if (begunHere && !whole) rmSync(data, { recursive: true })
    else if (begunHere || !whole) setAside(data, warn)
  }
  if (!existsSync(data)) {
    writeFileSync(join(folder, BEGUN), '')
    mkdirSync(data, { mode: 0o700 })
  }
  closeToOthers(data, warn)
  return realpathSync(data)
}

// Where a disk is not mounted, what is on it is not lost: no new database takes its place.
const refuseLinkToNothing = (data: string) => {
  if (!lstatSync(data, { throwIfNoEntry: false })?.isSymbolicLink() || holdsDatabase(data)) return
  throw new FilesGone(`${data} is a link to ${readlinkSync(data)}, and there is no database there: is its disk mounted?`)
}

// PGlite makes a new database over files that lack their PG_VERSION, as after a copy that was cut short.
const refuseLoss = (folder: string) => {
  const [data, done] = [filesIn(folder), join(folder, DONE)]
  if (!existsSync(done) || holdsDatabase(data)) return
  throw new FilesGone(
    `There was a database in ${data}, and no whole one is there now: is its disk mounted, and may Parley read it? If it is lost, ${existsSync(data) ? `move ${data} away and ` : ''}restore a backup, or delete ${done} for a new one.`,
  )
}

// PGlite makes files that everybody may read and write. The data folder may have been there before, open to all: of it, only this is ours.
const closeToOthers = (data: string, warn: (line: string) => void) => {
  try {
    chmodSync(data, 0o700)
  } catch (error) {
    warn(`${data} could not be closed to other users of this machine (${(error as Error).message}), who may read and change what is in it.`)
  }
}

/** The database in the data folder has been opened: it is whole. */
export const noteWhole = (folder: string) => {
  writeFileSync(join(folder, DONE), '')
  rmSync(join(folder, BEGUN), { force: true })
}

/** Whether these files are a database that was finished, as far as its names tell. */
export const holdsDatabase = (data: string) => ['PG_VERSION', 'global/pg_control'].every((file) => existsSync(join(data, file)))

const setAside = (data: string, warn: (line: string) => void) => {
  const aside = `${data}.unfinished-${Date.now()}`
  renameSync(data, aside)
  warn(`What was in ${data} is no database that was ever finished. It is kept as ${aside}, and a new one is made.`)
}

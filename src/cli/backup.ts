// `bun run backup FILE` and `bun run restore FILE`: the embedded database as one file, a gzipped tar archive of its folder.
import {
  chmodSync,
  closeSync,
  createReadStream,
  createWriteStream,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { extract, pack } from 'tar-fs'
import { inBytes } from '../core/text/numbers.ts'
import { CannotOpen, CopyFailed, reasonOf } from '../../db/errors.ts'
import { lockFolder } from '../../db/lock.ts'
import { copyDatabase, hasDatabase, holdsDatabase, putDatabase } from '../../db/pglite-files.ts'
import { BadConfig, type Config } from '../config.ts'

export const USAGE = {
  backup: 'Use it as: bun run backup FILE, which writes the embedded database into a new file',
  restore: 'Use it as: bun run restore FILE, which makes the embedded database of a backup, in a data folder that has none',
}

type Place = Pick<Config, 'DATABASE_URL' | 'DATA_DIR'>

/** Writes the embedded database into a file that must not be there. `copyTo`: how the server that has it open copies its files; what
 *  needs the database waits meanwhile, and not while the copy is packed. Returns what to tell the operator. */
export const writeBackup = async (
  config: Place,
  words: string[],
  folder: string,
  copyTo?: (folder: string) => Promise<void>,
): Promise<string> => {
  const file = fileIn(words, folder, 'backup')
  if (config.DATABASE_URL) throw new BadConfig(POSTGRES.backup)
  if (existsSync(file)) throw new BadConfig(`${file} is there already, and a backup overwrites nothing. Name another file.`)
  return inPlace(file, async () => {
    // Of mode 0700, beside the file: there must be room for both.
    await inScratch(`${file}.`, async (scratch) => {
      const copy = join(scratch, 'pg')
      await (copyTo ?? ((to) => copyUnused(config.DATA_DIR, to)))(copy)
      if (!holdsDatabase(copy)) throw new CannotOpen(`The copy of ${resolve(config.DATA_DIR)} is no whole database. Nothing was written.`)
      const packed = join(scratch, 'packed')
      await pipeline(pack(copy), createGzip(), createWriteStream(packed, { mode: 0o600 }))
      renameSync(packed, file)
    })
    return `Wrote ${file} (${inBytes(statSync(file).size)}). It has every session and the hashes of all credentials: keep it to yourself. DATA_DIR=a-new-folder bun run restore '${file}' brings it back.`
  })
}

// A file that this user may not read may be a whole backup all the same.
const refuseUnreadable = (file: string): void => {
  try {
    closeSync(openSync(file, 'r'))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') throw new BadConfig(`There is no file ${file}.`)
    throw new BadConfig(`${file} cannot be read (${reasonOf(error)}). Nothing was changed. Let this user read it, or name another file.`)
  }
}

const copyUnused = async (folder: string, to: string) => {
  const noDatabase = new BadConfig(`There is no embedded database in ${folder}. Set DATA_DIR to the folder that has it.`)
  if (!existsSync(folder)) throw noDatabase // a lock would make it
  const lock = await lockFolder(folder)
  try {
    if (!(await copyDatabase(folder, to))) throw noDatabase
  } finally {
    lock.release()
  }
}

/** Makes the embedded database of a backup's file, in a data folder that has none. A file that is no whole backup changes nothing. Returns
 *  what to tell the operator. */
export const restoreBackup = async (config: Place, words: string[], folder: string): Promise<string> => {
  const file = fileIn(words, folder, 'restore')
  if (config.DATABASE_URL) throw new BadConfig(POSTGRES.restore)
  refuseUnreadable(file)
  const lock = await lockFolder(config.DATA_DIR)
  try {
    if (hasDatabase(config.DATA_DIR))
      throw new BadConfig(
        `${resolve(config.DATA_DIR)} has a database, and a restore overwrites nothing. Move it away, or set DATA_DIR to a new folder.`,
      )
    await inScratch(join(config.DATA_DIR, 'restoring-'), async (scratch) => {
      const files = join(scratch, 'pg')
      await pipeline(createReadStream(file), createGunzip(), extract(files, { ignore: isNoFile })).catch((error) =>
        OF_THE_FOLDER.has(error.code) && error.path !== file ? notPut(config.DATA_DIR, error) : notWhole(file, error),
      )
      if (!existsSync(files) || !putDatabase(files, config.DATA_DIR)) notWhole(file)
      chmodSync(join(config.DATA_DIR, 'pg'), 0o700)
    })
  } finally {
    lock.release()
  }
  return `Restored ${file} into ${resolve(config.DATA_DIR)}. Start Parley there: what was written after the backup is gone, and an agent whose cursor is beyond it is told so.`
}

const ENDED_BY = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } // with which exit code

// The folder, whose name begins so, holds a whole database for a while: it is removed at the end, also when a signal ends this program.
const inScratch = async (name: string, work: (scratch: string) => Promise<void>): Promise<void> => {
  let scratch: string | undefined
  // A server may be writing into it: then it is tried again.
  const remove = () => scratch && rmSync(scratch, { recursive: true, force: true, maxRetries: 10 })
  const end = (signal: keyof typeof ENDED_BY) => {
    remove()
    process.exit(ENDED_BY[signal])
  }
  const signals = (Object.keys(ENDED_BY) as (keyof typeof ENDED_BY)[]).filter((signal) => signal !== 'SIGHUP' || !ignoresHangup())
  for (const signal of signals) process.on(signal, end)
  try {
    scratch = mkdtempSync(name)
    await work(scratch)
  } finally {
    for (const signal of signals) process.off(signal, end)
    remove()
  }
}

// Whether SIGHUP is ignored, as by nohup. Linux alone tells; elsewhere a program without a terminal is taken to run under nohup.
const ignoresHangup = (): boolean => {
  if (!existsSync('/proc/self/status')) return !process.stdout.isTTY
  const ignored = /^SigIgn:\s*\w*(\w)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0'
  return (Number.parseInt(ignored, 16) & 1) === 1 // SIGHUP is 1
}

// An archive that somebody has changed may hold links that lead out of the folder.
const isNoFile = (_: string, header?: { type?: string | null | undefined }) =>
  header !== undefined && !['file', 'directory'].includes(header.type ?? '')

const notWhole = (file: string, error?: unknown): never => {
  const reason = error === undefined ? '' : ` (${reasonOf(error)})`
  throw new CannotOpen(`${file} is no whole backup of Parley${reason}. Nothing was changed.`)
}

const OF_THE_FOLDER = new Set(['ENOSPC', 'EDQUOT', 'EACCES', 'EPERM', 'EROFS'])

const notPut = (folder: string, error: NodeJS.ErrnoException): never => {
  throw new CannotOpen(
    `The backup could not be put into ${resolve(folder)} (${reasonOf(error)}). Nothing was changed. Make room there, or set DATA_DIR to another folder.`,
  )
}

const inPlace = async <Result>(file: string, work: () => Promise<Result>): Promise<Result> => {
  try {
    return await work()
  } catch (error) {
    if (error instanceof CopyFailed) throw new CannotOpen(error.message)
    if (!(error instanceof Error) || !('code' in error) || !('syscall' in error)) throw error
    throw new CannotOpen(`${file} could not be written: ${reasonOf(error)}. Check that ${dirname(file)} is a folder with room for it.`)
  }
}

const fileIn = (words: string[], folder: string, command: keyof typeof USAGE): string => {
  const [file, ...more] = words
  if (file === undefined || more.length > 0 || file.startsWith('-')) throw new BadConfig(USAGE[command])
  return resolve(folder, file)
}

const POSTGRES = {
  backup:
    'DATABASE_URL is set: the database is a Postgres, whose own tool backs it up, also while Parley runs: pg_dump --format=custom --file=FILE "${DATABASE_URL:?}" (the shell has it by: set -a; . ./.env; set +a)',
  restore:
    'DATABASE_URL is set: the database is a Postgres, whose own tool restores it into an empty one: pg_restore --no-owner --dbname="${EMPTY_DATABASE_URL:?}" FILE',
}

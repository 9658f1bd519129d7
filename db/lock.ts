// The lock of the embedded database's folder: one process at a time, because two would silently lose each other's rows. The lock file also
// tells our own commands where the server is, so that they can work through it. A copied folder has a copy of the file, so the file names
// the folder that it was written in, and counts in no other.
import { setTimeout as sleep } from 'node:timers/promises'
import { existsSync, lstatSync, mkdirSync, readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { answers, listenAt } from './lock-socket.ts'

export interface Holder {
  pid: number
  born: string // the start time of the process, by which a recycled pid is recognised; '' where the system does not tell
  folder?: string // device and inode of the folder; older programs did not write it
  database?: string // device and inode of its database, which may be a link to another disk; absent until the first start has made it
  url?: string
  secret?: string // lets those who can read this file use the server's local commands
}

export class FolderInUse extends Error {
  /** `unless`: what may be so instead, as the condition of a sentence. */
  constructor(
    folder: string,
    readonly holder: Holder | undefined,
    unless: string | undefined,
  ) {
    const by = holder ? `process ${holder.pid}${holder.url ? ` at ${holder.url}` : ''}` : 'another process'
    const wayOut = unless === undefined ? '' : ` If ${unless}, delete ${join(folder, 'lock')} and try again.`
    super(`${folder} is in use by ${by}. Stop it first, or set DATA_DIR to another folder, or DATABASE_URL to a Postgres.${wayOut}`)
    this.wayOut = wayOut
  }
  /** How to go on where nobody holds the folder after all, as a further sentence; '' where somebody surely does. */
  readonly wayOut: string
}

/** The folder cannot be used as it is; the message says what to do about it. */
export class FolderUnusable extends Error {
  constructor(folder: string, error: NodeJS.ErrnoException) {
    const user = process.getuid ? `user ${process.getuid()}` : 'this user'
    const why: Record<string, string> = {
      EEXIST: 'is a file or lies below one',
      ENOTDIR: 'is a file or lies below one',
      EACCES: `cannot be used by ${user}, as whom Parley runs`,
      EPERM: `cannot be used by ${user}, as whom Parley runs`,
      EROFS: 'is on a read-only file system',
      ENOSPC: 'is on a full disk',
    }
    super(
      `The data folder ${folder} ${why[error.code ?? ''] ?? `cannot be used (${error.message})`}. Make it a folder that Parley can write to, or set DATA_DIR to another one, or DATABASE_URL to a Postgres.`,
    )
  }
}

/** Locks the folder for this process, and makes it if need be; and the files of its database, where those lie behind a link. Throws FolderInUse
 *  while another holder lives, and FolderUnusable where the folder cannot be made or written. An old lock is not taken over by its age: only a
 *  dead holder loses it. */
export const lockFolder = async (folder: string) => {
  const own = await lockOne(folder)
  try {
    const files = filesBehind(folder)
    const behind = files === undefined ? undefined : await lockOne(files)
    const release = () => {
      behind?.release()
      own.release()
    }
    return { ...own, release }
  } catch (error) {
    own.release()
    throw error
  }
}

// A copy of a folder whose `pg` is a link has a link to the same files.
const filesBehind = (folder: string): string | undefined => {
  const files = join(folder, 'pg')
  const isLink = lstatSync(files, { throwIfNoEntry: false })?.isSymbolicLink()
  return isLink && existsSync(join(files, 'PG_VERSION')) ? realpathSync(files) : undefined
}

/** Whether this is a file of a lock, which may stand among the files of a database. */
export const isOfLock = (name: string): boolean => name === 'lock' || name.startsWith('lock.')

const lockOne = async (folder: string) => {
  orUnusable(folder, () => mkdirSync(folder, { recursive: true, mode: 0o700 }))
  const [file, socket] = [join(folder, 'lock'), join(folder, 'lock.socket')]
  const me = () => ({ pid: process.pid, born: bornAt(process.pid), ...inodesOf(folder) })
  const stopListening = await inTurn(folder, async () => {
    const [holder, answered] = [readHolder(folder), await answers(socket)]
    const lives = holder !== undefined && isAlive(holder)
    if (lives || answered) throw new FolderInUse(folder, holder, answered ? undefined : deathOf(folder, holder!))
    rmSync(socket, { force: true })
    const listening = await listenAt(socket)
    orUnusable(folder, () => replace(file, me()))
    return listening
  })
  return {
    announce: (url: string, secret: string) => replace(file, { ...me(), url, secret }),
    release: () => {
      stopListening()
      rmSync(socket, { force: true })
      rmSync(file, { force: true })
    },
  }
}

// How a holder that seems to live and does not answer may hold nothing all the same.
const deathOf = (folder: string, holder: Holder): string | undefined =>
  !namesFolder(holder)
    ? `${folder} is a copy`
    : mayBeRecycled(holder)
      ? `process ${holder.pid} is not Parley, because the system has given the number of one that was killed to another program`
      : undefined

const mayBeRecycled = ({ born }: Holder) => born === ''

/** The holder in the folder's lock file, alive or dead. Undefined when there is none, or when the file was copied from another folder. */
export const readHolder = (folder: string): Holder | undefined => {
  const holder = readLockFile(folder)
  return holder && (!namesFolder(holder) || wasWrittenIn(folder, holder)) ? holder : undefined
}

/** The living server that has this very folder open. If its lock file names no folder, somebody must also answer at the folder's socket:
 *  in a copy of the folder nobody does. So they must where its pid may have been recycled, if it left a socket. */
export const serverOn = async (folder: string): Promise<Server | undefined> => {
  const holder = readHolder(folder)
  if (!isServer(holder) || !isAlive(holder)) return undefined
  const socket = join(folder, 'lock.socket')
  const mustAnswer = !namesFolder(holder) || (mayBeRecycled(holder) && existsSync(socket))
  return !mustAnswer || (await answers(socket)) ? holder : undefined
}

export type Server = Holder & Required<Pick<Holder, 'url' | 'secret'>>

const isServer = (holder: Holder | undefined): holder is Server => holder?.url !== undefined && holder.secret !== undefined

const orUnusable = <Result>(folder: string, act: () => Result): Result => {
  try {
    return act()
  } catch (error) {
    throw new FolderUnusable(folder, error as NodeJS.ErrnoException)
  }
}

// Undefined when there is no lock file or it cannot be parsed. One that we may not read is an error: its process may live.
const readLockFile = (folder: string): Holder | undefined => {
  try {
    return JSON.parse(readFileSync(join(folder, 'lock'), 'utf8')) as Holder
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EACCES' || code === 'EPERM' || code === 'ENOTDIR') throw new FolderUnusable(folder, error as NodeJS.ErrnoException)
    return undefined
  }
}

const namesFolder = ({ folder }: Holder) => folder !== undefined

// Compares the database too: a folder whose `pg` is a link to another folder's is not a copy of that.
const wasWrittenIn = (folder: string, holder: Holder) => {
  const here = inodesOf(folder)
  return here.folder === holder.folder || (here.database !== undefined && here.database === holder.database)
}

const inodesOf = (folder: string): Pick<Holder, 'folder' | 'database'> => {
  const [own, database] = [inodeOf(folder), inodeOf(join(folder, 'pg'))]
  return { ...(own && { folder: own }), ...(database && { database }) }
}

const inodeOf = (path: string): string | undefined => {
  const stat = orUnusable(dirname(path), () => statSync(path, { bigint: true, throwIfNoEntry: false }))
  return stat && `${stat.dev}:${stat.ino}`
}

export const isAlive = ({ pid, born }: Holder): boolean => {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
  }
  return born === bornAt(pid)
}

// On Linux, the start time of the process (field 22), and whether it is a zombie (field 3). Elsewhere the pid alone must do.
const bornAt = (pid: number): string => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return 'ZX'.includes(fields[0]!) ? 'ended' : (fields[19] ?? '')
  } catch {
    return ''
  }
}

const replace = (file: string, holder: Holder) => {
  const written = `${file}.${process.pid}`
  writeFileSync(written, JSON.stringify(holder), { mode: 0o600 })
  renameSync(written, file)
}

const TURN_AT_MOST_MS = 2_000

// Makes checking and taking the lock one step, by a directory that only one process can make. A turn takes milliseconds, so the process of
// an old one has died.
const inTurn = async <Result>(folder: string, act: () => Promise<Result>): Promise<Result> => {
  const turn = join(folder, 'lock.turn')
  for (;;) {
    try {
      mkdirSync(turn)
      break
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw new FolderUnusable(folder, error as NodeJS.ErrnoException)
      if (isOld(turn)) removeOldTurn(turn)
      else await sleep(20)
    }
  }
  try {
    return await act()
  } finally {
    rmSync(turn, { recursive: true, force: true })
  }
}

const isOld = (turn: string) => Date.now() - (statSync(turn, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()) > TURN_AT_MOST_MS

// Renames before it removes: of several processes that find the turn old, one gets it, and one that got another's new turn gives it back.
const removeOldTurn = (turn: string) => {
  const aside = `${turn}.${process.pid}`
  try {
    renameSync(turn, aside)
    if (isOld(aside)) rmSync(aside, { recursive: true })
    else renameSync(aside, turn)
  } catch {} // another was first
}

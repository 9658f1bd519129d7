// One process at a time on the embedded database: two on one folder lose each other's rows without a word.
// The file also tells our own commands where the server is, so that they can work through it. A copy of the folder holds a copy of the
// file, so the file says which folder it was written in, and counts in no other.
import { setTimeout as sleep } from 'node:timers/promises'
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { answers, listenAt } from './lock-socket.ts'

export interface Holder {
  pid: number
  born: string // tells a recycled pid from the process that wrote the file, where the system can say
  folder?: string // device and inode of the folder; an older program did not write it
  database?: string // those of its database, which may be a link to another disk; none before the first start has made it
  url?: string
  secret?: string // opens the server's commands to those who can read this file
}

export class FolderInUse extends Error {
  constructor(
    folder: string,
    readonly holder: Holder | undefined,
    mayBeCopy: boolean,
  ) {
    const by = holder ? `process ${holder.pid}${holder.url ? ` at ${holder.url}` : ''}` : 'another process'
    const wayOut = mayBeCopy ? ` If ${folder} is a copy, delete ${join(folder, 'lock')} and try again.` : ''
    super(`${folder} is in use by ${by}. Stop it first, or set DATA_DIR to another folder, or DATABASE_URL to a Postgres.${wayOut}`)
  }
}

/** The folder cannot be used as it is: the sentence says what to do about it. */
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

/** Takes the folder for this process; throws FolderInUse while another lives, and FolderUnusable where none can be made or written.
 *  Never by age: only a dead holder loses it. */
export const lockFolder = async (folder: string) => {
  usable(folder, () => mkdirSync(folder, { recursive: true, mode: 0o700 }))
  const [file, socket] = [join(folder, 'lock'), join(folder, 'lock.socket')]
  const me = () => ({ pid: process.pid, born: bornAt(process.pid), ...placeOf(folder) })
  const hangUp = await inTurn(folder, async () => {
    const [holder, answered] = [readHolder(folder), await answers(socket)]
    const lives = holder !== undefined && alive(holder)
    if (lives || answered) throw new FolderInUse(folder, holder, lives && !answered && !namesFolder(holder))
    rmSync(socket, { force: true })
    const listening = await listenAt(socket)
    usable(folder, () => replace(file, me()))
    return listening
  })
  return {
    announce: (url: string, secret: string) => replace(file, { ...me(), url, secret }),
    release: () => {
      hangUp()
      rmSync(socket, { force: true })
      rmSync(file, { force: true })
    },
  }
}

/** Who holds the folder now, dead or alive; undefined when nobody does, or when the file is of the folder that this one is a copy of. */
export const readHolder = (folder: string): Holder | undefined => {
  const holder = parsed(folder)
  return holder && (!namesFolder(holder) || isOf(folder, holder)) ? holder : undefined
}

/** The server that has this very folder open. Of a lock that names no folder, that is certain only if somebody answers at the folder's
 *  socket: nobody does in a copy. */
export const serverOn = async (folder: string): Promise<Server | undefined> => {
  const holder = readHolder(folder)
  if (!isServer(holder) || !alive(holder)) return undefined
  return namesFolder(holder) || (await answers(join(folder, 'lock.socket'))) ? holder : undefined
}

export type Server = Holder & Required<Pick<Holder, 'url' | 'secret'>>

const isServer = (holder: Holder | undefined): holder is Server => holder?.url !== undefined && holder.secret !== undefined

const usable = <Result>(folder: string, act: () => Result): Result => {
  try {
    return act()
  } catch (error) {
    throw new FolderUnusable(folder, error as NodeJS.ErrnoException)
  }
}

// A file that another user keeps to itself is not the same as none: its process may live.
const parsed = (folder: string): Holder | undefined => {
  try {
    return JSON.parse(readFileSync(join(folder, 'lock'), 'utf8')) as Holder
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EACCES' || code === 'EPERM' || code === 'ENOTDIR') throw new FolderUnusable(folder, error as NodeJS.ErrnoException)
    return undefined
  }
}

const namesFolder = ({ folder }: Holder) => folder !== undefined

// The database counts as well: a folder whose `pg` is a link to that of another folder is no copy of it.
const isOf = (folder: string, holder: Holder) => {
  const here = placeOf(folder)
  return here.folder === holder.folder || (here.database !== undefined && here.database === holder.database)
}

const placeOf = (folder: string): Pick<Holder, 'folder' | 'database'> => {
  const [own, database] = [inodeOf(folder), inodeOf(join(folder, 'pg'))]
  return { ...(own && { folder: own }), ...(database && { database }) }
}

const inodeOf = (path: string): string | undefined => {
  const stat = usable(dirname(path), () => statSync(path, { bigint: true, throwIfNoEntry: false }))
  return stat && `${stat.dev}:${stat.ino}`
}

export const alive = ({ pid, born }: Holder): boolean => {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
  }
  return born === bornAt(pid)
}

// Linux tells when a process was born (field 22), and whether it has ended and only its parent has not looked yet (field 3); elsewhere
// the pid alone must do.
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

// Looking and taking are one step: a folder that only one process can make. A turn lasts milliseconds, so an old one was cut short.
const inTurn = async <Result>(folder: string, act: () => Promise<Result>): Promise<Result> => {
  const turn = join(folder, 'lock.turn')
  for (;;) {
    try {
      mkdirSync(turn)
      break
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw new FolderUnusable(folder, error as NodeJS.ErrnoException)
      if (isOld(turn)) putAway(turn)
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

// Renamed first: of several that find it old one gets it, and one who got another's new turn instead gives it back.
const putAway = (turn: string) => {
  const aside = `${turn}.${process.pid}`
  try {
    renameSync(turn, aside)
    if (isOld(aside)) rmSync(aside, { recursive: true })
    else renameSync(aside, turn)
  } catch {} // another was first
}

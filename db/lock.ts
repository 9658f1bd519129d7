// One process at a time on the embedded database: two on one folder lose each other's rows without a word.
// The file also tells our own commands where the server is, so that they can work through it.
import { mkdirSync, readFileSync, renameSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Holder {
  pid: number
  born: string // tells a recycled pid from the process that wrote the file, where the system can say
  url?: string
  secret?: string // opens the server's commands to those who can read this file
}

export class FolderInUse extends Error {
  constructor(
    folder: string,
    readonly holder: Holder,
  ) {
    const at = holder.url ? ` at ${holder.url}` : ''
    super(
      `${folder} is in use by process ${holder.pid}${at}. Stop it first, or set DATA_DIR to another folder, or DATABASE_URL to a Postgres.`,
    )
  }
}

/** Takes the folder for this process; throws FolderInUse while another lives. Never by age: only a dead holder loses it. */
export const lockFolder = (folder: string) => {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const file = join(folder, 'lock')
  const me: Holder = { pid: process.pid, born: bornAt(process.pid) }
  takeTurn(folder, () => {
    const holder = readHolder(folder)
    if (holder && alive(holder)) throw new FolderInUse(folder, holder)
    replace(file, me)
  })
  return {
    announce: (url: string, secret: string) => replace(file, { ...me, url, secret }),
    release: () => rmSync(file, { force: true }),
  }
}

/** Who holds the folder now, dead or alive; undefined when nobody does. */
export const readHolder = (folder: string): Holder | undefined => {
  try {
    return JSON.parse(readFileSync(join(folder, 'lock'), 'utf8')) as Holder
  } catch {
    return undefined
  }
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

// Looking and taking are one step: a folder that only one process can make. A turn lasts microseconds, so an old one was cut short.
const takeTurn = (folder: string, act: () => void) => {
  const turn = join(folder, 'lock.turn')
  for (;;) {
    try {
      mkdirSync(turn)
      break
    } catch {
      if (Date.now() - (statSync(turn, { throwIfNoEntry: false })?.mtimeMs ?? 0) > 2_000) rmSync(turn, { recursive: true, force: true })
      else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20)
    }
  }
  try {
    act()
  } finally {
    rmdirSync(turn)
  }
}

// Which processes run above one: a client's hook and its agent's shell have the client in common.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

export interface Process {
  pid: number
  /** When it started, as the system writes it: another process may get the same number later. */
  start: string
}

interface Ancestor extends Process {
  parent: number
  name: string
}

const SHELLS = new Set(['sh', 'bash', 'dash', 'zsh', 'fish', 'ksh', 'ash', 'busybox', 'env', 'timeout', 'nohup'])
const MOST = 32

/** The processes above `pid`, nearest first, without the shells between it and the first program. Empty where the system does not tell. */
export const ancestorsOf = (pid: number): Process[] => {
  const above: Ancestor[] = []
  for (let each = find(find(pid)?.parent); each && each.pid > 1 && above.length < MOST; each = find(each.parent)) above.push(each)
  const first = above.findIndex(({ name }) => !SHELLS.has(name))
  return first < 0 ? [] : above.slice(first).map(({ pid: one, start }) => ({ pid: one, start }))
}

export const isRunning = ({ pid, start }: Process): boolean => find(pid)?.start === start

export const sameProcess = (a: Process | undefined, b: Process | undefined): boolean =>
  a !== undefined && b !== undefined && a.pid === b.pid && a.start === b.start

export const processOf = (pid: number): Process | undefined => {
  const found = find(pid)
  return found && { pid, start: found.start }
}

const find = (pid: number | undefined): Ancestor | undefined =>
  pid === undefined ? undefined : process.platform === 'linux' ? inProc(pid) : byPs(pid)

const PARENT_AT = 1 // fields of /proc/PID/stat after the name
const START_AT = 19

const inProc = (pid: number): Ancestor | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const end = stat.lastIndexOf(')') // the name may hold blanks and parentheses
    const fields = stat.slice(end + 2).split(' ')
    return { pid, parent: Number(fields[PARENT_AT]), start: fields[START_AT]!, name: stat.slice(stat.indexOf('(') + 1, end) }
  } catch {
    return undefined
  }
}

const byPs = (pid: number): Ancestor | undefined => {
  // Without LC_ALL it writes the time as its user's language does, and without TZ as the zone has it where the machine is now.
  const words = ['LC_ALL=C', 'TZ=UTC0', 'ps', '-o', 'ppid=,lstart=,comm=', '-p', String(pid)]
  const { status, stdout } = spawnSync('env', words, { encoding: 'utf8' })
  const [, parent, start, path] = (status === 0 && /^\s*(\d+)\s+(\w+\s+\w+\s+\d+\s+[\d:]+\s+\d+)\s+(.+?)\s*$/.exec(stdout)) || []
  return parent === undefined ? undefined : { pid, parent: Number(parent), start: start!, name: path!.split('/').at(-1)!.replace(/^-/, '') }
}

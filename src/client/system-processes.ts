// Processes as the system tells of them: Linux in /proc, other systems by `ps`.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

export interface SystemProcess {
  pid: number
  parent: number
  /** When it started, as the system writes it: another process may get the same number later. */
  start: string
  /** A letter, Z for one that has ended. */
  state: string
  name: string
}

const STATE_AT = 0 // fields of /proc/PID/stat after the name
const PARENT_AT = 1
const START_AT = 19

/** Undefined for a process that is not there. */
export const inProc = (pid: number): SystemProcess | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const end = stat.lastIndexOf(')') // the name may hold blanks and parentheses
    const fields = stat.slice(end + 2).split(' ')
    const name = stat.slice(stat.indexOf('(') + 1, end)
    return { pid, parent: Number(fields[PARENT_AT]), start: fields[START_AT]!, state: fields[STATE_AT]!, name }
  } catch {
    return undefined
  }
}

const LARGEST_LIST = 64 * 1024 * 1024

/** What `ps` prints. Without LC_ALL it writes times as its user's language does, and without TZ as the zone has them where the machine is now. */
export const ps = (...words: string[]): string => {
  const { stdout } = spawnSync('env', ['LC_ALL=C', 'TZ=UTC0', 'ps', ...words], { encoding: 'utf8', maxBuffer: LARGEST_LIST })
  return stdout ?? ''
}

/** A time as `ps` writes it in the column `lstart`, for a regular expression. */
export const START_SHAPE = String.raw`\w+\s+\w+\s+\d+\s+[\d:]+\s+\d+`

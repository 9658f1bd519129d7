// What other processes of this machine have used (Linux).
import { readdirSync, readFileSync } from 'node:fs'

const TICKS_PER_SECOND = 100 // USER_HZ, which is the same on every Linux that Bun runs on

interface Stat {
  parent: number
  own: number // seconds
  ended: number // seconds of its children that have ended
}

const statOf = (pid: number | string): Stat | undefined => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ') // the name before may hold anything
    const seconds = (first: number) => (Number(fields[first]) + Number(fields[first + 1])) / TICKS_PER_SECOND
    return { parent: Number(fields[1]), own: seconds(11), ended: seconds(13) }
  } catch {
    return undefined // it has ended
  }
}

/** Seconds of processor time that a process has used so far, without its children. */
export const cpuOf = (pid: number): number => statOf(pid)?.own ?? 0

/** The same of a process and all its children together, those that have ended too: of a Postgres server, with its postmaster's pid. */
export const cpuOfFamily = (pid: number): number => {
  const root = statOf(pid)
  if (!root) return 0
  const children = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? (statOf(name) ?? []) : []))
  return children.filter(({ parent }) => parent === pid).reduce((sum, { own }) => sum + own, root.own + root.ended)
}

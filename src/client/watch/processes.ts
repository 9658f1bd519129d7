// Which processes run above one: a client's hook and its agent's shell have the client in common.
import { inProc, ps, START_SHAPE, type SystemProcess } from '../system-processes.ts'

export type Process = Pick<SystemProcess, 'pid' | 'start'>
type Ancestor = Omit<SystemProcess, 'state'>

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

const ONE = new RegExp(`^\\s*(\\d+)\\s+(${START_SHAPE})\\s+(.+?)\\s*$`)

const byPs = (pid: number): Ancestor | undefined => {
  const [, parent, start, path] = ONE.exec(ps('-o', 'ppid=,lstart=,comm=', '-p', String(pid))) ?? []
  return parent === undefined ? undefined : { pid, parent: Number(parent), start: start!, name: path!.split('/').at(-1)!.replace(/^-/, '') }
}

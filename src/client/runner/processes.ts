// The processes of a task. Whatever a CLI starts inherits its environment, also what leaves its process group, its session and its parent:
// a variable there marks all of them, and by it they are found and ended.
import { readdirSync, readFileSync } from 'node:fs'
import { pause } from '../../core/runtime/pause.ts'
import { inProc, ps, START_SHAPE, type SystemProcess } from '../system-processes.ts'

// Its name does not begin with PARLEY_: variables of that kind are hidden from CLIs (secrets.ts).
const VARIABLE = 'AGENT_TASK_MARK'
const BETWEEN = ' '
const CHECK_EVERY_MS = 30

/** The environment with one more mark. A runner that is itself started by an agent keeps the mark of that one's task. */
export const marked = (env: Readonly<Record<string, string>>, mark: string): Record<string, string> => ({
  ...env,
  [VARIABLE]: [env[VARIABLE], mark].filter(Boolean).join(BETWEEN),
})

/** The mark of one task of a runner. `runnerMark` alone stands for all its tasks. */
export const taskMark = (runnerMark: string, taskId: string): string => `${runnerMark}.${taskId}`

interface ProcessEntry extends Pick<SystemProcess, 'pid' | 'parent' | 'start'> {
  marks: string[]
}

/** Ends everything that bears the mark, and what that has started: SIGTERM, after `graceMs` SIGKILL, until nothing is left or `withinMs`
 *  are over. Returns how many processes are left. */
export const endMarked = async (mark: string, { graceMs, withinMs }: { graceMs: number; withinMs: number }): Promise<number> => {
  const began = Date.now()
  const known = new Map<number, string>()
  const signalled = new Set<number>()
  for (let emptyBefore = false; ;) {
    const left = family(mark, known)
    // A process that is just becoming another program has no environment for a moment: one look is not enough.
    if (left.length === 0 && emptyBefore) return 0
    emptyBefore = left.length === 0
    const passed = Date.now() - began
    if (passed > withinMs) return left.length
    for (const { pid } of left) {
      if (passed >= graceMs) signal(pid, 'SIGKILL')
      else if (!signalled.has(pid)) signal(pid, 'SIGTERM')
      signalled.add(pid)
    }
    await pause(CHECK_EVERY_MS)
  }
}

/** Can processes be found here? Where not, what a task has started outlives it. */
export const canFindProcesses = (): boolean => process.platform === 'linux' || allByPs().length > 0

const running = (): ProcessEntry[] => (process.platform === 'linux' ? allInProc() : allByPs())

const signal = (pid: number, name: NodeJS.Signals) => {
  try {
    process.kill(pid, name)
  } catch {} // it has ended meanwhile
}

// The processes with the mark, their descendants, and those that an earlier call found (`known`: pid → start, which is added to): a program
// may clear its environment, and its parent may have ended since.
const family = (mark: string, known: Map<number, string>): ProcessEntry[] => {
  const all = running()
  const within = new Set<number>()
  for (const { pid, start, marks } of all) if (marks.some((each) => isOf(mark, each)) || known.get(pid) === start) within.add(pid)
  for (let more = true; more;) {
    more = false
    for (const { pid, parent } of all)
      if (within.has(parent) && !within.has(pid)) {
        within.add(pid)
        more = true
      }
  }
  within.delete(process.pid)
  const found = all.filter(({ pid }) => within.has(pid))
  for (const { pid, start } of found) known.set(pid, start)
  return found
}

const isOf = (mark: string, each: string) => each === mark || each.startsWith(`${mark}.`)

const allInProc = (): ProcessEntry[] =>
  readdirSync('/proc').flatMap((name) => {
    const pid = Number(name)
    const found = Number.isInteger(pid) ? inProc(pid) : undefined
    if (!found || 'ZX'.includes(found.state)) return [] // it has ended, and its parent may not have looked yet
    return [{ pid, parent: found.parent, start: found.start, marks: marksIn(environmentOf(pid)) }]
  })

const environmentOf = (pid: number): string[] => {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0')
  } catch {
    return [] // another user's
  }
}

const marksIn = (environment: string[]): string[] =>
  environment
    .find((entry) => entry.startsWith(`${VARIABLE}=`))
    ?.slice(VARIABLE.length + 1)
    .split(BETWEEN) ?? []

const EACH = new RegExp(`^\\s*(\\d+)\\s+(\\d+)\\s+(\\S+)\\s+(${START_SHAPE})\\s+(.*)$`)

// On a Mac `ps -E` shows environments, after the command and with blanks between all of it.
const allByPs = (): ProcessEntry[] =>
  ps('-axww', '-E', '-o', 'pid=,ppid=,stat=,lstart=,command=')
    .split('\n')
    .flatMap((line) => {
      const [, pid, parent, state, start, rest] = EACH.exec(line) ?? []
      if (rest === undefined || state!.startsWith('Z')) return []
      const value = new RegExp(` ${VARIABLE}=(.*)`).exec(rest)?.[1] ?? ''
      return [{ pid: Number(pid), parent: Number(parent), start: start!, marks: value.split(BETWEEN) }]
    })

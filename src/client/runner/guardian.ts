// A process beside the runner that outlives it: when the runner is gone, however it went, everything that its tasks have started is ended.
import { spawn, type ChildProcess } from 'node:child_process'
import type { Machine } from '../machine.ts'
import { dropKeyFilesOf } from './key-files.ts'
import { endMarked } from './processes.ts'
import { cliEnvironment } from './secrets.ts'

/** The word with which this program is started as a guardian; no command for people. */
export const GUARDIAN = 'runner-guardian'

const GRACE_MS = 500
const WITHIN_MS = 60_000
const AGAIN_AFTER_MS = 1_000

/** Keeps a guardian running. The returned function lets it end. */
export const guarded = ({ runtime, program, env }: Machine, runnerMark: string): (() => void) => {
  let guardian: ChildProcess | undefined
  let again: ReturnType<typeof setTimeout> | undefined
  let over = false
  const start = () => {
    // A session of its own: what is sent to the runner's group, from a terminal or by kill, does not reach it.
    guardian = spawn(runtime, [program, GUARDIAN, runnerMark], {
      env: cliEnvironment(env),
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    })
    guardian.on('error', () => {})
    guardian.stdin!.on('error', () => {})
    guardian.once('close', () => {
      if (!over) again = setTimeout(start, AGAIN_AFTER_MS)
    })
    guardian.unref()
  }
  start()
  return () => {
    over = true
    clearTimeout(again)
    guardian?.stdin?.end()
  }
}

/** What the guardian does: waits for the end of the runner, which holds the other end of its standard input, and cleans up. */
export const guardRunner = async ({ input }: Machine, runnerMark: string): Promise<number> => {
  const runner = process.ppid
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => {})
  input.resume()
  await new Promise<void>((resolve) => {
    for (const event of ['end', 'close', 'error']) input.once(event, () => resolve())
  })
  const left = await endMarked(runnerMark, { graceMs: GRACE_MS, withinMs: WITHIN_MS })
  dropKeyFilesOf(runner)
  return left === 0 ? 0 : 1
}

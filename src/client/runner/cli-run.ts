// One run of an agent's CLI: started in its folder and with its mark, ended when it is done or when somebody wants it to end, and nothing of
// it is left behind.
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { pause } from '../../core/runtime/pause.ts'
import { failed, type Driver, type Job, type Listener, type Result, type Running, type Spawn } from './drivers/driver.ts'
import { endMarked, marked } from './processes.ts'

// After an interrupt all is gone within 2 s: 0.8 s in which the CLI may say how it ended and exit, then 0.3 s between SIGTERM and SIGKILL.
const TO_SAY_MS = 800
const TO_EXIT_MS = 600 // Claude Code writes its transcript after its result: killed at once, the turn was missing in some runs
const GRACE_MS = 300
const KILLING_MS = 3_000
const LAST_WORD_MS = 1_000

export interface CliRun {
  /** How it ended, once nothing of it is left. It never rejects. */
  ended: Promise<Result>
  /** Ends it. */
  stop(): void
}

/** `warn`: told of what cannot be ended. */
export const runCli = (driver: Driver, job: Job, listener: Listener, mark: string, warn: (line: string) => void): CliRun => {
  const children: ChildProcessWithoutNullStreams[] = []
  let stopped = false
  let stop!: () => void
  const asked = new Promise<undefined>((resolve) => (stop = () => resolve(undefined)))
  const [spawnMarked, gone] = markedSpawn(mark, children)
  const work = async (): Promise<Result> => {
    const running = started(driver, job, listener, spawnMarked)
    // `gone` ends the wait for a CLI that has exited while something that it started still holds its output open.
    let result = await Promise.race([running.ended, asked, gone])
    if (stopped) running.interrupt()
    if (stopped) result ??= await within(TO_SAY_MS, running.ended)
    for (const child of children) child.stdin.end()
    if (!stopped) await within(TO_EXIT_MS, Promise.all(children.map(exited)))
    const left = await endMarked(mark, { graceMs: GRACE_MS, withinMs: KILLING_MS })
    if (left > 0) warn(`${left} process(es) that ${driver.agenticTool} has started could not be ended.`)
    return result ?? (await within(LAST_WORD_MS, running.ended)) ?? failed(`${driver.agenticTool} ended without a result.`)
  }
  return {
    ended: work().catch((error: Error) => failed(`${driver.agenticTool} could not be run: ${error.message}`)),
    stop() {
      stopped = true
      stop()
    },
  }
}

const started = (driver: Driver, job: Job, listener: Listener, spawnMarked: Spawn): Running => {
  const running = driver.start(job, listener, spawnMarked)
  return { ...running, interrupt: () => running.interrupt(), ended: running.ended.catch((error: Error) => failed(error.message)) }
}

// `gone` resolves a moment after the last of the children has exited.
const markedSpawn = (mark: string, children: ChildProcessWithoutNullStreams[]): [Spawn, Promise<undefined>] => {
  let leave!: () => void
  const gone = new Promise<undefined>((resolve) => (leave = () => resolve(undefined)))
  const spawnMarked: Spawn = ([program, ...words], { folder, env }) => {
    // A process group of its own: Ctrl+C in the runner's terminal is for the runner alone.
    const child = spawn(program!, words, { cwd: folder, env: marked(env, mark), stdio: 'pipe', detached: true })
    for (const part of [child, child.stdin, child.stdout, child.stderr]) part.on('error', () => {}) // the driver hears it too
    children.push(child)
    void exited(child).then(async () => {
      await pause(TO_EXIT_MS)
      if (children.every(hasExited)) leave()
    })
    return child
  }
  return [spawnMarked, gone]
}

const hasExited = ({ pid, exitCode, signalCode }: ChildProcessWithoutNullStreams) =>
  pid === undefined || exitCode !== null || signalCode !== null

const exited = (child: ChildProcessWithoutNullStreams): Promise<void> =>
  new Promise((resolve) => {
    if (hasExited(child)) return setImmediate(resolve)
    child.once('exit', () => resolve())
    child.once('error', () => resolve())
  })

const within = <Value>(ms: number, promise: Promise<Value>): Promise<Value | undefined> => {
  let timer: ReturnType<typeof setTimeout>
  const late = new Promise<undefined>((resolve) => (timer = setTimeout(() => resolve(undefined), ms)))
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

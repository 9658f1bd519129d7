// The real server as a child process, the way an operator runs it: for faults, races and whole sessions.
import { spawn, type ChildProcess } from 'node:child_process'
import { closeSync, cpSync, existsSync, mkdtempSync, openSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { folderOfRun, madeForAll } from './empty.ts'
import { dumpOfEmpty } from './pglite.ts'

export interface TestServer {
  url: string
  port: number
  /** The folder of the embedded database; it outlives a kill and a restart. */
  folder: string
  readonly pid: number
  readonly running: boolean
  /** Everything it has printed since the first start. What it printed before it answered a request is there when the answer is. */
  output(): string
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>
  /** SIGTERM; resolves with the exit code and the milliseconds until then. */
  terminate(): Promise<{ code: number | null; ms: number }>
  /** Starts it again on the same folder and port, as this program from now on; milliseconds until /readyz is green. */
  restart(program?: string): Promise<number>
  /** Ends the process, if it runs, and removes the folder. */
  remove(): Promise<void>
}

export const THIS_PROGRAM = join(import.meta.dir, '../..')
const READY_WITHIN_MS = 170_000 // for what hangs: it takes a second or two, and more than a minute on a very busy machine

/** `program`: the folder of another version of it. */
export const startServer = async (environment: Record<string, string> = {}, program = THIS_PROGRAM): Promise<TestServer> => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-test-'))
  if (!environment.DATABASE_URL) await emptyFolderAt(folder)
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  // A file, not a pipe: what a pipe brings may come after the answer to a request that was printed before.
  const printed = `${folder}.log`
  const output = () => readFileSync(printed, 'utf8')
  let child: ChildProcess | undefined
  let pid = 0

  const start = async (next = program) => {
    const from = performance.now()
    program = next
    const file = openSync(printed, 'a')
    const started = run([], { DATA_DIR: folder, PORT: String(port), ...environment }, file, program)
    closeSync(file)
    child = started
    pid = started.pid!
    started.once('exit', () => child === started && (child = undefined))
    await untilReady(url, () => child === started, output)
    return performance.now() - from
  }
  const end = async (signal: NodeJS.Signals) => {
    const ending = child
    if (!ending) return { code: null, ms: 0 }
    const from = performance.now()
    const exit = new Promise<number | null>((resolve) => ending.once('exit', resolve))
    ending.kill(signal)
    return { code: await exit, ms: performance.now() - from }
  }
  const remove = async () => {
    await end('SIGKILL')
    for (const path of [folder, printed]) rmSync(path, { recursive: true, force: true })
  }

  await start().catch(async (error) => {
    await remove()
    throw error
  })
  return {
    url,
    port,
    folder,
    get pid() {
      return pid
    },
    get running() {
      return child !== undefined
    },
    output,
    kill: async () => void (await end('SIGKILL')),
    terminate: () => end('SIGTERM'),
    restart: start,
    remove,
  }
}

/** A data folder with an empty embedded database at this path: for tests whose subject is no first start, which takes three seconds of
 *  processor time. */
export const emptyFolderAt = async (path: string): Promise<string> => {
  cpSync(await emptyFolder(), path, { recursive: true })
  return path
}

// Made once for all files of a process: a first start takes seconds, to copy its folder a fraction of one.
const OWN = join(tmpdir(), `parley-test-empty-${process.pid}`)

const emptyFolder = async (): Promise<string> => {
  if (madeForAll) return madeForAll.folder
  if (existsSync(OWN)) return OWN
  await makeEmptyDatabase(OWN)
  // `bun test` ends without an exit event; the shell's input closes however we end.
  spawn('/bin/sh', ['-c', 'cat; rm -rf "$1"', 'parley-test-guard', OWN], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  }).unref()
  return OWN
}

/** Makes a data folder with an empty embedded database, unless it is there. Returns what one in memory is loaded from. */
export const makeEmptyDatabase = async (folder: string): Promise<Blob> => {
  const making = mkdtempSync(join(tmpdir(), 'parley-test-'))
  const dump = await dumpOfEmpty(join(making, 'pg'))
  if (existsSync(folder)) rmSync(making, { recursive: true })
  else renameSync(making, folder)
  return dump
}

/** Runs `bun src/server.ts …` until it ends by itself: for starts that fail and for commands. `output` is all that it printed. */
export const runServer = async (args: string[], environment: Record<string, string>, withinMs = READY_WITHIN_MS) => {
  const printed: string[] = []
  let stdout = ''
  const from = performance.now()
  const child = run(args, environment, 'pipe')
  for (const stream of [child.stdout!, child.stderr!]) stream.on('data', (chunk: Buffer) => printed.push(chunk.toString()))
  child.stdout!.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
  const timer = setTimeout(() => child.kill('SIGKILL'), withinMs)
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  clearTimeout(timer)
  return { code, ms: performance.now() - from, output: printed.join(''), stdout }
}

/** Starts `bun src/server.ts …` and leaves it alone, for tests that end it themselves. `output`: where it prints to. */
export const spawnServer = (
  environment: Record<string, string>,
  output: 'ignore' | 'pipe' | number = 'ignore',
  args: string[] = [],
): ChildProcess => run(args, environment, output)

export const gone = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => (child.exitCode === null && child.signalCode === null ? child.once('exit', () => resolve()) : resolve()))

// The last steps of compiling, the embedded database's and JavaScript's, pay after minutes: they are a seventh of such a process's time.
const LITTLE_COMPILING = { BUN_JSC_useOMGJIT: '0', BUN_JSC_useFTLJIT: '0' }

// In a folder without .env files, and with nothing of our own environment that would configure it.
const run = (
  args: string[],
  environment: Record<string, string>,
  output: 'pipe' | 'ignore' | number,
  program = THIS_PROGRAM,
): ChildProcess => {
  const { PATH = '', HOME = '' } = process.env
  return spawn(process.execPath, [join(program, 'src/server.ts'), ...args], {
    cwd: tmpdir(),
    env: { PATH, HOME, NODE_ENV: 'production', ...LITTLE_COMPILING, ...environment }, // as `bun run start` does
    stdio: ['ignore', output, output],
  })
}

const untilReady = async (url: string, alive: () => boolean, output: () => string) => {
  const deadline = performance.now() + READY_WITHIN_MS
  for (;;) {
    const ready = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(2_000) }).then(
      (response) => response.ok,
      () => false,
    )
    if (ready) return
    if (!alive()) throw new Error(`The server ended before it was ready:\n${output()}`)
    if (performance.now() > deadline) throw new Error(`The server was not ready in time:\n${output()}`)
    await sleep(10)
  }
}

/** A port that nobody else of this run is given, also while its server is down. */
// Below the range that the system hands out to clients: a client that dials a port nobody listens on, while the server is down,
// can be given that very port and end up talking to itself.
export const freePort = async (): Promise<number> => {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 12_000)
    if (isNewHere(port) && (await isFree(port))) return port
  }
}

const isNewHere = (port: number): boolean => {
  if (folderOfRun === undefined) return true
  try {
    closeSync(openSync(join(folderOfRun, `port-${port}`), 'wx'))
    return true
  } catch {
    return false
  }
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const probe = createServer().once('error', () => resolve(false))
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
  })

// The whole suite: static checks, then all tests, with a browser and a Postgres that it starts and ends itself.
//   bun run test            MCP is tested on the embedded database, REST on both
//   bun run test --all      both on both
//   bun run test PATH…      these tests alone
import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { ensureChromium } from './support/browser.ts'
import { startPostgres, type TestPostgres } from './support/postgres.ts'

type Step = { name: string; seconds: string; failed: boolean }

const SIGNALS = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 }

const HANGS_MS = '180000' // of one test: for what hangs, not for what a busy machine takes its time for

const only = process.argv.slice(2).filter((word) => word !== '--all')
const all = process.argv.includes('--all')
const started = performance.now()
const steps: Step[] = []
const running = new Set<ChildProcess>()
let interrupted: keyof typeof SIGNALS | undefined

const main = async (): Promise<void> => {
  const browser = hasBrowserTests() ? await timed('browser', ensureBrowser) : undefined
  if (!interrupted) await withPostgres((database) => runAll(database, browser))
}

const hasBrowserTests = (): boolean => {
  const folder = join(import.meta.dir, 'browser')
  return existsSync(folder) && readdirSync(folder, { recursive: true }).some((name) => /\.test\.tsx?$/.test(String(name)))
}

const ensureBrowser = async (): Promise<string> => {
  const path = await ensureChromium()
  console.log(`Browser: ${path}`)
  return path
}

const withPostgres = async (run: (database: TestPostgres) => Promise<void>): Promise<void> => {
  const database = await timed('postgres', () => startPostgres())
  console.log(`PostgreSQL ${database.version} from ${database.origin}`)
  try {
    await run(database)
  } finally {
    await database.stop()
  }
}

const runAll = async (database: TestPostgres, browser: string | undefined): Promise<void> => {
  await step('styles, scripts, client', ['components/styles.ts'], {}) // once: tests that start servers beside each other read what it writes
  if (only.length === 0) await step('static checks', ['tests/check.ts', '--static'], {})
  const runs: Record<string, string[]> =
    only.length > 0
      ? { 'bun test': only }
      : {
          browser: [pathOf('browser')],
          ...faults(),
          'history, stores, import': ['history', 'stores', 'import'].map(pathOf),
          'all other tests': otherTests(),
          conformance: [pathOf('conformance')],
        }
  const waiting = Object.entries(runs)
  const worker = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift())
      await step(next[0], ['test', '--timeout', HANGS_MS, ...next[1]], testEnv(database, browser))
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
}

// Twice as many as there are cores: the faults mostly wait, and a browser does a third of the time.
const AT_ONCE = 2 * availableParallelism()

const APART = ['browser', 'conformance', 'faults', 'history', 'import', 'stores']
const pathOf = (folder: string) => `tests/${folder}/`

// These tests mostly wait, for a process or a connection that they killed, froze or cut to come back. In two halves they wait at the same time.
const faults = (): Record<string, string[]> => {
  const files = readdirSync(join(import.meta.dir, 'faults'))
    .filter((name) => name.endsWith('.test.ts'))
    .toSorted()
  const half = (odd: number) => files.filter((_, n) => n % 2 === odd).map((name) => `tests/faults/${name}`)
  return { 'faults, one half': half(0), 'the other half': half(1) }
}

const otherTests = (): string[] =>
  readdirSync(import.meta.dir, { withFileTypes: true })
    .filter((entry) => (entry.isDirectory() ? !APART.includes(entry.name) : /\.test\.tsx?$/.test(entry.name)))
    .map((entry) => (entry.isDirectory() ? pathOf(entry.name) : `tests/${entry.name}`))

const testEnv = ({ url, pid, dir, port }: TestPostgres, browser: string | undefined): Record<string, string> => ({
  TEST_DATABASE_URL: url,
  ...(pid ? { PARLEY_TEST_POSTGRES: JSON.stringify({ pid, dir, port }) } : {}),
  ...(browser ? { CHROMIUM_PATH: browser } : {}),
  ...(all ? { PARLEY_TEST_ALL: '1' } : {}),
})

// Its failure is in the summary, and the other steps go on.
const step = async (name: string, args: string[], env: Record<string, string>): Promise<void> => {
  if (interrupted) return
  await timed(name, () => runBun(args, env)).catch(() => {})
}

const runBun = (args: string[], env: Record<string, string>): Promise<void> =>
  new Promise((resolve, reject) => {
    const options = { cwd: join(import.meta.dir, '..'), env: { ...process.env, ...env }, stdio: 'inherit' as const }
    const child = spawn(process.execPath, args, options).once('error', reject)
    running.add(child)
    child.once('exit', (code) => {
      running.delete(child)
      if (code === 0) resolve()
      else reject(new Error(`ended with ${code}`))
    })
  })

const timed = async <T>(name: string, run: () => Promise<T>): Promise<T> => {
  const from = performance.now()
  const result: Step = { name, seconds: '', failed: true }
  steps.push(result)
  try {
    const value = await run()
    result.failed = false
    return value
  } finally {
    result.seconds = secondsSince(from)
  }
}

const secondsSince = (from: number): string => `${((performance.now() - from) / 1000).toFixed(1)} s`

const summary = (): string => {
  const times = steps.map(({ name, seconds, failed }) => `${name} ${seconds}${failed ? ' FAILED' : ''}`)
  return [...times, `total ${secondsSince(started)}`].join(', ')
}

const interrupt = (signal: keyof typeof SIGNALS): void => {
  interrupted = signal
  for (const child of running) child.kill(signal)
}

for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) process.on(signal, () => interrupt(signal))

await main().catch((error) => {
  console.error(error)
  if (steps.every(({ failed }) => !failed)) steps.push({ name: 'clean-up', seconds: '', failed: true })
})
console.log(summary())
process.exit(interrupted ? SIGNALS[interrupted] : steps.some(({ failed }) => failed) ? 1 : 0)

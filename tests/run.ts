// The whole suite: static checks, then all tests, with a browser and a Postgres that it starts and ends itself.
//   bun run test            over REST and MCP; on both databases what support/parley.ts says, the rest on Postgres
//   bun run test --all      all of it on both
//   bun run test --timings  notes how long each file takes, so that the longest begin first
//   bun run test PATH…      these tests alone
import type { ChildProcess } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { ensureChromium } from './support/browser.ts'
import { startPostgres, type TestPostgres } from './support/postgres.ts'
import { runBun, withEmptyDatabases, withFilesInMemory } from './support/whole-run.ts'

type Step = { name: string; seconds: string; failed: boolean }

const SIGNALS = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 }

const HANGS_MS = '180000' // of one test: for what hangs, not for what a busy machine takes its time for

const FLAGS = ['--all', '--timings']
const only = process.argv.slice(2).filter((word) => !FLAGS.includes(word))
const [all, measures] = FLAGS.map((flag) => process.argv.includes(flag))
const started = performance.now()
const steps: Step[] = []
const running = new Set<ChildProcess>()
let interrupted: keyof typeof SIGNALS | undefined

const runWithBrowser = async (): Promise<void> => {
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
  const whole = only.length === 0
  const audit = whole && step('vulnerable packages', ['tests/audit.ts'], {}) // waits for a registry, which no test need wait for
  const checks = whole && step('static checks', ['tests/check.ts', '--static'], {})
  const make = async (args: string[]) => void (await Promise.all([step('empty databases', args, {}), checks])) // each is one thread
  await withEmptyDatabases(database, make, (env) =>
    step('tests', ['test', ...PARALLEL, ...(measures ? ['--update-timings'] : []), '--timeout', HANGS_MS, ...only], {
      ...env,
      ...(browser ? { CHROMIUM_PATH: browser } : {}),
      ...(all ? { PARLEY_TEST_ALL: '1' } : {}),
    }),
  )
  await audit
}

// Twice as many as there are cores: many tests wait, for a process or a connection that they killed, froze or cut to come back. More
// would leave each test too little of a slow machine. Each takes the longest file that nobody has begun, by what TIMINGS says, and keeps the
// modules that the one before has loaded.
// In milliseconds, of the short form and of the long one; `--timings` measures them anew.
const TIMINGS = process.env.FULL ? 'tests/timings-full.json' : 'tests/timings.json'
const PARALLEL = [`--parallel=${2 * availableParallelism()}`, '--no-isolate', `--timings=${TIMINGS}`]

// Its failure is in the summary, and the other steps go on.
const step = async (name: string, args: string[], env: Record<string, string>): Promise<void> => {
  if (interrupted) return
  await timed(name, () => runStep(args, env)).catch(() => {})
}

const runStep = async (args: string[], env: Record<string, string>): Promise<void> => {
  let child: ChildProcess | undefined
  const begun = (process: ChildProcess) => void running.add((child = process))
  await runBun(args, { cwd: join(import.meta.dir, '..'), env }, begun).finally(() => child && running.delete(child))
}

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

await withFilesInMemory(runWithBrowser).catch((error) => {
  console.error(error)
  if (steps.every(({ failed }) => !failed)) steps.push({ name: 'clean-up', seconds: '', failed: true })
})
console.log(summary())
process.exit(interrupted ? SIGNALS[interrupted] : steps.some(({ failed }) => failed) ? 1 : 0)

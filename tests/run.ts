// The whole suite: static checks, then all tests, with a browser and a Postgres that it starts and ends itself.
//   bun run test            each test on both databases: over MCP on the embedded one, over REST on Postgres; doors and pages on Postgres
//   bun run test --all      all of it on both
//   bun run test --timings  notes how long each file takes, so that the longest begin first
//   bun run test PATH…      these tests alone
import { spawn, type ChildProcess } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs'
import { availableParallelism, freemem, tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureChromium } from './support/browser.ts'
import { VARIABLE } from './support/empty.ts'
import { emptyDatabase, startPostgres, TEMPLATE, type TestPostgres } from './support/postgres.ts'

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

const main = async (): Promise<void> => {
  const place = placeInMemory()
  if (place !== undefined) process.env.TMPDIR = place // of this process, and so of all that it starts
  try {
    await runWithBrowser()
  } finally {
    if (place !== undefined) rmSync(place, { recursive: true, force: true })
  }
}

// Hundreds of databases and data folders are made and thrown away: in memory where there is room, since nobody cuts its power.
const MEMORY = '/dev/shm'
const ROOM_BYTES = 6 * 1024 ** 3

const placeInMemory = (): string | undefined => {
  if (!existsSync(MEMORY)) return undefined
  const { bavail, bsize } = statfsSync(MEMORY)
  if (Math.min(bavail * bsize, freemem()) < ROOM_BYTES) return undefined
  const place = mkdtempSync(join(MEMORY, 'parley-'))
  chmodSync(place, 0o755) // the Postgres in it runs as a user of its own
  // However this process ends: its input closes then.
  const guard = spawn('/bin/sh', ['-c', 'trap "" HUP INT TERM; cat; rm -rf "$1"', 'parley-test-guard', place], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  guard.unref()
  return place
}

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
  if (only.length === 0) {
    await step('static checks', ['tests/check.ts', '--static'], {})
    await step('vulnerable packages', ['tests/audit.ts'], {})
  }
  const empty = mkdtempSync(join(tmpdir(), 'parley-test-'))
  const template = await emptyDatabase(database.url)
  try {
    await step('empty databases', ['tests/make-empty.ts', empty, template.url], {})
    const env = { ...testEnv(database, browser), [VARIABLE]: empty, [TEMPLATE]: template.name }
    await step('tests', ['test', ...PARALLEL, ...(measures ? ['--update-timings'] : []), '--timeout', HANGS_MS, ...only], env)
  } finally {
    await template.drop()
    rmSync(empty, { recursive: true, force: true })
  }
}

// Twice as many as there are cores: many tests wait, for a process or a connection that they killed, froze or cut to come back. More
// would leave each test too little of a slow machine. Each takes the longest file that nobody has begun, by what TIMINGS says, and keeps the
// modules that the one before has loaded.
const TIMINGS = 'tests/timings.json' // in milliseconds; `bun run test --timings` measures them anew
const PARALLEL = [`--parallel=${2 * availableParallelism()}`, '--no-isolate', `--timings=${TIMINGS}`]

// A process of tests lives for minutes. In that time neither the last step of compiling WebAssembly, which is the embedded database's, nor
// giving memory back to the system pays: without them the same tests take a third less processor time (26 s, then 17 s, for tests/conformance/board
// and feed).
const CHEAPER = { BUN_JSC_useOMGJIT: '0', MIMALLOC_PURGE_DELAY: '-1' }

const testEnv = ({ url, pid, dir, port }: TestPostgres, browser: string | undefined): Record<string, string> => ({
  ...CHEAPER,
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

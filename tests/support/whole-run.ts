// What a whole run gives all of its test processes: a folder in memory, empty databases that are made once, and settings by which they take
// less processor time.
import { spawn, type ChildProcess } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { freemem, tmpdir } from 'node:os'
import { join } from 'node:path'
import { VARIABLE } from './empty.ts'
import { emptyDatabase, TEMPLATE, type TestPostgres } from './postgres.ts'

// Hundreds of databases and data folders are made and thrown away: in memory where there is room, since nobody cuts its power.
const MEMORY = '/dev/shm'
const ROOM_BYTES = 6 * 1024 ** 3

/** Does the work with temporary files in memory, where there is room: those of this process, and so of all that it starts. */
export const withFilesInMemory = async (work: () => Promise<void>): Promise<void> => {
  const place = placeInMemory()
  if (place !== undefined) process.env.TMPDIR = place
  try {
    await work()
  } finally {
    if (place !== undefined) rmSync(place, { recursive: true, force: true })
  }
}

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

// A process of tests lives for minutes. In that time neither the last step of compiling WebAssembly, which is the embedded database's, nor
// giving memory back to the system pays: without them the same tests take a third less processor time (26 s, then 17 s, for tests/conformance/board
// and feed).
const CHEAPER = { BUN_JSC_useOMGJIT: '0', MIMALLOC_PURGE_DELAY: '-1' }

/** Makes the empty databases that `make` fills, and does the work with the variables that lead tests to them. */
export const withEmptyDatabases = async (
  { url, pid, dir, port }: TestPostgres,
  make: (args: string[]) => Promise<void>,
  work: (env: Record<string, string>) => Promise<void>,
): Promise<void> => {
  const empty = mkdtempSync(join(tmpdir(), 'parley-test-'))
  const template = await emptyDatabase(url)
  try {
    await make(['tests/make-empty.ts', empty, template.url])
    await work({
      ...CHEAPER,
      TEST_DATABASE_URL: url,
      ...(pid ? { PARLEY_TEST_POSTGRES: JSON.stringify({ pid, dir, port }) } : {}),
      [VARIABLE]: empty,
      [TEMPLATE]: template.name,
    })
  } finally {
    await template.drop()
    rmSync(empty, { recursive: true, force: true })
  }
}

/** Runs Bun in a folder, and waits for its end. `begun` is given the process. Throws unless it ends with 0. */
export const runBun = (
  args: string[],
  { cwd, env = {}, quiet = false }: { cwd: string; env?: Record<string, string>; quiet?: boolean },
  begun: (child: ChildProcess) => void = () => {},
): Promise<void> =>
  new Promise((resolve, reject) => {
    const stdio = quiet ? ('ignore' as const) : ('inherit' as const)
    const child = spawn(process.execPath, args, { cwd, env: { ...process.env, ...env }, stdio }).once('error', reject)
    begun(child)
    child.once('exit', (code) => (code === 0 ? resolve() : reject(new Error(`ended with ${code}`))))
  })

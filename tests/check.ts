// `bun run check`: static checks, and the tests that need neither Postgres nor browser, in under a minute. `--static` leaves out the tests.
import { spawnSync } from 'node:child_process'

const STATIC = {
  types: ['bunx', 'tsc', '--noEmit', '-p', '.'],
  format: ['bunx', 'oxfmt', '--check'],
  lint: ['bunx', 'oxlint', '--deny-warnings'],
  unused: ['bunx', 'knip', '--no-progress'],
}
const QUICK = [
  'tests/quick',
  'tests/mutants',
  'tests/boundaries.test.ts',
  'tests/docs.test.ts',
  'tests/words.test.ts',
  'tests/requirements.test.ts',
]
const HANGS_MS = '60000' // no test here takes a second by itself; a busy machine may take many times as long
const TESTS = { tests: ['bun', 'test', '--timeout', HANGS_MS, ...QUICK] }

const steps: Record<string, string[]> = process.argv.includes('--static') ? STATIC : { ...STATIC, ...TESTS }
const failed: string[] = []
for (const [name, [command, ...args]] of Object.entries(steps)) {
  const begin = performance.now()
  const run = spawnSync(process.execPath, command === 'bunx' ? ['x', '--no-install', ...args] : args, { encoding: 'utf8' })
  const seconds = ((performance.now() - begin) / 1000).toFixed(1)
  console.log(`${run.status === 0 ? 'ok  ' : 'FAIL'} ${name.padEnd(8)} ${seconds} s`)
  if (run.status === 0) continue
  failed.push(name)
  console.log(`${run.stdout}${run.stderr}`)
}
if (failed.length > 0) console.log(`failed: ${failed.join(', ')}`)
process.exit(failed.length === 0 ? 0 : 1)

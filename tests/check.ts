// `bun run check`: static checks, and the tests that need neither Postgres nor browser, in under a minute. `--static` leaves out the tests.
import { spawn } from 'bun'

const STATIC = {
  types: ['bunx', 'tsc', '--noEmit', '-p', '.', '--checkers', '1'],
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

// All at once: each but the tests is one thread. Of several checkers of types each would read again what all need.
const run = async (name: string, [command, ...args]: string[]): Promise<boolean> => {
  const begin = performance.now()
  const child = spawn([process.execPath, ...(command === 'bunx' ? ['x', '--no-install'] : []), ...args], {
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err, status] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text(), child.exited])
  const seconds = ((performance.now() - begin) / 1000).toFixed(1)
  console.log(`${status === 0 ? 'ok  ' : 'FAIL'} ${name.padEnd(8)} ${seconds} s${status === 0 ? '' : `\n${out}${err}`}`)
  return status === 0
}

const passed = await Promise.all(Object.entries(steps).map(([name, words]) => run(name, words)))
const failed = Object.keys(steps).filter((_, i) => !passed[i])
if (failed.length > 0) console.log(`failed: ${failed.join(', ')}`)
process.exit(failed.length === 0 ? 0 : 1)

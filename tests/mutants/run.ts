// Do the tests bite? Each mutant of list.ts breaks one promise in a copy of this tree; the tests that it names must fail there.
//   bun run test:mutants            all of them, ten to twenty minutes
//   bun run test:mutants head key   those whose name has one of these words
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from '../support/postgres.ts'
import { MUTANTS, type Mutant } from './list.ts'

const ROOT = join(import.meta.dir, '..', '..')
const COPIED = ['src', 'db', 'components', 'public', 'tests', 'package.json', 'bunfig.toml', 'tsconfig.json', 'README.md', 'AGENTS.md']
const TEST_MAY_TAKE_MS = 60_000

type Verdict = 'killed' | 'SURVIVED' | 'the tests fail without it too' | 'its text is not in the file'

const words = process.argv.slice(2)
const chosen = MUTANTS.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)))
const postgres = await startPostgres()
const copy = mkdtempSync(join(tmpdir(), 'parley-mutants-'))
const unmutated = new Map<string, boolean>() // by the tests that were run: do they pass as things are?

const passes = (tests: string[]): boolean => {
  const env = { ...process.env, TEST_DATABASE_URL: postgres.url }
  const args = ['test', '--bail', '--timeout', String(TEST_MAY_TAKE_MS), ...tests]
  return spawnSync(process.execPath, args, { cwd: copy, env, stdio: 'ignore' }).status === 0
}

const judge = ({ file, from, to, tests }: Mutant): Verdict => {
  const path = join(copy, file)
  const text = readFileSync(path, 'utf8')
  if (text.split(from).length !== 2) return 'its text is not in the file' // or more than once
  const key = tests.join(' ')
  if (!unmutated.has(key)) unmutated.set(key, passes(tests))
  if (!unmutated.get(key)) return 'the tests fail without it too'
  writeFileSync(
    path,
    text.replace(from, () => to),
  )
  try {
    return passes(tests) ? 'SURVIVED' : 'killed'
  } finally {
    writeFileSync(path, text)
  }
}

let failed = 0
try {
  for (const name of COPIED) cpSync(join(ROOT, name), join(copy, name), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'))
  for (const mutant of chosen) {
    const begin = performance.now()
    const verdict = judge(mutant)
    if (verdict !== 'killed') failed++
    const seconds = ((performance.now() - begin) / 1_000).toFixed(0)
    console.log(`${verdict.padEnd(10)} ${seconds.padStart(4)} s  ${mutant.name}\n${' '.repeat(20)}breaks: ${mutant.breaks}`)
  }
} finally {
  rmSync(copy, { recursive: true, force: true })
  await postgres.stop()
}
console.log(`${chosen.length - failed} of ${chosen.length} mutants killed`)
process.exit(failed === 0 ? 0 : 1)

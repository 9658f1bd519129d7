// Do the tests bite? Each mutant of list.ts breaks one promise in a copy of this tree; the tests that it names must fail there.
//   bun run test:mutants            all of them, ten to twenty minutes
//   bun run test:mutants head key   those whose name has one of these words
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from '../support/postgres.ts'
import { runBun, withEmptyDatabases, withFilesInMemory } from '../support/whole-run.ts'
import { MUTANTS, type Mutant } from './list.ts'

const ROOT = join(import.meta.dir, '..', '..')
const COPIED = ['src', 'db', 'components', 'public', 'tests', 'package.json', 'bunfig.toml', 'tsconfig.json', 'README.md', 'AGENTS.md']
const TEST_MAY_TAKE_MS = 60_000

type Verdict = 'killed' | 'SURVIVED' | 'the tests fail without it too' | 'its text is not in the file'

const words = process.argv.slice(2)
const chosen = MUTANTS.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)))
const unmutated = new Map<string, Promise<boolean>>() // by the tests that are run: do they pass as things are?
let failed = 0

const main = async (): Promise<void> => {
  const postgres = await startPostgres()
  const make = (args: string[]) => runBun(args, { cwd: ROOT })
  try {
    await withEmptyDatabases(postgres, make, async (env) => {
      const waiting = [...chosen]
      const copies = Array.from({ length: availableParallelism() }, copyOfTree)
      const untouched = copyOfTree()
      const judgeAll = async (copy: string) => {
        for (let mutant = waiting.shift(); mutant; mutant = waiting.shift()) {
          const begin = performance.now()
          report(mutant, await judge(mutant, copy, untouched, env), performance.now() - begin)
        }
      }
      await Promise.all(copies.map(judgeAll)).finally(() => {
        for (const copy of [...copies, untouched]) rmSync(copy, { recursive: true, force: true })
      })
    })
  } finally {
    await postgres.stop()
  }
}

const copyOfTree = (): string => {
  const copy = mkdtempSync(join(tmpdir(), 'parley-mutants-'))
  for (const name of COPIED) cpSync(join(ROOT, name), join(copy, name), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'))
  return copy
}

const judge = async ({ file, from, to, tests }: Mutant, copy: string, untouched: string, env: Record<string, string>): Promise<Verdict> => {
  const path = join(copy, file)
  const text = readFileSync(path, 'utf8')
  if (text.split(from).length !== 2) return 'its text is not in the file' // or more than once
  const key = tests.join(' ')
  if (!unmutated.has(key)) unmutated.set(key, passes(tests, untouched, env))
  if (!(await unmutated.get(key))) return 'the tests fail without it too'
  writeFileSync(
    path,
    text.replace(from, () => to),
  )
  try {
    return (await passes(tests, copy, env)) ? 'SURVIVED' : 'killed'
  } finally {
    writeFileSync(path, text)
  }
}

const passes = (tests: string[], cwd: string, env: Record<string, string>): Promise<boolean> =>
  runBun(['test', '--bail', '--timeout', String(TEST_MAY_TAKE_MS), ...tests], { cwd, env, quiet: true }).then(
    () => true,
    () => false,
  )

const report = ({ name, breaks }: Mutant, verdict: Verdict, ms: number): void => {
  if (verdict !== 'killed') failed++
  console.log(`${verdict.padEnd(10)} ${(ms / 1_000).toFixed(0).padStart(4)} s  ${name}\n${' '.repeat(20)}breaks: ${breaks}`)
}

await withFilesInMemory(main)
console.log(`${chosen.length - failed} of ${chosen.length} mutants killed`)
process.exit(failed === 0 ? 0 : 1)

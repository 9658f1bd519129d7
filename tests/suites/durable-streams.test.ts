// The conformance suite of the Durable Streams protocol, as it is, against the feeds of a Parley: order, offsets, reads that resume, waits
// and event streams that miss nothing, retries that are applied once, and the end. durable-streams/adapter.ts translates. Its generated cases
// (fast-check) take as long as all others together: the long form has them.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { FULL } from '../support/full.ts'
import { startParley, type Parley } from '../support/parley.ts'
import { durableStreams } from './durable-streams/adapter.ts'
import LEFT_OUT from './durable-streams/left-out.json' with { type: 'json' }

const SUITE = Bun.resolveSync('@durable-streams/server-conformance-tests', import.meta.dir)
const RUNNER = join(dirname(Bun.resolveSync('vitest/package.json', SUITE)), 'vitest.mjs')
const WITHIN_MS = 170_000 // for what hangs
const GENERATED =
  'Property-Based Tests \\(fast-check\\) (Byte-Exactness|Operation Sequence|Immutability|Offset Validation|Sequence Ordering)'
const GENERATED_CASES = 9

/** Of these the suite says nothing, whatever we do. */
const SHOWS_NOTHING = 'Green though the stream that it is about was refused (501): it shows nothing.'

interface Case {
  name: string
  status: 'passed' | 'failed' | 'pending' | 'skipped'
  why: string
}

let parley: Parley
let server: ReturnType<typeof Bun.serve>
let folder: string
let cases: Case[]
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'parley-durable-streams-'))
  parley = await startParley({ engine: 'postgres' })
  server = Bun.serve({ port: 0, hostname: '127.0.0.1', idleTimeout: 60, fetch: durableStreams(parley) })
  cases = await run(`http://127.0.0.1:${server.port}`)
}, 360_000)
afterAll(async () => {
  await server?.stop(true)
  await parley?.close()
  rmSync(folder, { recursive: true, force: true })
}, 180_000)

/** What became of each case. */
const run = async (baseUrl: string): Promise<Case[]> => {
  const results = join(folder, 'results.json')
  const options = JSON.stringify({ baseUrl, subscriptions: true })
  writeFileSync(
    join(folder, 'suite.test.mjs'),
    `import { runConformanceTests } from ${JSON.stringify(SUITE)}\nrunConformanceTests(${options})\n`,
  )
  const again = ['--retry=2'] // its own clients give up after two seconds
  const beside = ['--sequence.concurrent', '--maxConcurrency=4'] // what is refused waits for seconds, each time
  const written = ['--reporter=json', `--outputFile=${results}`]
  const args = [RUNNER, 'run', '--root', folder, ...written, `--testTimeout=${WITHIN_MS}`, ...again, ...beside]
  if (!FULL) args.push('--testNamePattern', `^(?!${GENERATED})`)
  const child = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'], timeout: WITHIN_MS * 2 })
  const printed: string[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => printed.push(chunk.toString()))
  await new Promise((resolve) => child.once('close', resolve))
  if (!(await Bun.file(results).exists())) throw new Error(`The suite left no results:\n${printed.join('')}`)
  const { testResults } = (await Bun.file(results).json()) as { testResults: { assertionResults: Assertion[] }[] }
  return testResults.flatMap(({ assertionResults }) => assertionResults.map(caseOf))
}

interface Assertion {
  ancestorTitles: string[]
  title: string
  status: Case['status']
  failureMessages: string[]
}

const nameOf = (groups: readonly string[], title: string) => [...groups, title].join(' > ')

const caseOf = ({ ancestorTitles, title, status, failureMessages }: Assertion): Case => ({
  name: nameOf(ancestorTitles, title),
  status,
  why: failureMessages.join('\n').slice(0, 1_000),
})

const namesLeftOut = (because: (reason: string) => boolean): string[] =>
  Object.entries(LEFT_OUT)
    .filter(([reason]) => because(reason))
    .flatMap(([, groups]) => Object.entries(groups).flatMap(([group, titles]) => titles.map((title) => nameOf([group], title))))
    .toSorted()

const namesThat = (became: Case['status'], among = cases) =>
  among
    .filter(({ status }) => status === became)
    .map(({ name }) => name)
    .toSorted()

test('every case that applies passes, the generated ones in the long form', () => {
  const leftOut = new Set(namesLeftOut(() => true))
  const apply = cases.filter(({ name }) => !leftOut.has(name))
  expect(apply.filter(({ status }) => status === 'failed')).toEqual([])
  expect(namesThat('pending', apply).length + namesThat('skipped', apply).length).toBe(FULL ? 0 : GENERATED_CASES)
  expect(namesThat('passed', apply).length).toBe(FULL ? 218 : 218 - GENERATED_CASES)
})

test('every other case is left out for a reason, and each still has it', () => {
  const reasons = namesLeftOut((reason) => reason !== SHOWS_NOTHING)
  expect(namesThat('failed')).toEqual(reasons)
})

test('of the cases that pass and show nothing none is counted', () => {
  const passed = new Set(namesThat('passed'))
  expect(namesLeftOut((reason) => reason === SHOWS_NOTHING).filter((name) => !passed.has(name))).toEqual([])
})

// PROMISES.md says what is there: each test that it names exists, and no row is missing.
import { expect, test } from 'bun:test'
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const page = readFileSync(join(import.meta.dir, 'PROMISES.md'), 'utf8')
const rows = [...page.matchAll(/^\| ([PRBS]\d+) \| (.+) \|$/gm)].map(([, id, rest]) => ({ id: id!, cells: rest!.split(' | ') }))

const all = (letter: string, last: number) => Array.from({ length: last }, (_, n) => `${letter}${n + 1}`)

test('each promise, fault, bad input and attack has its row, with its four cells', () => {
  expect(rows.map(({ id }) => id)).toEqual([...all('P', 11), ...all('R', 27), ...all('B', 4), ...all('S', 14)])
  expect(rows.filter(({ cells }) => cells.length !== 4).map(({ id }) => id)).toEqual([])
})

// A name stands in its file as it is written there, within its quotes: `%s` and `${…}` included.
const placeOf = (source: string, name: string): number =>
  [`'${name}'`, `\`${name}\``, `"${name}"`].map((quoted) => source.indexOf(quoted)).find((at) => at >= 0) ?? -1

// The call of the test, and each `describe` around it: the line before with less indentation, and so on.
const opening = (source: string, at: number): string[] => {
  const lines = source.slice(0, at).split('\n')
  const opened = [lines.pop()!]
  for (const line of lines.reverse()) if (line.trim() !== '' && indentation(line) < indentation(opened.at(-1)!)) opened.push(line)
  return opened
}
const indentation = (line: string): number => line.length - line.trimStart().length

const named = rows.map(({ id, cells }) => ({
  id,
  tests: [...cells[2]!.matchAll(/`([^`]+\.test\.ts) › ([^`]+)`/g)].map(([what, file, name]) => {
    const path = join(import.meta.dir, '..', file!)
    const source = existsSync(path) ? readFileSync(path, 'utf8') : ''
    const at = placeOf(source, name!)
    return { what, isThere: at >= 0, isLong: opening(source, at).some((line) => line.includes('skipIf(!FULL)')) }
  }),
}))

test('each row names its tests, and every test that it names is there', () => {
  expect(named.filter(({ tests }) => tests.length === 0)).toEqual([])
  expect(named.flatMap(({ id, tests }) => tests.filter(({ isThere }) => !isThere).map(({ what }) => `${id}: ${what}`))).toEqual([])
})

test('of each row a test is in the short form', () => {
  const long = named.flatMap(({ tests }) => tests.filter(({ isLong }) => isLong).map(({ what }) => what))
  expect(long.length).toBeGreaterThan(0) // such tests are told from the others
  expect(named.filter(({ tests }) => tests.every(({ isLong }) => isLong)).map(({ id }) => id)).toEqual([])
})

// `bun run test:faults` names the files of the long form by a search.
test('the long form runs each test file that has one', () => {
  const script = JSON.parse(readFileSync(join(import.meta.dir, '../../package.json'), 'utf8')).scripts['test:faults'] as string
  const words = execFileSync('sh', ['-c', `echo ${/run\.ts (.+)$/.exec(script)![1]}`], {
    cwd: join(import.meta.dir, '../..'),
    encoding: 'utf8',
  })
  const named = words.trim().split(/\s+/)
  const long = [...new Bun.Glob('tests/**/*.test.{ts,tsx}').scanSync(join(import.meta.dir, '../..'))].filter((path) =>
    readFileSync(join(import.meta.dir, '../..', path), 'utf8').includes('support/full.ts'),
  )
  expect(long.filter((path) => !named.some((word) => path === word || path.startsWith(`${word}/`)))).toEqual([])
})

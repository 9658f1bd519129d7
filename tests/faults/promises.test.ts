// PROMISES.md says what is there: each test that it names exists, and no row is missing.
import { expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const page = readFileSync(join(import.meta.dir, 'PROMISES.md'), 'utf8')
const rows = [...page.matchAll(/^\| ([PRBS]\d+) \| (.+) \|$/gm)].map(([, id, rest]) => ({ id: id!, cells: rest!.split(' | ') }))

const all = (letter: string, last: number) => Array.from({ length: last }, (_, n) => `${letter}${n + 1}`)

test('each promise, fault, bad input and attack has its row, with its four cells', () => {
  expect(rows.map(({ id }) => id)).toEqual([...all('P', 11), ...all('R', 27), ...all('B', 4), ...all('S', 14)])
  expect(rows.filter(({ cells }) => cells.length !== 4).map(({ id }) => id)).toEqual([])
})

// A name stands in its file as it is written there, within its quotes: `%s` and `${…}` included. Returns the line that it stands in.
const lineOf = (file: string, name: string): string | undefined => {
  const path = join(import.meta.dir, '..', file)
  if (!existsSync(path)) return undefined
  const lines = readFileSync(path, 'utf8').split('\n')
  return lines.find((line) => [`'${name}'`, `\`${name}\``, `"${name}"`].some((quoted) => line.includes(quoted)))
}

const named = rows.map(({ id, cells }) => ({
  id,
  tests: [...cells[2]!.matchAll(/`([^`]+\.test\.ts) › ([^`]+)`/g)].map(([what, file, name]) => ({ what, line: lineOf(file!, name!) })),
}))

test('each row names its tests, and every test that it names is there', () => {
  expect(named.filter(({ tests }) => tests.length === 0)).toEqual([])
  expect(named.flatMap(({ id, tests }) => tests.filter(({ line }) => line === undefined).map(({ what }) => `${id}: ${what}`))).toEqual([])
})

test('of each row a test is in the short form', () => {
  expect(named.filter(({ tests }) => tests.every(({ line }) => line?.includes('skipIf(!FULL)'))).map(({ id }) => id)).toEqual([])
})

// Whether two paths of work overlap, held against every file of a small tree.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { overlapping, overlappingOnes, stepsForAll } from '../../src/core/text/overlapping-paths.ts'
import { namesMeet, pathCovers, pathProblem, patternOf, patternsOverlap, plainPath } from '../../src/core/text/path-overlap.ts'
import { cpuMs } from '../support/cpu.ts'
import { DRAWN, FULL } from '../support/full.ts'
import { pathsOverlap } from '../support/paths-overlap.ts'

// Folders, and files by their extension; every name may stand anywhere, files at the end alone.
const FOLDERS = ['a', 'b', 'ab']
const FILES = ['a.ts', 'b.ts', 'ab.ts', 'a.md', 'b.md', 'ab.md']
const DEEPEST = 6 // two paths of three names meet no deeper

const TREE: string[][] = (() => {
  const folders: string[][][] = [[[]]]
  for (let depth = 1; depth <= DEEPEST; depth++) folders.push(folders[depth - 1]!.flatMap((path) => FOLDERS.map((name) => [...path, name])))
  const inFolders = folders.slice(0, DEEPEST).flat()
  return [...folders.slice(1).flat(), ...inFolders.flatMap((path) => FILES.map((name) => [...path, name]))]
})()

// What a path means, as a regular expression: itself, and all below.
const meaningOf = (path: string): RegExp => {
  const body = path
    .split('/')
    .map((name) => (name === '**' ? '(?:[^/]+/)*' : `${name.replaceAll('.', '\\.').replaceAll('*', '[^/]*')}/`))
    .join('')
  return new RegExp(`^${body}(?:[^/]+/)*$`)
}
const covers = (path: string, file: string[]) => meaningOf(path).test(`${file.join('/')}/`)

const folder = fc.constantFrom(...FOLDERS, 'a*', '*b', '*', '**')
const last = fc.oneof(folder, fc.constantFrom(...FILES, '*.ts', 'a*.ts', '*.md'))
const path = fc.tuple(fc.array(folder, { maxLength: 2 }), last).map(([above, name]) => [...above, name].join('/'))

test('paths that are made to be slow are compared in a few steps, and many of them in no more than a call has', () => {
  const slow = [
    `*${'a'.repeat(28)}*${'b'.repeat(28)}*`,
    `*a*a*a*a*a*${'a'.repeat(40)}`,
    `**/${'a/'.repeat(28)}b`,
    `**/a*/**/a*/**/a*x`,
    `**/${'ab*/'.repeat(5)}${'x/'.repeat(22)}c`,
  ]
  for (const one of slow) expect(pathProblem(one), one).toBeUndefined()
  for (const one of [`*${'a*'.repeat(6)}`, `${'a'.repeat(60)}*`, 'a/'.repeat(31)]) expect(pathProblem(`${one}b`), one).toBeString()
  for (const one of slow)
    for (const other of slow) {
      const steps = { left: 10_000 }
      patternsOverlap(patternOf(one), patternOf(other), steps)
      expect(steps.left, `${one} and ${other}`).toBeGreaterThan(8_000)
    }
  expect(stepsForAll().left).toBeLessThanOrEqual(100_000) // 20 ms
  for (const one of slow) {
    const steps = stepsForAll()
    const verdicts = new Set(many(one, 'd').map(overlapping(many(one, 'c'), steps)))
    expect(steps.left, one).toBeGreaterThan(-200)
    expect(verdicts.has('untold'), one).toBe(steps.left < 0)
  }
})

const many = (start: string, end: string) => Array.from({ length: 1_000 }, (_, i) => `${start}${i}${end}`)

test('of many paths those that overlap one of many others are found exactly, and plain ones without a comparison', () => {
  fc.assert(
    fc.property(fc.array(path, { maxLength: 8 }), fc.array(path, { maxLength: 8 }), (held, wanted) => {
      const overlaps = overlapping(held, stepsForAll())
      const ones = held.map((each, place) => ({ path: each, place }))
      const find = overlappingOnes(ones, stepsForAll())
      for (const one of wanted) {
        const theirs = ones.filter((other) => pathsOverlap(one, other.path))
        expect(overlaps(one), `${one} and ${held.join(' ')}`).toBe(theirs.length > 0)
        expect(find(one).toSorted((a, b) => a.place - b.place)).toEqual(theirs)
      }
    }),
    { ...DRAWN, numRuns: 400 },
  )
  const steps = stepsForAll()
  const overlaps = overlapping(many('src/pages/', '.ts'), steps)
  expect(many('src/pages/', '.tsx').some(overlaps)).toBe(false)
  expect(steps).toEqual(stepsForAll())
  expect(['src', 'src/pages/7.ts', 'SRC/pages/7.ts/x', 'src/page'].map(overlaps)).toEqual([true, true, true, false])
})

test('once the steps have run out, what shares no leading names is still told apart, and what may overlap does', () => {
  const overlaps = overlapping(['src/*a'], { left: -1 })
  expect(overlaps('src/x')).toBe('untold')
  expect(overlaps('docs/x')).toBe(false)
})

describe('two paths overlap exactly when one file lies under both', () => {
  test('of all files in a tree', () => {
    fc.assert(
      fc.property(path, path, (a, b) => {
        const [inA, inB] = [meaningOf(a), meaningOf(b)]
        const both = TREE.some((file) => inA.test(`${file.join('/')}/`) && inB.test(`${file.join('/')}/`))
        expect(pathsOverlap(a, b), `${a} and ${b}`).toBe(both)
        expect(pathsOverlap(b, a), `${b} and ${a}`).toBe(both)
      }),
      { ...DRAWN, numRuns: 400 },
    )
  })

  test('a file lies under a path as its pattern says', () => {
    fc.assert(
      fc.property(path, fc.constantFrom(...TREE), (pattern, file) => {
        expect(pathCovers(pattern, file.join('/')), `${pattern} and ${file.join('/')}`).toBe(covers(pattern, file))
      }),
      { ...DRAWN, numRuns: FULL ? 2_000 : 600 },
    )
  })

  test('names with stars meet exactly when one name could be both', () => {
    const names = ['']
    for (let from = 0; names.at(-1)!.length < 8; from++) names.push(`${names[from]}a`, `${names[from]}b`)
    const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 4 }).filter((name) => !name.includes('**'))
    const matches = (name: string) => new RegExp(`^${name.replaceAll('*', '[ab]*')}$`)
    fc.assert(
      fc.property(pattern, pattern, (a, b) => {
        const both = names.some((name) => matches(a).test(name) && matches(b).test(name))
        expect(namesMeet(a, b), `${a} and ${b}`).toBe(both)
      }),
      { ...DRAWN, numRuns: FULL ? 2_000 : 600 },
    )
  })
})

test.each([
  ['src/parser', 'src/parser/lexer.ts', true],
  ['src/parser', 'src/parsers', false],
  ['src', '**/*.md', true],
  ['src/a.ts', '**/*.md', false], // a file is no folder …
  ['src/a.ts', 'src/a.ts/b.md', true], // … unless the other path says so
  ['src/v1.2', '**/*.md', true],
  ['.github', '**/*.yml', true],
  ['Makefile', '**/*.md', true], // it could be a folder
  ['b.*', '**/a.ts', true], // b.d could be a folder
  ['README.md', 'readme.MD', true],
  ['caf\u00e9/x', 'cafe\u0301/x', true],
  ['**', 'anything/at/all', true],
  ['docs/*.md', 'docs/guide/a.md', false],
  ['docs/*.md', 'docs/guide', false],
  ['a/**/z', 'a/z', true],
  ['a/**/z', 'b/**/z', false],
])('%s and %s: %p', (a, b, overlap) => {
  expect([pathsOverlap(a, b), pathsOverlap(b, a)]).toEqual([overlap, overlap])
})

test('a long path of stars is decided in no time', () => {
  const stars = Array.from({ length: 50 }, () => '**/a')
    .join('/')
    .slice(0, 200)
  const name = '*a'.repeat(100)
  const took = cpuMs(() => {
    expect(pathsOverlap(stars, `${stars.slice(0, 190)}/b`)).toBe(true)
    expect(pathsOverlap(`${name}b`, `${name}c`)).toBe(false)
  })
  expect(took).toBeLessThan(1_000)
})

test.each([
  ['/etc/passwd', 'relative'],
  ['C:/x', 'relative'],
  ['~/x', 'relative'],
  ['a/../b', 'no ..'],
  ['..', 'no ..'],
  ['a//b', 'name a file'],
  ['.', '**'],
  ['', 'name a file'],
  ['a/./b', 'name a file'],
  ['a\\b', 'with /'],
  ['a**b', '** alone'],
  ['src/{a,b}.ts', 'two paths'],
  ['!src', 'two paths'],
  ['a\nb', 'names'],
  ['x'.repeat(201), 'at most 200'],
])('%p is no path', (given, why) => {
  expect(pathProblem(given)).toContain(why)
})

test.each(['src', './src/', 'a/*.ts', '**', '**/x', 'app/[id]/page.tsx', '(group)/a b.ts', '.env', 'ü/ß', 'x'.repeat(200)])(
  '%p is a path',
  (given) => {
    expect(pathProblem(given)).toBeUndefined()
  },
)

test('a path is kept without ./ and a trailing /', () => {
  expect(['./src/parser/', ' src ', '././a'].map(plainPath)).toEqual(['src/parser', 'src', 'a'])
})

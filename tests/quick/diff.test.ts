import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { diffRows } from '../../components/document/diff-rows.ts'
import { diffLines, diffWords, type Diff, type LineEdit } from '../../src/core/text/diff.ts'
import { cpuMs } from '../support/cpu.ts'

const brief = (edits: LineEdit[]) => edits.map(({ kind, lines }) => `${{ same: ' ', added: '+', removed: '-' }[kind]}${lines.join('|')}`)
const side = (edits: LineEdit[], not: LineEdit['kind']) => edits.filter(({ kind }) => kind !== not).flatMap(({ lines }) => lines)
const textOf = (lines: string[]) => lines.map((line) => `${line}\n`).join('')

// A comparison gives up by the clock, and a process that was paused meanwhile has no time left: it is asked again.
const unhurried = (before: string, after: string, tries = 10): Diff => {
  const diff = diffLines(before, after)
  return diff.exact || tries === 1 ? diff : unhurried(before, after, tries - 1)
}

describe('the lines of two texts', () => {
  test.each([
    ['', '', []],
    ['', 'a\nb\n', ['+a|b']],
    ['a\nb', '', ['-a|b']],
    ['a\nb\nc', 'a\nB\nc', [' a', '-b', '+B', ' c']],
    ['a\nb\nc\nd', 'a\nc\nd\ne', [' a', '-b', ' c|d', '+e']],
    ['a\na\na', 'a\na', [' a|a', '-a']],
    ['a', 'a\n', [' a']],
    ['a\r\nb', 'a\nb', ['-a\r', '+a', ' b']],
    ['\n\n', '\n', [' ', '-']],
  ])('%j and %j', (before, after, expected) => {
    expect(brief(unhurried(before, after).edits)).toEqual(expected)
  })

  test('either side can be read off the edits, and as few lines change as can be', () => {
    const lines = fc.array(fc.constantFrom('', 'a', 'b', 'c', 'd', ' a'), { maxLength: 30 })
    fc.assert(
      fc.property(lines, lines, (before, after) => {
        const { edits, added, removed, exact } = unhurried(textOf(before), textOf(after))
        expect(side(edits, 'added')).toEqual(before)
        expect(side(edits, 'removed')).toEqual(after)
        expect(exact).toBe(true)
        const kept = before.length - removed
        expect([kept, after.length - added]).toEqual([common(before, after), common(before, after)])
      }),
      { seed: 7, numRuns: 300 },
    )
  })

  test('thousands of rewritten lines among others are found one by one', () => {
    const before = Array.from({ length: 6_000 }, (_, i) => `line ${i}`)
    const after = before.map((line, i) => (i % 2 ? line : `${line}, rewritten`))
    expect(unhurried(textOf(before), textOf(after))).toMatchObject({ added: 3_000, removed: 3_000, exact: true })
  })

  test.each([
    [
      'shuffled lines',
      textOf(Array.from({ length: 4_000 }, (_, i) => `${i}`)),
      textOf(Array.from({ length: 4_000 }, (_, i) => `${(i * 1_237) % 4_000}`)),
    ],
    ['512 KiB of one-letter lines', 'a\nb\n'.repeat(128 * 1024), 'b\nc\n'.repeat(128 * 1024)],
  ])('%s are given up in time, and still both sides are there', (_, before, after) => {
    let diff!: ReturnType<typeof diffLines>
    expect(cpuMs(() => (diff = diffLines(before, after)))).toBeLessThan(1_000) // 15 to 30 ms
    const { edits, exact } = diff
    expect(exact).toBe(false)
    expect(textOf(side(edits, 'added'))).toBe(before)
    expect(textOf(side(edits, 'removed'))).toBe(after)
  })
})

// The longest common subsequence by the book.
const common = (a: string[], b: string[]): number => {
  const row = Array<number>(b.length + 1).fill(0)
  for (const x of a) {
    let corner = 0
    b.forEach((y, j) => {
      const above = row[j + 1]!
      row[j + 1] = x === y ? corner + 1 : Math.max(above, row[j]!)
      corner = above
    })
  }
  return row.at(-1)!
}

describe('the words of two lines', () => {
  const marked = (words: { text: string; changed: boolean }[]) => words.map(({ text, changed }) => (changed ? `[${text}]` : text)).join('')

  test('those that changed are marked on either side', () => {
    const { before, after } = diffWords('ship it by Monday, all of it', 'ship it by Friday, all of it')!
    expect([marked(before), marked(after)]).toEqual(['ship it by [Monday], all of it', 'ship it by [Friday], all of it'])
  })

  test.each([
    ['nothing in common', 'one two three', 'four five six'],
    ['long lines', 'a '.repeat(400), 'a '.repeat(401)],
  ])('%s are shown whole', (_, before, after) => {
    expect(diffWords(before, after)).toBeUndefined()
  })
})

describe('the rows of a table', () => {
  const before = textOf(Array.from({ length: 100 }, (_, i) => `line ${i + 1}`))
  const diff = unhurried(before, before.replace('line 50\n', 'line fifty\nand more\n'))

  test('three lines stand around a change, the rest is folded, and numbers go on behind a fold', () => {
    const { rows, cut } = diffRows(diff, false, 100)
    expect(cut).toBe(false)
    expect(rows.map((row) => (row.kind === 'fold' ? row.lines : [row.before?.line, row.after?.line]))).toEqual([
      46,
      [47, 47],
      [48, 48],
      [49, 49],
      [50, undefined],
      [undefined, 50],
      [undefined, 51],
      [51, 52],
      [52, 53],
      [53, 54],
      47,
    ])
  })

  test('side by side, what was stands beside what is', () => {
    const { rows } = diffRows(diff, true, 100)
    const changed = rows.filter(({ kind }) => kind === 'changed')
    expect(changed).toMatchObject([{ before: { text: 'line 50' }, after: { text: 'line fifty' } }, { after: { text: 'and more' } }])
  })

  test('more rows than asked for are cut', () => {
    const all = unhurried('', 'x\n'.repeat(500))
    expect(diffRows(all, false, 100)).toMatchObject({ rows: { length: 100 }, cut: true })
    expect(diffRows(all, false, 500)).toMatchObject({ rows: { length: 500 }, cut: false })
  })
})

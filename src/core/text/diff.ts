// What changed between two texts, line by line and within a line. Limited in time and size: a diff takes the square of the number of
// lines that differ, and a document has up to 512 KiB.
import { diffArrays, diffWordsWithSpace } from 'diff'

export interface LineEdit {
  kind: 'same' | 'added' | 'removed'
  lines: string[]
}

export interface Diff {
  edits: LineEdit[]
  added: number
  removed: number
  /** false: the texts differ too much to compare in time; everything between the first and last difference counts as replaced. */
  exact: boolean
}

const TIME_LIMIT_MS = 15
const MOST_LINES = 40_000 // lines that differ, in both texts together: the diff takes up to 20 ms for so many before it first checks the time

/** The edits that turn `before` into `after`. A line break at the very end begins no line. */
export const diffLines = (before: string, after: string): Diff => {
  const [from, to] = [linesOf(before), linesOf(after)]
  const shorter = Math.min(from.length, to.length)
  let head = 0
  while (head < shorter && from[head] === to[head]) head++
  let tail = 0
  while (tail < shorter - head && from.at(-1 - tail) === to.at(-1 - tail)) tail++
  const [removed, added] = [from.slice(head, from.length - tail), to.slice(head, to.length - tail)]
  const pairs = keptLines(removed, added)
  const between = editsOf(removed, added, pairs ?? [])
  const count = (kind: LineEdit['kind']) => between.reduce((sum, edit) => sum + (edit.kind === kind ? edit.lines.length : 0), 0)
  const edits = [same(from.slice(0, head)), ...between, same(from.slice(from.length - tail))].filter(({ lines }) => lines.length > 0)
  return { edits, added: count('added'), removed: count('removed'), exact: pairs !== undefined }
}

const same = (lines: string[]): LineEdit => ({ kind: 'same', lines })

const linesOf = (text: string): string[] => {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines
}

type Pair = readonly [before: number, after: number]

/** The lines that stayed, each by its index before and after; undefined when the diff takes too long. */
const keptLines = (removed: string[], added: string[]): Pair[] | undefined => {
  if (removed.length === 0 || added.length === 0) return []
  if (removed.length + added.length > MOST_LINES) return undefined
  // A line that is in one text only cannot have stayed. Leaving these out, thousands of rewritten lines cost nothing.
  const [old, fresh] = [shared(removed, added), shared(added, removed)]
  const changes = diffArrays(old.lines, fresh.lines, { timeout: TIME_LIMIT_MS })
  if (!changes) return undefined
  const pairs: Pair[] = []
  let [i, j] = [0, 0]
  for (const { count, added, removed } of changes) {
    if (!added && !removed) for (let n = 0; n < count; n++) pairs.push([old.at[i + n]!, fresh.at[j + n]!])
    if (!added) i += count
    if (!removed) j += count
  }
  return pairs
}

const shared = (lines: string[], others: string[]) => {
  const known = new Set(others)
  const at = lines.flatMap((line, i) => (known.has(line) ? [i] : []))
  return { at, lines: at.map((i) => lines[i]!) }
}

const editsOf = (removed: string[], added: string[], pairs: Pair[]): LineEdit[] => {
  const edits: LineEdit[] = []
  const put = (kind: LineEdit['kind'], lines: string[]) => {
    const last = edits.at(-1)
    if (last?.kind === kind) last.lines.push(...lines)
    else if (lines.length > 0) edits.push({ kind, lines })
  }
  let [i, j] = [0, 0]
  for (const [before, after] of [...pairs, [removed.length, added.length] as const]) {
    put('removed', removed.slice(i, before))
    put('added', added.slice(j, after))
    put('same', removed.slice(before, before + 1))
    ;[i, j] = [before + 1, after + 1]
  }
  return edits
}

export interface WordRun {
  text: string
  changed: boolean
}

const LONGEST_LINE = 600
const MOST_WORDS = 40

/** A line that became another one, as runs of words on either side; undefined when the two have too little in common, or are too long. */
export const diffWords = (before: string, after: string): { before: WordRun[]; after: WordRun[] } | undefined => {
  if (Math.max(before.length, after.length) > LONGEST_LINE) return undefined
  const changes = diffWordsWithSpace(before, after, { maxEditLength: MOST_WORDS })
  const kept = changes?.reduce((sum, { added, removed, value }) => sum + (added || removed ? 0 : value.trim().length), 0) ?? 0
  if (!changes || kept * 3 < Math.max(before.length, after.length)) return undefined
  const side = (other: 'added' | 'removed', own: 'added' | 'removed') =>
    changes.filter((change) => !change[other]).map((change) => ({ text: change.value, changed: change[own] }))
  return { before: side('added', 'removed'), after: side('removed', 'added') }
}

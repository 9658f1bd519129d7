// What changed between two texts, line by line and within a line. Bounded, because finding the shortest way from one to the other takes the
// square of what differs, and a document has up to 512 KiB.
import { diffArrays, diffWordsWithSpace } from 'diff'

export interface Edit {
  kind: 'same' | 'added' | 'removed'
  lines: string[]
}

export interface Diff {
  edits: Edit[]
  added: number
  removed: number
  /** false: the texts differ too much to compare in time; everything between the first and last difference counts as replaced. */
  exact: boolean
}

const WITHIN_MS = 15
const MOST_LINES = 40_000 // both texts together, where they differ; 20 ms for what is done before the clock is looked at

/** The edits that turn `before` into `after`. A break at the very end makes no line of its own. */
export const diffLines = (before: string, after: string): Diff => {
  const [from, to] = [linesOf(before), linesOf(after)]
  const shorter = Math.min(from.length, to.length)
  let head = 0
  while (head < shorter && from[head] === to[head]) head++
  let tail = 0
  while (tail < shorter - head && from.at(-1 - tail) === to.at(-1 - tail)) tail++
  const [removed, added] = [from.slice(head, from.length - tail), to.slice(head, to.length - tail)]
  const pairs = pairsOf(removed, added)
  const between = editsOf(removed, added, pairs ?? [])
  const count = (kind: Edit['kind']) => between.reduce((sum, edit) => sum + (edit.kind === kind ? edit.lines.length : 0), 0)
  const edits = [same(from.slice(0, head)), ...between, same(from.slice(from.length - tail))].filter(({ lines }) => lines.length > 0)
  return { edits, added: count('added'), removed: count('removed'), exact: pairs !== undefined }
}

const same = (lines: string[]): Edit => ({ kind: 'same', lines })

const linesOf = (text: string): string[] => {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines
}

type Pair = readonly [before: number, after: number]

/** Which line stayed which; undefined when that takes too long to find out. */
const pairsOf = (removed: string[], added: string[]): Pair[] | undefined => {
  if (removed.length === 0 || added.length === 0) return []
  if (removed.length + added.length > MOST_LINES) return undefined
  // What only one text has cannot have stayed. Without it, thousands of rewritten lines among others cost nothing.
  const [old, fresh] = [shared(removed, added), shared(added, removed)]
  const changes = diffArrays(old.lines, fresh.lines, { timeout: WITHIN_MS })
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

const editsOf = (removed: string[], added: string[], pairs: Pair[]): Edit[] => {
  const edits: Edit[] = []
  const put = (kind: Edit['kind'], lines: string[]) => {
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

export interface Words {
  text: string
  changed: boolean
}

const LONGEST_LINE = 600
const MOST_WORDS = 40

/** One line that became another, as its words on either side; undefined when the two have too little in common to be shown so. */
export const diffWords = (before: string, after: string): { before: Words[]; after: Words[] } | undefined => {
  if (Math.max(before.length, after.length) > LONGEST_LINE) return undefined
  const changes = diffWordsWithSpace(before, after, { maxEditLength: MOST_WORDS })
  const kept = changes?.reduce((sum, { added, removed, value }) => sum + (added || removed ? 0 : value.trim().length), 0) ?? 0
  if (!changes || kept * 3 < Math.max(before.length, after.length)) return undefined
  const side = (other: 'added' | 'removed', own: 'added' | 'removed') =>
    changes.filter((change) => !change[other]).map((change) => ({ text: change.value, changed: change[own] }))
  return { before: side('added', 'removed'), after: side('removed', 'added') }
}

// A difference as the rows of a table: the changes with a few lines around them, the rest folded.
import { diffWords, type Diff, type LineEdit, type WordRun } from '../../src/core/text/diff.ts'

export interface DiffSide {
  line: number
  text: string
  /** The line word by word, where it became another. */
  words?: WordRun[] | undefined
}

export type DiffRow =
  | { kind: 'fold'; lines: number }
  | { kind: 'same'; before: DiffSide; after: DiffSide }
  | { kind: 'changed'; before: DiffSide | undefined; after: DiffSide | undefined }

const AROUND = 3
const WORD_BY_WORD = 60 // lines, each compared in less than a millisecond; the changed ones after them are shown as a whole

/** At most `limit` rows; `cut`: there would be more. A changed row of the unified view has one side, a row of the split view both. */
export const diffRows = ({ edits }: Diff, split: boolean, limit: number): { rows: DiffRow[]; cut: boolean } => {
  const rows: DiffRow[] = []
  const wordwise = { left: WORD_BY_WORD }
  const blocks = blocksOf(edits)
  for (const [i, block] of blocks.entries()) {
    if (rows.length > limit) break
    if (block.same) rows.push(...sameRows(block, i === 0 ? 0 : AROUND, i === blocks.length - 1 ? 0 : AROUND))
    else rows.push(...changedRows(sidesOf(block, limit + 1 - rows.length, wordwise), split))
  }
  return { rows: rows.slice(0, limit), cut: rows.length > limit }
}

/** Lines that stayed or were replaced, and how many lines of either text lie before them. */
interface Block {
  same: boolean
  before: number
  after: number
  old: string[]
  fresh: string[]
}

const blocksOf = (edits: LineEdit[]): Block[] => {
  let [before, after] = [0, 0]
  return edits.flatMap(({ kind, lines }, i) => {
    const next = edits[i + 1]
    if (kind === 'added' && edits[i - 1]?.kind === 'removed') return [] // is in the block of the lines that it replaces
    const old = kind === 'added' ? [] : lines
    const fresh = kind !== 'removed' ? lines : next?.kind === 'added' ? next.lines : []
    const block = { same: kind === 'same', before, after, old, fresh }
    before += old.length
    after += fresh.length
    return block
  })
}

const sameRows = ({ before, after, old }: Block, head: number, tail: number): DiffRow[] => {
  const rowsOf = (from: number, to: number) =>
    old.slice(from, to).map((text, n): DiffRow => {
      const line = from + n + 1
      return { kind: 'same', before: { line: before + line, text }, after: { line: after + line, text } }
    })
  const folded = old.length - head - tail
  if (folded <= 1) return rowsOf(0, old.length)
  return [...rowsOf(0, head), { kind: 'fold', lines: folded }, ...rowsOf(old.length - tail, old.length)]
}

interface Sides {
  removed: DiffSide[]
  added: DiffSide[]
}

const sidesOf = ({ before, after, old, fresh }: Block, most: number, wordwise: { left: number }): Sides => {
  const removed = old.slice(0, most).map((text, n): DiffSide => ({ line: before + n + 1, text }))
  const added = fresh.slice(0, most).map((text, n): DiffSide => ({ line: after + n + 1, text }))
  for (let n = 0; n < Math.min(removed.length, added.length) && wordwise.left > 0; n++, wordwise.left--) {
    const words = diffWords(removed[n]!.text, added[n]!.text)
    if (!words) continue
    removed[n]!.words = words.before
    added[n]!.words = words.after
  }
  return { removed, added }
}

const changedRows = ({ removed, added }: Sides, split: boolean): DiffRow[] => {
  const row = (before: DiffSide | undefined, after: DiffSide | undefined): DiffRow => ({ kind: 'changed', before, after })
  if (!split) return [...removed.map((side) => row(side, undefined)), ...added.map((side) => row(undefined, side))]
  const length = Math.max(removed.length, added.length)
  return Array.from({ length }, (_, n) => row(removed[n], added[n]))
}

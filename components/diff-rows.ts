// A difference as the rows of a table: the changes with a few lines around them, the rest folded.
import { diffWords, type Diff, type Words } from '../src/core/diff.ts'

export interface DiffSide {
  line: number
  text: string
  /** The line word by word, where it became another. */
  words?: Words[] | undefined
}

export type DiffRow =
  | { kind: 'fold'; lines: number }
  | { kind: 'same'; before: DiffSide; after: DiffSide }
  | { kind: 'changed'; before: DiffSide | undefined; after: DiffSide | undefined }

const AROUND = 3
const WORDS_WITHIN_MS = 8 // what is left then is shown as whole lines

/** At most `limit` rows; `cut` says that there would be more. Unified rows have one side each, those side by side both. */
export const diffRows = ({ edits }: Diff, split: boolean, limit: number): { rows: DiffRow[]; cut: boolean } => {
  const rows: DiffRow[] = []
  const until = performance.now() + WORDS_WITHIN_MS
  let [before, after] = [0, 0]
  const same = (lines: string[]) =>
    rows.push(...lines.map((text): DiffRow => ({ kind: 'same', before: { line: ++before, text }, after: { line: ++after, text } })))
  for (let i = 0; i < edits.length && rows.length <= limit; i++) {
    const { kind, lines } = edits[i]!
    if (kind === 'same') {
      const [head, tail] = [i === 0 ? 0 : AROUND, i === edits.length - 1 ? 0 : AROUND]
      const folded = Math.max(0, lines.length - head - tail)
      if (folded <= 1) {
        same(lines)
        continue
      }
      same(lines.slice(0, head))
      rows.push({ kind: 'fold', lines: folded })
      before += folded
      after += folded
      same(lines.slice(lines.length - tail))
      continue
    }
    const next = kind === 'removed' && edits[i + 1]?.kind === 'added' ? edits[++i]!.lines : []
    const [old, fresh] = kind === 'removed' ? [lines, next] : [[], lines]
    const most = limit + 1 - rows.length
    const removed = old.slice(0, most).map((text, n): DiffSide => ({ line: before + n + 1, text }))
    const added = fresh.slice(0, most).map((text, n): DiffSide => ({ line: after + n + 1, text }))
    for (let n = 0; n < Math.min(removed.length, added.length) && performance.now() < until; n++) {
      const words = diffWords(removed[n]!.text, added[n]!.text)
      if (!words) continue
      removed[n]!.words = words.before
      added[n]!.words = words.after
    }
    if (split) {
      for (let n = 0; n < Math.max(removed.length, added.length); n++) rows.push({ kind: 'changed', before: removed[n], after: added[n] })
    } else {
      rows.push(...removed.map((side): DiffRow => ({ kind: 'changed', before: side, after: undefined })))
      rows.push(...added.map((side): DiffRow => ({ kind: 'changed', before: undefined, after: side })))
    }
    before += old.length
    after += fresh.length
  }
  return { rows: rows.slice(0, limit), cut: rows.length > limit }
}

import type { ReactNode } from 'react'
import { diffLines, diffWords, type WordRun } from '../../src/core/text/diff.ts'
import { escapeInvisible } from '../../src/core/text/escape-invisible.ts'

const GONE = 'bg-destructive/25'
const NEW = 'bg-ok/30'

/** What became of a text, word by word: what went is struck through, what came is underlined. */
export const WordDiff = ({ before, after }: { before: string; after: string }) => {
  const { edits } = diffLines(before, after)
  return edits.map(({ kind, lines }, i) => {
    if (kind === 'same') return <Line key={i}>{escapeInvisible(lines.join('\n'))}</Line>
    const next = edits[i + 1]
    if (kind === 'added') return edits[i - 1]?.kind === 'removed' ? null : <Whole key={i} lines={lines} added />
    return next?.kind === 'added' ? <Became key={i} before={lines} after={next.lines} /> : <Whole key={i} lines={lines} />
  })
}

const Line = ({ children }: { children: ReactNode }) => (
  <p dir="auto" className="whitespace-pre-wrap wrap-anywhere">
    {children}
  </p>
)

// Lines that became others, each beside the one in its place.
const Became = ({ before, after }: { before: string[]; after: string[] }) =>
  Array.from({ length: Math.max(before.length, after.length) }, (_, i) => {
    const [old, fresh] = [before[i], after[i]]
    if (old === undefined) return <Whole key={i} lines={[fresh!]} added />
    if (fresh === undefined) return <Whole key={i} lines={[old]} />
    const words = diffWords(old, fresh)
    return (
      <Line key={i}>
        {words ? (
          <Woven {...words} />
        ) : (
          <>
            <del className={GONE}>{escapeInvisible(old)}</del> <ins className={NEW}>{escapeInvisible(fresh)}</ins>
          </>
        )}
      </Line>
    )
  })

// Both sides in one line: what is the same stands once.
const Woven = ({ before, after }: { before: WordRun[]; after: WordRun[] }) => {
  const parts: ReactNode[] = []
  let [i, j] = [0, 0]
  while (i < before.length || j < after.length) {
    if (before[i]?.changed) parts.push(<del key={parts.length} className={GONE} children={escapeInvisible(before[i++]!.text)} />)
    else if (after[j]?.changed) parts.push(<ins key={parts.length} className={NEW} children={escapeInvisible(after[j++]!.text)} />)
    else {
      parts.push(escapeInvisible((before[i++] ?? after[j])!.text))
      j++
    }
  }
  return parts
}

const Whole = ({ lines, added = false }: { lines: string[]; added?: boolean }) => {
  const text = escapeInvisible(lines.join('\n'))
  return <Line>{added ? <ins className={NEW}>{text}</ins> : <del className={GONE}>{text}</del>}</Line>
}

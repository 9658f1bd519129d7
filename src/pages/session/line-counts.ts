// How many lines came and went between two versions of a document: counted once and remembered, because a version never changes.
import { putBounded } from '../../core/bounded.ts'
import { diffLines } from '../../core/diff.ts'
import { pause } from '../../core/pause.ts'
import { versionTexts, type Edit } from '../../stores/documents.ts'
import type { Queries } from './feed.tsx'

export interface Changed {
  added: number
  removed: number
  /** false: at most as many. */
  exact: boolean
}

const KEPT = 5_000
const counted = new Map<string, Changed>()

const nameOf = (sessionId: string, from: number, to: number) => `${sessionId}/${from}/${to}`

/** From one version to another, if it was counted. */
export const knownLines = (sessionId: string, from: number, to: number): Changed | undefined => counted.get(nameOf(sessionId, from, to))

export const rememberLines = (sessionId: string, from: number, to: number, { added, removed, exact }: Changed): Changed => {
  const changed = { added, removed, exact }
  putBounded(counted, nameOf(sessionId, from, to), changed, KEPT)
  return changed
}

// What one page of the feed may read and take for it. What is left over is counted when it is seen again.
const LONGEST_BYTES = 64 * 1024
const ALL_BYTES = 256 * 1024
const WITHIN_MS = 50
const SHORT_BYTES = 4 * 1024 // counted whatever the clock says: the first of a process takes 20 ms, the others less than one
const TURN_MS = 5 // others get their turn then

/** What counting may still cost. */
export interface Budget {
  bytes: number
  ms: number
}
export const lineBudget = (): Budget => ({ bytes: ALL_BYTES, ms: WITHIN_MS })

/** Counts what these edits changed, the newest first, for as long as the budget lasts. */
export const countEdits = async (queries: Queries, sessionId: string, edits: Edit[], budget: Budget): Promise<void> => {
  const wanted = withinBudget(
    edits.filter(({ from, to }) => !knownLines(sessionId, from - 1, to)),
    budget,
  )
  if (wanted.length === 0) return
  const versions = new Set(wanted.flatMap(({ from, to }) => [from - 1, to]))
  const texts = await versionTexts(queries, sessionId, [...versions], LONGEST_BYTES)
  for (const { from, to } of wanted) {
    const [before, after] = [texts.get(from - 1), texts.get(to)]
    if (before === undefined || after === undefined) continue
    if (budget.ms <= 0 && Math.max(before.length, after.length) > SHORT_BYTES) continue
    const began = performance.now()
    rememberLines(sessionId, from - 1, to, diffLines(before, after))
    const took = performance.now() - began
    budget.ms -= took
    if (took > TURN_MS) await pause()
  }
}

const withinBudget = (edits: Edit[], budget: Budget): Edit[] =>
  edits.toReversed().filter(({ bytes }) => {
    if (bytes > LONGEST_BYTES || budget.bytes < 2 * bytes) return false
    budget.bytes -= 2 * bytes
    return true
  })

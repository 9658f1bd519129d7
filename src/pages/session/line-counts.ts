// How many lines came and went between two versions of a document: counted once and cached, because a version never changes.
import { LRUCache } from 'lru-cache'
import type { Queries } from '../../../db/database.ts'
import { diffLines } from '../../core/text/diff.ts'
import { pause } from '../../core/runtime/pause.ts'
import { versionTexts, type Edit } from '../../stores/documents.ts'

export interface LineCounts {
  added: number
  removed: number
  /** false: at most as many. */
  exact: boolean
}

const cache = new LRUCache<string, LineCounts>({ max: 5_000 })

const keyOf = (sessionId: string, from: number, to: number) => `${sessionId}/${from}/${to}`

/** The lines between two versions; undefined unless they were counted before. */
export const knownLines = (sessionId: string, from: number, to: number): LineCounts | undefined => cache.get(keyOf(sessionId, from, to))

/** Caches what a diff of two versions says, and returns that. */
export const rememberLines = (sessionId: string, from: number, to: number, { added, removed, exact }: LineCounts): LineCounts => {
  const counts = { added, removed, exact }
  cache.set(keyOf(sessionId, from, to), counts)
  return counts
}

// The most that one page of the feed reads, and spends, on counting. Edits left uncounted are counted at a later visit.
const LONGEST_BYTES = 64 * 1024
const ALL_BYTES = 256 * 1024
const WITHIN_MS = 50
const SHORT_BYTES = 4 * 1024 // counted even when the time is spent: a process's first diff takes 20 ms, each later one less than one
const SLICE_MS = 5 // after a diff that took as long, other requests get their turn

/** What counting may still cost. */
export interface LineBudget {
  bytes: number
  ms: number
}
export const lineBudget = (): LineBudget => ({ bytes: ALL_BYTES, ms: WITHIN_MS })

/** Counts the lines that these edits changed, the newest first, for as long as the budget lasts. */
export const countEdits = async (queries: Queries, sessionId: string, edits: Edit[], budget: LineBudget): Promise<void> => {
  const uncounted = edits.filter(({ from, to }) => !knownLines(sessionId, from - 1, to))
  const affordable = withinBudget(uncounted, budget)
  if (affordable.length === 0) return
  const versions = new Set(affordable.flatMap(({ from, to }) => [from - 1, to]))
  const texts = await versionTexts(queries, sessionId, [...versions], LONGEST_BYTES)
  for (const { from, to } of affordable) {
    const [before, after] = [texts.get(from - 1), texts.get(to)]
    if (before === undefined || after === undefined) continue
    if (budget.ms <= 0 && Math.max(before.length, after.length) > SHORT_BYTES) continue
    const began = performance.now()
    rememberLines(sessionId, from - 1, to, diffLines(before, after))
    const took = performance.now() - began
    budget.ms -= took
    if (took > SLICE_MS) await pause()
  }
}

const withinBudget = (edits: Edit[], budget: LineBudget): Edit[] =>
  edits.toReversed().filter(({ bytes }) => {
    if (bytes > LONGEST_BYTES || budget.bytes < 2 * bytes) return false
    budget.bytes -= 2 * bytes
    return true
  })

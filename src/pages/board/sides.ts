// What an open page knows of a session's board and records: who holds what, how much is done, and whether what is shown beside the feed is
// still what there is.
import type { HeldWork, SideCounts } from '../../../components/session/session-view.ts'
import { ago } from '../../../components/parts/time.ts'
import type { Queries } from '../../../db/database.ts'
import { sha256 } from '../../core/ids.ts'
import { boardFrom, boardOf, countsOf, heldBy, type Board } from '../../stores/records/board.ts'
import { recordsState } from '../../stores/records/record-pages.ts'
import { boardMark } from './board-view.ts'

export interface Sides {
  board: Board
  records: Awaited<ReturnType<typeof recordsState>>
}

/** Reads a session's board and the state of its records. Two statements. */
export const readSides = async (queries: Queries, sessionId: string, leaseS: number): Promise<Sides> => {
  const [board, records] = await Promise.all([boardOf(queries, sessionId, leaseS), recordsState(queries, sessionId)])
  return { board, records }
}

/** A session whose teams planned nothing, and in which nothing was approved. */
export const NO_SIDES: Sides = { board: boardFrom([]), records: { count: 0, changed: '0' } }

export const hasSides = ({ board, records }: Sides): boolean => board.rows.length > 0 || records.changed !== NO_SIDES.records.changed

export const sideCounts = ({ board, records }: Sides): SideCounts => {
  const { open, claimed, done } = countsOf(board)
  const total = open + claimed + done
  return { board: total === 0 ? '' : `${done}/${total}`, records: records.count === 0 ? '' : String(records.count) }
}

export const sideMarks = ({ board, records }: Sides) => ({ board: boardMark(board), records: recordsMark(records) })
export const recordsMark = ({ changed }: Sides['records']): string => sha256(changed).slice(0, 12)

const MINUTE_MS = 60_000

/** What a team holds, each with for how long, in minutes: an open page would change each second otherwise. */
export const holdsOf = ({ board }: Sides, teamId: string, now: number): HeldWork[] =>
  heldBy(board, teamId).map(({ id, title, claimedAt }) => ({
    id,
    title,
    since: claimedAt === null || now - Date.parse(claimedAt) < MINUTE_MS ? 'just now' : ago(claimedAt, now),
  }))

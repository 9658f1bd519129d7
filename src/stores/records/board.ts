// A session's board as one reading of its items tells it: what is ready, what waits for what, who holds what.
import type { Queries } from '../../../db/database.ts'
import { PRIORITIES } from '../../../db/records-schema.ts'
import { boardRows, type BoardRow } from './items.ts'

export interface Board {
  rows: BoardRow[]
  byId: Map<string, BoardRow>
}

export interface Counts {
  open: number
  ready: number
  claimed: number
  done: number
  dropped: number
}

/** All items of a session, in the order of planning. One statement. */
export const boardOf = async (queries: Queries, sessionId: string, leaseS: number): Promise<Board> =>
  boardFrom(await boardRows(queries, sessionId, leaseS))

export const boardFrom = (rows: BoardRow[]): Board => ({ rows, byId: new Map(rows.map((row) => [row.id, row])) })

/** The board as it is once this item of it has changed. */
export const withRow = ({ rows }: Board, changed: BoardRow): Board => boardFrom(rows.map((row) => (row.id === changed.id ? changed : row)))

const isOver = ({ status }: BoardRow): boolean => status === 'done' || status === 'dropped'

/** What it depends on and is neither done nor dropped. */
export const blockersOf = ({ byId }: Board, { dependsOn }: Pick<BoardRow, 'dependsOn'>): BoardRow[] =>
  dependsOn.map((id) => byId.get(id)).filter((row) => row !== undefined && !isOver(row)) as BoardRow[]

export const isReady = (board: Board, row: BoardRow): boolean => row.status === 'open' && blockersOf(board, row).length === 0

/** What is ready, the most urgent first, then the oldest. */
export const readyOf = (board: Board): BoardRow[] =>
  board.rows
    .filter((row) => isReady(board, row))
    .toSorted((a, b) => PRIORITIES.indexOf(a.priority) - PRIORITIES.indexOf(b.priority) || a.place - b.place)

export const countsOf = (board: Board): Counts => {
  const counts = { open: 0, ready: 0, claimed: 0, done: 0, dropped: 0 }
  for (const row of board.rows) counts[row.status]++
  return { ...counts, ready: readyOf(board).length }
}

/** What is neither done nor dropped, in the order of planning. */
export const unfinishedIn = ({ rows }: Board): BoardRow[] => rows.filter((row) => !isOver(row))

/** What a team holds, in the order of planning. */
export const heldBy = ({ rows }: Board, teamId: string): BoardRow[] =>
  rows.filter(({ status, claimedTeamId }) => status === 'claimed' && claimedTeamId === teamId)

// The part of the board that rooms show: who holds what, and what is unfinished. The board itself is a wing beyond (src/board).
import { oneLine } from '../../core/text/escape-invisible.ts'
import type { Queries } from '../../../db/database.ts'
import type { Services } from '../../process/services.ts'
import { blockersOf, boardOf, heldBy, isReady, readyOf, unfinishedIn, type Board } from '../../stores/records/board.ts'
import type { BoardRow } from '../../stores/records/items.ts'

/** The board of a session as it is now, to be shown: a claim whose lease is over counts as open, whether or not that is written down. */
export const boardNow = ({ config }: Pick<Services, 'config'>, queries: Queries, sessionId: string): Promise<Board> =>
  boardOf(queries, sessionId, config.CLAIM_LEASE)

export type Named = Pick<BoardRow, 'id' | 'title'>
export type ReadyItem = ReturnType<typeof idAndTitle>

/** An item as events and refusals name it. */
export const idAndTitle = ({ id, title }: Named) => ({ item_id: id, title })

/** The items that can be claimed in `after` and could not in `before`. */
export const newlyReady = (before: Board, after: Board): ReadyItem[] => {
  const known = new Set(readyOf(before).map(({ id }) => id))
  return readyOf(after)
    .filter(({ id }) => !known.has(id))
    .map(idAndTitle)
}

/** What a team holds, and since when. */
export const holdsOf = (board: Board, teamId: string) => heldBy(board, teamId).map((row) => ({ ...idAndTitle(row), since: row.claimedAt! }))

const MOST_LINES = 50

/** What is unfinished, as lines of Markdown; none for a board on which nothing is. `more`: where the rest is found. */
export const openWorkLines = (board: Board, more: string): string[] => {
  const rows = unfinishedIn(board)
  const lines = rows.slice(0, MOST_LINES).map((row) => `- “${oneLine(row.title)}”${stateOf(board, row)}`)
  return rows.length > MOST_LINES ? [...lines, `- and ${rows.length - MOST_LINES} more: ${more}`] : lines
}

const stateOf = (board: Board, row: BoardRow): string => {
  const priority = row.priority === 'medium' ? '' : `, ${row.priority} priority`
  if (row.status === 'claimed') return `${priority}: ${oneLine(row.claimedTeamName ?? '')} is at it`
  if (isReady(board, row)) return `${priority}: nobody is at it`
  const [first, ...others] = blockersOf(board, row)
  return `${priority}: waits for “${oneLine(first!.title)}”${others.length > 0 ? ` and ${others.length} more` : ''}`
}

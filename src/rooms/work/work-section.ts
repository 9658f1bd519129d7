// The section of catch_up on the board.
import { fitting, jsonLength } from '../../core/budget.ts'
import { teamOf, type Context } from '../../operations/context.ts'
import { countsOf, readyOf, unfinishedIn } from '../../stores/records/board.ts'
import type { BoardRow } from '../../stores/records/items.ts'
import { personIdOf } from '../../stores/records/persons.ts'
import type { CatchUpSection } from '../catch-up-sections.ts'
import { boardNow } from './open-work.ts'

const MOST_LISTED = 30

/** The team's own work, then what is ready, the most urgent first, and the counts of the board. */
export const workSection = async (context: Context): Promise<CatchUpSection> => {
  const { session, teamId, teamName } = teamOf(context)
  const board = await boardNow(context.services, context.queries, session.id)
  const me = personIdOf('team', teamName)
  const isMine = (row: BoardRow) => (row.status === 'claimed' ? row.claimedTeamId === teamId : row.ownerId === me)
  const own = unfinishedIn(board).filter(isMine)
  const ready = readyOf(board).filter((row) => !isMine(row))
  const within = (limit: number) => {
    const value = { mine: [] as object[], ready: [] as object[], counts: countsOf(board) }
    const room = limit - jsonLength(value)
    value.mine = fitting(own.slice(0, MOST_LISTED).map(mineRow), room)
    value.ready = fitting(ready.slice(0, MOST_LISTED).map(readyRow), room - jsonLength(value.mine))
    return { value, rows: value.mine.length + value.ready.length }
  }
  return { name: 'work', share: 0.3, total: own.length + ready.length, within }
}

const mineRow = ({ id, title, status, expiresAt, paths }: BoardRow) => ({
  item_id: id,
  title,
  status,
  ...(expiresAt && { claim_expires_at: expiresAt }),
  ...(paths.length > 0 && { paths }),
})
const readyRow = ({ id, title, priority }: BoardRow) => ({ item_id: id, title, priority })

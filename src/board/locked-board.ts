// The board that a write judges by: under its session's lock, with every claim written down whose lease is over.
import { refuse } from '../core/errors.ts'
import { isUuid } from '../core/ids.ts'
import { redacted } from '../core/text/text.ts'
import type { Context } from '../operations/context.ts'
import { appendReleased } from '../rooms/work/released-work.ts'
import { type Board } from '../stores/records/board.ts'
import type { BoardRow } from '../stores/records/items.ts'
import { releaseLapsed } from '../stores/records/leases.ts'
import type { Session } from '../stores/sessions.ts'
import { boardNow } from '../rooms/work/open-work.ts'

/** The board, for a caller that has locked its session. Where leases are over, their items are opened first, and the session is told. */
export const lockedBoard = async (context: Context, session: Session): Promise<Board> => {
  const board = await boardNow(context.services, context.queries, session.id)
  return board.rows.some(({ lapsed }) => lapsed) ? (await endLapsed(context, session), lockedBoard(context, session)) : board
}

/** Opens what is claimed and whose lease is over, and tells the session. */
export const endLapsed = async (context: Context, session: Session): Promise<void> => {
  const released = await releaseLapsed(context.queries, session.id, context.services.config.CLAIM_LEASE)
  await appendReleased(context, session, released, { reason: 'lease_expired', by: null })
}

/** The item of this id on the board, or 404. */
export const itemOn = ({ byId }: Board, id: string): BoardRow =>
  (isUuid(id) ? byId.get(id) : undefined) ??
  refuse('not_found', 'There is no such item in this session. list_work has their ids.', { item_id: redacted(id) })

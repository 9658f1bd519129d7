// What there is to do, who does it, and what came of it.
import { z } from 'zod'
import type { Context } from '../operations/context.ts'
import { pageFields, pageOf, readCursor } from '../operations/list-cursor.ts'
import { CALLERS, handleOf, named, RECORD_READERS } from '../records/callers.ts'
import { listCursor, listLimit } from '../records/schemas.ts'
import { existingSession } from '../rooms/preconditions.ts'
import { counts, givenId, op, sessionId } from '../rooms/schemas.ts'
import { countsOf } from '../stores/records/board.ts'
import type { BoardRow } from '../stores/records/items.ts'
import { itemOn } from './locked-board.ts'
import { itemRows, wholeItems } from './item-answer.ts'
import { item, itemStatus } from './schemas.ts'
import { boardNow } from '../rooms/work/open-work.ts'

/** In the order of planning, with texts of at most 200 characters; with `item_id` that one, whole (404 if the session has no such item). Also
 *  of a closed session. `mine`: what the caller holds, has done or owns. */
export const listWork = op({
  name: 'list_work',
  summary: 'The board: what is to be done, who has it, what came of it. With item_id one item, whole.',
  route: ['GET', '/sessions/:session_id/work'],
  callers: CALLERS,
  keyRow: RECORD_READERS,
  effect: 'read',
  searchHint: 'who works on what',
  input: z.strictObject({
    session_id: sessionId,
    item_id: givenId().optional(),
    status: itemStatus.optional(),
    mine: z.boolean().default(false),
    limit: listLimit,
    cursor: listCursor,
  }),
  output: z.object({ items: z.array(item), counts, ...pageFields }),
  refuses: ['forbidden', 'not_found'],
  async run(context, { session_id, item_id, status, mine, limit, cursor }) {
    const session = await existingSession(context.queries, session_id)
    const board = await boardNow(context.services, context.queries, session.id)
    if (item_id !== undefined) {
      const items = await wholeItems(context, board, [itemOn(board, item_id).id])
      return { items, counts: countsOf(board), next_cursor: null, has_more: false }
    }
    const filters = { session_id: session.id, status, mine }
    const after = board.byId.get(readCursor(cursor, filters)?.id ?? '')?.place ?? 0
    const isMine = mine ? isOf(context) : () => true
    const rows = board.rows.filter((row) => row.place > after && (status === undefined || row.status === status) && isMine(row))
    const { shown, ...page } = pageOf(rows, limit, ({ id }) => ({ at: session.createdAt, id }), filters)
    return {
      items: await itemRows(
        context,
        board,
        shown.map(({ id }) => id),
      ),
      counts: countsOf(board),
      ...page,
    }
  },
})

const isOf = (context: Context): ((row: BoardRow) => boolean) => {
  if (context.caller.kind === 'reader') return () => false
  const [handle, { person_id }] = [handleOf(context), named(context)]
  return ({ ownerId, claimedTeamId }) => ownerId === person_id || (handle !== undefined && claimedTeamId === handle)
}

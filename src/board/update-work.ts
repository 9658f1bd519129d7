// An item changes: it is done, handed back or dropped, noted on, or says something else.
import { z } from 'zod'
import { refuse } from '../core/errors.ts'
import { CALLERS, RECORD_ACTORS } from '../records/callers.ts'
import { text } from '../records/schemas.ts'
import { refuseUnless, roleOf } from '../records/who-may.ts'
import { writableSession } from '../rooms/preconditions.ts'
import { givenId, nameOrNobody, op, sessionId } from '../rooms/schemas.ts'
import { itemsById, renewClaim, setItem } from '../stores/records/items.ts'
import { lockedBoard, itemOn } from './locked-board.ts'
import { changesOf } from './edits.ts'
import { refuseWiderClaim } from './overlaps.ts'
import { wholeItems } from './item-answer.ts'
import { moveOf, standingOf, valuesOf } from './moves.ts'
import { item, planned } from './schemas.ts'
import { appendUpdated } from './append-updated.ts'
import { boardNow } from '../rooms/work/open-work.ts'

/** 409 for `done` by a team that does not hold the item (`details.claimed_by`: who does). 403 for moving what another team holds, and for
 *  changing what one neither holds nor planned. The same again changes nothing. */
export const updateWork = op({
  name: 'update_work',
  summary:
    'Finish your item (done, with its result), hand it back (open, with a note for the next team), drop it, note progress, or change what it says.',
  route: ['POST', '/sessions/:session_id/work/:item_id'],
  callers: CALLERS,
  keyRow: RECORD_ACTORS,
  effect: 'write',
  searchHint: 'finish or hand back work',
  example: { status: 'done', result: 'In src/lexer, with tests.' },
  input: z.strictObject({
    session_id: sessionId,
    item_id: givenId(),
    status: z.enum(['done', 'open', 'dropped']).optional(),
    note: text(0, 1_000).optional(),
    result: text(0, 2_000).optional(),
    ...planned,
    title: planned.title.optional(),
    owner: nameOrNobody.optional(),
  }),
  output: z.object({ item }),
  refuses: ['session_closed', 'forbidden', 'not_found', 'conflict'],
  async run(context, { session_id: _, item_id, status, ...edits }) {
    const session = writableSession(context)
    const role = roleOf(context.caller, session.convenerTeamId)
    refuseUnless(role, 'plan work')
    if (status === undefined && Object.values(edits).every((value) => value === undefined))
      refuse('invalid_request', 'Send at least one of status, note, result, title, description, priority, depends_on, paths, owner.')
    const before = await lockedBoard(context, session)
    const row = itemOn(before, item_id)
    const standing = standingOf(context, row, role)
    const move = moveOf(row, status, standing)
    const stored = (await itemsById(context.queries, [row.id])).get(row.id)!
    const changes = await changesOf(context, before, stored, edits, standing)
    if (move === undefined || move === 'done') refuseWiderClaim(before, row, changes.paths)
    const values = { ...changes, ...valuesOf(move, context, row) }
    if (Object.keys(values).length > 0) await setItem(context.queries, row.id, values)
    if (standing.holds && move === undefined) await renewClaim(context.queries, row.id)
    const after = await boardNow(context.services, context.queries, session.id)
    await appendUpdated(context, session, { row, stored, move, changes, edits, before, after })
    const [answer] = await wholeItems(context, after, [row.id])
    return { item: answer! }
  },
})

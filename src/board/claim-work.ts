// "What should I do next?": one item for the team that asks.
import { z } from 'zod'
import { refuse } from '../core/errors.ts'
import { teamOf, type Context } from '../operations/context.ts'
import { CALLERS, named, RECORD_ACTORS } from '../records/callers.ts'
import { claimantOf } from '../records/record-answer.ts'
import { refuseUnless, roleOf } from '../records/who-may.ts'
import { writableSession } from '../rooms/preconditions.ts'
import { counts, givenId, op, sessionId } from '../rooms/schemas.ts'
import { blockersOf, countsOf, isReady, readyOf, withRow, type Board } from '../stores/records/board.ts'
import { claimItem, renewClaim, type BoardRow } from '../stores/records/items.ts'
import { personIdOf } from '../stores/records/persons.ts'
import { presentSince } from '../stores/records/present.ts'
import { lockedBoard, itemOn } from './locked-board.ts'
import { wholeItems } from './item-answer.ts'
import { freeOf, refuseOverlaps } from './overlaps.ts'
import { item } from './schemas.ts'
import { idAndTitle } from '../rooms/work/open-work.ts'
import { noteWork } from './append-events.ts'

/** With `item_id` that one: 409 while another team holds it (`details.claimed_by`), while it waits for others (`blocked_by`), and where it
 *  overlaps another team's claim (`overlaps`), unless `allow_overlap`. Without: what the caller owns first, then what no team present owns,
 *  each by priority and age, without what overlaps; `item: null` when there is nothing. The caller's own again: the same answer. */
export const claimWork = op({
  name: 'claim_work',
  summary:
    'Take the best item that is free, or the one you name: nobody else gets it while you hold it. item: null means there is nothing for you now.',
  route: ['POST', '/sessions/:session_id/work/claim'],
  callers: CALLERS,
  keyRow: RECORD_ACTORS,
  effect: 'write',
  searchHint: 'take the next piece of work',
  example: {},
  input: z.strictObject({
    session_id: sessionId,
    item_id: givenId().optional(),
    allow_overlap: z.boolean().default(false).describe("Although another team's paths overlap."),
  }),
  output: z.object({ item: item.nullable(), counts }),
  refuses: ['session_closed', 'forbidden', 'not_found', 'conflict'],
  async run(context, { item_id, allow_overlap }) {
    const session = writableSession(context)
    refuseUnless(roleOf(context.caller, session.convenerTeamId), 'claim work')
    const board = await lockedBoard(context, session)
    const row = item_id === undefined ? await best(context, board, allow_overlap) : itemOn(board, item_id)
    if (!row) return { item: null, counts: countsOf(board) }
    const now = withRow(board, await claim(context, board, row, allow_overlap))
    const [answer] = await wholeItems(context, now, [row.id])
    return { item: answer!, counts: countsOf(now) }
  },
})

// Claims the item for the caller, or renews the claim that it has. Returns the row as it is then.
const claim = async (context: Context, board: Board, row: BoardRow, allowOverlap: boolean): Promise<BoardRow> => {
  const { teamId, teamName, session } = teamOf(context)
  const until = (at: string) => new Date(Date.parse(at) + context.services.config.CLAIM_LEASE * 1000).toISOString()
  if (row.status === 'claimed' && row.claimedTeamId === teamId)
    return { ...row, expiresAt: until(await renewClaim(context.queries, row.id)) }
  refuseUnlessFree(board, row)
  if (!allowOverlap) refuseOverlaps(board, teamId, row.paths)
  const claimedAt = await claimItem(context.queries, row.id, { teamId, teamName })
  await noteWork(context, session.id, 'work_claimed', row)
  const mine = { claimedTeamId: teamId, claimedTeamName: teamName, claimedAt, expiresAt: until(claimedAt) }
  return { ...row, ...mine, status: 'claimed' }
}

const best = async (context: Context, board: Board, allowOverlap: boolean): Promise<BoardRow | undefined> => {
  const self = teamOf(context)
  const ready = readyOf(board)
  const free = freeOf(board, self.teamId)
  const isFree = ({ paths }: BoardRow) => allowOverlap || free(paths) === true
  const me = named(context).person_id
  const own = ready.find((row) => row.ownerId === me && isFree(row))
  // Of many with stars in their paths the first that is not known to overlap is compared by itself, which tells, or says why not.
  const first = own ?? ready.find(isFree) ?? ready.find(({ paths }) => free(paths) === 'untold')
  if (own || !first?.ownerId) return first
  const names = await presentSince(context.queries, self.session.id, context.services.config.CLAIM_LEASE)
  const present = new Set(names.map((name) => personIdOf('team', name)))
  return ready.find((row) => !(row.ownerId && present.has(row.ownerId)) && isFree(row))
}

const refuseUnlessFree = (board: Board, row: BoardRow): void => {
  const { status, expiresAt: claim_expires_at } = row
  if (status === 'claimed')
    refuse('conflict', `${row.claimedTeamName} holds it. Call claim_work without item_id for other work.`, {
      claimed_by: claimantOf(row),
      claim_expires_at,
    })
  if (!isReady(board, row) && status === 'open')
    refuse(
      'conflict',
      'It waits for other items. Call claim_work without item_id for one that is free. If it need not wait, whoever planned it changes its depends_on by update_work.',
      { blocked_by: blockersOf(board, row).map((blocker) => ({ ...idAndTitle(blocker), status: blocker.status })) },
    )
  if (status !== 'open')
    refuse('conflict', `It is ${status}. Call claim_work without item_id for other work.`, { status, claimed_by: claimantOf(row) })
}

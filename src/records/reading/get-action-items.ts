// What was agreed to be done, in any session.
import { z } from 'zod'
import { ITEM_STATUSES } from '../../../db/records-schema.ts'
import { pageFields, pageOf, readCursor } from '../../operations/list-cursor.ts'
import { listActionItems } from '../../stores/records/action-item-list.ts'
import { CALLERS, RECORD_READERS } from '../callers.ts'
import { onlySession, readableMeeting } from '../reach.ts'
import { actionItemOf, actionItemRow } from '../record-answer.ts'
import { listCursor, listLimit, meetingId, op, toolRoute } from '../schemas.ts'
import { personFilter, range } from './inputs.ts'
import { rememberNamed } from './remembered.ts'

/** The newest first, with the status that the board shows: a claim whose lease is over reads as open. The number of statements is the same
 *  for one item and for fifty. */
export const getActionItems = op({
  name: 'get_action_items',
  summary: 'Approved action items of all sessions that you may read, newest first, with owner, meeting and where they came from.',
  route: toolRoute('get_action_items'),
  callers: CALLERS,
  keyRow: RECORD_READERS,
  effect: 'read',
  searchHint: 'action items by owner or status',
  example: {},
  input: z.strictObject({
    status: z.enum(ITEM_STATUSES).optional(),
    owner_id: personFilter.optional().describe('A person_id.'),
    meeting_id: meetingId.optional(),
    due_date_range: range.optional(),
    limit: listLimit,
    cursor: listCursor,
  }),
  output: z.object({ action_items: z.array(actionItemRow), ...pageFields }),
  refuses: ['forbidden', 'not_found'],
  async run(context, { limit, cursor, ...filters }) {
    const { queries, services } = context
    const { status, owner_id, meeting_id, due_date_range } = filters
    if (meeting_id !== undefined) await readableMeeting(context, meeting_id)
    const rows = await listActionItems(
      queries,
      {
        status,
        ownerId: owner_id,
        sessionId: meeting_id ?? onlySession(context),
        dueFrom: due_date_range?.from,
        dueTo: due_date_range?.to,
        after: readCursor(cursor, filters),
        limit: limit + 1,
      },
      services.config.CLAIM_LEASE,
    )
    const { shown, ...page } = pageOf(rows, limit, ({ item }) => ({ at: item.createdAt, id: item.id }), filters)
    const action_items = shown.map((row) => actionItemOf(row.item, row))
    await rememberNamed(queries, { action_items })
    return { action_items, ...page }
  },
})

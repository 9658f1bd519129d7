// What was decided, in any session.
import { z } from 'zod'
import { pageFields, pageOf, readCursor } from '../../operations/list-cursor.ts'
import { listDecisions } from '../../stores/records/decision-list.ts'
import { CALLERS, RECORD_READERS } from '../callers.ts'
import { onlySession, readableMeeting } from '../reach.ts'
import { decisionOf, decisionRow } from '../record-answer.ts'
import { listCursor, listLimit, meetingId, op, text, toolRoute } from '../schemas.ts'
import { personFilter, range } from './inputs.ts'
import { rememberNamed } from './remembered.ts'

/** The newest first, those that were withdrawn too. `search` finds decisions that have all of its words in title or description, parts of
 *  words as well; search_content also finds what is misspelt. The number of statements is the same for one decision and for fifty. */
export const getDecisions = op({
  name: 'get_decisions',
  summary:
    'Decisions of all sessions that you may read, newest first, withdrawn ones too, with who decided, the meeting and where they came from.',
  route: toolRoute('get_decisions'),
  callers: CALLERS,
  keyRow: RECORD_READERS,
  effect: 'read',
  searchHint: 'decisions of all sessions',
  example: {},
  input: z.strictObject({
    search: text(1, 200).optional().describe('Words of its title or description.'),
    meeting_id: meetingId.optional(),
    decided_by_id: personFilter.optional().describe('A person_id.'),
    date_range: range.optional(),
    limit: listLimit,
    cursor: listCursor,
  }),
  output: z.object({ decisions: z.array(decisionRow), ...pageFields }),
  refuses: ['forbidden', 'not_found'],
  async run(context, { limit, cursor, ...filters }) {
    const { queries } = context
    const { search, meeting_id, decided_by_id, date_range } = filters
    if (meeting_id !== undefined) await readableMeeting(context, meeting_id)
    const rows = await listDecisions(queries, {
      search,
      decidedById: decided_by_id,
      sessionId: meeting_id ?? onlySession(context),
      from: date_range?.from,
      to: date_range?.to,
      after: readCursor(cursor, filters),
      limit: limit + 1,
    })
    const { shown, ...page } = pageOf(rows, limit, ({ decision }) => ({ at: decision.at, id: decision.id }), filters)
    const decisions = shown.map((row) => decisionOf(row.decision, row))
    await rememberNamed(queries, { decisions })
    return { decisions, ...page }
  },
})

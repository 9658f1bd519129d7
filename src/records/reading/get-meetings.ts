// Which sessions there were, as meetings.
import { z } from 'zod'
import { refuse } from '../../core/errors.ts'
import { pageFields, pageOf, readCursor } from '../../operations/list-cursor.ts'
import { listMeetings } from '../../stores/records/meeting-list.ts'
import { spellingsOf } from '../../stores/records/persons.ts'
import { CALLERS, RECORD_READERS } from '../callers.ts'
import { onlySession } from '../reach.ts'
import { listCursor, listLimit, moment, op, toolRoute } from '../schemas.ts'
import { inOrder, ORDER, personFilter, seriesFilter } from './inputs.ts'
import { meetingRow, meetingsFrom } from './meeting-answer.ts'
import { rememberNamed } from './remembered.ts'

/** The newest first; `date` is when it began. A meeting's attendees are its teams, and the people who posted. The number of statements is the
 *  same for one meeting and for fifty. */
export const getMeetings = op({
  name: 'get_meetings',
  summary: 'Sessions as meetings, newest first: who attended, their series, what was decided.',
  route: toolRoute('get_meetings'),
  callers: CALLERS,
  keyRow: RECORD_READERS,
  effect: 'read',
  searchHint: 'meetings by date, attendee or series',
  example: {},
  input: z.strictObject({
    start_date: moment.optional(),
    end_date: moment.optional(),
    series_id: seriesFilter.optional(),
    attendee_id: personFilter.optional().describe('A person_id.'),
    limit: listLimit,
    cursor: listCursor,
  }),
  output: z.object({ meetings: z.array(meetingRow), ...pageFields }),
  refuses: ['forbidden'],
  async run(context, { limit, cursor, ...filters }) {
    const { queries } = context
    const { start_date, end_date, series_id, attendee_id } = filters
    if (!inOrder(start_date, end_date)) refuse('invalid_request', `start_date: is after end_date: ${ORDER}.`, { field: 'start_date' })
    const rows = await listMeetings(queries, {
      id: onlySession(context),
      from: start_date,
      to: end_date,
      seriesId: series_id,
      attendee: attendee_id === undefined ? undefined : await spellingsOf(queries, attendee_id),
      after: readCursor(cursor, filters),
      limit: limit + 1,
    })
    const { shown, ...page } = pageOf(rows, limit, ({ createdAt, id }) => ({ at: createdAt, id }), filters)
    const meetings = await meetingsFrom(queries, shown)
    await rememberNamed(queries, { meetings })
    return { meetings, ...page }
  },
})

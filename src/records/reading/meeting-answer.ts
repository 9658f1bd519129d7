// A session as a meeting, as every door shows it.
import { z } from 'zod'
import type { Queries } from '../../../db/database.ts'
import { attendeesOf } from '../../stores/records/attendees.ts'
import type { ListedMeeting } from '../../stores/records/meeting-list.ts'
import { person, time } from '../schemas.ts'

export const meetingRow = z.object({
  meeting_id: z.uuid(),
  title: z.string(),
  date: time,
  ended_at: time.nullable(),
  status: z.enum(['active', 'closed']),
  series: z.object({ series_id: z.uuid(), position: z.int(), count: z.int() }),
  attendees: z.array(person),
  counts: z.object({ action_items: z.int(), open_action_items: z.int(), decisions: z.int(), pending: z.int() }),
})

/** `counts`: all that was decided, withdrawn or done too; of action items also how many are neither done nor dropped; proposals that wait
 *  for a person. Two statements. */
export const meetingsFrom = async (queries: Queries, rows: readonly ListedMeeting[]): Promise<z.output<typeof meetingRow>[]> => {
  const attendees = await attendeesOf(
    queries,
    rows.map(({ id }) => id),
  )
  return rows.map((row) => ({
    meeting_id: row.id,
    title: row.title,
    date: row.createdAt,
    ended_at: row.closedAt,
    status: row.status,
    series: { series_id: row.seriesId, position: row.position, count: row.count },
    attendees: attendees.get(row.id)!,
    counts: { action_items: row.actionItems, open_action_items: row.openActionItems, decisions: row.decisions, pending: row.pending },
  }))
}

// One session as a meeting, with all that came of it.
import { z } from 'zod'
import { cutText, fitting, jsonLength } from '../../core/budget.ts'
import { maxChars } from '../../rooms/schemas.ts'
import { readDocument } from '../../stores/documents.ts'
import { listActionItems } from '../../stores/records/action-item-list.ts'
import { listDecisions } from '../../stores/records/decision-list.ts'
import { listMeetings } from '../../stores/records/meeting-list.ts'
import { CALLERS, RECORD_READERS } from '../callers.ts'
import { readableMeeting } from '../reach.ts'
import { actionItemOf, actionItemRow, decisionOf, decisionRow } from '../record-answer.ts'
import { meetingId, op, toolRoute } from '../schemas.ts'
import { meetingRow, meetingsFrom } from './meeting-answer.ts'
import { rememberNamed } from './remembered.ts'

const MOST = 500 // of each kind; get_action_items and get_decisions have all

const answer = z.object({
  meeting: meetingRow,
  description: z.string(),
  notes: z.string(),
  action_items: z.array(actionItemRow),
  decisions: z.array(decisionRow),
  truncated: z.object({ description: z.int().optional(), notes: z.int().optional() }).optional(),
  omitted: z.object({ attendees: z.int().optional(), action_items: z.int().optional(), decisions: z.int().optional() }).optional(),
})
type Answer = z.output<typeof answer>

/** The notes are the session's document. Within `max_chars` come the decisions and action items, the newest first, and with what they leave,
 *  at least a third, the notes: `omitted` counts the rows that did not fit, `truncated` has the full length of a text that was cut. */
export const getMeetingDetails = op({
  name: 'get_meeting_details',
  summary: 'One meeting: description, notes (its document), action items and decisions.',
  route: toolRoute('get_meeting_details'),
  callers: CALLERS,
  keyRow: RECORD_READERS,
  effect: 'read',
  searchHint: 'notes and outcome of a meeting',
  example: { meeting_id: '$SID' },
  input: z.strictObject({ meeting_id: meetingId, max_chars: maxChars }),
  output: answer,
  refuses: ['forbidden', 'not_found'],
  async run(context, { meeting_id, max_chars }) {
    const { queries, services } = context
    const { id, description } = await readableMeeting(context, meeting_id)
    const [meeting] = await meetingsFrom(queries, await listMeetings(queries, { id, limit: 1 }))
    const { content } = await readDocument(queries, id)
    const part = { sessionId: id, limit: MOST }
    const items = await listActionItems(queries, part, services.config.CLAIM_LEASE)
    const action_items = items.map((row) => actionItemOf(row.item, row))
    const decisions = (await listDecisions(queries, part)).map((row) => decisionOf(row.decision, row))
    const whole = { meeting: meeting!, description, notes: content, action_items, decisions }
    const shown = max_chars === undefined ? whole : within(whole, max_chars)
    await rememberNamed(queries, { ...shown, meetings: [shown.meeting] })
    return marked(shown, whole)
  },
})

const FRAME = 250 // characters of the answer's own fields

const within = ({ meeting, description, notes, action_items, decisions }: Answer, limit: number): Answer => {
  const { attendees, ...rest } = meeting
  let left = limit - FRAME - jsonLength(rest)
  const kept = { ...meeting, attendees: fitting(attendees, left / 4) }
  left -= jsonLength(kept.attendees)
  const short = textWithin(description, left / 4)
  left -= jsonLength(short)
  const forRows = left - Math.min(jsonLength(notes), left / 3)
  const decided = fitting(decisions, forRows / 2)
  const agreed = fitting(action_items, forRows - jsonLength(decided))
  left -= jsonLength(decided) + jsonLength(agreed)
  return { meeting: kept, description: short, notes: textWithin(notes, left), action_items: agreed, decisions: decided }
}

const textWithin = (text: string, limit: number) => (jsonLength(text) <= limit ? text : cutText(text, limit - 1))

/** Adds what was left out: the full lengths of cut texts, and the number of rows that did not fit. */
const marked = (shown: Answer, { meeting, description, notes }: Answer): Answer => {
  const truncated = {
    ...(shown.description !== description && { description: description.length }),
    ...(shown.notes !== notes && { notes: notes.length }),
  }
  const omitted = Object.fromEntries(
    [
      ['attendees', meeting.attendees.length - shown.meeting.attendees.length] as const,
      ['action_items', meeting.counts.action_items - shown.action_items.length] as const,
      ['decisions', meeting.counts.decisions - shown.decisions.length] as const,
    ].filter(([, count]) => count > 0),
  )
  return {
    ...shown,
    ...(Object.keys(truncated).length > 0 && { truncated }),
    ...(Object.keys(omitted).length > 0 && { omitted }),
  }
}

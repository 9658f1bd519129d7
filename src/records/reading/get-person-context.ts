// A team, person or key, with its newest records and meetings.
import { z } from 'zod'
import { refuse } from '../../core/errors.ts'
import { isUuid } from '../../core/ids.ts'
import { redacted } from '../../core/text/text.ts'
import { listActionItems } from '../../stores/records/action-item-list.ts'
import { isVerified } from '../../stores/records/attendees.ts'
import { listDecisions } from '../../stores/records/decision-list.ts'
import { listMeetings } from '../../stores/records/meeting-list.ts'
import { personOf, spellingsOf } from '../../stores/records/persons.ts'
import { isNamedIn } from '../../stores/records/session-persons.ts'
import { CALLERS, RECORD_READERS } from '../callers.ts'
import { onlySession } from '../reach.ts'
import { actionItemOf, actionItemRow, decisionOf, decisionRow } from '../record-answer.ts'
import { op, person, personId, toolRoute } from '../schemas.ts'
import { meetingRow, meetingsFrom } from './meeting-answer.ts'
import { rememberNamed } from './remembered.ts'

const NEWEST = 10

/** The newest ten of what they own, decided and attended. 404 for an unknown id, and for a person outside the one session that the caller
 *  may read, where that is one. */
export const getPersonContext = op({
  name: 'get_person_context',
  summary: 'A team, person or key by its person_id: their newest action items, decisions and meetings.',
  route: toolRoute('get_person_context'),
  callers: CALLERS,
  keyRow: RECORD_READERS,
  effect: 'read',
  searchHint: 'what somebody owns and decided',
  example: { person_id: '$PERSON_ID' },
  input: z.strictObject({ person_id: personId }),
  output: z.object({ person, action_items: z.array(actionItemRow), decisions: z.array(decisionRow), meetings: z.array(meetingRow) }),
  refuses: ['forbidden', 'not_found'],
  async run(context, { person_id }) {
    const { queries, services } = context
    const only = onlySession(context)
    const spellings = isUuid(person_id) ? await spellingsOf(queries, person_id) : []
    if (spellings.length === 0) noSuchPerson(person_id)
    const [{ kind, name }] = spellings as [(typeof spellings)[number]]
    const part = { sessionId: only, limit: NEWEST }
    const items = await listActionItems(queries, { ...part, ownerId: person_id }, services.config.CLAIM_LEASE)
    const decided = await listDecisions(queries, { ...part, decidedById: person_id })
    const attended = await listMeetings(queries, { id: only, attendee: spellings, limit: NEWEST })
    const isKnown = items.length + decided.length + attended.length > 0
    if (only !== undefined && !isKnown && !(await isNamedIn(queries, only, person_id))) noSuchPerson(person_id)
    const action_items = items.map((row) => actionItemOf(row.item, row))
    const decisions = decided.map((row) => decisionOf(row.decision, row))
    const meetings = await meetingsFrom(queries, attended)
    await rememberNamed(queries, { meetings, action_items, decisions })
    return { person: personOf(kind, name, await isVerified(queries, spellings)), action_items, decisions, meetings }
  },
})

const noSuchPerson = (id: string): never =>
  refuse('not_found', 'There is no such person. Rows have the person_id of whoever they name.', { person_id: redacted(id) })

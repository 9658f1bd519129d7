// A person decides.
import { z } from 'zod'
import { refuse } from '../../core/errors.ts'
import { uuid7 } from '../../core/ids.ts'
import { baseOf, type Context } from '../../operations/context.ts'
import { rememberPersons } from '../../stores/records/persons.ts'
import { resolveProposal, type Proposal } from '../../stores/records/proposals.ts'
import type { Session } from '../../stores/sessions.ts'
import { CALLERS, named, RECORD_ACTORS } from '../callers.ts'
import { expireOverdue } from '../expiry.ts'
import { actionItemRow, decisionRow } from '../record-answer.ts'
import { op, recordId, text } from '../schemas.ts'
import { proposalSubject } from '../subjects.ts'
import { INSTEAD } from '../who-may.ts'
import { edited } from './edits.ts'
import { anyEdits } from './fields.ts'
import { lockedFor, refuseBecome } from './locked.ts'
import { inMeeting, proposalOf, proposalRow } from './proposal-answer.ts'
import { makeRecord } from './record.ts'
import { appendOutcome } from './append-events.ts'

/** Only a signed-in person; teams and keys get 403. Approved, it becomes a record in the same transaction, with `edits` (only what changes,
 *  null empties an optional field) in place of what was proposed. 409 with `details: { status, resolved_by, resolved_at }` for a proposal
 *  that is decided, expired or cancelled. */
export const resolveApproval = op({
  name: 'resolve_approval',
  summary: 'Approve or reject a proposal, as a signed-in person.',
  route: ['POST', '/approvals/:proposal_id'],
  callers: CALLERS,
  keyRow: RECORD_ACTORS,
  onlyFor: INSTEAD.decide,
  effect: 'write',
  subject: ({ proposal_id }) => proposalSubject(proposal_id),
  restOnly: true,
  input: z.strictObject({
    proposal_id: recordId,
    action: z.enum(['approve', 'reject']),
    edits: anyEdits.optional().describe('With approve: only what changes; null empties an optional field.'),
    feedback: text(0, 2_000).optional().describe('A word to whoever proposed it.'),
  }),
  output: z.object({ success: z.literal(true), proposal: proposalRow, record: z.union([actionItemRow, decisionRow]).nullable() }),
  refuses: ['forbidden', 'not_found', 'conflict', 'session_closed'],
  async run(context, { action, edits, feedback }) {
    const { session, proposal } = lockedFor(context, 'decide')
    if (action === 'reject' && edits)
      refuse('invalid_request', 'edits: a rejection changes nothing. Say in feedback what should be different.', { field: 'edits' })
    await expireOverdue(context, session.id)
    const said = feedback?.trim() ? feedback : undefined
    return action === 'approve' ? approve(context, session, proposal, edits, said) : reject(context, session, proposal, said)
  },
})

const approve = async (context: Context, session: Session, before: Proposal, edits: object | undefined, feedback: string | undefined) => {
  const { queries } = context
  const { data, fields } = edits ? await edited(context, before, edits) : { data: before.data, fields: [] }
  const by = named(context)
  const changed = fields.length > 0 ? { data, edited: fields } : {}
  const proposal = await resolveProposal(queries, before, { status: 'approved', by, feedback, recordId: uuid7(), ...changed })
  if (!proposal) return refuseBecome(context, before.id)
  const record = await makeRecord(context, session, proposal)
  await rememberPersons(queries, [by, proposal.proposedBy, data.owner, data.decided_by])
  const outcome = { by: by.name, record_id: proposal.recordId, edited: fields, feedback: proposal.feedback }
  await appendOutcome(context, 'proposal_approved', proposal, outcome)
  return { success: true as const, proposal: proposalOf(inMeeting(proposal, session), baseOf(context)), record }
}

const reject = async (context: Context, session: Session, before: Proposal, feedback: string | undefined) => {
  const by = named(context)
  const proposal = await resolveProposal(context.queries, before, { status: 'rejected', by, feedback })
  if (!proposal) return refuseBecome(context, before.id)
  await rememberPersons(context.queries, [by, proposal.proposedBy, proposal.data.owner, proposal.data.decided_by])
  await appendOutcome(context, 'proposal_rejected', proposal, { by: by.name, feedback: proposal.feedback })
  return { success: true as const, proposal: proposalOf(inMeeting(proposal, session), baseOf(context)), record: null }
}

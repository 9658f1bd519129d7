// Makes the record of an approved proposal: a decision, which also goes into the document of an open session, or an item of the board.
import type { Context } from '../../operations/context.ts'
import { decisionEntry, withDecision } from '../../rooms/document/decisions.ts'
import { writeDoc } from '../../rooms/document/doc-write.ts'
import { readDocument } from '../../stores/documents.ts'
import { insertActionItem } from '../../stores/records/action-items.ts'
import { insertDecision } from '../../stores/records/decisions.ts'
import type { Proposal } from '../../stores/records/proposals.ts'
import { takesWrites, type Session } from '../../stores/sessions.ts'
import { actionItemOf, decisionOf } from '../record-answer.ts'
import { inMeeting } from './proposal-answer.ts'

/** Makes the record of a proposal that has just been approved. */
export const makeRecord = async (context: Context, session: Session, proposal: Proposal) =>
  proposal.type === 'action' ? actionItem(context, session, proposal) : decision(context, session, proposal)

const actionItem = async ({ queries }: Context, session: Session, proposal: Proposal) => {
  const { title, description, owner = null, due_date = null, priority = 'medium' } = proposal.data
  const row = await insertActionItem(queries, {
    id: proposal.recordId!,
    sessionId: session.id,
    proposalId: proposal.id,
    title,
    description: description ?? '',
    priority,
    owner,
    ownerId: owner?.person_id ?? null,
    dueDate: due_date,
    plannedBy: proposal.proposedBy,
    plannedByTeamId: proposal.teamId,
  })
  return actionItemOf(row, inMeeting(proposal, session))
}

const decision = async (context: Context, session: Session, proposal: Proposal) => {
  const { title, description, rationale = null, decided_by: decidedBy = null } = proposal.data
  const row = await insertDecision(context.queries, {
    id: proposal.recordId!,
    sessionId: session.id,
    proposalId: proposal.id,
    title,
    description: description ?? '',
    rationale,
    decidedBy,
    decidedById: decidedBy?.person_id ?? null,
  })
  if (takesWrites(session)) {
    const { content } = await readDocument(context.queries, session.id)
    const entry = decisionEntry({ ...row, proposedBy: proposal.proposedBy, approvedBy: proposal.resolvedBy! })
    await writeDoc(context, session.id, withDecision(content, entry)) // past the limit too: a person has decided
  }
  return decisionOf(row, inMeeting(proposal, session))
}

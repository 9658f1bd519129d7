// A proposal is taken back before anybody decides: by whoever made it, or by a person.
import { z } from 'zod'
import type { Context } from '../../operations/context.ts'
import { resolveProposal } from '../../stores/records/proposals.ts'
import { CALLERS, named, RECORD_ACTORS } from '../callers.ts'
import { expireOverdue } from '../expiry.ts'
import { op, proposalStatus, recordId, toolRoute } from '../schemas.ts'
import { proposalSubject } from '../subjects.ts'
import { lockedFor, refuseBecome } from './locked.ts'
import { appendOutcome } from './append-events.ts'

const shared = {
  callers: CALLERS,
  keyRow: RECORD_ACTORS,
  effect: 'write',
  subject: ({ proposal_id }: { proposal_id: string }) => proposalSubject(proposal_id),
  input: z.strictObject({ proposal_id: recordId }),
  output: z.object({ id: z.uuid(), status: proposalStatus }),
  refuses: ['forbidden', 'not_found', 'conflict', 'session_closed'],
  async run(context: Context) {
    const { session, proposal } = lockedFor(context, 'cancel')
    await expireOverdue(context, session.id)
    const by = named(context)
    const cancelled = await resolveProposal(context.queries, proposal, { status: 'cancelled', by })
    if (!cancelled) return refuseBecome(context, proposal.id)
    await appendOutcome(context, 'proposal_cancelled', cancelled, { by: by.name })
    return { id: cancelled.id, status: cancelled.status }
  },
} as const

/** 409 with what it became for a proposal that is decided, expired or cancelled. */
export const cancelProposal = op({
  ...shared,
  name: 'cancel_proposal',
  summary: 'Take back a pending proposal of yours.',
  route: toolRoute('cancel_proposal'),
  searchHint: 'take back a proposal',
  destructive: true,
  example: { proposal_id: '$PROPOSAL' },
})

/** As `cancel_proposal`; a signed-in person cancels anybody's. */
export const cancelApproval = op({
  ...shared,
  name: 'cancel_approval',
  summary: 'Cancel a pending proposal.',
  route: ['POST', '/approvals/:proposal_id/cancel'],
  restOnly: true,
})

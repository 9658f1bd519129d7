// An expired proposal waits for a person again: people come back on Monday.
import { z } from 'zod'
import { baseOf } from '../../operations/context.ts'
import { renewProposal } from '../../stores/records/proposals.ts'
import { CALLERS, named, RECORD_ACTORS } from '../callers.ts'
import { expireOverdue } from '../expiry.ts'
import { op, recordId } from '../schemas.ts'
import { proposalSubject } from '../subjects.ts'
import { INSTEAD } from '../who-may.ts'
import { lockedFor, refuseBecome } from './locked.ts'
import { inMeeting, proposalOf, proposalRow } from './proposal-answer.ts'
import { refuseAnother } from './propose.ts'
import { appendOutcome } from './append-events.ts'

/** Only a signed-in person. Pending for the full time again, under the same id. 409 for a proposal that is not expired, and where the same
 *  title was proposed again meanwhile (`details.proposal_id`). */
export const renewApproval = op({
  name: 'renew_approval',
  summary: 'Bring back an expired proposal, as a signed-in person.',
  route: ['POST', '/approvals/:proposal_id/renew'],
  callers: CALLERS,
  keyRow: RECORD_ACTORS,
  onlyFor: INSTEAD.decide,
  effect: 'write',
  subject: ({ proposal_id }) => proposalSubject(proposal_id),
  restOnly: true,
  input: z.strictObject({ proposal_id: recordId }),
  output: z.object({ proposal: proposalRow }),
  refuses: ['forbidden', 'not_found', 'conflict', 'session_closed'],
  async run(context) {
    const { session, proposal: before } = lockedFor(context, 'decide')
    const { queries, services } = context
    await expireOverdue(context, session.id)
    if (before.status === 'expired') await refuseAnother(context, session.id, before.type, before.data.title)
    const proposal = await renewProposal(queries, before.id, services.config.PROPOSAL_EXPIRES_AFTER)
    if (!proposal) return refuseBecome(context, before.id)
    await appendOutcome(context, 'proposal_renewed', proposal, { by: named(context).name, expires_at: proposal.expiresAt })
    return { proposal: proposalOf(inMeeting(proposal, session), baseOf(context)) }
  },
})

// The system events of proposals and records; those of an outcome are addressed to the team that proposed.
import type { AppendOptions, Context } from '../../operations/context.ts'
import type { Event } from '../../stores/events.ts'
import type { Proposal } from '../../stores/records/proposals.ts'

type ProposalFacts = Pick<Proposal, 'id' | 'type' | 'data' | 'sessionId' | 'teamId'>

const about = ({ id, type, data }: ProposalFacts) => ({ proposal_id: id, proposal_type: type, title: data.title })

export const appendMade = (context: Context, proposal: Proposal): Promise<Event> =>
  context.append(proposal.sessionId, {
    event: 'proposal_made',
    ...about(proposal),
    by: proposal.proposedBy.name,
    expires_at: proposal.expiresAt,
  })

/** Writes the event of what became of a proposal, into a closed session too. `to`: the teams that it concerns beside the proposer. */
export const appendOutcome = (
  context: Context,
  event: string,
  proposal: ProposalFacts,
  fields: Record<string, unknown>,
  { to: others = [], ...options }: Pick<AppendOptions, 'doneBy' | 'to'> = {},
): Promise<Event> => {
  const to = [...new Set([...(proposal.teamId === null ? [] : [proposal.teamId]), ...others])]
  const content = { event, ...about(proposal), ...fields }
  return context.append(proposal.sessionId, content, { evenClosed: true, ...(to.length > 0 && { to }), ...options })
}

/** The proposing team hears of its end too, also where its own call found that the time was over. */
export const appendExpired = (context: Context, proposal: Proposal): Promise<Event> => {
  const fields = { by: proposal.proposedBy.name, expires_at: proposal.expiresAt }
  return appendOutcome(context, 'proposal_expired', proposal, fields, { doneBy: null })
}

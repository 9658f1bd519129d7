import type { Context } from '../../operations/context.ts'
import type { Proposal } from '../../stores/records/proposals.ts'
import { handleOf, named } from '../callers.ts'

/** Whether the caller made this proposal itself. */
export const owns = (context: Context, { teamId, proposedBy }: Pick<Proposal, 'teamId' | 'proposedBy'>): boolean => {
  const { kind } = context.caller
  if (kind === 'team') return teamId === handleOf(context)
  return (kind === 'person' || kind === 'key') && teamId === null && proposedBy.person_id === named(context).person_id
}

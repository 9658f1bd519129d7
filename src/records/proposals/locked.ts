// A proposal that a write has locked: checks what the caller may do with it, and refuses decisions on one that is no longer pending.
import { refuse } from '../../core/errors.ts'
import type { Context } from '../../operations/context.ts'
import { refuseArchived } from '../../rooms/preconditions.ts'
import { proposalNow, type Proposal } from '../../stores/records/proposals.ts'
import { mayRead, noSuchProposal, roleIn } from '../reach.ts'
import type { LockedProposal } from '../subjects.ts'
import { refuseUnless, type Act } from '../who-may.ts'
import { owns } from './owns.ts'

/** The proposal and its session. 404 for one that the caller may not read, 403 for what it may not do. */
export const lockedFor = (context: Context, act: Act): LockedProposal => {
  const locked = context.locked as LockedProposal
  if (!mayRead(context, locked.session.id)) noSuchProposal(locked.proposal.id)
  refuseUnless(roleIn(context, locked.session), act, owns(context, locked.proposal))
  refuseArchived(locked.session)
  return locked
}

const SINCE: Record<Proposal['status'], string> = {
  pending: 'still waits for a decision',
  approved: 'was approved',
  rejected: 'was rejected',
  expired: 'is expired: nobody decided in time',
  cancelled: 'was cancelled',
}

/** Refuses with what the proposal has become. */
export const refuseBecome = async ({ queries }: Context, id: string): Promise<never> => {
  const { status, resolvedBy, resolvedAt } = (await proposalNow(queries, id))!
  const by = resolvedBy ? ` by ${resolvedBy.name}` : ''
  const next = status === 'expired' ? ' A person can bring it back (renew), or propose it again.' : ''
  return refuse('conflict', `This proposal ${SINCE[status]}${by}.${next}`, { status, resolved_by: resolvedBy, resolved_at: resolvedAt })
}

// Who may move an item where. Its holder does, and those who may take work back.
import { refuse } from '../core/errors.ts'
import type { Context } from '../operations/context.ts'
import { handleOf } from '../records/callers.ts'
import { claimantOf } from '../records/record-answer.ts'
import { mayDo, refuseUnless, type Role } from '../records/who-may.ts'
import { UNCLAIMED, type BoardRow, type Item } from '../stores/records/items.ts'

/** What the caller is to an item. */
export interface Standing {
  role: Role
  holds: boolean
  /** The item is done, by the caller's team. */
  did: boolean
  planned: boolean
  mayTakeBack: boolean
}

export const standingOf = (context: Context, row: BoardRow, role: Role): Standing => {
  const handle = handleOf(context)
  const claimant = handle !== undefined && row.claimedTeamId === handle
  return {
    role,
    holds: claimant && row.status === 'claimed',
    did: claimant && row.status === 'done',
    planned: handle !== undefined && row.plannedByTeamId === handle,
    mayTakeBack: mayDo(role, 'take work back') === 'yes',
  }
}

export type Move = 'done' | 'dropped' | 'handed_back' | 'taken_back'

/** The move that a status asks for; undefined when nothing changes. */
export const moveOf = (row: BoardRow, status: 'done' | 'open' | 'dropped' | undefined, standing: Standing): Move | undefined => {
  if (status === undefined) return undefined
  if (!standing.holds && !standing.mayTakeBack) return unmoved(row, status, standing)
  if (status === row.status) return undefined
  refuseWithdrawn(row, standing)
  if (status === 'open') return standing.holds ? 'handed_back' : 'taken_back'
  if (row.status === 'done' || row.status === 'dropped')
    refuse('conflict', `It is ${row.status}. status: open brings it back first.`, { status: row.status, claimed_by: claimantOf(row) })
  return status
}

/** Refuses to bring back or to change what a person withdrew, unless a person does. */
export const refuseWithdrawn = ({ withdrawn }: BoardRow, { role }: Standing): void => {
  if (withdrawn && role !== 'person')
    refuse(
      'forbidden',
      'Insufficient permissions. A person withdrew this item, and only a person brings it back: ask in the feed, or propose another one.',
    )
}

// A retry after a lost answer finds the status that it asks for, and succeeds. A team that lost its claim is told who holds it now.
const unmoved = (row: BoardRow, status: 'done' | 'open' | 'dropped', { did, role }: Standing): undefined => {
  if (status === row.status && (did || status !== 'done')) return undefined
  if (status === 'dropped' && row.status === 'open')
    return refuse(
      'forbidden',
      'Insufficient permissions. Only its holder, the convener, a key of the scope full or a person drops it: claim_work it first.',
    )
  if (status !== 'done') return refuseUnless(role, 'take work back') as undefined
  const { claimedTeamName, expiresAt: claim_expires_at } = row
  const now = { status: row.status, claimed_by: claimantOf(row), claim_expires_at }
  if (row.status === 'claimed')
    return refuse('conflict', `You do not hold it: ${claimedTeamName} does. Say in the feed what you have done.`, now)
  if (row.status === 'open')
    return refuse(
      'conflict',
      'You do not hold it, nobody does. If it is still yours to finish, claim_work it, then say that it is done.',
      now,
    )
  if (row.withdrawn)
    return refuse('conflict', 'A person withdrew it, and only a person brings it back. Say in the feed what you have done.', now)
  return refuse(
    'conflict',
    `It is ${row.status} already${claimedTeamName ? `, by ${claimedTeamName}` : ''}. Say in the feed what you would add.`,
    now,
  )
}

/** The values that a move writes. The row of a done item keeps who did it. */
export const valuesOf = (move: Move | undefined, { caller }: Context, row: BoardRow): Partial<Item> => {
  if (move === undefined) return {}
  if (move !== 'done') return { ...UNCLAIMED, withdrawnAt: null, status: move === 'dropped' ? 'dropped' : 'open' }
  const by =
    row.claimedTeamId === null && caller.kind === 'team'
      ? { claimedTeamId: caller.member.teamId, claimedTeamName: caller.member.teamName }
      : {}
  return { status: 'done', ...by }
}

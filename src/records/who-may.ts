// Who may do what with records and boards, by role; whoever may call an operation that reads, reads. The refusals and the tests of every cell
// are made from this table; what else an item's holder, planner and state decide stands in board/moves.ts and board/edits.ts.
import { refuse } from '../core/errors.ts'
import type { Caller } from '../operations/callers.ts'

/** What somebody is to a session's records. A `ca_agent_` key speaks as its session's team. */
export const ROLES = ['reader', 'team', 'convener', 'full key', 'person'] as const
export type Role = (typeof ROLES)[number]

/** yes; own: what it made itself; no: 403. */
type May = 'yes' | 'own' | 'no'

/** Acts by roles, in the order of ROLES. */
export const MAY = {
  'propose an action item': ['no', 'yes', 'yes', 'yes', 'yes'],
  'propose a decision': ['no', 'no', 'yes', 'yes', 'yes'],
  cancel: ['no', 'own', 'own', 'own', 'yes'],
  decide: ['no', 'no', 'no', 'no', 'yes'],
  'plan work': ['no', 'yes', 'yes', 'yes', 'yes'],
  'claim work': ['no', 'yes', 'yes', 'no', 'no'],
  'take work back': ['no', 'no', 'yes', 'yes', 'yes'],
} as const satisfies Record<string, readonly May[]>
export type Act = keyof typeof MAY

export const mayDo = (role: Role, act: Act): May => MAY[act][ROLES.indexOf(role)]!

/** What to do instead, by act. */
export const INSTEAD: Record<Act, string> = {
  'propose an action item': 'Only teams of the session, keys of the scope full and people propose.',
  'propose a decision': 'Only the convener proposes decisions for the teams: tell it in the feed what to propose.',
  cancel: 'Only whoever proposed it, or a person, cancels it.',
  decide: 'A person decides, signed in, on the page or over REST: you are told what came of it.',
  'plan work': 'Only teams of the session, keys of the scope full and people plan work.',
  'claim work': 'Only teams claim work: join the session as one. People and keys of the scope full finish it by update_work.',
  'take work back': 'Only its holder, the convener, a key of the scope full or a person hands it back or finishes it: ask in the feed.',
}

/** What the caller is to a session with this convener. */
export const roleOf = (caller: Caller, convenerTeamId: string | null): Role => {
  if (caller.kind === 'team') return caller.member.teamId === convenerTeamId ? 'convener' : 'team'
  if (caller.kind === 'person') return 'person'
  return caller.kind === 'key' && caller.key.scope === 'full' ? 'full key' : 'reader'
}

/** Refuses with 403 what the table does not give to this role. `owns`: the caller made it itself. */
export const refuseUnless = (role: Role, act: Act, owns = false): void => {
  const may = mayDo(role, act)
  if (may === 'no' || (may === 'own' && !owns)) refuse('forbidden', `Insufficient permissions. ${INSTEAD[act]}`)
}

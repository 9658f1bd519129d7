// A record as every door shows it: a decision, or an action item, with where it came from.
import { z } from 'zod'
import { ITEM_STATUSES } from '../../db/records-schema.ts'
import type { ActionItem } from '../stores/records/action-items.ts'
import type { Decision } from '../stores/records/decisions.ts'
import type { ListedProposal } from '../stores/records/proposal-list.ts'
import { personInOrder, sourceInOrder } from './in-order.ts'
import { claimant, meeting, person, priority, provenance, time } from './schemas.ts'

export const actionItemRow = z.object({
  item_id: z.uuid(),
  title: z.string(),
  description: z.string(),
  status: z.enum(ITEM_STATUSES),
  priority,
  owner: person.nullable(),
  due_date: time.nullable(),
  meeting,
  claimed_by: claimant.nullable(),
  result: z.string().nullable(),
  ...provenance,
})

export const decisionRow = z.object({
  decision_id: z.uuid(),
  title: z.string(),
  description: z.string(),
  rationale: z.string().nullable(),
  decided_by: person.nullable(),
  status: z.enum(['in_force', 'withdrawn']),
  date: time,
  meeting,
  ...provenance,
})

const provenanceOf = ({ proposal }: ListedProposal) => ({
  ai_assisted: proposal.proposedBy.kind !== 'person',
  proposed_by: personInOrder(proposal.proposedBy),
  approved_by: personInOrder(proposal.resolvedBy!),
  approved_at: proposal.resolvedAt!,
  edited: proposal.edited ?? [],
  proposal_id: proposal.id,
  source: sourceInOrder(proposal.source),
})

/** Who holds it, or has done it. */
export const claimantOf = ({ claimedTeamId, claimedTeamName }: Pick<ActionItem, 'claimedTeamId' | 'claimedTeamName'>) =>
  claimedTeamId === null ? null : { team_id: claimedTeamId, team_name: claimedTeamName ?? '' }

/** `row`: the item, with a claim whose lease is over read as open. */
export const actionItemOf = (row: ActionItem, listed: ListedProposal): z.output<typeof actionItemRow> => ({
  item_id: row.id,
  title: row.title,
  description: row.description,
  status: row.status,
  priority: row.priority,
  owner: personInOrder(row.owner),
  due_date: row.dueDate,
  meeting: listed.meeting,
  claimed_by: claimantOf(row),
  result: row.result,
  ...provenanceOf(listed),
})

export const decisionOf = (row: Decision, listed: ListedProposal): z.output<typeof decisionRow> => ({
  decision_id: row.id,
  title: row.title,
  description: row.description,
  rationale: row.rationale,
  decided_by: personInOrder(row.decidedBy),
  status: row.withdrawnAt === null ? 'in_force' : 'withdrawn',
  date: row.at,
  meeting: listed.meeting,
  ...provenanceOf(listed),
})

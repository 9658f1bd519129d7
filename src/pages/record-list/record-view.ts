// Records as their list shows them.
import type { RecordView, Who } from '../../../components/record-list/record-view.ts'
import type { Named } from '../../../db/records-schema.ts'
import type { ListedRecord } from '../../stores/records/record-pages.ts'
import { sourceView } from './source-view.ts'

export const recordView = (row: ListedRecord): RecordView => {
  const { proposal, meeting, archived } = row
  return {
    ...(row.decision ? decisionView(row.decision) : itemView(row.item)),
    session: { id: meeting.meeting_id, title: meeting.title, archived },
    aiAssisted: proposal.proposedBy.kind !== 'person',
    proposal: proposal.id,
    proposedBy: who(proposal.proposedBy),
    approvedBy: who(proposal.resolvedBy!),
    approvedAt: proposal.resolvedAt!,
    edited: proposal.edited ?? [],
    source: sourceView(proposal.source),
  }
}

const who = ({ person_id, name }: Named): Who => ({ id: person_id ?? undefined, name })

const decisionView = (decision: NonNullable<ListedRecord['decision']>) => ({
  id: decision.id,
  type: 'decision' as const,
  title: decision.title,
  description: decision.description,
  rationale: decision.rationale ?? '',
  status: decision.withdrawnAt === null ? ('in force' as const) : ('withdrawn' as const),
  at: decision.at,
  priority: undefined,
  due: undefined,
  whose: decision.decidedBy ? who(decision.decidedBy) : undefined,
  team: undefined,
  result: '',
  withdrawn: decision.withdrawnAt === null ? undefined : { by: decision.withdrawnBy?.name, reason: decision.withdrawnReason ?? '' },
  over: decision.withdrawnAt !== null,
})

const itemView = (item: NonNullable<ListedRecord['item']>) => ({
  id: item.id,
  type: 'action' as const,
  title: item.title,
  description: item.description,
  rationale: '',
  status: item.status,
  at: item.createdAt,
  priority: item.priority,
  due: item.dueDate ?? undefined,
  whose: item.owner ? who(item.owner) : undefined,
  team: item.claimedTeamName ?? undefined,
  result: item.status === 'done' ? (item.result ?? '') : '',
  withdrawn: item.status === 'dropped' ? { by: undefined, reason: item.note ?? '' } : undefined,
  over: item.status === 'dropped' && item.withdrawnAt !== null,
})

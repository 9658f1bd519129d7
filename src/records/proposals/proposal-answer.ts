// A proposal as every door shows it.
import { z } from 'zod'
import type { Session } from '../../stores/sessions.ts'
import type { Proposal } from '../../stores/records/proposals.ts'
import type { ListedProposal } from '../../stores/records/proposal-list.ts'
import { dataInOrder, personInOrder, sourceInOrder } from '../in-order.ts'
import { meeting, person, priority, proposalStatus, proposalType, source, time } from '../schemas.ts'

/** What is proposed. The fields of the other type are left out. */
export const proposalData = z.object({
  title: z.string(),
  description: z.string().nullable(),
  owner: person.nullable().optional(),
  due_date: z.string().nullable().optional(),
  priority: priority.optional(),
  rationale: z.string().nullable().optional(),
  decided_by: person.nullable().optional(),
})

export const proposalRow = z.object({
  id: z.uuid(),
  type: proposalType,
  data: proposalData,
  status: proposalStatus,
  meeting,
  proposed_by: person,
  team_id: z.uuid().nullable(),
  created_at: time,
  expires_at: time,
  resolved_at: time.nullable(),
  resolved_by: person.nullable(),
  feedback: z.string().nullable(),
  edited: z.array(z.string()),
  record_id: z.uuid().nullable(),
  replaces: z.uuid().nullable(),
  source: source.nullable(),
  url: z.string(),
})

/** A proposal with its session, as a list has it. */
export const inMeeting = (proposal: Proposal, { id, title, createdAt, archivedAt }: Session): ListedProposal => ({
  proposal,
  meeting: { meeting_id: id, title, date: createdAt },
  archived: archivedAt !== null,
})

/** The page on which a person decides it. */
export const urlOf = (base: string, id: string): string => `${base}/approvals/${id}`

export const proposalOf = ({ proposal: row, meeting }: ListedProposal, base: string): z.infer<typeof proposalRow> => ({
  id: row.id,
  type: row.type,
  data: dataInOrder(row),
  status: row.status,
  meeting,
  proposed_by: personInOrder(row.proposedBy),
  team_id: row.teamId,
  created_at: row.createdAt,
  expires_at: row.expiresAt,
  resolved_at: row.resolvedAt,
  resolved_by: personInOrder(row.resolvedBy),
  feedback: row.feedback,
  edited: row.edited ?? [],
  record_id: row.recordId,
  replaces: row.replaces,
  source: sourceInOrder(row.source),
  url: urlOf(base, row.id),
})

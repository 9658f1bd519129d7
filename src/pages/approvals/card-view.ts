// Proposals as their cards show them: with what they replace, their teams' hues and what became of their records.
import type { FieldChange, ProposalView, ReplacedProposal } from '../../../components/approvals/proposal-view.ts'
import { timeLeft } from '../../../components/approvals/time-left.ts'
import { agoInWords, clockOrMoment } from '../../../components/parts/time.ts'
import type { Queries } from '../../../db/database.ts'
import type { Named, ProposalData } from '../../../db/records-schema.ts'
import type { Services } from '../../process/services.ts'
import { proposalsByIds, type ListedProposal } from '../../stores/records/proposal-list.ts'
import { personIdOf } from '../../stores/records/persons.ts'
import { huesOf, recordsNow, teamNamesOf, type RecordNow } from '../../stores/records/proposal-context.ts'
import { sourceView } from '../record-list/source-view.ts'

type CardServices = Pick<Services, 'clock'>

/** In the order of `rows`. A constant number of statements, however many there are. */
export const proposalViews = async ({ clock }: CardServices, queries: Queries, rows: ListedProposal[]): Promise<ProposalView[]> => {
  if (rows.length === 0) return []
  const present = <Id>(ids: (Id | null)[]) => [...new Set(ids.filter((id) => id !== null))]
  const [replaced, hues, records, names] = await Promise.all([
    proposalsByIds(queries, present(rows.map(({ proposal }) => proposal.replaces))),
    huesOf(queries, present(rows.map(({ proposal }) => proposal.teamId))),
    recordsNow(queries, present(rows.map(({ proposal }) => proposal.recordId))),
    teamNamesOf(queries, present(rows.map(({ proposal }) => (proposal.status === 'pending' ? proposal.sessionId : null)))),
  ])
  const before = new Map(replaced.map((row) => [row.proposal.id, row]))
  const now = clock.now()
  return rows.map((row) => {
    const { proposal } = row
    return {
      ...proposed(row),
      by: { name: proposal.proposedBy.name, hue: hues.get(proposal.teamId ?? '') },
      left: proposal.status === 'pending' ? timeLeft(proposal.expiresAt, now) : undefined,
      age: agoInWords(proposal.createdAt, now),
      replaced: replacedBy(row, before.get(proposal.replaces ?? '')),
      outcome: outcomeOf(row, records.get(proposal.recordId ?? ''), now),
      people: peopleOf(names.get(proposal.sessionId) ?? []),
    }
  })
}

export const proposalView = async (services: CardServices, queries: Queries, row: ListedProposal): Promise<ProposalView> =>
  (await proposalViews(services, queries, [row]))[0]!

const proposed = ({ proposal, meeting, archived }: ListedProposal) => {
  const { data } = proposal
  return {
    id: proposal.id,
    type: proposal.type,
    status: proposal.status,
    title: data.title,
    description: data.description ?? '',
    rationale: data.rationale ?? '',
    decidedBy: data.decided_by?.person_id ? { id: data.decided_by.person_id, name: data.decided_by.name } : undefined,
    owner: data.owner?.name,
    due: data.due_date ?? undefined,
    priority: proposal.type === 'action' ? data.priority : undefined,
    session: { id: meeting.meeting_id, title: meeting.title, archived },
    at: proposal.createdAt,
    source: sourceView(proposal.source),
    idempotencyKey: `${proposal.id}.${Date.parse(proposal.expiresAt)}`,
  }
}

const MOST_OFFERED = 40 // of a session's teams: each card has them twice

const peopleOf = (names: string[]) => names.slice(0, MOST_OFFERED).map((name) => ({ id: personIdOf('team', name), name }))

const outcomeOf = ({ proposal }: ListedProposal, record: RecordNow | undefined, now: number): ProposalView['outcome'] => {
  if (proposal.status === 'pending') return undefined
  const at = proposal.resolvedAt ?? proposal.expiresAt
  return {
    by: proposal.resolvedBy?.name,
    at,
    when: clockOrMoment(at, now),
    feedback: proposal.feedback ?? '',
    edited: proposal.edited ?? [],
    record: proposal.recordId ?? undefined,
    withdrawn: record?.withdrawn ?? undefined,
    withdrawalKey: `${proposal.recordId}.${Date.parse(record?.changed ?? at)}`,
  }
}

const replacedBy = ({ proposal }: ListedProposal, before: ListedProposal | undefined): ReplacedProposal | undefined =>
  before && {
    id: before.proposal.id,
    status: before.proposal.status,
    feedback: before.proposal.feedback ?? '',
    changes: changesOf(before.proposal.data, proposal.data),
  }

const nameOf = (one: Named | null | undefined) => one?.name ?? ''
const TEXTS: [field: string, of: (data: ProposalData) => string][] = [
  ['Title', ({ title }) => title],
  ['Description', ({ description }) => description ?? ''],
  ['Rationale', ({ rationale }) => rationale ?? ''],
  ['Decided by', ({ decided_by }) => nameOf(decided_by)],
  ['Owner', ({ owner }) => nameOf(owner)],
  ['Due', ({ due_date }) => due_date ?? ''],
  ['Priority', ({ priority }) => priority ?? ''],
]

const changesOf = (before: ProposalData, after: ProposalData): FieldChange[] =>
  TEXTS.map(([field, of]) => ({ field, before: of(before), after: of(after) })).filter((change) => change.before !== change.after)

// Puts values that jsonb stored into the field order of the schemas, for whoever reads them: jsonb has an order of its own. The answers of writes
// are put into it whole (operations/perform.ts).
import type { Named, ProposalData, Source } from '../../db/records-schema.ts'
import type { Proposal } from '../stores/records/proposals.ts'

export const personInOrder = <Person extends Named | null>(person: Person): Person =>
  person === null ? person : pick(person, ['person_id', 'name', 'kind', 'verified'])

export const sourceInOrder = (source: Source | null): Source | null =>
  source === null ? null : pick(source, ['quote', 'event_id', 'sequence', 'found'])

export const dataInOrder = ({ type, data }: Pick<Proposal, 'type' | 'data'>): ProposalData => {
  const { owner = null, decided_by = null } = data
  return type === 'action'
    ? { ...pick(data, ['title', 'description', 'owner', 'due_date', 'priority']), owner: personInOrder(owner) }
    : { ...pick(data, ['title', 'description', 'rationale', 'decided_by']), decided_by: personInOrder(decided_by) }
}

const pick = <Value extends object>(value: Value, fields: readonly (keyof Value)[]): Value =>
  Object.fromEntries(fields.map((field) => [field, value[field]])) as Value

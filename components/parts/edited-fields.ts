import { valueIn } from '../../src/core/lookup.ts'

const FIELDS: Record<string, string> = {
  due_date: 'due date',
  owner_id: 'owner',
  owner_name: 'owner',
  decided_by: '“decided by”',
  decided_by_id: '“decided by”',
}

/** The fields that an approver changed, as a sentence lists them. */
export const editedFields = (names: string[]): string => {
  const [last, ...rest] = [...new Set(names.map((name) => valueIn(FIELDS, name) ?? name))].reverse()
  return rest.length === 0 ? last! : `${rest.reverse().join(', ')} and ${last}`
}

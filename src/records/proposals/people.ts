// Whom a proposal names: its owner, or who decided.
import { refuse } from '../../core/errors.ts'
import { isUuid } from '../../core/ids.ts'
import { redacted } from '../../core/text/text.ts'
import type { Context } from '../../operations/context.ts'
import type { Named } from '../../../db/records-schema.ts'
import { nameOnly } from '../../stores/records/persons.ts'
import { personCalled, personWithId } from '../../stores/records/session-persons.ts'

interface Fields {
  /** Goes before the field names in refusals: `edits.` for an approver's. */
  prefix?: string
}

/** The owner by id or name; null for none. A name that nobody in the session bears stays a name. */
export const ownerOf = async (
  { queries }: Context,
  sessionId: string,
  { owner_id, owner_name }: { owner_id?: string | null | undefined; owner_name?: string | null | undefined },
  { prefix = '' }: Fields = {},
): Promise<Named | null> => {
  if (owner_id && owner_name)
    refuse('invalid_request', `${prefix}owner_id: send it or owner_name, not both.`, { field: `${prefix}owner_id` })
  if (owner_id) return personBy(queries, sessionId, owner_id, `${prefix}owner_id`)
  return owner_name ? ((await personCalled(queries, sessionId, owner_name)) ?? nameOnly(owner_name)) : null
}

/** Who decided, by id; null for nobody in particular. */
export const deciderOf = async (
  { queries }: Context,
  sessionId: string,
  id: string | null | undefined,
  { prefix = '' }: Fields = {},
): Promise<Named | null> => (id ? personBy(queries, sessionId, id, `${prefix}decided_by_id`) : null)

const personBy = async (queries: Context['queries'], sessionId: string, id: string, field: string): Promise<Named> =>
  (isUuid(id) ? await personWithId(queries, sessionId, id) : undefined) ??
  refuse('invalid_request', `Owner not found. ${field}: no person has this id. A person_id stands beside each name in records' answers.`, {
    field,
    person_id: redacted(id),
  })

// What an approver changes: validated with the rest of the proposal, and named by field.
import type { z } from 'zod'
import { refuse } from '../../core/errors.ts'
import { withLf } from '../../core/text/line-breaks.ts'
import { validationMessage } from '../../core/text/validation-messages.ts'
import type { Context } from '../../operations/context.ts'
import type { ProposalData } from '../../../db/records-schema.ts'
import type { Proposal } from '../../stores/records/proposals.ts'
import { EDITS, type ActionEdits, type DecisionEdits } from './fields.ts'
import { deciderOf, ownerOf } from './people.ts'

const WITHIN = { prefix: 'edits.' }

/** The proposal's data with these edits, and the fields that they change. 400 for what the proposal could not have been made with. */
export const edited = async (
  context: Context,
  { type, data, sessionId }: Proposal,
  given: unknown,
): Promise<{ data: ProposalData; fields: string[] }> => {
  const changes =
    type === 'action'
      ? await actionChanges(context, sessionId, parsed(EDITS.action, given))
      : await decisionChanges(context, sessionId, parsed(EDITS.decision, given))
  const changed = Object.entries(changes).filter(([field, value]) => value !== undefined && !same(data[field as keyof ProposalData], value))
  return { data: { ...data, ...Object.fromEntries(changed) }, fields: changed.map(([field]) => field) }
}

const actionChanges = async (context: Context, sessionId: string, edits: ActionEdits): Promise<Partial<ProposalData>> => ({
  ...titleAnd(edits),
  ...((edits.owner_id !== undefined || edits.owner_name !== undefined) && { owner: await ownerOf(context, sessionId, edits, WITHIN) }),
  ...(edits.due_date !== undefined && { due_date: edits.due_date }),
  ...(edits.priority !== undefined && { priority: edits.priority ?? 'medium' }),
})

const decisionChanges = async (context: Context, sessionId: string, edits: DecisionEdits): Promise<Partial<ProposalData>> => ({
  ...titleAnd(edits),
  ...(edits.rationale !== undefined && { rationale: edits.rationale?.trim() ? edits.rationale : null }),
  ...(edits.decided_by_id !== undefined && { decided_by: await deciderOf(context, sessionId, edits.decided_by_id, WITHIN) }),
})

const titleAnd = ({ title, description }: ActionEdits | DecisionEdits): Partial<ProposalData> => ({
  ...(title !== undefined && { title }),
  ...(description !== undefined && { description: description?.trim() ? description : null }),
})

// jsonb keeps an object's keys in an order of its own: a person is the same by id and name. A text is, with whichever line breaks.
const same = (before: unknown, after: unknown): boolean => keyed(before) === keyed(after)
const keyed = (value: unknown) => {
  if (typeof value === 'string') return JSON.stringify(withLf(value))
  return JSON.stringify(value ?? null, value !== null && typeof value === 'object' ? Object.keys(value).toSorted() : undefined)
}

const parsed = <Schema extends z.ZodType>(schema: Schema, given: unknown): z.output<Schema> => {
  const { success, data, error } = schema.safeParse(given, { error: messageOf })
  if (success) return data
  const issues = error.issues.map(({ path, message, ...issue }) => ({
    field: ['edits', ...path, ...('keys' in issue ? issue.keys : [])].join('.'),
    message,
  }))
  return refuse('invalid_request', issues.map(({ field, message }) => `${field}: ${message}`).join('; '), {
    field: issues[0]!.field,
    issues,
  })
}

const messageOf: z.core.$ZodErrorMap = (issue) => {
  if (issue.code === 'unrecognized_keys') return 'a proposal of this type has no such field'
  if (issue.code === 'invalid_type' && issue.input === null) return 'cannot be emptied: leave it out to keep what was proposed'
  return validationMessage(issue)
}

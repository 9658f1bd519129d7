// What a proposal says, as callers send it: when it is made, and when its approver changes it.
import { z } from 'zod'
import { meetingId, moment, personId, personName, priority, recordId, text, title } from '../schemas.ts'

const dueDate = moment.transform((given) => new Date(given).toISOString())

export const actionFields = {
  title,
  description: text(0, 1_000).optional(),
  owner_id: personId.optional().describe('A person_id; or owner_name.'),
  owner_name: personName.optional(),
  due_date: dueDate.optional().describe('With its zone.'),
  priority: priority.default('medium'),
}

export const decisionFields = {
  title,
  description: text(1, 2_000),
  rationale: text(0, 1_000).optional().describe('Why.'),
  decided_by_id: personId.optional(),
}

/** Where it comes from, and what it takes the place of. */
export const originFields = {
  meeting_id: meetingId.optional().describe("A team's own session unless given."),
  source_quote: text(0, 500).optional().describe('The words it rests on.'),
  source_event_id: recordId.optional().describe('The event that has them.'),
  replaces: recordId.optional().describe('A proposal of yours that this one replaces.'),
}

export type OriginFields = z.output<z.ZodObject<typeof originFields>>

const emptied = <Field extends z.ZodType>(field: Field) => field.nullable().optional()

/** What an approver may change, by type: null empties. */
export const EDITS = {
  action: z.strictObject({
    title: title.optional(),
    description: emptied(actionFields.description),
    owner_id: emptied(personId),
    owner_name: emptied(personName),
    due_date: emptied(dueDate),
    priority: emptied(priority),
  }),
  decision: z.strictObject({
    title: title.optional(),
    description: decisionFields.description.optional(),
    rationale: emptied(decisionFields.rationale),
    decided_by_id: emptied(personId),
  }),
}
export type ActionEdits = z.output<typeof EDITS.action>
export type DecisionEdits = z.output<typeof EDITS.decision>

/** The edits of either type, before it is known which it is, and so what cannot be emptied. */
export const anyEdits = z.strictObject({
  ...EDITS.action.shape,
  ...EDITS.decision.shape,
  title: emptied(title),
  description: emptied(text(0, 2_000)),
})

// What the operations of the board share: inputs with their limits, and the item as every door shows it.
import { z } from 'zod'
import { ITEM_KINDS, ITEM_STATUSES } from '../../db/records-schema.ts'
import { pathProblem, plainPath } from '../core/text/path-overlap.ts'
import { claimant, person, priority, text, time, title } from '../records/schemas.ts'

export const MOST_ITEMS = 500 // of a session: each call reads its board whole

const path = z
  .string()
  .superRefine((given, { addIssue }) => {
    const problem = pathProblem(given)
    if (problem) addIssue(`must ${problem}`)
  })
  .transform(plainPath)

/** What is said of an item of work, when it is planned and when it is changed. */
export const planned = {
  title,
  description: text(0, 4_000).optional(),
  priority: priority.optional(),
  depends_on: z.array(z.string().min(1).max(300)).max(100).optional(),
  paths: z.array(path).max(20).optional(),
}

export const itemStatus = z.enum(ITEM_STATUSES)

const dependency = z.object({ item_id: z.uuid(), title: z.string(), status: itemStatus, result: z.string().nullable().optional() })

export const item = z.object({
  item_id: z.uuid(),
  kind: z.enum(ITEM_KINDS),
  title: z.string(),
  description: z.string(),
  status: itemStatus,
  ready: z.boolean(),
  priority,
  depends_on: z.array(dependency),
  paths: z.array(z.string()),
  owner: person.nullable(),
  planned_by: person,
  claimed_by: claimant.nullable(),
  claim_expires_at: time.nullable(),
  note: z.string().nullable(),
  result: z.string().nullable(),
  created_at: time,
  updated_at: time,
  truncated: z.literal(true).optional(),
})
export type ItemAnswer = z.infer<typeof item>

// What the operations of records share: inputs with their limits, and parts of answers.
import { z } from 'zod'
import { PERSON_KINDS, PRIORITIES, PROPOSAL_STATUSES, PROPOSAL_TYPES } from '../../db/records-schema.ts'
import { isBlank } from '../core/text/text.ts'
import { IN_YEARS, inYears } from '../core/years.ts'
import type { Context } from '../operations/context.ts'
import { operationsOf } from '../operations/operation.ts'
import { givenId, nameOrHandle, plainly, time } from '../rooms/schemas.ts'

export const { op, internalOp } = operationsOf<Context>('records')

/** The route of a tool: POST with its arguments as JSON. */
export const toolRoute = (name: string) => ['POST', `/records/${name}`] as const

/** A text limited in characters (code points). `min` of them must show something. */
export const text = (min: number, max: number) =>
  z
    .string()
    .refine((given) => [...given].length <= max, `must have at most ${max} characters`)
    .refine((given) => min === 0 || (!isBlank(given) && [...given.trim()].length >= min), `must have at least ${min} characters`)
    .meta({ minLength: min, maxLength: max })

/** What somebody is called. */
export const personName = plainly(nameOrHandle)

export const title = text(5, 200)
  .refine((given) => !/[\r\n]/.test(given), 'must be one line')
  .transform((given) => given.trim())

export const meetingId = givenId()
export const recordId = givenId()
export const personId = givenId()
export const priority = z.enum(PRIORITIES)
export const proposalType = z.enum(PROPOSAL_TYPES)
export const proposalStatus = z.enum(PROPOSAL_STATUSES)

/** A moment, with its zone. Not z.iso.datetime, whose pattern would stand in the lists of tools: 85 tokens for each. */
export const moment = z
  .string()
  .refine((given) => isoMoment.safeParse(given).success, 'must be a time with its zone, such as 2026-03-01T09:00:00Z')
  .refine(inYears, IN_YEARS)
  .overwrite((given) => (Number.isNaN(Date.parse(given)) ? given : new Date(given).toISOString())) // other spellings the database may refuse
  .meta({ format: 'date-time' })
const isoMoment = z.iso.datetime({ offset: true })

export const listLimit = z.int().min(1).max(50).default(20)
export const listCursor = z.string().max(300).optional().describe("The last answer's next_cursor, with the same filters.")

export { time }

export const person = z.object({
  person_id: z.uuid().nullable(),
  name: z.string(),
  kind: z.enum(PERSON_KINDS).nullable(),
  verified: z.boolean(),
})
/** The team that holds an item of the board, or has done it. */
export const claimant = z.object({ team_id: z.uuid(), team_name: z.string() })
export const meeting = z.object({ meeting_id: z.uuid(), title: z.string(), date: time })
export const source = z.object({
  quote: z.string().nullable(),
  event_id: z.uuid().nullable(),
  sequence: z.int().nullable(),
  found: z.boolean(),
})

/** What every record says of where it came from. */
export const provenance = {
  ai_assisted: z.boolean(),
  proposed_by: person,
  approved_by: person,
  approved_at: time,
  edited: z.array(z.string()),
  proposal_id: z.uuid(),
  source: source.nullable(),
}

// The schemas that the session operations share: inputs with their limits, and parts of answers.
import { z } from 'zod'
import { idWithin } from '../core/ids.ts'
import { isBlank, nameIsPlain, utf8Bytes } from '../core/text/text.ts'
import { operationsOf } from '../operations/operation.ts'
import type { Context } from '../operations/context.ts'
import { STATUSES } from './status.ts'

export const { op, internalOp } = operationsOf<Context>('rooms')

export const KIB = 1024

/** Limited in characters (code points), not in UTF-16 units. */
const characters = (min: number, max: number) =>
  z
    .string()
    .refine((text) => [...text].length <= max, `must have at most ${max} characters`)
    .refine((text) => min === 0 || !isBlank(text), 'must not be blank')
    .meta({ minLength: min, maxLength: max })

/** Limited in UTF-8 bytes. */
const kibibytes = (max: number, min = 0) =>
  z
    .string()
    .min(min, 'must not be empty')
    .refine((text) => utf8Bytes(text) <= max * KIB, `must have at most ${max} KiB`)

/** An id, however it was copied (see `idWithin`). */
export const givenId = () => z.string().min(1).max(300).overwrite(idWithin)
export const sessionId = givenId()
export const title = characters(1, 200)
export const description = characters(0, 10_000)
export const reason = characters(1, 2_000)
/** A name that shows what it is, without what surrounds it. */
export const plainly = (name: z.ZodString) =>
  name
    .refine((given) => isBlank(given) || nameIsPlain(given), 'must not contain control, direction or tag characters')
    .transform((given) => given.trim())
export const teamName = plainly(characters(1, 100))
const NAME_CHARS = 120
/** Whom somebody means, by name or handle. Where a name was taken a number stands after it, so that it is longer than the one that was given. */
export const nameOrHandle = characters(1, NAME_CHARS)
/** The same, where nothing means nobody. */
export const nameOrNobody = characters(0, NAME_CHARS)
export const docContent = kibibytes(512)
export const docText = kibibytes(64)
export const DOC_LIMIT_BYTES = 512 * KIB
export const DOC_BODY_BYTES = 4 * 1024 * KIB // 512 KiB of text can take several times as much as JSON

/** A whole number, 0 or more, or its digits. `missing`: what is said where there is none. */
export const wholeNumber = (missing = 'is required (a whole number)') =>
  z
    .union(
      [
        z.int().min(0),
        z
          .string()
          .regex(/^\d{1,15}$/)
          .transform(Number),
      ],
      { error: ({ input }) => (input === undefined ? missing : 'must be a whole number, 0 or more') },
    )
    .meta({ type: 'integer', minimum: 0 })

/** A position in the log. */
export const cursor = wholeNumber()

const TOO_LONG = 'must have at most 32 KiB. Put what is longer into the document, and say where it stands'
const messageText = z
  .string()
  .min(1, 'must not be empty')
  .refine((text) => utf8Bytes(text) <= 32 * KIB, TOO_LONG)

/** `{ text }`, or the text itself. */
export const messageContent = z
  .union([z.strictObject({ text: messageText }), messageText.transform((text) => ({ text }))], {
    error: ({ input }) => (typeof input === 'string' && input !== '' ? TOO_LONG : 'must be { "text": "…" } with 1 character to 32 KiB'),
  })
  .meta({ type: 'object', properties: { text: { type: 'string', minLength: 1 } }, required: ['text'], additionalProperties: false })

export const includeTrace = z
  .boolean()
  .default(false)
  .describe('Also what the agents did (tool calls and the like), not only what was said.')

/** Rows of a page: 1 to 500. Any other number means 100. */
export const limit = z
  .int()
  .default(100)
  .transform((rows) => (rows < 1 || rows > 500 ? 100 : rows))

export const LEAST_CHARS = 1_000 // fewer leave no room for the outline of what was cut

/** The most characters that a caller wants in an answer, `least` or more. */
export const characterLimit = (least: number) => z.int().min(least).max(1_000_000)
export const maxChars = characterLimit(LEAST_CHARS).optional().describe('Longest answer you want, in characters; what is cut is marked.')

export const version = z.int().min(0)
export const time = z.iso.datetime()

export const event = z.looseObject({ id: z.string(), sequence: z.int(), type: z.string(), at: time })

export const participant = z.object({
  team_id: z.uuid(),
  team_name: z.string(),
  joined_at: time,
  last_seen_at: time,
  left_at: time.nullable(),
  status: z.enum(STATUSES),
  is_self: z.boolean(),
  is_convener: z.boolean(),
  last_seen_cursor: z.int(),
})

/** A team, with what it holds of the board. */
export const holder = participant.extend({
  holds: z.array(z.object({ item_id: z.uuid(), title: z.string(), since: time })),
})

/** How many items a board has in each state. */
export const counts = z.object({ open: z.int(), ready: z.int(), claimed: z.int(), done: z.int(), dropped: z.int() })

/** A section of the document. `chars` counts its subsections too, `change` is about its own text alone. */
export const outlineRow = z.object({ section: z.string(), level: z.int(), chars: z.int(), change: z.enum(['added', 'changed']).optional() })

import { z } from 'zod'
import { time } from '../schemas.ts'

/** A message as a person would see it: of a tool call one line, and no JSON. */
export const readableMessage = z.object({
  message_id: z.uuid(),
  sequence: z.int(),
  type: z.string(),
  at: time,
  from: z.string(),
  text: z.string(),
})
export type ReadableMessage = z.infer<typeof readableMessage>

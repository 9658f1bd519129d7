// One message, whole.
import { z } from 'zod'
import { key, person } from '../../operations/callers.ts'
import { refuse } from '../../core/errors.ts'
import { isUuid } from '../../core/ids.ts'
import { redacted } from '../../core/text/text.ts'
import { READERS } from '../../core/key-scopes.ts'
import { eventOf } from '../../stores/events.ts'
import { eventRow } from '../../stores/control/messages.ts'
import { mayReach } from '../reach.ts'
import { op, time, toolRoute } from '../schemas.ts'

/** The event as the log has it: a call with all of its input, a tool's response with its output. 404 beyond the key's reach. */
export const getMessage = op({
  name: 'get_message',
  summary: 'Read one message whole: a tool call with its input, an output, a plan.',
  route: toolRoute('get_message'),
  callers: [key, person],
  keyRow: READERS,
  effect: 'read',
  searchHint: 'whole tool input or output',
  example: { message_id: '$MESSAGE' },
  input: z.strictObject({ message_id: z.string().min(1).max(64) }),
  output: z.object({
    message: z.looseObject({ session_id: z.uuid(), id: z.uuid(), sequence: z.int(), type: z.string(), at: time }),
  }),
  refuses: ['forbidden', 'not_found'],
  async run(context, { message_id }) {
    const row = isUuid(message_id) ? await eventRow(context.queries, message_id) : undefined
    if (!row || !(await mayReach(context, row.session_id)))
      return refuse('not_found', 'There is no such message. A message is named by its id, not by its sequence.', {
        message_id: redacted(message_id),
      })
    return { message: { session_id: row.session_id, ...eventOf(row) } }
  },
})

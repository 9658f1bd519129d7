// What was said and done in a session, as a person would see it.
import { z } from 'zod'
import { key, person } from '../../operations/callers.ts'
import type { Context } from '../../operations/context.ts'
import { refuse } from '../../core/errors.ts'
import { isUuid } from '../../core/ids.ts'
import { redacted } from '../../core/text/text.ts'
import { READERS } from '../../core/key-scopes.ts'
import { eventRow, latestAnswer } from '../../stores/control/messages.ts'
import { reachedSession } from '../reach.ts'
import { maxChars, namedSessionId, op, toolRoute } from '../schemas.ts'
import { messagesAfter, type Readable } from './readable.ts'
import { readableMessage } from './shape.ts'
import { summaryOf } from './summarize.ts'

/** Without `after_message_id` the agent's latest answer and the calls after it. An answer that repeats the end of the trace counts once. 404
 *  beyond the key's reach, and for a message that is none of this session's. */
export const getMessages = op({
  name: 'get_messages',
  summary:
    "Read what was said and done in a session, as a person would see it: texts, and a line for each tool call. Without after_message_id: the agent's latest answer and the calls after it.",
  route: toolRoute('get_messages'),
  callers: [key, person],
  keyRow: READERS,
  effect: 'read',
  held: true, // a model may take its time
  searchHint: 'read on in a session',
  example: { session_id: '$SID', after_message_id: '$MESSAGE' },
  input: z.strictObject({
    session_id: namedSessionId,
    after_message_id: z.string().min(1).max(64).optional().describe('The last one that you have read.'),
    summarize: z.boolean().default(false).describe('Adds what was done, the state, plans, questions, links, errors.'),
    include_system: z.boolean().default(false).describe("Also the program's own: start, compaction, hooks."),
    max_chars: maxChars,
  }),
  output: z.object({
    messages: z.array(readableMessage),
    has_more: z.boolean(),
    summary: z.string().optional(),
    summary_source: z.enum(['model', 'extract']).optional(),
    cited: z.array(z.uuid()).optional(),
  }),
  refuses: ['forbidden', 'not_found'],
  async run(context, { session_id, after_message_id, summarize, include_system: system, max_chars }) {
    const session = await reachedSession(context, session_id)
    const { id } = session
    const read = { system, maxChars: max_chars }
    const { messages, hasMore } =
      after_message_id === undefined ? await latest(context, id, read) : await following(context, id, after_message_id, read)
    return { messages, has_more: hasMore, ...(summarize && (await summaryOf(context, session))) }
  },
})

interface Read {
  system: boolean
  maxChars: number
}

const latest = async ({ queries }: Context, sessionId: string, read: Read): Promise<Readable> => {
  const found = await latestAnswer(queries, sessionId)
  if (!found) return { messages: [], hasMore: false }
  return messagesAfter(queries, sessionId, { ...read, after: found.sequence - 1, callsAfterFirst: true })
}

const following = async ({ queries }: Context, sessionId: string, messageId: string, read: Read): Promise<Readable> => {
  const event = isUuid(messageId) ? await eventRow(queries, messageId) : undefined
  if (event?.session_id !== sessionId)
    return refuse('not_found', 'after_message_id: there is no such message in this session. It is named by its id, not by its sequence.', {
      field: 'after_message_id',
      message_id: redacted(messageId),
    })
  return messagesAfter(queries, sessionId, { ...read, after: event.sequence })
}

// The feed: look back, acknowledge. post-message.ts speaks in it, and waits.ts has the operations that follow it.
import { z } from 'zod'
import { pageWithin } from '../../core/budget.ts'
import { person } from '../../operations/callers.ts'
import { teamOf, type Context } from '../../operations/context.ts'
import { eventsBefore, type Page } from '../../stores/events.ts'
import { acknowledge } from '../../stores/members.ts'
import { receiptsOf, receivedBy } from './receipts.ts'
import { refuseBeyondEnd, existingMessage, existingSession } from '../preconditions.ts'
import { cursor, event, includeTrace, limit, maxChars, op, sessionId, time } from '../schemas.ts'
import { team } from '../team-caller.ts'

/** Pages of `limit` events (1 to 500, by default 100) or 256 KiB. Each row has the teams that have acknowledged it and, if it has `to`,
 *  those of them that it was delivered to. 400 for a cursor past the end of the feed, 404 for an unknown `message_id`. */
export const getHistory = op({
  name: 'get_history',
  summary:
    'Read back through the feed, newest page first, each page oldest first; or one message whole by its id. To follow the session use wait_for_messages.',
  route: ['GET', '/sessions/:session_id/messages'],
  callers: [team, person],
  effect: 'read',
  searchHint: 'older messages of the feed',
  example: { limit: 50 },
  input: z.strictObject({
    session_id: sessionId,
    before_cursor: cursor.optional().describe('The next_cursor of the previous page; if omitted: the newest page.'),
    limit: limit.describe('1 to 500.'),
    message_id: z.string().max(64).optional().describe('Read only this message.'),
    include_trace: includeTrace,
    max_chars: maxChars,
  }),
  output: z.object({ messages: z.array(event), next_cursor: z.int().nullable(), has_more: z.boolean() }),
  refuses: ['not_found'],
  async run(context, { session_id, before_cursor, limit, message_id, include_trace, max_chars }) {
    const { caller, queries } = context
    const { lastSequence } = caller.kind === 'team' ? caller.member.session : await existingSession(queries, session_id)
    if (before_cursor !== undefined && before_cursor > lastSequence + 1) refuseBeyondEnd('before_cursor', lastSequence)
    const [page, receipts] = await Promise.all([
      message_id === undefined
        ? eventsBefore(context.queries, session_id, before_cursor, include_trace, limit)
        : onlyPage(context, session_id, message_id),
      receiptsOf(context.services, session_id),
    ])
    const rows = page.events.map((event) => ({ ...event, ...receivedBy(event, receipts) }))
    const { events: messages, hasMore } = pageWithin({ ...page, events: rows }, max_chars, 'end')
    return { messages, next_cursor: hasMore ? messages[0]!.sequence : null, has_more: hasMore }
  },
})

const onlyPage = async (context: Context, sessionId: string, id: string): Promise<Page> => ({
  events: [await existingMessage(context, sessionId, id, 'message_id')],
  hasMore: false,
})

/** The cursor only moves forward, in a closed session too. 400 for a cursor past the end of the feed. */
export const ackMessages = op({
  name: 'ack_messages',
  summary: 'Show the others that you have seen the feed up to a cursor. Posts nothing and wakes nobody.',
  route: ['POST', '/sessions/:session_id/ack'],
  callers: [team],
  effect: 'write',
  searchHint: 'mark messages as seen',
  example: { cursor: 1 },
  input: z.strictObject({ session_id: sessionId, cursor }),
  output: z.object({ cursor: z.int(), at: time }),
  refuses: [],
  async run(context, input) {
    const { queries, session } = context
    if (input.cursor > session!.lastSequence) refuseBeyondEnd('cursor', session!.lastSequence)
    const { teamId } = teamOf(context)
    return acknowledge(queries, session!.id, teamId, input.cursor)
  },
})

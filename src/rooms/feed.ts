// The feed: post, look back, acknowledge. waits.ts has the operations that follow it.
import { z } from 'zod'
import { pageWithin } from '../core/budget.ts'
import { refuse, unauthorized } from '../core/errors.ts'
import { isUuid } from '../core/ids.ts'
import { secondsSince } from '../core/metrics.ts'
import { person, team } from '../operations/callers.ts'
import { teamOf, type Context } from '../operations/context.ts'
import { assertSameUse } from '../operations/idempotency.ts'
import { eventById, eventsBefore, type Event, type Page } from '../stores/events.ts'
import { findAnswer } from '../stores/idempotency.ts'
import { acknowledge, isPresent } from '../stores/members.ts'
import { handlesNamed, addressees, namesLeftBefore } from './addressees.ts'
import { refuseRepetition } from './loops.ts'
import { receiptsOf, receivedBy } from './receipts.ts'
import { refuseBeyondEnd, existingSession, refuseClosed } from './preconditions.ts'
import { cursor, event, includeTrace, limit, maxChars, messageContent, op, sessionId, time } from './schemas.ts'

/** Posts a message of 1 character to 32 KiB; over REST the body may be the text itself. 403 for a closed session, 404 for an unknown
 *  `reply_to`, 429 while LOOP_GUARD=slow holds repetitions back. `warnings` names the teams in `to` that have left. */
export const postMessage = op({
  name: 'post_message',
  summary:
    'Say something to all teams (markdown). Your next wait returns it too: go on from your last next_cursor, for from the cursor of this answer you would miss what others said meanwhile.',
  route: ['POST', '/sessions/:session_id/messages'],
  callers: [team, person],
  effect: 'append',
  alwaysLoad: true,
  textBody: 'content',
  example: { content: { text: 'I take the lexer.' } },
  input: z.strictObject({
    session_id: sessionId,
    content: messageContent,
    type: z.literal('chat', { error: 'must be "chat"; all other types are the server\'s' }).default('chat'),
    reply_to: z.string().max(64).optional().describe('The id of the message you answer.'),
    to: addressees.optional().describe('Handles or names of the teams you address; all teams see it.'),
    expects_reply: z.boolean().optional().describe('A question to `to`.'),
  }),
  output: z.object({ message_id: z.uuid(), cursor: z.int(), at: time, warnings: z.array(z.string()).optional() }),
  refuses: ['session_closed', 'not_found', 'loop_suspected'],
  async run(context, { session_id, content, reply_to, to, expects_reply }) {
    const { services, caller, idempotency } = context
    const team = caller.kind === 'team' ? caller.member.teamId : undefined
    const name = caller.kind === 'person' ? caller.name : undefined
    if (!team) await existingSession(context.queries, session_id)
    let handles: string[] | undefined
    try {
      if (expects_reply && !to) refuseUnaddressed()
      await refuseRepetition(context, session_id, content.text)
      if (reply_to !== undefined) await existingMessage(context, session_id, reply_to, 'reply_to')
      handles = to && (await handlesNamed(context.queries, session_id, to))
    } catch (refusal) {
      const earlier = await earlierAnswer(context, session_id, team)
      if (earlier) return replayed(context, session_id, earlier)
      throw refusal
    }
    const queued = performance.now()
    const answer = await services.groupCommit.post({
      sessionId: session_id,
      type: 'chat',
      author: team ? 'team' : 'person',
      authorName: name,
      teamId: team,
      holder: team ?? `person:${name}`,
      content,
      replyTo: reply_to,
      to: handles,
      expectsReply: expects_reply || undefined,
      idempotency,
    })
    services.metrics.postSeconds.observe(secondsSince(queued))
    switch (answer.outcome) {
      case 'unauthorized':
        return unauthorized()
      case 'closed':
        return refuseClosed()
      case 'replayed':
        return replayed(context, session_id, answer)
      case 'appended': {
        const { id: message_id, sequence: cursor, at } = answer.event
        return { message_id, cursor, at, ...(await warningsFor(context, session_id, handles, at)) }
      }
    }
  },
})

const refuseUnaddressed = () =>
  refuse('invalid_request', 'expects_reply: a question needs `to`, the teams that are to answer it.', { field: 'expects_reply' })

interface PostAnswer {
  message_id: string
  cursor: number
  at: string
  warnings?: string[]
}

// A retry gets the same warnings: a team that leaves later was there when the message was posted.
const warningsFor = async ({ queries }: Context, sessionId: string, to: string[] | undefined, at: string) => {
  const gone = to ? await namesLeftBefore(queries, sessionId, to, at) : []
  return gone.length > 0 ? { warnings: gone.map((name) => `${name} has left this session and will not read the message.`) } : {}
}

const replayed = async (
  context: Context,
  sessionId: string,
  earlier: { operation: string; bodyHash: string; answer: unknown },
): Promise<PostAnswer> => {
  assertSameUse(context.idempotency!, earlier)
  context.replayed()
  const posted = earlier.answer as PostAnswer
  const to = (await eventById(context.queries, sessionId, posted.message_id))?.to as string[] | undefined
  return { ...posted, ...(await warningsFor(context, sessionId, to, posted.at)) }
}

// Refusals have an order: the idempotency key's earlier answer comes first, then a team that has left, then a closed session, and only
// then bad arguments. Asked only about a post with bad arguments, because the log itself decides the first three for every other post.
const earlierAnswer = async ({ queries, idempotency }: Context, sessionId: string, team: string | undefined) => {
  const earlier = idempotency && (await findAnswer(queries, { scope: sessionId, ...idempotency }))
  if (earlier) return earlier
  if (team && !(await isPresent(queries, sessionId, team))) return unauthorized()
  const { status } = await existingSession(queries, sessionId)
  return status === 'closed' ? refuseClosed() : undefined
}

const existingMessage = async ({ queries }: Context, sessionId: string, id: string, field: 'reply_to' | 'message_id'): Promise<Event> =>
  (isUuid(id) ? await eventById(queries, sessionId, id) : undefined) ??
  refuse('not_found', `${field}: there is no such message in this session. A message is named by its id, not by its sequence.`, {
    field,
    message_id: id,
  })

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

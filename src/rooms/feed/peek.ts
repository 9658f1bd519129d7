// peek counts the unread messages of a team without consuming them: for hooks and scripts between two steps, and held for a watcher that wakes
// an agent. To follow the feed, a team waits.
import { z } from 'zod'
import { isUuid } from '../../core/ids.ts'
import type { PeekAnswer } from '../../loops/wakes.ts'
import { teamOf, type Context } from '../../operations/context.ts'
import { withinDeadline } from '../../../db/database.ts'
import { refuseBeyondEnd } from '../preconditions.ts'
import { cursor, op, sessionId, version } from '../schemas.ts'
import { peekRequestOf, TeamPeek, type PeekOptions } from './team-peek.ts'
import { holdSeconds } from './waits.ts'
import { team } from '../team-caller.ts'

/** Counts up to 1,000, after `after` or what a wait delivered last. With `timeout` it is held until something may wake the team (`wake`), or
 *  the session is concluded: `session_closed` is there then. 400 past the end of the feed, 429 past 32 held peeks of a team and past
 *  MAX_WAITS_PER_ADDRESS, 503 past MAX_WAITS. REST answers with an ETag, and 304 while nothing has changed. */
export const peek = op({
  name: 'peek',
  summary:
    'Count (to 1,000) what others said since you were last handed the feed, and how much of it is addressed to you. Consumes nothing; made for hooks. With timeout it is held until something may wake you (wake); go on with after = last_cursor. To follow the session use wait_for_messages.',
  route: ['GET', '/sessions/:session_id/unread'],
  callers: [team],
  effect: 'read',
  searchHint: 'how much is unread',
  held: true,
  topic: ({ session_id }) => (isUuid(session_id) ? session_id : undefined),
  conditional: true,
  input: z.strictObject({
    session_id: sessionId,
    timeout: holdSeconds(0),
    only: z.enum(['addressed']).optional().describe('Only what is addressed to you wakes you.'),
    after: cursor.optional().describe('Count from here: the last last_cursor.'),
  }),
  output: z.object({
    unread: z.int(),
    addressed: z.int(),
    last_cursor: z.int(),
    doc_version: version,
    wake: z.boolean(),
    session_closed: z.literal(true).optional(),
  }),
  refuses: ['rate_limited', 'unavailable'],
  run(context, { timeout, only, after }) {
    return answerTo(context, { after, addressedOnly: only === 'addressed', timeoutMs: timeout * 1000 }).then(resultOf)
  },
})

const answerTo = (context: Context, options: PeekOptions): Promise<PeekAnswer> => {
  const { services, call, waiter } = context
  const member = teamOf(context)
  const { lastSequence } = member.session
  if (options.after !== undefined && options.after > lastSequence) refuseBeyondEnd('after', lastSequence)
  if (options.timeoutMs > 0) return new TeamPeek(services, member, options).run(call, waiter)
  return withinDeadline(services.wakes.ask({ ...peekRequestOf(services, member, options), claims: false }))
}

const resultOf = ({ unread, addressed, lastCursor, docVersion, wake, closed }: PeekAnswer) => ({
  unread,
  addressed,
  last_cursor: lastCursor,
  doc_version: docVersion,
  wake,
  ...(closed && { session_closed: true as const }),
})

// What waits for a team, without consuming any of it: for hooks and scripts that ask between two steps. Waiting stays the way to follow.
import { z } from 'zod'
import { teamOf } from '../operations/context.ts'
import { unreadOf } from '../stores/unread.ts'
import { op, sessionId } from './schemas.ts'
import { handedTo } from './team-wait.ts'

/** Beyond specification 1: counts to 1,000, from what a wait handed out last. REST gives an ETag, and 304 while nothing has changed. */
export const peek = op({
  name: 'peek',
  summary:
    'Count (to 1,000) what others said since you were last handed the feed, and how much of it is addressed to you. Consumes nothing; made for hooks. To follow the session use wait_for_messages.',
  route: ['GET', '/sessions/:session_id/unread'],
  access: 'team',
  effect: 'read',
  conditional: true,
  input: z.strictObject({ session_id: sessionId }),
  output: z.object({ unread: z.int(), addressed: z.int(), last_cursor: z.int() }),
  refuses: [],
  async run(context) {
    const { services, queries } = context
    const member = teamOf(context)
    const { id, lastConversationSequence: last_cursor } = member.session
    const counts = await unreadOf(queries, id, member.teamId, handedTo(services, member), handedTo(services, member, true))
    return { ...counts, last_cursor }
  },
})

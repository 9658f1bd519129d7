// peek counts the unread messages of a team without consuming them: for hooks and scripts between two steps. To follow the feed, a team
// waits.
import { z } from 'zod'
import { team } from '../operations/callers.ts'
import { teamOf } from '../operations/context.ts'
import { unreadOf } from '../stores/unread.ts'
import { op, sessionId } from './schemas.ts'
import { deliveredTo } from './team-wait.ts'

/** Counts up to 1,000, from the event that a wait delivered last. REST answers with an ETag, and 304 while nothing has changed. */
export const peek = op({
  name: 'peek',
  summary:
    'Count (to 1,000) what others said since you were last handed the feed, and how much of it is addressed to you. Consumes nothing; made for hooks. To follow the session use wait_for_messages.',
  route: ['GET', '/sessions/:session_id/unread'],
  callers: [team],
  effect: 'read',
  searchHint: 'how much is unread',
  conditional: true,
  input: z.strictObject({ session_id: sessionId }),
  output: z.object({ unread: z.int(), addressed: z.int(), last_cursor: z.int() }),
  refuses: [],
  async run(context) {
    const { services, queries } = context
    const member = teamOf(context)
    const { id, lastConversationSequence: last_cursor } = member.session
    const counts = await unreadOf(queries, id, member.teamId, deliveredTo(services, member), deliveredTo(services, member, true))
    return { ...counts, last_cursor }
  },
})

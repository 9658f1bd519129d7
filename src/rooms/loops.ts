// What the loop guard (src/loops/guard.ts) means to the room: a mark that a person removes, and with LOOP_GUARD=slow a pause.
import { z } from 'zod'
import { refuse } from '../core/errors.ts'
import type { Context } from '../operations/context.ts'
import { release } from '../loops/store.ts'
import { personOnly } from './who-may.ts'
import { openSession } from './preconditions.ts'
import { op, sessionId } from './schemas.ts'

/** Beyond specification 1, only for people (403), and while the session is open: `released` is false when nothing was suspected. */
export const releaseSession = op({
  name: 'release_session',
  summary: 'Say, as a person, that teams that seemed to repeat themselves may continue. What was said so far no longer counts.',
  route: ['POST', '/sessions/:session_id/release'],
  access: 'room',
  effect: 'write',
  restOnly: true,
  peopleOnly: true,
  input: z.strictObject({ session_id: sessionId }),
  output: z.object({ released: z.boolean() }),
  refuses: ['forbidden', 'session_closed'],
  async run(context, { session_id }) {
    personOnly(context, 'Only a signed-in person can release a session, on its page. Ask your person, and wait.')
    const released = await release(context.queries, session_id, openSession(context).lastSequence)
    context.services.loops.forget(session_id)
    return { released }
  },
})

/** Refuses a team that says again, in a session that goes in circles, what it has said before. */
export const refuseRepetition = async ({ services, caller }: Context, sessionId: string, text: string): Promise<void> => {
  if (caller.kind !== 'team') return
  const retry_after = services.loops.secondsToWait(sessionId, caller.member.teamId, text)
  if (retry_after === 0) return
  const overview = await services.overviewOf(sessionId)
  if (!overview?.loopSince) return services.loops.forget(sessionId) // released through another instance
  refuse(
    'loop_suspected',
    `The teams in this session keep repeating themselves. Say something new, or ask your person to release the session. The same text may be sent again in ${retry_after} s.`,
    { retry_after },
  )
}

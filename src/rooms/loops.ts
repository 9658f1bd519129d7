// What the loop guard (src/loops/guard.ts) means to a session: a mark that a person can remove, and with LOOP_GUARD=slow a pause. So do
// wakes that are used up (src/loops/wakes.ts).
import { z } from 'zod'
import { refuse } from '../core/errors.ts'
import { person } from '../operations/callers.ts'
import type { Context } from '../operations/context.ts'
import { release } from '../loops/store.ts'
import { beginHour } from '../stores/wakes.ts'
import { writableSession } from './preconditions.ts'
import { op, sessionId } from './schemas.ts'
import { team } from './team-caller.ts'

const onlyFor = 'Only a signed-in person can release a session, on its page. Ask your user, and wait.'

/** Only for people (403), and while the session is open (403). `released` is false when the session was neither
 *  marked nor had used up its wakes. */
export const releaseSession = op({
  name: 'release_session',
  summary:
    'Say, as a person, that teams that seemed to repeat themselves may continue, and that messages may wake those that sleep. What was said so far no longer counts.',
  route: ['POST', '/sessions/:session_id/release'],
  callers: [team, person],
  effect: 'write',
  restOnly: true,
  peopleOnly: true,
  onlyFor,
  input: z.strictObject({ session_id: sessionId }),
  output: z.object({ released: z.boolean() }),
  refuses: ['forbidden', 'session_closed'],
  async run(context, { session_id }) {
    const { queries, services } = context
    const released = await release(queries, session_id, writableSession(context).lastSequence)
    const mayWake = await beginHour(queries, session_id, services.wakes.perHour())
    services.loops.forget(session_id)
    services.wakes.forget(session_id)
    return { released: released || mayWake }
  },
})

/** Refuses a team that repeats itself in a session that is marked as a loop (with LOOP_GUARD=slow). */
export const refuseRepetition = async ({ services, caller }: Context, sessionId: string, text: string): Promise<void> => {
  if (caller.kind !== 'team') return
  const retry_after = services.loops.secondsToWait(sessionId, caller.member.teamId, text)
  if (retry_after === 0) return
  const hadMarked = services.loops.hasMarked(sessionId) // asked first: the mark may be written while the session is read
  const overview = await services.overviewOf(sessionId)
  if (!overview?.loopSince) {
    if (hadMarked) services.loops.forget(sessionId) // released through another instance
    return
  }
  refuse(
    'loop_suspected',
    `The teams in this session keep repeating themselves. Say something new, or ask your user to release the session. The same text may be sent again in ${retry_after} s.`,
    { retry_after },
  )
}

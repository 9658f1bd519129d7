// What is noted in a session's log outside of any task: a runtime event of the turn that is open now. It wakes nobody.
import type { Context } from '../../operations/context.ts'
import { insertImported } from '../../stores/imports.ts'
import { advanceSession, type Session } from '../../stores/sessions.ts'
import { laterOf, newEventId, numbered } from '../tasks/task-log.ts'

/** Writes a runtime event behind the log's end. The caller has locked the session. */
export const noteInLog = async (context: Context, session: Session, content: Record<string, unknown>): Promise<void> => {
  const [turn, at] = [Math.max(session.turn, 1), laterOf(context.services.clock.nowText(), session.lastEventAt)]
  const place = { task: { turn }, sequence: session.lastSequence + 1, ordinal: session.turnEvents + 1, at }
  await insertImported(context.queries, session.id, [numbered({ id: newEventId(), type: 'runtime', author: 'system', content }, place)])
  const moved = { lastSequence: place.sequence, turn, turnEvents: place.ordinal, lastEventAt: at }
  await advanceSession(context.queries, session.id, moved)
  Object.assign(session, moved) // what else this transaction writes goes on from here
  context.grew(session.id, place.sequence, 1)
}

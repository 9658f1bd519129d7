// What a call requires of a session: that it exists, is open, and reaches to the cursor. All doors refuse with the same sentences.
import { refuse } from '../core/errors.ts'
import { isUuid } from '../core/ids.ts'
import type { Context } from '../operations/context.ts'
import { noSuchSession } from '../operations/subject.ts'
import { agentOf } from '../stores/control/agents.ts'
import { eventById, type Event } from '../stores/events.ts'
import { sessionById, takesWrites, type Session } from '../stores/sessions.ts'

/** The session with this id. Refuses with `not_found`, also for a text that is no id. */
export const existingSession = async (queries: Context['queries'], id: string): Promise<Session> =>
  (isUuid(id) ? await sessionById(queries, id) : undefined) ?? noSuchSession(id)

/** A session whose log can be followed: a purged one has none, and is refused as unknown. */
export const unpurgedSession = async (queries: Context['queries'], id: string): Promise<Session> => {
  const session = await existingSession(queries, id)
  return session.purgedAt === null ? session : noSuchSession(id)
}

/** The session of a write. Refuses when it is closed or archived. */
export const writableSession = ({ session }: Context): Session => stillOpen(session!)

export const stillOpen = (session: Session): Session => (takesWrites(session) ? session : refuseClosed(session))

// Control's create_session, which a caller at /mcp/control has alone, takes no resume_from.
const RESUMING = 'create_session of rooms (at /mcp) with resume_from'

/** Refuses an archived session, and one that was purged. For writes that a concluded session still takes. */
export const refuseArchived = ({ id, archivedAt, purgedAt }: Pick<Session, 'id' | 'archivedAt' | 'purgedAt'>): void => {
  if (purgedAt !== null) noSuchSession(id)
  if (archivedAt !== null)
    refuse(
      'session_closed',
      `This session is archived and accepts no changes. A signed-in person can bring it back, or a program with a full key: manage_session with action: start. To go on without it, call ${RESUMING}.`,
      { archived: true },
    )
}

export const refuseClosed = (session: Session): never => {
  refuseArchived(session)
  return refuseConcluded()
}

const refuseConcluded = (): never =>
  refuse('session_closed', `This session is concluded and accepts no more changes. You can still read it; to continue, call ${RESUMING}.`)

/** Refuses a cursor past the end of the log. `field`: the argument that had it; `last`: the last sequence. */
export const refuseBeyondEnd = (field: string, last: number): never =>
  refuse('invalid_request', `${field} is beyond the end of the feed, which is at ${last}. Continue from there.`, {
    field,
    last_sequence: last,
  })

/** The event with this id. Refuses with `not_found`, and says which argument had it. */
export const existingMessage = async (
  { queries }: Context,
  sessionId: string,
  id: string,
  field: 'reply_to' | 'message_id',
): Promise<Event> =>
  (isUuid(id) ? await eventById(queries, sessionId, id) : undefined) ??
  refuse('not_found', `${field}: there is no such message in this session. A message is named by its id, not by its sequence.`, {
    field,
    message_id: id,
  })

/** Refuses what would take a session's own agent out of it: its next prompt needs its team. */
export const refuseItsAgent = async (queries: Context['queries'], sessionId: string, teamId: string): Promise<void> => {
  if ((await agentOf(queries, sessionId))?.teamId === teamId)
    refuse('forbidden', 'The agent of a session stays in it, for its next prompt. To end your work, answer, and end your turn.')
}

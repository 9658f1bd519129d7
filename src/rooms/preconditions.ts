// What a session must be for a call to go on: there, open, and no shorter than the cursor. Refused in one sentence each, by all doors.
import { refuse } from '../core/errors.ts'
import { isUuid } from '../core/ids.ts'
import { redacted } from '../core/text.ts'
import type { Context } from '../operations/context.ts'
import { sessionById, type Session } from '../stores/sessions.ts'

/** The session under this id; whatever else is given for an id refuses as `not_found` too. */
export const existingSession = async (queries: Context['queries'], id: string): Promise<Session> =>
  (isUuid(id) ? await sessionById(queries, id) : undefined) ?? noSuchSession(id)

/** Whatever was sent for an id comes back in the refusal, but no credential in it. */
export const noSuchSession = (id: string): never => refuse('not_found', 'There is no such session.', { session_id: redacted(id) })

/** The open session of a write; refuses when it is closed. */
export const openSession = ({ session }: Context): Session => {
  if (session!.status === 'closed') refuseClosed()
  return session!
}

export const refuseClosed = (): never =>
  refuse(
    'session_closed',
    'This session is concluded and accepts no more changes. You can still read it; to continue, call create_session with resume_from.',
  )

/** For a cursor that no event has had yet: `field` is the argument it came in, `last` where the log ends. */
export const beyondTheEnd = (field: string, last: number): never =>
  refuse('invalid_request', `${field} is beyond the end of the feed, which is at ${last}. Continue from there.`, {
    field,
    last_sequence: last,
  })

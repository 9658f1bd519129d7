// How far a caller reaches. A session beyond that is answered as one that does not exist.
import { refuse } from '../core/errors.ts'
import { isUuid } from '../core/ids.ts'
import { redacted } from '../core/text/text.ts'
import type { Caller } from '../operations/callers.ts'
import type { Context } from '../operations/context.ts'
import { noSuchSession, sessionSubject, type SessionSubject } from '../operations/subject.ts'
import { sessionById, type Session } from '../stores/sessions.ts'
import { isBelow } from '../stores/control/genealogy.ts'
import { taskById, type Task } from '../stores/control/tasks.ts'

/** The session that an agent's key is limited to, with those below it; undefined for other callers. */
export const ownSession = (caller: Caller): string | undefined =>
  caller.kind === 'key' && caller.key.scope === 'agent' ? caller.key.sessionId! : undefined

/** `current` is the session of the caller's own key. */
export const namedSession = (caller: Caller, given: string): string => (given === 'current' ? (ownSession(caller) ?? given) : given)

/** The session that a write is about, which may be named `current`. */
export const namedSubject = ({ session_id }: { session_id: string }, caller: Caller): SessionSubject =>
  sessionSubject(namedSession(caller, session_id))

/** Whether the caller may know of this session: everybody but an agent, which reaches its own and those below it. */
export const mayReach = async ({ caller, queries }: Context, sessionId: string): Promise<boolean> => {
  const own = ownSession(caller)
  return own === undefined || own === sessionId || (isUuid(sessionId) && (await isBelow(queries, own, sessionId)))
}

/** The session of this id, or 404. */
export const reachedSession = async (context: Context, given: string): Promise<Session> => {
  const id = namedSession(context.caller, given)
  const session = isUuid(id) ? await sessionById(context.queries, id) : undefined
  return session && (await mayReach(context, id)) ? session : noSuchSession(given)
}

/** The session that a write has locked, or 404. */
export const reachedLocked = async (context: Context): Promise<Session> => {
  const session = context.session!
  return (await mayReach(context, session.id)) ? session : noSuchSession(session.id)
}

/** The task of this id, or 404. */
export const reachedTask = async (context: Context, id: string): Promise<Task> => {
  const task = await taskById(context.queries, id)
  return task && (await mayReach(context, task.sessionId)) ? task : noSuchTask(id)
}

export const noSuchTask = (id: string): never =>
  refuse('not_found', 'There is no such task. list_tasks has the ids of those that you may reach.', { task_id: redacted(id) })

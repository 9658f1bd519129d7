// Appends `subsession_finished` to the parent's log when a task or a session that works for it has ended: the parent learns of it in the
// wait that it holds anyway.
import { shortened } from '../core/events/event-text.ts'
import type { Context } from '../operations/context.ts'
import { lockSession, type Session } from '../stores/sessions.ts'

const TEXT_CHARACTERS = 2_000

/** What ended: a task, or with `task_id: null` the session itself. */
export interface Finished {
  task_id: string | null
  status: string
  message_id: string | null
  text: string
}

/** Leaves `subsession_finished` in the parent's log, unless that is closed, or just being closed, or there is none; also while it is
 *  archived: once restored it has what its children did. */
export const appendToParent = async (context: Context, session: Session, { text, ...finished }: Finished): Promise<void> => {
  if (session.parentSessionId === null) return
  const parent = await lockSession(context.queries, session.parentSessionId)
  if (!parent || parent.status === 'closed') return
  const { text: title } = shortened(session.title)
  const event = { event: 'subsession_finished', session_id: session.id, title, ...finished }
  await context.append(parent.id, { ...event, text: [...text].slice(0, TEXT_CHARACTERS).join('') }, { evenClosed: true })
}

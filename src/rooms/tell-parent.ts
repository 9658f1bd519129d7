// A session that works for another one says there that something has ended: its parent waits for it with the one call that it uses anyway.
import { shortened } from '../core/events/event-text.ts'
import type { Context } from '../operations/context.ts'
import { sessionById, type Session } from '../stores/sessions.ts'

const TOLD_CHARACTERS = 2_000

/** What ended: a task, or with `task_id: null` the session itself. */
export interface Finished {
  task_id: string | null
  status: string
  message_id: string | null
  text: string
}

/** Leaves `subsession_finished` in the parent's log, unless that is closed or there is none; also while it is archived: once restored it has what its children did. */
export const tellParent = async (context: Context, session: Session, { text, ...finished }: Finished): Promise<void> => {
  if (session.parentSessionId === null) return
  const parent = await sessionById(context.queries, session.parentSessionId)
  if (!parent || parent.status === 'closed') return
  const { text: title } = shortened(session.title)
  const event = { event: 'subsession_finished', session_id: session.id, title, ...finished }
  await context.append(parent.id, { ...event, text: [...text].slice(0, TOLD_CHARACTERS).join('') }, { evenClosed: true })
}

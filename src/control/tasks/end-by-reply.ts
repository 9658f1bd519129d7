import type { Context } from '../../operations/context.ts'
import { eventRow } from '../../stores/control/messages.ts'
import { endingReply, type Task } from '../../stores/control/tasks.ts'
import type { Session } from '../../stores/sessions.ts'
import { endTask } from './end-task.ts'

/** Ends a task that waits for a team by the reply that stands in the log already, if one does: completed, or interrupted where whoever asked
 *  withdrew it. The caller has locked the session and then the task. */
export const endByReply = async (context: Context, session: Session, task: Task): Promise<Task | undefined> => {
  const reply = await endingReply(context.queries, task.id)
  if (reply?.withdraws) return endTask(context, session, task, { status: 'interrupted' })
  const message = reply && (await eventRow(context.queries, reply.id))
  return message && endTask(context, session, task, { status: 'completed', answer: String(message.content.text ?? ''), posted: message })
}

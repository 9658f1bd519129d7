import type { Context } from '../../operations/context.ts'
import { noOrder, setAgent, setAgentState } from '../../stores/control/agents.ts'
import { openTasks } from '../../stores/control/tasks.ts'
import type { Session } from '../../stores/sessions.ts'
import { endTask } from '../tasks/end-task.ts'

/** Marks a session's agent as failed, and fails what is queued for it for the same reason. The caller has locked the session. */
export const failAgent = async (context: Context, session: Session, error: { code: string; message: string }): Promise<void> => {
  const { queries } = context
  await setAgent(queries, session.id, { ...noOrder, error })
  const tasks = await openTasks(queries, session.id)
  for (const task of tasks) await endTask(context, session, task, { status: 'failed', error })
  // A task tells of it in its own events.
  if (tasks.length === 0)
    await context.note(session.id, { event: 'agent_failed', code: error.code, text: error.message }, { evenClosed: true })
  await setAgentState(queries, session.id, { agentStatus: 'failed' })
}

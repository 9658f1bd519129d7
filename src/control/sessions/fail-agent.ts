import type { Context } from '../../operations/context.ts'
import { noOrder, setAgent, setAgentState } from '../../stores/control/agents.ts'
import { openTasks } from '../../stores/control/tasks.ts'
import type { Session } from '../../stores/sessions.ts'
import { endTask } from '../tasks/end-task.ts'

/** Marks a session's agent as failed, and fails what is queued for it for the same reason. The caller has locked the session. */
export const failAgent = async (context: Context, session: Session, error: { code: string; message: string }): Promise<void> => {
  const { queries } = context
  await setAgent(queries, session.id, { ...noOrder, error })
  for (const task of await openTasks(queries, session.id)) await endTask(context, session, task, { status: 'failed', error })
  await setAgentState(queries, session.id, { agentStatus: 'failed' })
  await setAgent(queries, session.id, { error })
}

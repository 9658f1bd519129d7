// Tasks whose runner has gone: they fail, and are never run again by themselves, since nobody knows how far they came.
import type { Context } from '../../operations/context.ts'
import { isFinal, lockTask, type Task } from '../../stores/control/tasks.ts'
import { lockSession } from '../../stores/sessions.ts'
import { endTask } from '../tasks/end-task.ts'

export const RUNNER_LOST = {
  code: 'runner_lost',
  message:
    'The runner went away while it worked on this. What it had done until then stands in the log and in its worktree; nothing is run again by itself.',
}

/** Fails these tasks. */
export const loseTasks = async (context: Context, tasks: readonly Pick<Task, 'id' | 'sessionId'>[]): Promise<void> => {
  for (const { id, sessionId } of tasks) {
    const session = await lockSession(context.queries, sessionId)
    const task = session && (await lockTask(context.queries, id))
    if (session && task && !isFinal(task.status)) await endTask(context, session, task, { status: 'failed', error: RUNNER_LOST })
  }
}

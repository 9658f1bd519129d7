import type { Context } from '../operations/context.ts'
import { topicOf, type Topic } from '../log/topics.ts'
import type { Session } from '../stores/sessions.ts'
import { worktreeOf } from '../stores/control/worktrees.ts'

/** Moves with each change of a task's status. */
export const taskTopic = (id: string): Topic => topicOf('task', id)
/** Moves when there is something for a runner to take. */
export const runnerTopic = (id: string): Topic => topicOf('runner', id)

/** The runner that has the session's worktree, if any, looks whether there is something to take. */
export const wakeRunnerOf = async (context: Context, session: Session): Promise<void> => {
  const place = await worktreeOf(context.queries, session)
  if (place) context.moved(runnerTopic(place.runner_id))
}

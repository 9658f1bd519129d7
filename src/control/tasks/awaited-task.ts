import type { Context } from '../../operations/context.ts'
import { holdFor } from '../../operations/hold.ts'
import { isFinal, taskById, type Task } from '../../stores/control/tasks.ts'
import { noSuchTask } from '../reach.ts'
import { taskTopic } from '../topics.ts'

/** The task once it has ended, or as it is when the time is up or the caller has gone. 404 once its session was purged. */
export const taskAtItsEnd = async ({ services, call }: Context, task: Task, timeout: number): Promise<Task> => {
  if (isFinal(task.status) || timeout === 0) return task
  const current = async () => (await taskById(services.database, task.id)) ?? noSuchTask(task.id)
  const find = async () => {
    const now = await current()
    return isFinal(now.status) ? now : undefined
  }
  const ended = await holdFor(services, call, { topic: taskTopic(task.id), timeoutMs: timeout }, find)
  return ended ?? (await current())
}

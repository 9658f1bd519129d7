// One task: what became of a prompt, at once or once it has.
import { z } from 'zod'
import { READERS } from '../../core/key-scopes.ts'
import { key, person } from '../../operations/callers.ts'
import type { Context } from '../../operations/context.ts'
import { holdFor } from '../../operations/hold.ts'
import { isFinal, taskById, type Task } from '../../stores/control/tasks.ts'
import { messagesAfter } from '../messages/readable.ts'
import { readHoldups } from '../holdups.ts'
import { noSuchTask, reachedTask } from '../reach.ts'
import { maxChars, op, task, taskId, timeoutMs, toolRoute } from '../schemas.ts'
import { taskTopic } from '../topics.ts'
import { taskAnswer } from './task-answer.ts'
import { readableMessage } from '../messages/shape.ts'

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

/** Waits at most `timeout_ms` for the task's end; `held`, `no_worktree`, `over_budget` and `asks_permission` say that it cannot go on by
 *  itself. `messages` is what was said and done for it, as a person would see it. 404 for a task that the key does not reach. */
export const getTask = op({
  name: 'get_task',
  summary: 'See what became of a prompt: its status, the answer, what was done. With timeout_ms it waits for the end.',
  route: toolRoute('get_task'),
  callers: [key, person],
  keyRow: READERS,
  effect: 'read',
  held: true,
  alwaysLoad: true,
  example: { task_id: '$TASK', timeout_ms: 30_000 },
  input: z.strictObject({
    task_id: taskId,
    timeout_ms: timeoutMs.default(0).describe('Milliseconds to wait for its end.'),
    max_chars: maxChars,
  }),
  output: z.object({ task, messages: z.array(readableMessage), has_more: z.boolean() }),
  refuses: ['not_found', 'forbidden'],
  async run(context, { task_id, timeout_ms, max_chars }) {
    const found = await taskAtItsEnd(context, await reachedTask(context, task_id), timeout_ms)
    const said = await messagesAfter(context.services.database, found.sessionId, {
      after: found.startSequence,
      task: found,
      maxChars: max_chars,
    })
    const holdups = await readHoldups({ ...context, queries: context.services.database }, [found.sessionId])
    return { task: taskAnswer(found, holdups.get(found.sessionId)), messages: said.messages, has_more: said.hasMore }
  },
})

// One task: what became of a prompt, at once or once it has.
import { z } from 'zod'
import { READERS } from '../../core/key-scopes.ts'
import { key, person } from '../../operations/callers.ts'
import { messagesAfter } from '../messages/readable.ts'
import { readHoldups } from '../holdups.ts'
import { reachedTask } from '../reach.ts'
import { CLIENTS_GIVE_UP, maxMessageChars, op, task, taskId, timeoutMs, toolRoute } from '../schemas.ts'
import { taskAtItsEnd } from './awaited-task.ts'
import { taskAnswer } from './task-answer.ts'
import { readableMessage } from '../messages/shape.ts'

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
    timeout_ms: timeoutMs.default(0).describe(`Milliseconds to wait for its end. ${CLIENTS_GIVE_UP}`),
    max_chars: maxMessageChars,
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

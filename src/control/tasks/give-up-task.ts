import { z } from 'zod'
import { anyone } from '../../operations/callers.ts'
import { isFinal } from '../../stores/control/tasks.ts'
import { internalOp, taskId } from '../schemas.ts'
import { endTask } from './end-task.ts'
import { taskSubject, type LockedTask } from './task-subject.ts'

/** Ends a task that nobody works on (any more); one that has ended stays as it is. */
export const giveUpTask = internalOp({
  name: 'give_up_task',
  summary: 'Ends a task that nobody works on.',
  callers: [anyone],
  effect: 'write',
  subject: ({ task_id }) => taskSubject(task_id),
  input: z.strictObject({
    task_id: taskId,
    status: z.enum(['failed', 'interrupted']).default('failed'),
    code: z.string(),
    message: z.string(),
  }),
  output: z.object({ ended: z.boolean() }),
  refuses: [],
  async run(context, { status, code, message }) {
    const { session, task } = context.locked as LockedTask
    if (isFinal(task.status)) return { ended: false }
    await endTask(context, session, task, { status, error: { code, message } })
    return { ended: true }
  },
})

// In a session without an agent a team answers a prompt: its first reply ends the task. So does a reply by whoever asked, which withdraws it.
import { z } from 'zod'
import type { Job } from '../../core/runtime/job.ts'
import { anyone } from '../../operations/callers.ts'
import { perform } from '../../operations/perform.ts'
import type { Services } from '../../process/services.ts'
import { answeredTasks, isFinal, taskOfPrompt } from '../../stores/control/tasks.ts'
import { internalOp, taskId } from '../schemas.ts'
import { endByReply } from './end-by-reply.ts'
import { taskSubject, type LockedTask } from './task-subject.ts'

const EVERY_MS = 5_000 // for a reply whose instance stopped before it ended the task

/** Ends the task of a prompt that was answered or withdrawn. */
const answerTask = internalOp({
  name: 'answer_task',
  summary: 'Ends a task whose prompt was answered or withdrawn.',
  callers: [anyone],
  effect: 'write',
  subject: ({ task_id }) => taskSubject(task_id),
  input: z.strictObject({ task_id: taskId }),
  output: z.object({ answered: z.boolean() }),
  refuses: [],
  async run(context) {
    const { session, task } = context.locked as LockedTask
    const waits = !isFinal(task.status) && task.runnerId === null
    const ended = waits ? await endByReply(context, session, task) : undefined
    return { answered: ended?.status === 'completed' }
  },
})

/** Ends a task as soon as this instance commits a reply to its prompt, and every five seconds those whose reply no instance noticed. */
export const answersJob = (services: Services): Job => {
  const end = (task_id: string) => perform(answerTask, services, { signal: () => services.stopping }, { task_id })
  const noticed = async (replyTo: string) => {
    const task = await taskOfPrompt(services.database, replyTo)
    if (task && task.runnerId === null && task.status === 'running') await end(task.id)
  }
  services.onEvents((_, events) => {
    for (const { type, reply_to } of events) if (type === 'chat' && typeof reply_to === 'string') void noticed(reply_to).catch(() => {}) // found later
  })
  return {
    name: 'prompt-answers',
    everyMs: EVERY_MS,
    async run() {
      for (const id of await answeredTasks(services.database)) await end(id)
    },
  }
}

// In a session without an agent a team answers a prompt: the first chat that replies to it ends its task.
import { z } from 'zod'
import type { Job } from '../../core/runtime/job.ts'
import { anyone } from '../../operations/callers.ts'
import { perform } from '../../operations/perform.ts'
import type { Services } from '../../process/services.ts'
import { answeredPrompts, isFinal, setTask, taskOfPrompt } from '../../stores/control/tasks.ts'
import { eventRow } from '../../stores/control/messages.ts'
import { appendToParent } from '../../rooms/append-to-parent.ts'
import { pageOp, taskId } from '../schemas.ts'
import { taskTopic } from '../topics.ts'
import { taskSubject, type LockedTask } from './task-subject.ts'

const EVERY_MS = 5_000 // for a reply whose instance stopped before it ended the task

/** Ends the task of a prompt with the message that answers it. For this server itself. */
const answerTask = pageOp({
  name: 'answer_task',
  summary: 'Ends a task with the message that answers its prompt.',
  callers: [anyone],
  effect: 'write',
  subject: ({ task_id }) => taskSubject(task_id),
  input: z.strictObject({ task_id: taskId, message_id: z.uuid() }),
  output: z.object({ answered: z.boolean() }),
  refuses: [],
  async run(context, { message_id }) {
    const { session, task } = context.locked as LockedTask
    const message = await eventRow(context.queries, message_id)
    if (isFinal(task.status) || task.runnerId !== null || !message) return { answered: false }
    const answer = String(message.content.text ?? '')
    const ended = { status: 'completed', endedAt: message.at, answerMessageId: message_id, answer, endSequence: message.sequence }
    await setTask(context.queries, task.id, ended)
    context.moved(taskTopic(task.id), Date.now())
    await appendToParent(context, session, { task_id: task.id, status: 'completed', message_id, text: answer })
    return { answered: true }
  },
})

/** Ends a task as soon as this instance commits a reply to its prompt, and every five seconds those whose reply no instance noticed. */
export const answersJob = (services: Services): Job => {
  const end = (task_id: string, message_id: string) =>
    perform(answerTask, services, { signal: () => services.stopping }, { task_id, message_id })
  const noticed = async (id: string, replyTo: string) => {
    const task = await taskOfPrompt(services.database, replyTo)
    if (task && task.runnerId === null && task.status === 'running') await end(task.id, id)
  }
  services.onEvents((_, events) => {
    for (const { id, type, reply_to } of events)
      if (type === 'chat' && typeof reply_to === 'string') void noticed(id, reply_to).catch(() => {}) // found later
  })
  return {
    name: 'prompt-answers',
    everyMs: EVERY_MS,
    async run() {
      for (const { task_id, message_id } of await answeredPrompts(services.database)) await end(task_id, message_id)
    },
  }
}

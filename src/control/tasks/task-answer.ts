// A task as answers show it.
import type { z } from 'zod'
import type { task as shape } from '../schemas.ts'
import type { Holdups } from '../../stores/control/holdups.ts'
import type { Task } from '../../stores/control/tasks.ts'
import { ofTask } from '../holdups.ts'

type TaskAnswer = z.infer<typeof shape>

/** A task with all its fields; `found`: what keeps the agents of its session from going on. */
export const taskAnswer = (task: Task, found?: Holdups): TaskAnswer => ({
  task_id: task.id,
  session_id: task.sessionId,
  status: task.status,
  ...ofTask(found, task),
  mode: task.mode,
  prompt: task.prompt,
  prompted_by: task.promptedBy,
  message_id: task.messageId,
  start_sequence: task.startSequence,
  permission_mode: task.permissionMode,
  created_at: task.createdAt,
  started_at: task.startedAt,
  ended_at: task.endedAt,
  answer: task.answerMessageId === null ? null : { message_id: task.answerMessageId, text: task.answer ?? '' },
  interrupted_by: task.interruptedBy,
  error: task.error,
  usage: task.usage,
  changes: task.changes,
})

const LISTED_CHARACTERS = 200

/** The task for a list, with the beginnings of its texts. Of what it asked, where that is longer, the JSON's beginning is a text. */
export const taskInList = (task: Task, found?: Holdups): TaskAnswer => {
  const shown = taskAnswer(task, found)
  const { answer, interrupted_by: asked, error } = shown
  const { text: prompt, ...cut } = beginning(shown.prompt)
  return {
    ...shown,
    prompt,
    answer: answer && { ...answer, ...beginning(answer.text) },
    interrupted_by: asked && { ...asked, ...beginningOfInput(asked.input) },
    error: error && { ...error, ...beginningOfMessage(error.message) },
    ...cut,
  }
}

const beginningOfInput = (input: unknown) => {
  const { text, truncated } = beginning(JSON.stringify(input))
  return truncated && { input: text, truncated }
}

const beginningOfMessage = (message: string) => {
  const { text, truncated } = beginning(message)
  return truncated && { message: text, truncated }
}

const beginning = (text: string): { text: string; truncated?: true } => {
  const characters = Array.from(text.slice(0, 4 * LISTED_CHARACTERS))
  return characters.length <= LISTED_CHARACTERS && text.length <= 4 * LISTED_CHARACTERS
    ? { text }
    : { text: characters.slice(0, LISTED_CHARACTERS).join(''), truncated: true }
}

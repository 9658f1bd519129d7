// A runner tells how a task ended.
import { z } from 'zod'
import { refuse } from '../../core/errors.ts'
import { sha256 } from '../../core/ids.ts'
import { storable } from '../../transcripts/storable.ts'
import { changes, error, op, runnerRoute, task as taskShape, taskId, usage } from '../schemas.ts'
import { eventRow } from '../../stores/control/messages.ts'
import { setGone } from '../../stores/control/worktrees.ts'
import type { Context } from '../../operations/context.ts'
import { endTask } from '../tasks/end-task.ts'
import { taskAnswer } from '../tasks/task-answer.ts'
import { eventIdIn } from '../tasks/task-log.ts'
import { taskSubject, type LockedTask } from '../tasks/task-subject.ts'
import { gitState, RUNNER, runnerId, stillRunner } from './schemas.ts'
import { refuseNotOwn } from './own-task.ts'

const answer = z.string().max(1_000_000)

/** What `finish_task` takes that earlier versions of this server refuse. A task that is handed out names it, for runners of a later version. */
export const FINISH_TAKES = ['changed_files', 'unknown_tokens']

/** Ends the task for good. The same call again gets the same answer; 409 for another result, and for a runner whose task it no longer is.
 *  `answer` is posted for the agent's team as the reply to the prompt. The error `worktree_gone`, of the last task that is queued there, takes
 *  the session's worktree out of what the runner offers, until it registers it again. */
export const finishTask = op({
  ...RUNNER,
  name: 'finish_task',
  summary: 'A runner tells how a task ended.',
  route: runnerRoute('finish'),
  effect: 'write',
  cleansTexts: true,
  bodyLimit: 4 * 1024 * 1024,
  subject: ({ task_id }) => taskSubject(task_id),
  input: z.strictObject({
    runner_id: runnerId,
    task_id: taskId,
    status: z.enum(['completed', 'failed', 'interrupted']),
    answer: answer.nullish(),
    error: error.nullish(),
    interrupted_by: z.string().max(200).nullish(),
    conversation: z.string().max(200).nullish(),
    conversation_at: z.string().max(200).nullish(),
    head: gitState.head.optional(),
    branch: gitState.branch.optional(),
    changed_files: z.int().min(0).nullish(),
    usage: usage.nullish(),
    changes: changes.nullish(),
  }),
  output: z.object({ task: taskShape }),
  refuses: ['conflict', 'forbidden'],
  async run(context, { runner_id, task_id: _, ...given }) {
    await stillRunner(context, runner_id)
    const locked = context.locked as LockedTask
    const { session, task } = locked
    const said = storable(given)
    const hash = sha256(JSON.stringify(said))
    if (task.runnerId !== runner_id) refuseNotOwn(locked)
    if (task.finish === hash) return { task: taskAnswer(task) }
    if (task.status !== 'running')
      refuse('conflict', `This task has ended before, as ${task.status}. What is said now changes nothing.`, { status: task.status })
    const ended = await endTask(context, session, task, {
      status: said.status,
      answer: said.answer || undefined,
      error: said.status === 'failed' ? (said.error ?? UNEXPLAINED) : undefined,
      interruptedBy: said.interrupted_by ? await callThatEnded(context, task.id, said.interrupted_by) : undefined,
      conversation: said.conversation ?? undefined,
      conversationAt: said.conversation_at ?? undefined,
      branch: said.branch,
      head: said.head,
      changedFiles: said.changed_files ?? undefined,
      usage: said.usage ?? undefined,
      changes: said.changes ?? undefined,
      finishHash: hash,
    })
    if (said.error?.code === WORKTREE_GONE && session.worktreeId) await setGone(context.queries, session.worktreeId, runner_id)
    return { task: taskAnswer(ended) }
  },
})

const WORKTREE_GONE = 'worktree_gone' // as a runner calls it that finds no folder there (client/runner/task-input.ts)

const UNEXPLAINED = { code: 'agent_failed', message: 'The agent’s program ended without saying why.' }

const callThatEnded = async ({ queries }: Context, taskId: string, key: string) => {
  const row = await eventRow(queries, eventIdIn(taskId, key))
  return row && { message_id: row.id, tool_name: row.tool_name ?? '', input: row.content.arguments ?? null }
}

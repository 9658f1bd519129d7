// Stopping what a session's agent does.
import { z } from 'zod'
import { ACTORS } from '../../core/key-scopes.ts'
import { authorOf, key, person } from '../../operations/callers.ts'
import type { Context } from '../../operations/context.ts'
import { eventRow } from '../../stores/control/messages.ts'
import { lockOpenTasks, openTasks, runningTask, setTask, type Task } from '../../stores/control/tasks.ts'
import type { Session } from '../../stores/sessions.ts'
import { namedSubject, reachedLocked } from '../reach.ts'
import { namedSessionId, op, toolRoute } from '../schemas.ts'
import { runnerTopic } from '../topics.ts'
import { endByReply } from './end-by-reply.ts'
import { endTask } from './end-task.ts'

/** Asks the runner of the running task to stop it; the task ends as `interrupted` within seconds. False when nothing runs. */
export const interruptRunning = async (context: Context, session: string): Promise<boolean> => {
  await lockOpenTasks(context.queries, session)
  const task = await runningTask(context.queries, session)
  if (!task) return false
  if (task.interruptAskedAt === null) await setTask(context.queries, task.id, { interruptAskedAt: context.services.clock.nowText() })
  context.moved(runnerTopic(task.runnerId!))
  return true
}

// Without an agent prompts wait for teams, each for its own answer, which may never come. A team that was asked is told that nobody waits
// for it any more.
const giveUpAnswers = async (context: Context, session: Session): Promise<boolean> => {
  const waiting = (await openTasks(context.queries, session.id)).filter(({ runnerId }) => runnerId === null)
  const ended: Task[] = []
  for (const task of waiting)
    if (!(await endByReply(context, session, task))) ended.push(await endTask(context, session, task, { status: 'interrupted' }))
  for (const task of ended) {
    const prompt = await eventRow(context.queries, task.messageId)
    const content = { event: 'prompt_withdrawn', by: authorOf(context.caller).name, task_id: task.id, message_id: task.messageId }
    await context.append(session.id, content, { evenClosed: true, to: prompt?.to_team_ids ?? [] })
  }
  return ended.length > 0
}

/** `interrupted` is false when nothing runs. What is queued stays queued. In a session without an agent the prompts that wait for a team's
 *  answer are withdrawn (`prompt_withdrawn`). */
export const interruptSession = op({
  name: 'interrupt_session',
  summary: "Stop what a session's agent is doing now. What is queued behind it begins then.",
  route: toolRoute('interrupt_session'),
  callers: [key, person],
  keyRow: ACTORS,
  effect: 'write',
  subject: namedSubject,
  searchHint: 'stop a running agent',
  destructive: true,
  example: { session_id: '$SID' },
  input: z.strictObject({ session_id: namedSessionId }),
  output: z.object({ interrupted: z.boolean() }),
  refuses: ['not_found', 'forbidden'],
  async run(context) {
    const session = await reachedLocked(context)
    const hasAgent = session.agentStatus !== null
    return { interrupted: hasAgent ? await interruptRunning(context, session.id) : await giveUpAnswers(context, session) }
  },
})

// A task ends: once, whoever ends it. Its session's agent is free for the next one, its key ends, and whoever waits hears of it.
import type { Context } from '../../operations/context.ts'
import { keyTopic } from '../keys/keys.ts'
import { revokeKeys } from '../../stores/keys.ts'
import { agentOf, setAgent, setAgentState, type Agent } from '../../stores/control/agents.ts'
import { isFinal, openTasks, setTask, type FinalStatus, type Task } from '../../stores/control/tasks.ts'
import { findMembers } from '../../stores/members.ts'
import { appendToParent } from '../../rooms/append-to-parent.ts'
import type { Session } from '../../stores/sessions.ts'
import { setGitState } from '../../stores/control/worktrees.ts'
import { runnerTopic, taskTopic } from '../topics.ts'
import { appendToTask, newEventId, type TaskEvent } from './task-log.ts'

export interface Ending {
  status: FinalStatus
  /** What the agent says to whoever prompted it. */
  answer?: string | undefined
  /** The message that this answer is, where it stands in the log already: a team's, in a session without an agent. */
  posted?: { id: string; sequence: number; at: string } | undefined
  error?: { code: string; message: string } | undefined
  interruptedBy?: Task['interruptedBy'] | undefined
  conversation?: string | undefined
  conversationAt?: string | undefined
  /** null: no branch is checked out. */
  branch?: string | null | undefined
  /** null: there is no commit. */
  head?: string | null | undefined
  /** How many files have changes that are in no commit. */
  changedFiles?: number | undefined
  usage?: Task['usage'] | undefined
  changes?: Task['changes'] | undefined
  /** A hash of the runner's call. */
  finishHash?: string | undefined
}

/** Ends a task that is queued or running. The caller has locked the session and then the task. Returns the task as it is then. */
export const endTask = async (context: Context, session: Session, task: Task, ending: Ending): Promise<Task> => {
  if (isFinal(task.status)) throw new Error(`the task ${task.id} has ended before`)
  const { queries } = context
  const agent = await agentOf(queries, session.id)
  const { posted } = ending
  const answerMessageId = posted?.id ?? (ending.answer === undefined ? null : newEventId())
  const closing = posted ? [] : await closingEvents(context, task, agent, ending, answerMessageId)
  const endSequence = posted?.sequence ?? (await appendToTask(context, session, task, closing))
  const { conversation = null, conversationAt = null, branch = null, head = null, usage = null, changes = null } = ending
  const { status, answer = null, error = null, interruptedBy = null, finishHash = null } = ending
  // A task begins by the database's clock, which this process's clock follows to within milliseconds: none ends before its begin.
  const now = new Date(Math.max(context.services.clock.now(), Date.parse(task.startedAt ?? '') || 0)).toISOString()
  const endedAt = posted?.at ?? now
  const ended = { status, endedAt, answer, answerMessageId, error, interruptedBy, endSequence, usage, changes, finish: finishHash }
  await setTask(queries, task.id, { ...ended, conversation, conversationAt, branch, head })
  if (agent) await freeAgent(context, session, agent, task, ending)
  context.moved(taskTopic(task.id))
  await appendToParent(context, session, {
    task_id: task.id,
    status,
    message_id: interruptedBy?.message_id ?? answerMessageId,
    text: [...(interruptedBy ? [asksBy(interruptedBy)] : []), answer ?? error?.message ?? ''].filter(Boolean).join('\n\n'),
  })
  // After all sessions are locked: a post of this key waits for its row with a session locked.
  if (task.keyId) {
    await revokeKeys(queries, [task.keyId])
    context.moved(keyTopic(task.keyId))
  }
  return { ...task, ...ended, conversation, conversationAt, branch, head }
}

const asksBy = ({ tool_name }: NonNullable<Task['interruptedBy']>) =>
  `${tool_name || 'A call'} asks for an answer: get_task has what it asks, and the next prompt is the answer.`

// The answer to whoever prompted, or why there is none: it ends the turn.
const closingEvents = async (
  { queries }: Context,
  task: Task,
  agent: Agent | undefined,
  { status, answer, error }: Ending,
  id: string | null,
): Promise<TaskEvent[]> => {
  const events: TaskEvent[] = []
  if (agent && id !== null) {
    const [member] = await findMembers(queries, [{ sessionId: task.sessionId, teamId: agent.teamId }])
    const by = { author: 'team' as const, authorName: member!.teamName, teamId: agent.teamId }
    events.push({ id, type: 'chat', ...by, content: { text: answer }, replyTo: task.messageId, terminal: true })
  }
  if (agent && status !== 'completed') {
    const text = error?.message ?? 'The task was interrupted.'
    const content = { event: `task_${status}`, text, ...(error && { code: error.code }) }
    events.push({ id: newEventId(), type: 'runtime', author: 'system', content, terminal: id === null })
  }
  return events
}

const freeAgent = async (context: Context, session: Session, agent: Agent, task: Task, ending: Ending) => {
  const { queries } = context
  const open = (await openTasks(queries, session.id)).filter(({ id }) => id !== task.id)
  const { conversation, conversationAt, error, branch, head, changedFiles } = ending
  await setAgent(queries, session.id, {
    error: ending.status === 'failed' ? (error ?? null) : null,
    ...(conversation !== undefined && { conversation, conversationAt: conversationAt ?? null }),
  })
  const agentStatus = session.agentStatus === 'creating' ? 'creating' : open.length > 0 ? 'running' : statusAfter(session, ending)
  await setAgentState(queries, session.id, { agentStatus })
  session.agentStatus = agentStatus
  if (session.worktreeId) {
    const isTold = typeof branch === 'string' || typeof head === 'string' // a worktree has one at least, unless git could not look
    const state = {
      ...(isTold && branch !== undefined && { branch }),
      ...(isTold && head !== undefined && { head }),
      ...(changedFiles !== undefined && { changedFiles, dirty: changedFiles > 0 }),
    }
    await setGitState(queries, session.worktreeId, state)
  }
  if (task.runnerId) context.moved(runnerTopic(task.runnerId))
}

// A status that the agent set by update_session while it worked survives the end of its task, where that is completed.
const statusAfter = ({ agentStatus }: Session, { status }: Ending) => {
  if (status === 'failed') return 'failed'
  return status === 'completed' && (agentStatus === 'completed' || agentStatus === 'failed') ? agentStatus : 'idle'
}

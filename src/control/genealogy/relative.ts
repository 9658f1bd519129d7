// New sessions that come from another one: a fork goes on from a point of it, a subsession works for it.
import type { Queries } from '../../../db/database.ts'
import { authorOf } from '../../operations/callers.ts'
import type { Context } from '../../operations/context.ts'
import { inControl } from '../../rooms/in-control.ts'
import { refuse } from '../../core/errors.ts'
import { agentOf, setAgent, type Agent } from '../../stores/control/agents.ts'
import { documentAt, writeDocument } from '../../stores/documents.ts'
import type { NewTask } from '../../stores/control/new-tasks.ts'
import { isFinal, lastBegun, lastEndedTask, openTasks, runningTask, taskById, type Task } from '../../stores/control/tasks.ts'
import { goneWorktree, worktreeOf, worktreesOf } from '../../stores/control/worktrees.ts'
import { sessionById, type Session } from '../../stores/sessions.ts'
import { noSuchTask } from '../reach.ts'
import type { PermissionMode } from '../../core/permission-modes.ts'
import { cutAt } from '../../core/text/cut-at.ts'
import { planOf, type AgentPlan } from '../sessions/agent-plan.ts'
import { openWithAgent } from '../sessions/create-session.ts'
import { queuePrompt } from '../tasks/queue-prompt.ts'
import { refuseGone } from '../worktrees/gone-worktree.ts'
import { digestOf } from './digest.ts'

export interface RelativeWanted {
  mode: 'fork' | 'subsession'
  prompt: string
  task_id?: string | undefined
  title?: string | undefined
  agentic_tool?: string | undefined
  permission_mode?: PermissionMode | undefined
  worktree_id?: string | undefined
  branch?: string | undefined
}

/** Opens the new session and gives its agent the prompt. The caller has locked the origin. 400 where the origin has no agent to inherit from
 *  and no worktree is named, 404 for a task of another session, 409 for a fork at a task that has not ended, and where the
 *  origin's worktree is gone, or not made, and no other is named. */
export const promptRelative = async (context: Context, origin: Session, wanted: RelativeWanted): Promise<NewTask> => {
  const { queries } = context
  const agent = await agentOf(queries, origin.id)
  const plan = await inheritedPlan(context, origin, agent, wanted)
  const from = wanted.task_id === undefined ? undefined : await taskOf(context, origin, wanted.task_id)
  if (wanted.mode === 'subsession') {
    const { id } = await openWithAgent(context, { ...named(origin, wanted), parent: origin.id }, plan)
    await setAgent(queries, id, { fromTaskId: (from ?? (await runningTask(queries, origin.id)))?.id ?? null })
    return start(context, id, wanted)
  }
  const point = await forkPoint(context, origin, from)
  const opened = await openWithAgent(
    context,
    { ...named(origin, wanted), parent: null, forkedFrom: { id: origin.id, at: point.sequence } },
    plan,
  )
  await context.append(opened.id, {
    event: 'session_forked',
    by: authorOf(context.caller).name,
    from: origin.id,
    fork_sequence: point.sequence,
    task_id: point.task?.id ?? null,
  })
  await copyDocument(context, origin, point.document, opened.id)
  const native = await conversationAt(context, origin, plan, point.task)
  await setAgent(queries, opened.id, {
    fromTaskId: point.task?.id ?? null,
    forkConversation: native?.conversation ?? null,
    forkConversationAt: native?.conversationAt ?? null,
  })
  return start(context, opened.id, wanted, native ? undefined : await digestOf(queries, origin.id, point.sequence))
}

const start = async (context: Context, sessionId: string, { prompt, mode }: RelativeWanted, digest?: string): Promise<NewTask> => {
  const session = (await sessionById(context.queries, sessionId))!
  return queuePrompt(context, session, { prompt, mode, digest: digest || undefined })
}

const named = (origin: Session, { mode, title }: RelativeWanted) => ({
  title: title ?? `${cutAt(origin.title, 180)} (${mode === 'fork' ? 'fork' : 'part'})`,
  description: origin.description,
})

// Fields that are left out are inherited from the origin. A branch asks for another worktree, of the same repository.
const inheritedPlan = async (context: Context, origin: Session, agent: Agent | undefined, wanted: RelativeWanted): Promise<AgentPlan> => {
  const { worktree_id, branch, agentic_tool, permission_mode } = wanted
  const here = await worktreeOf(context.queries, origin)
  const gone = origin.worktreeId === null || here ? undefined : await goneWorktree(context.queries, origin.worktreeId)
  if (gone && worktree_id === undefined && branch === undefined) refuseGone(gone)
  if (origin.worktreeId === null && worktree_id === undefined) refuseUnplaced(agent, branch)
  const beside = here ?? (await orderedBeside(context, agent))
  const place =
    branch !== undefined
      ? {
          ...(beside ? { worktree_id: beside.worktree_id } : { repo_full_name: gone?.repo_full_name ?? agent?.orderedRepo ?? undefined }),
          branch,
          runner_id: gone?.runner_id ?? agent?.orderedFrom ?? undefined,
          begins_there: here !== undefined || agent?.orderedBeginsThere, // what is still to be made begins where its origin will
        }
      : { worktree_id: worktree_id ?? origin.worktreeId ?? undefined }
  if (branch !== undefined && worktree_id !== undefined)
    refuse('invalid_request', 'worktree_id and branch exclude each other: an existing worktree, or a new one for the branch.', {
      field: 'branch',
    })
  const plan = await planOf(context, {
    agentic_tool: agentic_tool ?? origin.agenticTool ?? undefined,
    permission_mode: permission_mode ?? origin.permissionMode ?? undefined,
    context_files: agent?.contextFiles ?? [],
    inherited_servers: agent?.mcpServers,
    ...place,
  })
  return plan! // undefined only where no place is named, which `refuseUnplaced` refuses
}

// Of an origin without a worktree a branch is enough only while one is being made: only then its repository is known.
const refuseUnplaced = (agent: Agent | undefined, branch: string | undefined) => {
  if (!agent)
    return refuse(
      'invalid_request',
      `This session has no agent to inherit from. Name a worktree_id for the new one, or use ${inControl('create_session')}.`,
      { field: 'worktree_id' },
    )
  if (agent.orderedFrom === null)
    refuse('conflict', 'The worktree of this session was not made. Name a worktree_id of list_worktrees for the new one.')
  if (branch === undefined)
    refuse(
      'conflict',
      `The worktree of this session is being made. Wait until ${inControl('get_session')} no longer says creating, or name a branch or a worktree_id for the new one.`,
    )
}

// Of an origin whose worktree is still being made, the clone that it is made of.
const orderedBeside = async ({ queries }: Context, agent: Agent | undefined) => {
  if (!agent?.orderedRepo || agent.orderedRepoPath === null) return undefined
  const clones = await worktreesOf(queries, agent.orderedRepo)
  return clones.find(({ runner_id, path }) => runner_id === agent.orderedFrom && path === agent.orderedRepoPath)
}

const taskOf = async ({ queries }: Context, origin: Session, id: string): Promise<Task> => {
  const task = await taskById(queries, id)
  return task?.sessionId === origin.id ? task : noSuchTask(id)
}

interface Point {
  sequence: number
  /** The document is as it was at this event. */
  document: number
  task: Task | undefined
}

// A fork begins at the end of a task, the last one that has ended unless one is named: what runs now is no part of it.
const forkPoint = async ({ queries }: Context, origin: Session, from: Task | undefined): Promise<Point> => {
  if (from && !isFinal(from.status))
    refuse('conflict', 'This task has not ended yet: a fork begins at the end of one. Name an earlier task, or wait.', {
      status: from.status,
    })
  const task = from ?? (await lastEndedTask(queries, origin.id))
  if (task?.endSequence) return { sequence: task.endSequence, document: task.endSequence, task }
  return { ...(await beforeFirstTask(queries, origin)), task }
}

// In a session without an agent nothing runs: an open prompt there is a question among others.
const beforeFirstTask = async (queries: Queries, { id, agenticTool, lastSequence }: Session): Promise<Omit<Point, 'task'>> => {
  const [first] = agenticTool === null ? [] : await openTasks(queries, id)
  // With the document that was there for its prompt: to write it is no event.
  return first ? { sequence: first.startSequence - 1, document: first.startSequence } : { sequence: lastSequence, document: lastSequence }
}

const copyDocument = async ({ queries, caller }: Context, origin: Session, sequence: number, to: string) => {
  const content = await documentAt(queries, origin.id, sequence)
  if (content !== '') await writeDocument(queries, to, content, authorOf(caller))
}

// Gemini CLI cannot fork a conversation. Nor can one be opened by another agent, or on another machine.
const CANNOT_FORK = new Set(['gemini'])

const conversationAt = async ({ queries }: Context, origin: Session, plan: AgentPlan, task: Task | undefined) => {
  if (!task || plan.agenticTool !== origin.agenticTool || CANNOT_FORK.has(plan.agenticTool)) return undefined
  const there = await worktreeOf(queries, origin)
  if (there?.runner_id !== plan.worktree.runner_id) return undefined
  const begun = await lastBegun(queries, task) // one after it that never reached the agent has none
  return begun?.conversation ? begun : undefined
}

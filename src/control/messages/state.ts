// How it is with a session: does it work, wait for somebody, has it failed, or has it nothing to do?
import type { Queries } from '../../../db/database.ts'
import type { Session } from '../../stores/sessions.ts'
import { agentOf } from '../../stores/control/agents.ts'
import { spentBy } from '../../stores/control/costs.ts'
import { undecidedOf } from '../../stores/control/permission-requests.ts'
import { listTasksOf } from '../../stores/control/session-tasks.ts'
import type { Task } from '../../stores/control/tasks.ts'
import { goneWorktree } from '../../stores/control/worktrees.ts'

export interface WorkState {
  name: 'waiting' | 'working' | 'failed' | 'idle'
  because: string
}

export const stateOf = async (queries: Queries, session: Session): Promise<WorkState> => {
  const [newest] = await listTasksOf(queries, session.id, { limit: 1 })
  const [running] = newest?.status === 'running' ? [newest] : await listTasksOf(queries, session.id, { status: 'running', limit: 1 })
  if (running) return ofRunning(queries, running)
  if (newest?.status === 'queued') return { name: 'waiting', because: await whyQueued(queries, session) }
  if (newest?.interruptedBy)
    return { name: 'waiting', because: `${newest.interruptedBy.tool_name} asks for an answer [${newest.interruptedBy.message_id}]` }
  if (session.agentStatus === 'failed') return { name: 'failed', because: newest?.error?.message ?? 'the agent failed' }
  return { name: 'idle', because: newest ? `the last task is ${newest.status}` : 'nothing was asked of it' }
}

const whyQueued = async (queries: Queries, { id, worktreeId }: Session): Promise<string> => {
  const gone = worktreeId === null ? undefined : await goneWorktree(queries, worktreeId)
  if (gone) return `a prompt is queued, and the runner ${gone.runner_name} no longer offers its worktree`
  const agent = await agentOf(queries, id)
  if (agent?.held) return `a prompt is queued, and its agent was stopped${agent.heldBy === null ? '' : ` by ${agent.heldBy}`}`
  const spent = await spentBy(queries, id)
  if (spent === undefined) return 'a prompt is queued and no runner has taken it yet'
  return `a prompt is queued, and the money of ${spent === id ? 'this session' : 'a session above this one'} is used up`
}

const ofRunning = async (queries: Queries, { id, runnerId }: Task): Promise<WorkState> => {
  if (runnerId === null) return { name: 'waiting', because: 'a prompt waits for the answer of a team' }
  const asked = await undecidedOf(queries, id)
  if (asked) return { name: 'waiting', because: `a person is asked to allow ${asked.toolName}: ${asked.text.slice(0, 200)}` }
  return { name: 'working', because: 'a task runs' }
}

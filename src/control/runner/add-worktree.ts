// A runner has made the worktree that a session wanted, or could not.
import { z } from 'zod'
import { refuse } from '../../core/errors.ts'
import { storable } from '../../transcripts/storable.ts'
import { agentOf, noOrder, setAgent, setAgentState } from '../../stores/control/agents.ts'
import { lockRunner } from '../../stores/control/runners.ts'
import { openTasks } from '../../stores/control/tasks.ts'
import { saveWorktree } from '../../stores/control/worktrees.ts'
import { error, op, runnerRoute, sessionId } from '../schemas.ts'
import { failAgent } from '../sessions/fail-agent.ts'
import { runnerTopic } from '../topics.ts'
import { gitState, RUNNER, runnerId, stillRunner, worktreePath } from './schemas.ts'

/** Answers an order of `take_tasks`. 409 when the session does not wait for this runner's worktree (any more). With `error` the session's agent
 *  fails, and so does what is queued for it. */
export const addWorktree = op({
  ...RUNNER,
  name: 'add_worktree',
  summary: 'A runner has made a worktree that was wanted, or could not.',
  route: runnerRoute('worktree'),
  effect: 'write',
  cleansTexts: true,
  input: z.strictObject({
    runner_id: runnerId,
    session_id: sessionId,
    path: worktreePath.optional(),
    branch: gitState.branch.optional(),
    head: gitState.head.optional(),
    error: error.optional(),
  }),
  output: z.object({ worktree_id: z.uuid().nullable() }),
  refuses: ['conflict', 'forbidden'],
  async run(context, { runner_id, session_id: _, ...given }) {
    const { path, branch = null, head = null, error: failure } = storable(given)
    const { queries } = context
    await lockRunner(queries, runner_id) // a successor that registers meanwhile would take over neither the order nor the worktree
    await stillRunner(context, runner_id)
    const session = context.session!
    const agent = await agentOf(queries, session.id)
    if (agent?.orderedFrom !== runner_id) return refuse('conflict', 'No session waits for this worktree.', { session_id: session.id })
    if (failure || path === undefined) {
      await failAgent(context, session, failure ?? { code: 'agent_failed', message: 'The runner could not make the worktree.' })
      return { worktree_id: null }
    }
    const made = { path, repo_full_name: agent.orderedRepo!, branch, head, dirty: false, changed_files: 0 }
    const worktreeId = await saveWorktree(queries, runner_id, made, session.id)
    await setAgent(queries, session.id, { ...noOrder, orderedBranch: agent.orderedBranch })
    const queued = await openTasks(queries, session.id)
    await setAgentState(queries, session.id, { worktreeId, agentStatus: queued.length > 0 ? 'running' : 'idle' })
    context.moved(runnerTopic(runner_id))
    return { worktree_id: worktreeId }
  },
})

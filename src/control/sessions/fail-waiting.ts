import { z } from 'zod'
import { anyone } from '../../operations/callers.ts'
import { pageOp, sessionId } from '../schemas.ts'
import { failAgent } from './fail-agent.ts'

export const NO_RUNNER = {
  code: 'no_runner',
  message:
    'No runner made the worktree within a minute: the one that has the repository is not online. Start it, and create the session again.',
}

/** Fails the agent of a session that has waited for its worktree for too long. For this server itself: no door leads here. */
export const failWaiting = pageOp({
  name: 'fail_waiting_session',
  summary: 'Fails a session whose worktree nobody makes.',
  callers: [anyone],
  effect: 'write',
  input: z.strictObject({ session_id: sessionId }),
  output: z.object({ failed: z.boolean() }),
  refuses: [],
  async run(context) {
    const session = context.session!
    if (session.agentStatus !== 'creating') return { failed: false }
    await failAgent(context, session, NO_RUNNER)
    return { failed: true }
  },
})

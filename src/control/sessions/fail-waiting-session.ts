import { z } from 'zod'
import { anyone } from '../../operations/callers.ts'
import { internalOp, sessionId } from '../schemas.ts'
import { failAgent } from './fail-agent.ts'

const NO_RUNNER = {
  code: 'no_runner',
  message:
    'No runner made the worktree within a minute: the one that has the repository is not online. Start it, and create the session again.',
}

const NOT_MADE = {
  code: 'timed_out',
  message:
    'The runner was to make the worktree and has not within half an hour. Its terminal may say why. Once it is free, create the session again.',
}

/** Fails the agent of a session that has waited for its worktree for too long. */
export const failWaitingSession = internalOp({
  name: 'fail_waiting_session',
  summary: 'Fails a session whose worktree nobody makes.',
  callers: [anyone],
  effect: 'write',
  input: z.strictObject({ session_id: sessionId, taken: z.boolean() }),
  output: z.object({ failed: z.boolean() }),
  refuses: [],
  async run(context, { taken }) {
    const session = context.session!
    if (session.agentStatus !== 'creating') return { failed: false }
    await failAgent(context, session, taken ? NOT_MADE : NO_RUNNER)
    return { failed: true }
  },
})

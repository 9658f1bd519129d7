import { z } from 'zod'
import { anyone } from '../../operations/callers.ts'
import type { Context } from '../../operations/context.ts'
import { agentOf, setAgent } from '../../stores/control/agents.ts'
import { decideRequest, requestById, type PermissionRequest } from '../../stores/control/permission-requests.ts'
import { internalOp, sessionId } from '../schemas.ts'
import { levelOf } from '../../core/permission-modes.ts'
import { appendDecided, type Decision } from './append-events.ts'

/** How a request is decided that no person has answered in time, with the message that the agent gets. */
export const TOO_LATE = {
  by: 'nobody',
  message: 'No person answered in time. Go on without it, or say what you need it for.',
}
/** How one is decided whose task has ended before that. */
export const TASK_ENDED = { by: 'the end of its task', message: 'The task has ended.' }

/** Decides a request that is open, tells everybody, and raises what a raise was asked for. False when it was decided before. The caller has
 *  locked its session. */
export const decideOnce = async (context: Context, request: PermissionRequest, decision: Decision): Promise<boolean> => {
  const { queries } = context
  const { by, allow, message } = decision
  if (!(await decideRequest(queries, request.sessionId, request.id, { allow, message, decidedBy: by }))) return false
  if (allow && request.raise) {
    // Raises the session's own limit: its agent may then give as much to the sessions below it.
    const agent = await agentOf(queries, request.sessionId)
    if (agent && levelOf(request.raise.to) > levelOf(agent.permissionLimit))
      await setAgent(queries, request.sessionId, { permissionLimit: request.raise.to })
  }
  await appendDecided(context, request, decision)
  return true
}

/** Denies a request that nobody answered. */
export const denyUnanswered = internalOp({
  name: 'deny_unanswered',
  summary: 'Denies a request that no person has answered.',
  callers: [anyone],
  effect: 'write',
  input: z.strictObject({
    session_id: sessionId,
    request_id: z.string().max(200),
    by: z.string(),
    message: z.string().optional(),
  }),
  output: z.object({ denied: z.boolean() }),
  refuses: [],
  async run(context, { session_id, request_id, ...decision }) {
    const request = await requestById(context.queries, session_id, request_id)
    return { denied: request !== undefined && (await decideOnce(context, request, { ...decision, allow: false })) }
  },
})

// An agent that asks for more than it has: for itself, or for one that it starts. A person decides.
import type { Context } from '../../operations/context.ts'
import { perform } from '../../operations/perform.ts'
import { Refusal, refuse } from '../../core/errors.ts'
import { agentOf } from '../../stores/control/agents.ts'
import { sessionById } from '../../stores/sessions.ts'
import { worktreeById } from '../../stores/control/worktrees.ts'
import { mayReach, ownSession } from '../reach.ts'
import { askRaise } from './ask-raise.ts'
import { isBypass, levelOf, type PermissionMode } from '../../core/permission-modes.ts'

/** Refuses a mode above the limit of the calling agent, and asks a person to raise that; the agent calls again once it is allowed. Callers
 *  who are no agents pass. `target`: whose mode it would be; the caller's own session for a new one. Call it before the write's
 *  transaction. */
export const refuseRaise = async (context: Context, target: string | undefined, mode: PermissionMode | undefined): Promise<void> => {
  const own = ownSession(context.caller)
  if (own === undefined || mode === undefined) return
  if (target !== undefined && !(await mayReach(context, target))) return // answered as one that does not exist
  const { queries, services, call } = context
  const [session, agent] = await Promise.all([sessionById(queries, own), agentOf(queries, own)])
  if (!session || !agent) return
  const worktree = session.worktreeId === null ? undefined : await worktreeById(queries, session.worktreeId)
  if (isBypass(mode) && worktree?.allow_bypass === false)
    refuse(
      'forbidden',
      'The runner was started without --allow-bypass: nobody works there with permissions switched off. Choose a lower mode.',
    )
  if (services.config.SELF_RAISE === 'allow') return
  if (levelOf(mode) <= Math.max(levelOf(session.permissionMode), levelOf(agent.permissionLimit))) return
  const input = { session_id: own, raised_session_id: target ?? own, from: session.permissionMode ?? 'default', to: mode }
  const asked = await perform(askRaise, services, { signal: call.signal }, input)
  if (!asked.ok) throw new Refusal(asked.error.code, asked.error.message, asked.error.details)
  refuse(
    'forbidden',
    `${mode} is more than this session may have. A person has been asked. If they allow it, call again; go on with ${session.permissionMode} meanwhile.`,
    { request_id: asked.data.request_id },
  )
}

// An agent that asks for more than it has: for itself, or for one that it starts. A person decides.
import type { Context } from '../../operations/context.ts'
import { perform } from '../../operations/perform.ts'
import { Refusal, refuse } from '../../core/errors.ts'
import { stillOpen } from '../../rooms/preconditions.ts'
import { agentOf } from '../../stores/control/agents.ts'
import { deniedRaise } from '../../stores/control/permission-requests.ts'
import { runningTask } from '../../stores/control/tasks.ts'
import { sessionById, type Session } from '../../stores/sessions.ts'
import { worktreeOf } from '../../stores/control/worktrees.ts'
import { mayReach, ownSession } from '../reach.ts'
import { askRaise } from './ask-raise.ts'
import { TOO_LATE } from './decide.ts'
import { isBypass, levelOf, type PermissionMode } from '../../core/permission-modes.ts'

/** Refuses a mode above the limit of the calling agent, and asks a person to raise that; the agent calls again once it is allowed. Callers
 *  who are no agents pass. `target`: whose mode it would be; the caller's own session for a new one. Call it before the write's
 *  transaction. */
export const refuseRaise = async (context: Context, target: string | undefined, mode: PermissionMode | undefined): Promise<void> => {
  const limit = mode && (await ownLimit(context))
  if (!limit) return
  if (target !== undefined && !(await mayReach(context, target))) return // answered as one that does not exist
  const { queries, services, call } = context
  const { session, level } = limit
  const worktree = await worktreeOf(queries, session)
  if (isBypass(mode) && worktree?.allow_bypass === false)
    refuse(
      'forbidden',
      'The runner was started without --allow-bypass: nobody works there with permissions switched off. Choose a lower mode.',
    )
  if (levelOf(mode) <= level) return
  if (target !== undefined) stillOpen((await sessionById(queries, target))!) // nobody is asked for what the write would refuse
  const input = { session_id: session.id, raised_session_id: target ?? session.id, from: session.permissionMode ?? 'default', to: mode }
  await refuseDenied(context, input)
  const asked = await perform(askRaise, services, { signal: call.signal }, input)
  if (!asked.ok) throw new Refusal(asked.error.code, asked.error.message, asked.error.details)
  refuse(
    'forbidden',
    `${mode} is more than this session may have. A person has been asked. If they allow it, call again; go on with ${session.permissionMode} meanwhile. permission_decided in this session's feed says what came of it.`,
    { request_id: asked.data.request_id },
  )
}

/** Within the write, refuses a mode that `refuseRaise` let pass, if a person has lowered the limit since. */
export const refuseLowered = async (context: Context, mode: PermissionMode): Promise<void> => {
  const limit = await ownLimit(context)
  if (limit && levelOf(mode) > limit.level)
    refuse('forbidden', `A person has just lowered what this session may have, and ${mode} is more. Call again: a person is asked then.`)
}

// The session of the calling agent, and the highest level that it may have or give; undefined for callers who are no agents.
const ownLimit = async ({ caller, queries, services }: Context): Promise<{ session: Session; level: number } | undefined> => {
  const own = ownSession(caller)
  if (own === undefined) return undefined
  const [session, agent] = await Promise.all([sessionById(queries, own), agentOf(queries, own)])
  if (!session || !agent) return undefined
  const allowed = Math.max(levelOf(session.permissionMode), levelOf(agent.permissionLimit))
  return { session, level: services.config.SELF_RAISE === 'allow' ? Infinity : allowed }
}

interface Wanted {
  session_id: string
  raised_session_id: string
  from: string
  to: PermissionMode
}

// A person who has said no is not asked the same again before the agent's next task.
const refuseDenied = async ({ queries }: Context, { session_id, raised_session_id, from, to }: Wanted): Promise<void> => {
  const task = await runningTask(queries, session_id)
  if (!task?.startedAt) return
  const denied = await deniedRaise(queries, session_id, { session_id: raised_session_id, to }, task.startedAt)
  if (!denied || denied.by === TOO_LATE.by) return
  const word = denied.message ? `: "${denied.message}"` : ''
  refuse(
    'forbidden',
    `${to} is more than this session may have. ${denied.by} denied it${word}. Nobody is asked again during this task; go on with ${from}.`,
    { request_id: denied.id },
  )
}

// Changing what a session is called, how its agent is said to be, and what that may do.
import { z } from 'zod'
import { authorOf, key, person } from '../../operations/callers.ts'
import type { Context } from '../../operations/context.ts'
import { inControl } from '../../rooms/in-control.ts'
import { refuse } from '../../core/errors.ts'
import { refuseArchived, stillOpen } from '../../rooms/preconditions.ts'
import { description, reason, title } from '../../rooms/schemas.ts'
import { changeMetadata } from '../../rooms/session-lifecycle.ts'
import { agentOf, setAgent, setAgentState } from '../../stores/control/agents.ts'
import { openTasks } from '../../stores/control/tasks.ts'
import { sessionById, type Session } from '../../stores/sessions.ts'
import { refuseLowered, refuseRaise } from '../permissions/raise.ts'
import { namedSession, namedSubject, ownSession, reachedLocked } from '../reach.ts'
import { levelOf, type PermissionMode } from '../../core/permission-modes.ts'
import { ACTORS } from '../../core/key-scopes.ts'
import { maxUsd, namedSessionId, op, permissionMode, toolRoute } from '../schemas.ts'
import { wakeRunnerOf } from '../topics.ts'
import { wholeAnswer, wholeSession } from './get-session.ts'
import { refuseRenaming } from './may-rename.ts'

const FIELDS = ['title', 'description', 'status', 'permission_mode', 'max_usd'] as const
const ONLY_WHILE_OPEN = FIELDS.filter((field) => field !== 'max_usd') // a concluded root still holds back, or lets on, what goes on below it
const status = z.enum(['idle', 'running', 'completed', 'failed'])

/** At least one field must be given (400). A title and description leave the event that a team's change leaves, the others a runtime event
 *  `session_updated`; what is as it was leaves none. 409 for `running` without a task and a session without an agent; 403 for max_usd with a
 *  key, for a raise of permission with an agent's key, in an archived session, and in a concluded one for all but max_usd. */
export const updateSession = op({
  name: 'update_session',
  summary: "Change a session's title or description, its agent's status, or what the agent may do from its next task on.",
  route: toolRoute('update_session'),
  callers: [key, person],
  keyRow: ACTORS,
  effect: 'write',
  subject: namedSubject,
  searchHint: 'rename, set permission mode',
  destructive: true,
  changesResources: true,
  example: { session_id: '$SID', permission_mode: 'plan' },
  input: z.strictObject({
    session_id: namedSessionId,
    title: title.optional(),
    description: description.optional(),
    reason: reason.optional().describe('Why title or description change.'),
    status: status.optional(),
    permission_mode: permissionMode.optional(),
    max_usd: maxUsd.optional().describe('For signed-in people.'),
  }),
  output: z.object({ session: wholeSession }),
  refuses: ['not_found', 'forbidden', 'conflict', 'session_closed', 'rate_limited'],
  beforehand: (context, { session_id, permission_mode }) => refuseRaise(context, namedSession(context.caller, session_id), permission_mode),
  async run(context, input) {
    const session = await reachedLocked(context)
    if (FIELDS.every((field) => input[field] === undefined))
      refuse('invalid_request', `At least one field must be provided: ${FIELDS.join(', ')}.`, { field: 'title' })
    refuseArchived(session)
    if (ONLY_WHILE_OPEN.some((field) => input[field] !== undefined)) stillOpen(session)
    if (input.title !== undefined || input.description !== undefined) await rename(context, session, input)
    const changes = {
      ...(input.status !== undefined && (await toStatus(context, session, input.status))),
      ...(input.permission_mode !== undefined && (await toMode(context, session, input.permission_mode))),
      ...(input.max_usd !== undefined && (await toMaxUsd(context, session, input.max_usd))),
    }
    const changed = Object.entries(changes).filter(([, { from, to }]) => from !== to)
    if (changed.length > 0) await context.note(session.id, noteOf(authorOf(context.caller).name, changed), { evenClosed: true })
    return { session: await wholeAnswer(context, (await sessionById(context.queries, session.id))!) }
  },
})

interface Change {
  from: unknown
  to: unknown
}

const noteOf = (by: string, changed: [string, Change][]) => ({
  event: 'session_updated',
  text: `${by} changed ${changed.map(([field, { from, to }]) => `${field} from ${String(from ?? 'none')} to ${String(to)}`).join(', ')}.`,
  by,
  ...Object.fromEntries(changed),
})

interface Named {
  title?: string | undefined
  description?: string | undefined
  reason?: string | undefined
}

const rename = async (context: Context, session: Session, { title, description, reason }: Named) => {
  await refuseRenaming(context, session)
  await changeMetadata(context, session, { title, description, reason: reason ?? `set by ${authorOf(context.caller).name}` })
}

const refuseWithoutAgent = ({ agentStatus }: Session) => {
  if (agentStatus === null) refuse('conflict', 'This session has no agent: of it only title and description can be changed.')
  if (agentStatus === 'creating')
    refuse('conflict', `The agent's worktree is being made. Wait until ${inControl('get_session')} no longer says creating.`)
}

const toStatus = async ({ queries }: Context, session: Session, to: z.infer<typeof status>) => {
  refuseWithoutAgent(session)
  if (to === 'running' && (await openTasks(queries, session.id)).length === 0)
    refuse('conflict', 'Nothing is queued for this agent, so it cannot be running. send_prompt gives it something to do.')
  await setAgentState(queries, session.id, { agentStatus: to })
  return { status: { from: session.agentStatus, to } }
}

const toMode = async (context: Context, session: Session, to: PermissionMode) => {
  if (session.agenticTool === null)
    refuse('conflict', 'This session has no agent, and so no permission mode: of it only title and description can be changed.')
  await refuseLowered(context, to)
  await setAgentState(context.queries, session.id, { permissionMode: to })
  if (ownSession(context.caller) === undefined && to !== session.permissionMode) await lowerLimit(context, session, to)
  return { permission_mode: { from: session.permissionMode, to } }
}

// What it was once allowed to raise itself to, it would take again without anybody being asked.
const lowerLimit = async ({ queries }: Context, { id }: Session, to: PermissionMode) => {
  const agent = await agentOf(queries, id)
  if (agent && levelOf(agent.permissionLimit) > levelOf(to)) await setAgent(queries, id, { permissionLimit: to })
}

const toMaxUsd = async (context: Context, session: Session, to: number) => {
  const { queries, caller } = context
  if (caller.kind !== 'person') refuse('forbidden', 'Only a signed-in person changes what a session may cost, on its page.')
  const agent = await agentOf(queries, session.id)
  if (!agent) return refuse('conflict', 'This session has no agent, and so no costs: of it only title and description can be changed.')
  await setAgent(queries, session.id, { maxUsd: to })
  await wakeRunnerOf(context, session) // tasks that the old limit held back may begin
  return { max_usd: { from: agent.maxUsd, to } }
}

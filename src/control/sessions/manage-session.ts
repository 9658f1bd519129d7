// Holding a session's agent back, letting it go on, and putting a session away.
import { z } from 'zod'
import { authorOf, key, person } from '../../operations/callers.ts'
import type { Context } from '../../operations/context.ts'
import { refuse } from '../../core/errors.ts'
import { ACTORS } from '../../core/key-scopes.ts'
import { agentOf, setAgent } from '../../stores/control/agents.ts'
import { openTasks } from '../../stores/control/tasks.ts'
import { keysOfSession, revokeKeys } from '../../stores/keys.ts'
import { appendUntold } from '../../rooms/work/released-work.ts'
import { setArchived, type Session } from '../../stores/sessions.ts'
import { keyTopic } from '../keys/keys.ts'
import { namedSubject, ownSession, reachedLocked } from '../reach.ts'
import { op, sessionId, toolRoute } from '../schemas.ts'
import { endByReply } from '../tasks/end-by-reply.ts'
import { endTask } from '../tasks/end-task.ts'
import { interruptRunning } from '../tasks/interrupt-session.ts'
import { wakeRunnerOf } from '../topics.ts'
import { failAgent } from './fail-agent.ts'
import { sessionAnswer, sessionRow } from './session-answer.ts'

/** `stop` interrupts and holds what is queued until `start`. `delete` archives: the running task is interrupted, queued ones end as
 *  interrupted, the session's keys are revoked, and it takes no writes until `start` brings it back, with its log and document, without
 *  what was queued and without those keys. Each of them again changes nothing. An agent may manage those below it, and not itself (403).
 *  409 for `stop` where there is no agent. */
export const manageSession = op({
  name: 'manage_session',
  summary:
    'stop interrupts an agent and holds its queue, start lets it go on, delete archives the session: what is queued ends, its keys are revoked, its log stays; start reopens it.',
  route: toolRoute('manage_session'),
  callers: [key, person],
  keyRow: ACTORS,
  effect: 'write',
  subject: namedSubject,
  searchHint: 'stop, start or archive a session',
  destructive: true,
  changesResources: true,
  example: { session_id: '$SID', action: 'stop' },
  input: z.strictObject({ session_id: sessionId, action: z.enum(['start', 'stop', 'delete']) }),
  output: z.object({ success: z.literal(true), session: sessionRow }),
  refuses: ['not_found', 'forbidden', 'conflict'],
  async run(context, { action }) {
    const session = await reachedLocked(context)
    if (ownSession(context.caller) === session.id)
      refuse('forbidden', 'An agent stops, starts or archives sessions below its own. To end your own work, answer and end your turn.')
    await ACTIONS[action](context, session)
    return { success: true as const, session: await sessionAnswer(context, session.id) }
  },
})

const stop = async (context: Context, { id }: Session) => {
  const agent = await agentOf(context.queries, id)
  if (!agent)
    return refuse(
      'conflict',
      'This session has no agent that could be stopped. list_sessions shows which have an agentic_tool; action: delete archives one without.',
    )
  const by = authorOf(context.caller).name
  if (!agent.held) {
    await setAgent(context.queries, id, { held: true, heldBy: by, heldAt: context.services.clock.nowText() })
    await context.note(id, { event: 'agent_stopped', by, text: `${by} stopped the agent.` }, { evenClosed: true })
  }
  await interruptRunning(context, id)
}

const start = async (context: Context, session: Session) => {
  const { queries, caller } = context
  if (session.archivedAt !== null) {
    await setArchived(queries, session.id, false)
    await context.append(session.id, { event: 'session_restored', by: authorOf(caller).name }, { evenClosed: true })
    await appendUntold(context, { ...session, archivedAt: null })
  }
  if ((await agentOf(queries, session.id))?.held) {
    await setAgent(queries, session.id, { held: false, heldBy: null, heldAt: null })
    const by = authorOf(caller).name
    await context.note(session.id, { event: 'agent_started', by, text: `${by} started the agent again.` }, { evenClosed: true })
  }
  await wakeRunnerOf(context, session)
}

const archive = async (context: Context, session: Session) => {
  const { queries, caller } = context
  if (session.archivedAt !== null) return
  await interruptRunning(context, session.id)
  for (const task of await openTasks(queries, session.id))
    if (task.status === 'queued') await endTask(context, session, task, { status: 'interrupted' })
    else if (task.runnerId === null && !(await endByReply(context, session, task)))
      await endTask(context, session, task, { status: 'interrupted' })
  if (session.agentStatus === 'creating') await failAgent(context, session, NOT_MADE)
  const keys = await keysOfSession(queries, session.id)
  await revokeKeys(queries, keys)
  for (const id of keys) context.moved(keyTopic(id))
  await context.append(session.id, { event: 'session_archived', by: authorOf(caller).name }, { evenClosed: true })
  await setArchived(queries, session.id, true)
}

const NOT_MADE = { code: 'agent_failed', message: 'The session was archived before its worktree was made.' }

const ACTIONS = { start, stop, delete: archive }

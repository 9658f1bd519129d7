// One session with all that is known of its agent and of its work.
import { z } from 'zod'
import { READERS } from '../../core/key-scopes.ts'
import { key, person } from '../../operations/callers.ts'
import type { Context } from '../../operations/context.ts'
import { agentOf } from '../../stores/control/agents.ts'
import { listTasksOf, usageOf } from '../../stores/control/session-tasks.ts'
import { controlRows, relativesOf, sessionDetails } from '../../stores/control/sessions.ts'
import { worktreeOf } from '../../stores/control/worktrees.ts'
import type { Session } from '../../stores/sessions.ts'
import { readHoldups } from '../holdups.ts'
import { reachedSession } from '../reach.ts'
import { error, namedSessionId, op, task, toolRoute, usage } from '../schemas.ts'
import { taskInList } from '../tasks/task-answer.ts'
import { mcpServer, mcpServersNamed, worktree, worktreeAnswer } from '../worktrees/worktree-answer.ts'
import { genealogy, sessionOf, sessionRow } from './session-answer.ts'

const NEWEST_TASKS = 20

export const wholeSession = sessionRow.extend({
  description: z.string(),
  room_status: z.enum(['active', 'closed']),
  last_sequence: z.int(),
  permission_config: z.object({ mode: z.string().nullable() }),
  worktree: worktree.nullable(),
  git_state: z.object({ branch: z.string().nullable(), head: z.string().nullable(), dirty: z.boolean() }).nullable(),
  context_files: z.array(z.string()),
  mcp_servers: z.array(mcpServer),
  tasks: z.array(task),
  genealogy: genealogy.extend({
    spawn_task_id: z.uuid().nullable(),
    fork_sequence: z.int().nullable(),
    fork_task_id: z.uuid().nullable(),
  }),
  message_count: z.int(),
  usage: usage.nullable(),
  tree_usage: usage.nullable(),
  max_usd: z.number().nullable(),
  error: error.nullable(),
})

/** A session's agent, worktree, newest tasks and relatives. 404 beyond the key's reach. */
export const getSession = op({
  name: 'get_session',
  summary: "Read a session: its agent's status, worktree, newest tasks, relatives, cost.",
  route: toolRoute('get_session'),
  callers: [key, person],
  keyRow: READERS,
  effect: 'read',
  searchHint: 'status and worktree of an agent',
  example: { session_id: '$SID' },
  input: z.strictObject({ session_id: namedSessionId }),
  output: z.object({ session: wholeSession }),
  refuses: ['forbidden', 'not_found'],
  run: async (context, { session_id }) => ({ session: await wholeAnswer(context, await reachedSession(context, session_id)) }),
})

/** All that `get_session` says of a session. */
export const wholeAnswer = async (
  context: Pick<Context, 'queries' | 'services'>,
  session: Session,
): Promise<z.infer<typeof wholeSession>> => {
  const { id } = session
  const { queries } = context
  const [row] = await controlRows(queries, [id])
  const holdups = (await readHoldups(context, [id])).get(id)
  const shown = sessionOf(row!, (await relativesOf(queries, [id])).get(id)!, holdups)
  const agent = await agentOf(queries, id)
  const place = await worktreeOf(queries, session)
  const { message_count, ...origin } = await sessionDetails(queries, id)
  const { own, tree } = await usageOf(queries, id)
  const tasks = await listTasksOf(queries, id, { limit: NEWEST_TASKS })
  // Parsing leaves out what the schema does not name, and keeps the schema's order, which jsonb does not.
  return wholeSession.parse({
    ...shown,
    description: session.description,
    room_status: session.status,
    last_sequence: session.lastSequence,
    permission_config: { mode: session.permissionMode },
    worktree: place ? worktreeAnswer(place) : null,
    git_state: place ? { branch: place.branch, head: place.head, dirty: place.dirty } : null,
    context_files: agent?.contextFiles ?? [],
    mcp_servers: mcpServersNamed(agent?.mcpServers ?? []),
    tasks: tasks.map((task) => taskInList(task, holdups)),
    genealogy: { ...shown.genealogy, ...origin },
    message_count,
    usage: own,
    tree_usage: tree,
    max_usd: agent?.maxUsd ?? null,
    error: agent?.error ?? null,
  })
}

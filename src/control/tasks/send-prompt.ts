// Prompts for the agents of sessions.
import { z } from 'zod'
import { key, person } from '../../operations/callers.ts'
import type { Context } from '../../operations/context.ts'
import { refuse } from '../../core/errors.ts'
import { isUuid } from '../../core/ids.ts'
import type { PermissionMode } from '../../core/permission-modes.ts'
import { ACTORS } from '../../core/key-scopes.ts'
import { isFinal, taskById } from '../../stores/control/tasks.ts'
import { messagesAfter } from '../messages/readable.ts'
import { readableMessage } from '../messages/shape.ts'
import { ofTask, readHoldups } from '../holdups.ts'
import { mayReach, namedSession, namedSubject, reachedLocked } from '../reach.ts'
import {
  agenticTool,
  error,
  holdups,
  interruptedBy,
  maxMessageChars,
  namedSessionId,
  op,
  permissionMode,
  prompt,
  taskId,
  CLIENTS_GIVE_UP,
  timeoutMs,
  toolRoute,
} from '../schemas.ts'
import { TASK_MODES, TASK_STATUSES } from '../../../db/control-schema.ts'
import { taskAtItsEnd } from './awaited-task.ts'
import { promptRelative, type RelativeWanted } from '../genealogy/relative.ts'
import { refuseRaise } from '../permissions/raise.ts'
import { nameOrHandle, title } from '../../rooms/schemas.ts'
import { sessionById, type Session } from '../../stores/sessions.ts'
import { queuePrompt, refuseOver } from './queue-prompt.ts'

const DEFAULT_WAIT_MS = 30_000

/** The prompt stands in the log at once; its task waits for those before it in the same session. With `wait_for_completion` the answer comes
 *  once the task has ended, or after `timeout_ms`: the task goes on then, unless `held`, `no_worktree`, `over_budget` or `asks_permission` is
 *  there. 403 for a session that is closed or archived, 404 beyond the key's reach, 429 past 50 open tasks below one root. */
export const sendPrompt = op({
  name: 'send_prompt',
  summary:
    "Give a session's agent something to do. With wait_for_completion you get the answer here; without it, get_task with timeout_ms waits for the end. The feed has the answer too, but no wait on it ends where a task fails or asks back.",
  route: toolRoute('send_prompt'),
  callers: [key, person],
  keyRow: ACTORS,
  effect: 'write',
  subject: namedSubject,
  held: true,
  retryMayChange: ['wait_for_completion', 'timeout_ms', 'max_chars'],
  alwaysLoad: true,
  openWorld: true,
  example: { session_id: '$SID', prompt: 'Add a test for the empty file.', wait_for_completion: true },
  input: z.strictObject({
    session_id: namedSessionId,
    prompt,
    mode: z
      .enum(TASK_MODES)
      .default('continue')
      .describe('fork: in a copy from task_id (or the last ended task) on; subsession: in a child, which tells this session when it ends.'),
    task_id: taskId.optional().describe('Where the fork or child begins.'),
    title: title.optional(),
    agentic_tool: agenticTool.optional(),
    permission_mode: permissionMode.optional(),
    worktree_id: z.string().max(64).optional(),
    branch: z.string().min(1).max(400).optional().describe('Of fork and subsession: a worktree of its own for this branch.'),
    to: nameOrHandle.optional().describe('In a session without an agent: the handle or name of the team you ask.'),
    wait_for_completion: z.boolean().default(false),
    timeout_ms: timeoutMs.default(DEFAULT_WAIT_MS).describe(`Milliseconds to wait. ${CLIENTS_GIVE_UP}`),
    max_chars: maxMessageChars,
  }),
  output: z.object({
    started: z.literal(true),
    session_id: z.uuid(),
    task_id: z.uuid(),
    message_id: z.uuid(),
    start_sequence: z.int(),
    completed: z.boolean().optional(),
    status: z.enum(TASK_STATUSES).optional(),
    ...holdups,
    answer: z.object({ message_id: z.uuid(), text: z.string() }).nullable().optional(),
    messages: z.array(readableMessage).optional(),
    has_more: z.boolean().optional(),
    interrupted_by: interruptedBy.nullable().optional(),
    error: error.nullable().optional(),
  }),
  refuses: ['session_closed', 'forbidden', 'not_found', 'conflict', 'rate_limited'],
  async beforehand(context, { session_id, mode, permission_mode }) {
    if (mode !== 'continue')
      await refuseRaise(context, undefined, permission_mode ?? (await modeAt(context, namedSession(context.caller, session_id))))
  },
  async run(context, { mode, ...input }) {
    const session = await reachedLocked(context)
    const task = mode === 'continue' ? await continued(context, session, input) : await related(context, session, { ...input, mode })
    return {
      started: true as const,
      session_id: task.sessionId,
      task_id: task.id,
      message_id: task.messageId,
      start_sequence: task.startSequence,
      ...ofTask((await readHoldups(context, [task.sessionId])).get(task.sessionId), task),
    }
  },
  async afterwards(context, started, { wait_for_completion, timeout_ms, max_chars }) {
    return wait_for_completion
      ? {
          ...started,
          held: undefined,
          no_worktree: undefined,
          over_budget: undefined,
          ...(await outcomeOf(context, started, timeout_ms, max_chars)),
        }
      : started
  },
})

// What a fork or child has where its call says no mode.
const modeAt = async (context: Context, id: string): Promise<PermissionMode | undefined> => {
  const session = isUuid(id) && (await mayReach(context, id)) ? await sessionById(context.queries, id) : undefined
  return session?.permissionMode ?? undefined
}

const ONLY_FOR_RELATIVES = ['task_id', 'title', 'agentic_tool', 'permission_mode', 'worktree_id', 'branch'] as const

interface Continuing extends Partial<Record<(typeof ONLY_FOR_RELATIVES)[number], string | undefined>> {
  prompt: string
  to?: string | undefined
}

const continued = (context: Context, session: Session, { prompt, to, ...more }: Continuing) => {
  const field = ONLY_FOR_RELATIVES.find((name) => more[name] !== undefined)
  if (field)
    refuse('invalid_request', `${field} belongs to mode fork or subsession: a prompt that continues a session takes its agent as it is.`, {
      field,
    })
  return queuePrompt(context, session, { prompt, mode: 'continue', to })
}

const related = (context: Context, session: Session, { to, ...wanted }: RelativeWanted & { to?: string | undefined }) => {
  if (to !== undefined) refuse('invalid_request', 'to belongs to mode continue, in a session without an agent.', { field: 'to' })
  refuseOver(session)
  return promptRelative(context, session, wanted)
}

const outcomeOf = async (context: Context, { task_id }: { task_id: string }, timeoutMs: number, maxChars: number) => {
  const { database } = context.services
  const begun = (await taskById(database, task_id)) ?? refuse('not_found', 'The session of this task was removed meanwhile.')
  const task = await taskAtItsEnd(context, begun, timeoutMs)
  const said = await messagesAfter(database, task.sessionId, { after: task.startSequence, task, maxChars })
  return {
    completed: isFinal(task.status),
    status: task.status,
    ...ofTask((await readHoldups({ ...context, queries: database }, [task.sessionId])).get(task.sessionId), task),
    answer: task.answerMessageId === null ? null : { message_id: task.answerMessageId, text: task.answer ?? '' },
    messages: said.messages,
    has_more: said.hasMore,
    interrupted_by: task.interruptedBy,
    error: task.error,
  }
}

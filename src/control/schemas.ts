// What the operations of control share: inputs with their limits, and parts of answers.
import { z } from 'zod'
import type { Context } from '../operations/context.ts'
import { operationsOf } from '../operations/operation.ts'
import { PERMISSION_MODES } from '../core/permission-modes.ts'
import { isBlank, nameIsPlain, utf8Bytes } from '../core/text/text.ts'
import { TASK_MODES, TASK_STATUSES } from '../../db/control-schema.ts'
import { AGENT_STATUSES } from '../../db/schema.ts'
import { givenId, KIB, time } from '../rooms/schemas.ts'

const { op: served, internalOp } = operationsOf<Context>('control')
export { internalOp, time }

/** An operation of control. What has code run on people's machines is not served where a foreign web page may call it. */
export const op: typeof served = (operation) => served({ ...operation, needsKnownHosts: true })

/** The route of a tool: POST with its arguments as JSON. */
export const toolRoute = (name: string) => ['POST', `/control/${name}`] as const
/** The route of a runner's call. */
export const runnerRoute = (call: string) => ['POST', `/runner/${call}`] as const

export const sessionId = givenId().describe('The session.')
/** Of callers that may have a session of their own (`namedSession`). */
export const namedSessionId = sessionId.describe('The session; `current`: the one of your own agent key.')
export const taskId = z.string().min(1).max(64)
export const prompt = z
  .string()
  .refine((text) => !isBlank(text), 'must not be blank')
  .refine((text) => utf8Bytes(text) <= 64 * KIB, 'must have at most 64 KiB. Put what is longer into a file or the document, and name it')

export const permissionMode = z.enum(PERMISSION_MODES)

export const agenticTool = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,39}$/, 'must be claude-code, codex, gemini or the name of an agent that a runner has')

export const plainName = (max: number) =>
  z
    .string()
    .refine((name) => [...name.trim()].length <= max && nameIsPlain(name.trim()), `must have 1 to ${max} visible characters`)
    .transform((name) => name.trim())

export const maxChars = z.int().min(1_000).max(200_000).default(8_000).describe('Longest answer you want, in characters.')
/** Of a task: it cuts `messages` alone. */
export const maxMessageChars = maxChars.describe('Longest `messages` you want, in characters; `answer` is whole in any case.')
export const timeoutMs = z.int().min(0).max(300_000)
export const CLIENTS_GIVE_UP = 'Many clients give up after 60 s: at most 50,000 there, then get_task.'
export const listLimit = z.int().min(1).max(200).default(20)
export const listCursor = z.string().max(300).optional().describe("The last answer's next_cursor.")

export const maxUsd = z.number().positive().max(1_000_000)

export const error = z.object({ code: z.string(), message: z.string() })
const tokens = z.int().min(0).nullable()
/** null: its agent does not tell. */
export const usage = z.object({ input_tokens: tokens, output_tokens: tokens, cost_usd: z.number().min(0).nullable() })
export const changes = z.object({ files: z.int().min(0), added: z.int().min(0), removed: z.int().min(0) })
export const interruptedBy = z.object({ message_id: z.string(), tool_name: z.string(), input: z.unknown() })
export const promptedBy = z.object({ kind: z.enum(['person', 'key', 'agent']), name: z.string(), session_id: z.string().nullable() })

/** Who stopped the session's agent, and when: nothing goes on until manage_session starts it. */
export const held = z.object({ by: z.string().nullable(), since: time.nullable() })
/** The permission request that a person is to answer; its task waits for that. */
export const asksPermission = z.object({ request_id: z.string(), task_id: z.uuid(), tool_name: z.string(), since: time })
/** The runner that no longer offers the agent's worktree: what is queued waits until it is started with that folder again. */
export const noWorktree = z.object({ runner_name: z.string(), path: z.string(), since: time })
/** The session whose max_usd is used up, this one or one above it: what is queued waits until a signed-in person raises that. */
export const overBudget = z.object({ session_id: z.uuid(), max_usd: z.number() })
/** What keeps a task or a session's agent from going on; absent where nothing does. */
export const holdups = {
  held: held.optional(),
  no_worktree: noWorktree.optional(),
  over_budget: overBudget.optional(),
  asks_permission: asksPermission.optional(),
}

// In lists texts are cut, and of what a task asked its JSON: get_task has them whole.
const cut = { truncated: z.boolean().optional() }

export const task = z.object({
  task_id: z.uuid(),
  session_id: z.uuid(),
  status: z.enum(TASK_STATUSES),
  ...holdups,
  mode: z.enum(TASK_MODES),
  prompt: z.string(),
  prompted_by: promptedBy,
  message_id: z.uuid(),
  start_sequence: z.int(),
  permission_mode: z.string().nullable(),
  created_at: time,
  started_at: time.nullable(),
  ended_at: time.nullable(),
  answer: z.object({ message_id: z.uuid(), text: z.string(), ...cut }).nullable(),
  interrupted_by: interruptedBy.extend(cut).nullable(),
  error: error.extend(cut).nullable(),
  usage: usage.nullable(),
  changes: changes.nullable(),
  ...cut,
})

export const agentStatus = z.enum(AGENT_STATUSES)

// A runner asks for work.
import { z } from 'zod'
import { derivedSecret, newKey, sha256 } from '../../core/ids.ts'
import { prefixOf } from '../../core/key-scopes.ts'
import { isBypass } from '../../core/permission-modes.ts'
import { baseOf, type Context } from '../../operations/context.ts'
import { holdFor } from '../../operations/hold.ts'
import { perform } from '../../operations/perform.ts'
import { insertKey } from '../../stores/keys.ts'
import { worktreeOrders } from '../../stores/control/agents.ts'
import { lockRunner, mayHaveNews, renewLease, type Runner } from '../../stores/control/runners.ts'
import {
  acknowledgeTasks,
  goneTasks,
  handedOut,
  handOut,
  interruptOrders,
  isInterrupting,
  SENT_AGAIN_S,
  runningOn,
  waitingSeconds,
  type Handed,
} from '../../stores/control/handed-tasks.ts'
import { openTasks, setTask, wasBegunBefore, wasPromptedBefore, type Task } from '../../stores/control/tasks.ts'
import { sessionById } from '../../stores/sessions.ts'
import type { Queries } from '../../../db/database.ts'
import { retryUndone } from '../../../db/retry-undone.ts'
import { digestOf } from '../genealogy/digest.ts'
import { op, runnerRoute } from '../schemas.ts'
import { giveUpTask } from '../tasks/give-up-task.ts'
import { runnerTopic } from '../topics.ts'
import { FINISH_TAKES } from './finish-task.ts'
import { refuseReplaced, RUNNER, runnerId, keyIdOf, stillRunner } from './schemas.ts'

const LONGEST_S = 30

const handed = z.object({
  task_id: z.uuid(),
  session_id: z.uuid(),
  prompt: z.string(),
  agentic_tool: z.string(),
  permission_mode: z.string(),
  path: z.string(),
  /** What must be checked out there when the agent of a new session begins; later it may have gone elsewhere itself. */
  branch: z.string().nullable(),
  conversation: z.string().nullable(),
  fork: z.object({ conversation: z.string(), conversation_at: z.string().nullable() }).nullable(),
  /** Goes before the prompt where the agent has none of these conversations, or cannot take it up. */
  digest: z.string().nullable(),
  context_files: z.array(z.string()),
  mcp_servers: z.array(z.string()),
  mcp_url: z.string(),
  agent_key: z.string(),
  max_s: z.int(),
  finish_takes: z.array(z.string()),
})

const order = z.union([
  z.object({ task_id: z.uuid(), order: z.literal('interrupt') }),
  z.object({
    session_id: z.uuid(),
    order: z.literal('worktree'),
    repo_full_name: z.string(),
    repo_path: z.string().nullable(),
    /** The branch begins at the HEAD of the worktree at `repo_path`, else at that of its repository. */
    begins_there: z.boolean(),
    branch: z.string(),
  }),
])

type Answer = { tasks: z.infer<typeof handed>[]; orders: z.infer<typeof order>[] }

/** Holds up to 30 s until there is a task or an order. What was handed out comes again until the runner names it in `running` or writes for
 *  it: an answer that is lost loses no task. Only tasks of its own worktrees, at most `parallel` at once, the oldest prompt first, one of each
 *  session. */
export const takeTasks = op({
  ...RUNNER,
  name: 'take_tasks',
  summary: 'A runner waits for tasks and orders.',
  route: runnerRoute('take'),
  effect: 'read',
  held: true,
  input: z.strictObject({
    runner_id: runnerId,
    running: z.array(z.string().max(64)).max(200).default([]),
    timeout: z.number().min(0).max(LONGEST_S).default(LONGEST_S),
  }),
  output: z.object({ tasks: z.array(handed), orders: z.array(order), waiting_s: z.int() }),
  refuses: ['conflict', 'forbidden'],
  async run(context, { runner_id, running, timeout }) {
    const { services, call } = context
    await stillRunner(context, runner_id)
    await acknowledgeTasks(services.database, runner_id, running)
    const begun = performance.now()
    let everyMs = FIND_EVERY_MS
    const hold = { topic: runnerTopic(runner_id), timeoutMs: timeout * 1_000, everyMs: () => everyMs }
    const found = await holdFor(services, call, hold, async () => {
      // Nobody takes what such a task prints: its agent would go on until it prints something.
      const gone = await goneTasks(services.database, runner_id, running, SENT_AGAIN_S + (performance.now() - begun) / 1_000)
      const work = await findWork(context, runner_id)
      everyMs = work === 'interrupting' ? SENT_AGAIN_S * 1_000 : FIND_EVERY_MS // nothing else says that the answer with the order was lost
      const { tasks, orders } = typeof work === 'object' ? work : NOTHING
      return gone.length > 0 || typeof work === 'object' ? { tasks, orders: [...gone.map(interrupt), ...orders] } : undefined
    })
    // What was handed out is not kept from a runner that was replaced just now: its next call is refused.
    if (!found) await stillRunner(context, runner_id)
    return { ...(found ?? NOTHING), waiting_s: await waitingSeconds(services.database, runner_id) }
  },
})

const FIND_EVERY_MS = 10_000
const NOTHING: Answer = { tasks: [], orders: [] }

const interrupt = (task_id: string) => ({ task_id, order: 'interrupt' as const })

/** 'interrupting': nothing new, but a task is still running of which this runner was told that it is to end. */
const findWork = async (context: Context, id: string): Promise<Answer | 'interrupting' | undefined> => {
  const { services } = context
  if (!(await mayHaveNews(services.database, id))) return undefined
  const look = async (tx: Queries) => {
    const runner = (await lockRunner(tx, id)) ?? refuseReplaced(id)
    if (runner.endedAt !== null || runner.keyId !== keyIdOf(context)) refuseReplaced(id)
    await handOut(tx, id, runner.parallel - (await runningOn(tx, id)))
    const all = await handedOut(tx, id)
    if (all.length > 0) await renewLease(tx, id) // it is there: its call has been held since it was last seen
    const allowed = Map.groupBy(all, (task) => mayRun(runner, task))
    const interrupts = (await interruptOrders(tx, id)).map(({ task_id }) => interrupt(task_id))
    const worktrees = (await worktreeOrders(tx, id)).map((wanted) => ({ ...wanted, order: 'worktree' as const }))
    const tasks: Answer['tasks'] = []
    for (const one of allowed.get(true) ?? []) tasks.push(await withKey(context, tx, one))
    const forbidden = allowed.get(false) ?? []
    return { tasks, orders: [...interrupts, ...worktrees], forbidden, interrupting: await isInterrupting(tx, id) }
  }
  const { orders, tasks, forbidden, interrupting } = await retryUndone(() => services.database.transaction(look))
  for (const { task } of forbidden)
    await perform(giveUpTask, services, { signal: context.call.signal }, { task_id: task.id, code: 'not_allowed', message: NOT_ALLOWED })
  if (tasks.length > 0 || orders.length > 0) return { tasks, orders }
  return interrupting ? 'interrupting' : undefined
}

const NOT_ALLOWED =
  'This runner was started without --allow-bypass, so no agent works there with its permissions switched off. Choose another permission_mode, or have its owner start it so.'
const mayRun = ({ allowBypass }: Runner, { permission_mode }: Handed) => allowBypass || !isBypass(permission_mode)

// The agent's key for this one task, derived from the task's id: an answer that is sent again, because it was lost, has the same key.
const withKey = async (context: Context, tx: Queries, { task, ...handed }: Handed): Promise<Answer['tasks'][number]> => {
  const { services } = context
  const secret = derivedSecret(services.setting('server_secret')!, 'agent key', task.id)
  const key = newKey('agent', sha256(secret).slice(0, 32))
  if (task.keyId === null) {
    const id = crypto.randomUUID()
    const name = task.promptedBy.name
    await insertKey(tx, {
      id,
      keyHash: sha256(key),
      prefix: prefixOf(key),
      scope: 'agent',
      name: handed.agentic_tool,
      sessionId: task.sessionId,
      madeBy: name,
    })
    await setTask(tx, task.id, { keyId: id })
  }
  const { agentic_tool, permission_mode, path, conversation, context_files, mcp_servers } = handed
  const fork = await forkFor(tx, task, handed)
  return {
    task_id: task.id,
    session_id: task.sessionId,
    prompt: task.prompt,
    agentic_tool,
    permission_mode,
    path,
    branch: handed.branch !== null && (await wasBegunBefore(tx, task)) ? null : handed.branch,
    conversation,
    fork,
    digest: await digestFor(tx, task, conversation ?? fork?.conversation),
    context_files,
    mcp_servers,
    mcp_url: `${baseOf(context)}/mcp?toolsets=rooms,control`,
    agent_key: key,
    max_s: services.config.TASK_TIMEOUT,
    finish_takes: FINISH_TAKES,
  }
}

type Conversations = Pick<Handed, 'conversation' | 'fork_conversation' | 'fork_conversation_at'>

// The conversation that the agent's own begins as a copy of. That conversation knows nothing of a task that was begun
// since and lost: the digest does.
const forkFor = async (tx: Queries, task: Task, { conversation, fork_conversation, fork_conversation_at }: Conversations) => {
  if (conversation !== null || fork_conversation === null || (await wasBegunBefore(tx, task))) return null
  return { conversation: fork_conversation, conversation_at: fork_conversation_at }
}

// For an agent that may not be able to open its conversation, and for one that has none although it was prompted before: that task was lost.
const digestFor = async (tx: Queries, task: Task, conversation: string | undefined): Promise<string | null> => {
  if (conversation === undefined && !(await wasPromptedBefore(tx, task))) return null
  const { lastSequence } = (await sessionById(tx, task.sessionId))!
  const open = (await openTasks(tx, task.sessionId)).map(({ messageId }) => messageId)
  // What was done while this task waited stands behind its prompt.
  return (await digestOf(tx, task.sessionId, lastSequence, open)) || null
}

// One task, from the hub's handing it out to what the hub is told of its end.
import { pause } from '../../core/runtime/pause.ts'
import type { Agent } from './agents.ts'
import { beforeTask, changesSince } from './changes.ts'
import { runCli, type CliRun } from './cli-run.ts'
import type { ConversationCosts } from './conversation-costs.ts'
import type { Job, Result } from './drivers/driver.ts'
import { stateOf, type Git, type Repository, type WorktreeState } from './git.ts'
import { Refused, type HubCalls, type WireTask } from './hub-calls.ts'
import { listenerFor } from './listener.ts'
import { newOutbox, type Outbox, type Store } from './outbox.ts'
import { taskMark } from './processes.ts'
import { redactorOf, type Redact, type Secrets } from './secrets.ts'
import { checkedTask, NotStarted, wrongBranch, type Checked } from './task-input.ts'
import { ended, smallerResults, wireResult, type TaskReport, type Why, type WireResult } from './task-result.ts'

/** What a runner's tasks share. */
export interface RunnerParts {
  hub: HubCalls
  base: string
  store: Store
  git: Git
  mark: string
  /** The environment of a CLI. */
  env: Readonly<Record<string, string>>
  secrets: Secrets
  mcpServers: Readonly<Record<string, unknown>>
  costs: ConversationCosts
  allowBypass: boolean
  /** By path. */
  worktrees: ReadonlyMap<string, Repository>
  /** The agent of this name, or a sentence that says why there is none. */
  agentFor(agenticTool: string): Promise<Agent | string>
  say(line: string): void
  /** The hub takes no calls of this runner any more. */
  shutOut(error: Refused): void
}

export interface Task {
  sessionId: string
  interrupt(): void
  /** Gives the task up, which is another runner's by now, or nobody's: ends its CLI and reports nothing more. */
  lose(): void
  done: Promise<void>
}

// The state of one task while this runner has it.
interface RunningTask {
  task: WireTask
  of: { runner_id: string; task_id: string }
  parts: RunnerParts
  redact: Redact
  outbox: Outbox
  /** Aborts when it is no longer ours: nothing more is told of it. */
  lost: AbortController
  /** Aborts when its CLI is to end. */
  stopping: AbortController
  why: Why | undefined
  cli: CliRun | undefined
}

/** Begins a task that the hub has handed out to this registration of the runner, once `before` has resolved. */
export const startTask = (task: WireTask, runnerId: string, parts: RunnerParts, before: Promise<unknown>): Task => {
  const of = { runner_id: runnerId, task_id: task.task_id }
  const redact = redactorOf(new Map([...parts.secrets, [task.agent_key, 'the key of this task']]))
  const lost = new AbortController()
  const outbox = newOutbox(parts.hub, parts.store, of, lost.signal, (error) => refused(running, error))
  const running: RunningTask = { task, of, parts, redact, outbox, lost, stopping: new AbortController(), why: undefined, cli: undefined }
  const done = before
    .then(() => run(running))
    .catch((error: Error) => {
      if (!lost.signal.aborted) parts.say(`${nameOf(running)}  the hub takes no more of this task: ${error.message}`)
      refused(running, error)
    })
    .finally(outbox.close)
  return { sessionId: task.session_id, interrupt: () => stop(running, 'interrupted'), lose: () => stop(running, 'lost'), done }
}

const nameOf = ({ task }: RunningTask): string => task.task_id.slice(0, 8)

const stop = (running: RunningTask, why: Why) => {
  if (running.why === undefined || why === 'lost') running.why = why
  if (why === 'lost') running.lost.abort(new Error('The task is no longer this runner’s.'))
  running.stopping.abort()
  running.cli?.stop()
}

const refused = (running: RunningTask, error: unknown) => {
  if (error instanceof Refused && isShutOut(error)) running.parts.shutOut(error)
  stop(running, 'lost')
}

/** Whether no call of this runner will be taken any more. */
export const isShutOut = ({ status }: Refused): boolean => status === 401

interface Ended {
  result: WireResult
  /** Undefined where nothing was started. */
  folder?: string
  before?: ReturnType<typeof beforeTask>
}

const run = async (running: RunningTask): Promise<void> => {
  const { parts, redact, outbox } = running
  const began = Date.now()
  const { result, folder, before } = await work(running).catch((error: Error): Ended => ({ result: notStarted(error) }))
  parts.say(lineOf(running, result, folder, Date.now() - began))
  if (running.why === 'lost') return
  const state = folder === undefined ? undefined : await stateOf(parts.git, folder)
  const changes = folder === undefined ? undefined : await changesSince(parts.git, folder, await before)
  await outbox.drained()
  await report(running, { ...redact(result), ...(state && takenOf(running, state)), ...(changes && { changes }) })
}

const takenOf = (running: RunningTask, { head, branch, changed }: WorktreeState): Partial<WorktreeState> => ({
  head,
  branch,
  ...(takes(running, 'changed_files') && { changed }),
})

// Whether the hub takes it of a result (control/runner/finish-task.ts).
const takes = ({ task }: RunningTask, what: string): boolean => Array.isArray(task.finish_takes) && task.finish_takes.includes(what)

const lineOf = (running: RunningTask, { status, error }: WireResult, folder: string | undefined, ms: number): string => {
  const how = running.why === 'lost' ? 'no longer ours, ended' : status
  const words = [nameOf(running), running.redact(String(running.task.agentic_tool)), ...(folder === undefined ? [] : [folder])]
  return `${words.join('  ')}  ${how} after ${Math.round(ms / 1_000)} s${error ? `: ${running.redact(error.message)}` : ''}`
}

const LONGEST_S = 2_000_000 // more milliseconds than 2^31 - 1 no timer takes
const DEFAULT_S = 3_600
const LONGEST_LOOK_MS = 2_000

const work = async (running: RunningTask): Promise<Ended> => {
  const { task, of, parts, redact, outbox, lost, stopping } = running
  const agent = await parts.agentFor(task.agentic_tool)
  if (typeof agent === 'string') throw new NotStarted('agent_failed', agent)
  const checked = checkedTask(task, { ...parts, worktrees: parts.worktrees.values() })
  const wrong = typeof task.branch === 'string' ? wrongBranch(task, (await stateOf(parts.git, checked.folder)).branch) : undefined
  if (wrong) return { result: notStarted(wrong), folder: checked.folder }
  checked.leftOut.forEach((text, i) => reportItself(running, `left-out-${i}`, 'left_out', text))
  // Before the CLI can change a file; in a repository that git reads for seconds, beside its start.
  const before = beforeTask(parts.git, checked.folder)
  await Promise.race([before, pause(LONGEST_LOOK_MS)])
  if (running.why !== undefined) return { result: ended({ status: 'interrupted' }, running.why, task.max_s) }
  const signal = AbortSignal.any([lost.signal, stopping.signal])
  const listener = listenerFor({ hub: parts.hub, of, outbox, redact, refused: (error) => refused(running, error), signal })
  const timer = setTimeout(() => stop(running, 'timed_out'), Math.min(task.max_s > 0 ? task.max_s : DEFAULT_S, LONGEST_S) * 1_000)
  const once = (job: Job) => (running.cli = runCli(agent.driver, job, listener, taskMark(parts.mark, task.task_id), parts.say)).ended
  const job = jobOf(task, checked, parts)
  const onceAnew = () => {
    reportItself(running, 'digest', 'digest_used', DIGEST_USED)
    return once({
      ...job,
      prompt: `${task.digest}

${task.prompt}`,
      conversation: undefined,
      fork: undefined,
    })
  }
  const hasDigest = typeof task.digest === 'string'
  const hasConversation = job.conversation !== undefined || job.fork !== undefined
  let result = hasDigest && !hasConversation ? await onceAnew() : await once(job)
  if (result.conversationMissing && hasDigest && hasConversation && running.why === undefined) result = await onceAnew()
  clearTimeout(timer)
  keepCost(running, result)
  return { result: ended(result, running.why, task.max_s), folder: checked.folder, before }
}

const keepCost = ({ parts }: RunningTask, { conversation, conversationCost }: Result) => {
  if (conversation === undefined || conversationCost === undefined) return
  try {
    parts.costs.keep(conversation, conversationCost)
  } catch (error) {
    parts.say((error as Error).message) // the next prompt's cost is not known then
  }
}

const DIGEST_USED = 'The agent could not go on with its own conversation: a digest of the log stands before the prompt.'

const reportItself = ({ outbox, redact }: RunningTask, key: string, event: string, text: string) =>
  outbox.add({ key: `runner-${key}`, type: 'runtime', content: { event, text: redact(text) } })

const report = async (running: RunningTask, result: TaskReport): Promise<void> => {
  const whole = wireResult(result, takes(running, 'unknown_tokens'))
  for (const body of [whole, ...smallerResults(whole)]) {
    try {
      return void (await running.parts.hub.ask('finish', () => ({ ...running.of, ...body }), { signal: running.lost.signal }))
    } catch (error) {
      if (!(error instanceof Refused) || (error.status !== 400 && error.status !== 413)) throw error
      running.parts.say(`${nameOf(running)}  the hub did not take the result: ${error.message}`)
    }
  }
}

const notStarted = (error: Error): WireResult => ({
  status: 'failed',
  error: { code: error instanceof NotStarted ? error.code : 'agent_failed', message: error.message },
})

const jobOf = (task: WireTask, { folder, contextFiles, mcpServers, hub }: Checked, { env, costs }: RunnerParts): Job => ({
  prompt: task.prompt,
  permissionMode: task.permission_mode,
  folder,
  conversation: task.conversation ?? undefined,
  fork: task.fork ? { conversation: task.fork.conversation, at: task.fork.conversation_at ?? undefined } : undefined,
  costBefore: costs.of(task.conversation ?? task.fork?.conversation),
  contextFiles,
  env,
  hub,
  mcpServers,
})

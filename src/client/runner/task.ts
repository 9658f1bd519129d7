// One task, from the hub's handing it out to what the hub is told of its end.
import type { Agent } from './agents.ts'
import { beforeTask, changesSince } from './changes.ts'
import { runCli, type CliRun } from './cli-run.ts'
import type { Job } from './drivers/driver.ts'
import { stateOf, type Git, type Repository } from './git.ts'
import { Refused, type HubCalls, type WireTask } from './hub-calls.ts'
import { listenerFor } from './listener.ts'
import { newOutbox, type Store } from './outbox.ts'
import { taskMark } from './processes.ts'
import { redactorOf, type Secrets } from './secrets.ts'
import { checkedTask, NotStarted, type Checked } from './task-input.ts'
import { ended, smallerResults, wireResult, type Told, type Why, type WireResult } from './task-result.ts'

/** What all tasks of a runner have in common. */
export interface Post {
  hub: HubCalls
  base: string
  store: Store
  git: Git
  mark: string
  /** Of a CLI. */
  env: Readonly<Record<string, string>>
  secrets: Secrets
  mcpServers: Readonly<Record<string, unknown>>
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
  interrupt(): void
  /** It is another's, or nobody's: its CLI is ended, and nothing more is told of it. */
  lose(): void
  done: Promise<void>
}

const LONGEST_S = 2_000_000 // more milliseconds than 2^31 - 1 no timer takes

export const startTask = (task: WireTask, runnerId: string, post: Post): Task => {
  const of = { runner_id: runnerId, task_id: task.task_id }
  const redact = redactorOf(new Map([...post.secrets, [task.agent_key, 'the key of this task']]))
  const lost = new AbortController()
  let why: Why | undefined
  let cli: CliRun | undefined
  const stop = (reason: Why) => {
    if (reason === 'lost') lost.abort(new Error('The task is no longer this runner’s.'))
    if (why === undefined || reason === 'lost') why = reason
    stopping.abort()
    cli?.stop()
  }
  const stopping = new AbortController()
  const refused = (error: unknown) => {
    if (error instanceof Refused && isShutOut(error)) post.shutOut(error)
    stop('lost')
  }
  const outbox = newOutbox(post.hub, post.store, of, lost.signal, refused)

  const work = async (): Promise<WireResult & { folder?: string; before?: ReturnType<typeof beforeTask> }> => {
    const agent = await post.agentFor(task.agentic_tool)
    if (typeof agent === 'string') throw new NotStarted('agent_failed', agent)
    const checked = checkedTask(task, { ...post, worktrees: post.worktrees.values() })
    checked.leftOut.forEach((text, i) =>
      outbox.add({ key: `runner-${i}`, type: 'runtime', content: { event: 'left_out', text: redact(text) } }),
    )
    if (why !== undefined) return ended({ status: 'interrupted' }, why, task.max_s)
    // Beside the start of the CLI, which takes longer before it can change a file.
    const before = beforeTask(post.git, checked.folder)
    const listener = listenerFor({ hub: post.hub, of, outbox, redact, refused, signal: AbortSignal.any([lost.signal, stopping.signal]) })
    const timer = setTimeout(() => stop('timed_out'), Math.min(task.max_s > 0 ? task.max_s : 3_600, LONGEST_S) * 1_000)
    const once = (job: Job) => {
      cli = runCli(agent.driver, job, listener, taskMark(post.mark, task.task_id), post.say)
      return cli.ended
    }
    const job = jobOf(task, checked, post.env)
    let result = await once(job)
    if (result.conversationMissing && typeof task.digest === 'string' && why === undefined) {
      outbox.add({ key: 'runner-digest', type: 'runtime', content: { event: 'digest_used', text: DIGEST_USED } })
      result = await once({ ...job, prompt: `${task.digest}\n\n${task.prompt}`, conversation: undefined, fork: undefined })
    }
    clearTimeout(timer)
    return { ...ended(result, why, task.max_s), folder: checked.folder, before }
  }
  const run = async () => {
    const began = Date.now()
    const { folder, before, ...result } = await work().catch((error: Error) => notStarted(error))
    const status = why === 'lost' ? 'lost: its result counts for nothing' : result.status
    const seconds = Math.round((Date.now() - began) / 1_000)
    post.say(
      `${task.task_id.slice(0, 8)}  ${redact(task.agentic_tool)}  ${folder ?? ''}  ${status} after ${seconds} s${result.error ? `: ${redact(result.error.message)}` : ''}`,
    )
    if (why === 'lost') return
    const state = folder === undefined ? undefined : await stateOf(post.git, folder)
    const changes = folder === undefined ? undefined : await changesSince(post.git, folder, await before)
    await outbox.drained()
    await tell({ ...redact(result), ...(state && { head: state.head, branch: state.branch }), ...(changes && { changes }) })
  }
  const tell = async (result: Told) => {
    const told = wireResult(result)
    for (const body of [told, ...smallerResults(told)]) {
      try {
        return await post.hub.ask('finish', () => ({ ...of, ...body }), { signal: lost.signal })
      } catch (error) {
        if (!(error instanceof Refused) || (error.status !== 400 && error.status !== 413)) throw error
        post.say(`${task.task_id.slice(0, 8)}  the hub did not take the result: ${error.message}`)
      }
    }
  }
  const done = run().catch((error) => {
    if (error instanceof Refused && isShutOut(error)) post.shutOut(error)
    else if (!lost.signal.aborted) post.say(`${task.task_id.slice(0, 8)}  the hub takes no more of this task: ${(error as Error).message}`)
  })
  void done.finally(outbox.close)
  return { interrupt: () => stop('interrupted'), lose: () => stop('lost'), done }
}

export const isShutOut = ({ status }: Refused): boolean => status === 401 || status === 403

const notStarted = (error: Error): WireResult & { folder?: undefined; before?: undefined } => {
  const code = error instanceof NotStarted ? error.code : 'agent_failed'
  return { status: 'failed', error: { code, message: error.message } }
}

const DIGEST_USED = 'The agent could not go on with its own conversation: a digest of the log stands before the prompt.'

const jobOf = (task: WireTask, { folder, contextFiles, mcpServers, hub }: Checked, env: Readonly<Record<string, string>>): Job => ({
  prompt: task.prompt,
  permissionMode: task.permission_mode,
  folder,
  conversation: task.conversation ?? undefined,
  fork: task.fork ? { conversation: task.fork.conversation, at: task.fork.conversation_at ?? undefined } : undefined,
  contextFiles,
  env,
  hub,
  mcpServers,
})

// A driver speaks the protocol of one kind of agent CLI. It starts the CLI for one task, turns what that prints into events of the log,
// and can interrupt it. Which process it is, what is left of it, and the hub are others' business.
import type { TraceEvent } from '../../../transcripts/trace-event.ts'

/** One task as a driver needs it. */
export interface Job {
  prompt: string
  /** As the session has it; the driver maps it to what its CLI knows. */
  permissionMode: string
  /** The worktree's folder. */
  folder: string
  /** The CLI's own id of the conversation that goes on; undefined: a new one. */
  conversation: string | undefined
  /** A new conversation that begins as the copy of another one, up to its message `at`. */
  fork: { conversation: string; at: string | undefined } | undefined
  /** In USD, what the conversation that goes on, or is forked, had cost in all when an agent last told; undefined: that is not known. */
  costBefore: number | undefined
  /** Files that the prompt's reader is told to look at, relative to `folder`. */
  contextFiles: readonly string[]
  /** The environment of the CLI, without our own keys. */
  env: Readonly<Record<string, string>>
  /** How the CLI reaches the hub. `key` must not appear in an argument vector, nor in a file that others can read. */
  hub: { url: string; key: string }
  /** Further MCP servers by name, as the runner's --mcp-config has them. */
  mcpServers: Readonly<Record<string, unknown>>
}

/** What a driver tells while its CLI works. */
export interface Listener {
  /** In the order in which the CLI printed it. `key` names the event within the task: the same when the CLI says it again. */
  event(key: string, event: TraceEvent): void
  /** The CLI asks permission for a tool. Resolves once a person has answered, or nobody has in time. `message`: a word to the agent, with
   *  either answer. */
  ask(question: { tool: string; text: string; input: unknown }): Promise<Answer>
}

export interface Answer {
  allow: boolean
  message: string | undefined
  /** No person has answered: the message says so. */
  unanswered?: boolean
}

/** null: not known. */
export interface Usage<Tokens extends number | null = number> {
  input_tokens: Tokens
  output_tokens: Tokens
  cost_usd: number | null
}

/** How a task ended, as the CLI or its silence tells it. */
export interface Result {
  status: 'completed' | 'failed' | 'interrupted'
  /** The agent's last word to whoever prompted it. */
  answer?: string
  error?: { code: 'agent_failed' | 'not_allowed'; message: string }
  /** The event's key of the call that ended the task: a question to the user, a plan to agree to. */
  interruptedBy?: string
  conversation?: string
  /** The CLI's id of the conversation's last message: where a fork of it begins. */
  conversationAt?: string
  usage?: Usage<number | null>
  /** In USD, what the conversation has cost in all, where the CLI tells that alone: it goes on as the next job's `costBefore`. */
  conversationCost?: number
  /** The CLI could not go on with the conversation that was named, or fork it, and was asked nothing: the caller may start the task again
   *  without one, its prompt behind a digest. */
  conversationMissing?: true
}

/** The result of a CLI that could not do its task. */
export const failed = (message: string) => ({ status: 'failed', error: { code: 'agent_failed', message } }) as const satisfies Result

/** A CLI at work. */
export interface Running {
  /** Resolves once the CLI has said how it ended and is gone, or has died. Rejects with a fault of the driver alone; the CLI may run on. */
  ended: Promise<Result>
  /** Asks the CLI to stop, by its protocol. Whoever calls kills what is left after a moment. */
  interrupt(): void
}

/** Starts a program. The runner marks its environment, so that whatever the program starts can be found and ended. */
export type Spawn = (
  command: readonly string[],
  options: { folder: string; env: Readonly<Record<string, string>> },
) => import('node:child_process').ChildProcessWithoutNullStreams

export interface Driver {
  agenticTool: string
  /** The program's name in PATH (or the first word of a command line). */
  program: string
  /** What a person does to get it. */
  howToGet: string
  /** The oldest version that it was tested with. */
  oldest?: string
  start(job: Job, listener: Listener, spawn: Spawn): Running
}

// Tasks as the lines below their prompts say how it is with them.
import type { PromptedBy, TaskItem } from '../../../components/agents/agent-view.ts'
import { lasted } from '../../../components/parts/lasted.ts'
import { callLine } from '../../core/events/tool-call.ts'
import type { WatchedTask } from '../../stores/control/watched.ts'
import { usageWords } from './usage.ts'
import { valueIn } from '../../core/lookup.ts'
import { cutAt } from '../../core/text/cut-at.ts'
import { counted } from '../../core/text/numbers.ts'

export const taskItem = (task: WatchedTask, now: number): TaskItem => {
  const { sequence, session_id: session, turn, status, by_agent, error, interrupted_by } = task
  return {
    sequence,
    session,
    turn,
    status,
    ...wordsOf(task, now),
    interruptible: by_agent && status === 'running' && !task.interrupt_asked,
    problem: status === 'failed' ? error?.message : undefined,
    asks: interrupted_by ? questionIn(interrupted_by.tool_name, interrupted_by.input) : undefined,
    traced: by_agent,
  }
}

const wordsOf = (task: WatchedTask, now: number): Pick<TaskItem, 'said' | 'details'> => {
  const { status, place, started_at, created_at, ended_at, by_agent } = task
  if (status === 'queued') return { said: 'Queued', details: [place === 1 ? 'next' : `number ${place} in line`] }
  if (status === 'running' && !by_agent) return { said: 'Waiting for an answer', details: [] }
  if (status === 'running')
    return { said: `${task.interrupt_asked ? 'Stopping' : 'Running'} ${running(started_at ?? created_at, now)}`, details: doingOf(task) }
  const took = started_at && ended_at ? [lasted(started_at, ended_at)] : []
  if (status === 'failed') return { said: failureOf(task), details: took }
  if (task.interrupted_by) return { said: 'Asks a question', details: took }
  return { said: status === 'interrupted' ? 'Interrupted' : 'Done', details: [...took, ...leftBehind(task)] }
}

/** `1:12`, `1:02:09`: how long it has been going on. */
const running = (since: string, now: number): string => {
  const seconds = Math.max(0, Math.floor((now - Date.parse(since)) / 1_000))
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60]
  const two = (n: number) => String(n).padStart(2, '0')
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`
}

// The prompt is the first event of its turn.
const doingOf = ({ tool_name, arguments: given, events }: WatchedTask): string[] => {
  const own = events === null ? undefined : Math.max(0, events - 1)
  return [...(tool_name === null ? [] : [callLine(tool_name, given)]), ...(own === undefined ? [] : [counted(own, 'event')])]
}

const FAILURES: Record<string, string> = {
  runner_lost: 'The runner went away',
  no_runner: 'No runner took it',
  timed_out: 'It took too long',
  not_allowed: 'Not allowed there',
  agent_failed: 'The agent failed',
  worktree_gone: 'Its worktree is gone',
}
const failureOf = ({ error }: WatchedTask): string => valueIn(FAILURES, error?.code ?? '') ?? 'It failed'

const leftBehind = ({ changes, usage }: WatchedTask): string[] => [
  ...(changes && changes.files > 0 ? [`${counted(changes.files, 'file')}, +${changes.added} −${changes.removed}`] : []),
  ...(usage ? usedIn(usage) : []),
]

// Of an agent that tells neither tokens nor costs nothing is said.
const usedIn = ({ input_tokens, output_tokens, cost_usd }: NonNullable<WatchedTask['usage']>): string[] =>
  input_tokens === null && output_tokens === null && cost_usd === null
    ? []
    : [usageWords((input_tokens ?? 0) + (output_tokens ?? 0), cost_usd)]

const LONGEST_QUESTION = 4_000 // characters

/** What a call asks the user: the questions with their choices, or the plan; else its arguments as they are. */
const questionIn = (tool: string, input: unknown): string => {
  const given = Object(input) as { questions?: unknown; question?: unknown; plan?: unknown }
  if (typeof given.plan === 'string') return cutAt(`A plan to agree to:\n${given.plan}`, LONGEST_QUESTION)
  const questions = (Array.isArray(given.questions) ? given.questions : [given]).flatMap(questionWords)
  return cutAt(questions.join('\n\n') || `${tool}: ${JSON.stringify(input)}`, LONGEST_QUESTION)
}

const questionWords = (asked: unknown): string[] => {
  const { question, options } = Object(asked) as { question?: unknown; options?: unknown }
  if (typeof question !== 'string') return []
  const choices = Array.isArray(options) ? options.flatMap((option) => labelOf(option)) : []
  return [[question, ...choices.map((choice) => `– ${choice}`)].join('\n')]
}

const labelOf = (option: unknown): string[] => {
  const label = typeof option === 'string' ? option : (Object(option) as { label?: unknown }).label
  return typeof label === 'string' ? [label] : []
}

/** Who gave a prompt, from its event; undefined for what is no prompt of a task. */
export const promptedBy = (value: unknown): PromptedBy | undefined => {
  const { kind, name, session_id } = Object(value) as { kind?: unknown; name?: unknown; session_id?: unknown }
  if ((kind !== 'person' && kind !== 'key' && kind !== 'agent') || typeof name !== 'string') return undefined
  return { kind, name, session: typeof session_id === 'string' ? session_id : undefined }
}

// How a task ended, as the hub is told.
import { shortId } from '../../transcripts/json.ts'
import type { Changes } from './changes.ts'
import type { Result, Usage } from './drivers/driver.ts'
import type { WorktreeState } from './git.ts'
import { cutAt } from '../../core/text/cut-at.ts'

/** Why a CLI was ended before its end. */
export type Why = 'interrupted' | 'timed_out' | 'lost'
export type WireResult = Omit<Result, 'error'> & { error?: { code: string; message: string } }

/** The result as the hub gets it: the CLI's own, unless the runner ended the CLI, for the reason `why`. */
export const ended = (result: Result, why: Why | undefined, maxS: number): WireResult => {
  if (why === undefined || result.status === 'completed') return result
  const { error: _, ...rest } = result
  if (why !== 'timed_out') return { ...rest, status: 'interrupted' }
  return { ...rest, status: 'failed', error: { code: 'timed_out', message: `The agent still worked after ${maxS} s and was ended.` } }
}

export type TaskReport = WireResult & Partial<WorktreeState> & { changes?: Changes }

/** In the wire's names. `unknownTokens`: the hub takes tokens that are not known; an earlier one takes numbers alone. */
export const wireResult = (
  { status, answer, error, interruptedBy, conversation, conversationAt, usage, head, branch, changed, changes }: TaskReport,
  unknownTokens: boolean,
) => ({
  status,
  answer,
  error,
  interrupted_by: interruptedBy && shortId(interruptedBy),
  conversation,
  conversation_at: conversationAt,
  usage: usage && countable(usage, unknownTokens ? null : 0),
  head,
  branch,
  changed_files: changed,
  changes,
})

// An agent may count in halves, or less than before; the hub takes whole numbers from 0 on.
const countable = ({ input_tokens, output_tokens, cost_usd }: Usage<number | null>, unknown: 0 | null): Usage<number | null> => ({
  input_tokens: input_tokens === null ? unknown : Math.round(amount(input_tokens)),
  output_tokens: output_tokens === null ? unknown : Math.round(amount(output_tokens)),
  cost_usd: cost_usd === null ? null : amount(cost_usd),
})

const amount = (figure: number): number => (figure > 0 && figure <= Number.MAX_SAFE_INTEGER ? figure : 0)

// Characters.
const SHORT_ANSWER = 32_000
const SHORT_ERROR = 2_000

/** What is told where the hub refuses a result, one after the other: with shorter texts, without its answer, without what stands beside it.
 *  The last says no more than how it ended: whatever it was that the hub does not take, the task has an end there. */
export const smallerResults = ({ answer, error, changed_files, ...rest }: ReturnType<typeof wireResult>): object[] => {
  const { status } = rest
  const short = { answer: answer && cut(answer, SHORT_ANSWER), error: error && { ...error, message: cut(error.message, SHORT_ERROR) } }
  const { error: shortError } = short
  const isShorter = short.answer !== answer || shortError?.message !== error?.message
  return [
    ...(changed_files === undefined ? [] : [{ ...rest, answer, error }]), // an earlier version beside the one that takes them
    ...(isShorter ? [{ ...rest, ...short }] : []),
    ...(answer
      ? [
          { ...rest, error: shortError },
          { status, ...short },
        ]
      : []),
    { status, error: shortError },
  ]
}

const cut = (text: string, most: number): string => (text.length <= most ? text : `${cutAt(text, most)}\n[… cut by the runner]`)

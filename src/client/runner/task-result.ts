// How a task ended, as the hub is told.
import { shortId } from '../../transcripts/json.ts'
import type { Changes } from './changes.ts'
import type { Result } from './drivers/driver.ts'
import type { WorktreeState } from './git.ts'

/** Why a CLI was ended before its end. */
export type Why = 'interrupted' | 'timed_out' | 'lost'
export type WireResult = Omit<Result, 'error'> & { error?: { code: string; message: string } }

/** What the CLI says of it, seen from who ended it. */
export const ended = (result: Result, why: Why | undefined, maxS: number): WireResult => {
  if (why === undefined || result.status === 'completed') return result
  const { error: _, ...rest } = result
  if (why !== 'timed_out') return { ...rest, status: 'interrupted' }
  return { ...rest, status: 'failed', error: { code: 'timed_out', message: `The agent still worked after ${maxS} s and was ended.` } }
}

export type Told = WireResult & Partial<Pick<WorktreeState, 'head' | 'branch'>> & { changes?: Changes }

/** In the wire's names. */
export const wireResult = ({ status, answer, error, interruptedBy, conversation, conversationAt, usage, head, branch, changes }: Told) => ({
  status,
  answer,
  error,
  interrupted_by: interruptedBy && shortId(interruptedBy),
  conversation,
  conversation_at: conversationAt,
  usage,
  head,
  branch,
  changes,
})

const SHORT_ANSWER = 32_000 // characters

/** What is told where the hub refuses a result: first with a shorter answer, then without any. */
export const smallerResults = (result: { answer: string | undefined; status: string }): object[] => {
  const { answer, ...rest } = result
  if (answer === undefined) return []
  const short = `${answer.slice(0, SHORT_ANSWER).toWellFormed()}\n[… cut by the runner]`
  return [...(answer.length > SHORT_ANSWER ? [{ ...result, answer: short }] : []), rest]
}

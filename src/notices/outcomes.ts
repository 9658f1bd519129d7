// What came of trying to tell somebody, whichever the way.
import { whyUnreachable } from '../core/unreachable.ts'

export interface Outcome {
  /** `again`: trying later may help. `gone`: nobody is there any more. */
  came: 'ok' | 'again' | 'gone' | 'failed'
  /** What was answered, or why nothing was, as the end of a sentence about the one that was called. It never holds the URL. */
  why: string
  /** How long its answer asks to wait. */
  retryAfterS?: number
}

/** How long anybody who is told may take to answer. */
export const ANSWER_WITHIN_S = 10

const LONGEST_WAIT_S = 3_600

/** An answer by its status. Redirects are not followed: whoever is told is who was named. */
export const outcomeOf = (status: number, retryAfter: string | null | undefined): Outcome => {
  const why = `answered ${status}`
  if (status >= 200 && status < 300) return { came: 'ok', why }
  if (status >= 300 && status < 400) return { came: 'failed', why: `${why}, a redirect, which is not followed` }
  if (status === 404 || status === 410) return { came: 'gone', why }
  if (status !== 408 && status !== 429 && status < 500) return { came: 'failed', why }
  const seconds = Number(retryAfter ?? NaN) // a date, the other form, counts as not given
  return { came: 'again', why, ...(seconds > 0 && { retryAfterS: Math.min(Math.ceil(seconds), LONGEST_WAIT_S) }) }
}

/** No answer came. */
export const unanswered = (error: unknown): Outcome => ({ came: 'again', why: `did not answer: ${whyUnreachable(error, ANSWER_WITHIN_S)}` })

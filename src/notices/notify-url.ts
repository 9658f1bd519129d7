import type { Message } from './message.ts'
import { ANSWER_WITHIN_S, outcomeOf, unanswered, type Outcome } from './outcomes.ts'

/** Posts a message to NOTIFY_URL as JSON. The operator chose that URL, so it may be http and on a private network. Follows no redirect,
 *  reads no answer. */
export const postToNotifyUrl = async (url: string, message: Message, ending?: AbortSignal): Promise<Outcome> => {
  const timeout = AbortSignal.timeout(ANSWER_WITHIN_S * 1_000)
  try {
    const response = await fetch(url, {
      method: 'POST',
      redirect: 'manual',
      signal: ending ? AbortSignal.any([timeout, ending]) : timeout,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(message),
    })
    await response.body?.cancel()
    const outcome = outcomeOf(response.status, response.headers.get('retry-after'))
    return outcome.came === 'gone' ? { ...outcome, came: 'failed' } : outcome
  } catch (error) {
    return unanswered(error)
  }
}

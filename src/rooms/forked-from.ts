import type { Session } from '../stores/sessions.ts'

/** The point of the other session's log from which a fork goes on: earlier events are not copied, and are read there. Undefined for a
 *  session that is no fork. */
export const forkedFrom = ({ forkedFromSessionId, forkedAtSequence }: Session, base: string) => {
  if (forkedFromSessionId === null) return undefined
  const sequence = forkedAtSequence ?? 0
  return { session_id: forkedFromSessionId, sequence, url: `${base}/sessions/${forkedFromSessionId}?around=${sequence}` }
}

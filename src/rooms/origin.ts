import type { Session } from '../stores/sessions.ts'

/** Where a fork's log goes on from: what came before is not copied, and is read there. Undefined for a session that is no fork. */
export const originOf = ({ forkedFromSessionId, forkedAtSequence }: Session, base: string) => {
  if (forkedFromSessionId === null) return undefined
  const sequence = forkedAtSequence ?? 0
  return { session_id: forkedFromSessionId, sequence, url: `${base}/sessions/${forkedFromSessionId}?around=${sequence}` }
}

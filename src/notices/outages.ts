import type { Log } from '../core/runtime/log.ts'
import type { Outcome } from './outcomes.ts'

/** Logs one warning when telling people through a place begins to fail, however often it then fails, and when it works again. A place is
 *  NOTIFY_URL or the host of a push service: their URLs open what they lead to, and are never logged. */
export const createOutages = (log: Log) => {
  const failing = new Set<string>()
  return {
    note(place: string, { came, why }: Outcome) {
      if (came === 'gone') return // that browser's doing
      if (came === 'ok') {
        if (failing.delete(place)) log('info', `people are told through ${place} again`)
      } else if (!failing.has(place)) {
        failing.add(place)
        log('warn', `people could not be told through ${place}: it ${why}. Until it works again, no more is logged of it.`)
      }
    },
  }
}

import type { Failing } from '../core/runtime/failures-in-a-row.ts'
import type { Log } from '../core/runtime/log.ts'
import type { Outcome } from './outcomes.ts'

const FORGOTTEN_AFTER_MS = 24 * 60 * 60_000 // another instance may have told people there since, or nobody is there any more

export type Outages = ReturnType<typeof createOutages>

/** Knows where telling people fails. Logs one warning when it begins to, however often it then fails, and when it works again. A place is
 *  NOTIFY_URL or the host of a push service: their URLs open what they lead to, and are never logged. */
export const createOutages = (log: Log) => {
  const outages = new Map<string, { since: number; last: number }>()
  const isFresh = (place: string) => Date.now() - (outages.get(place)?.last ?? 0) < FORGOTTEN_AFTER_MS
  return {
    note(place: string, { came, why }: Pick<Outcome, 'came' | 'why'>) {
      if (came === 'gone') return // that browser's doing
      if (!isFresh(place)) outages.delete(place)
      const known = outages.get(place)
      if (came === 'ok') {
        if (outages.delete(place)) log('info', `people are told through ${place} again`)
        return
      }
      if (!known) log('warn', `people could not be told through ${place}: it ${why}. Until it works again, no more is logged of it.`)
      outages.set(place, { since: known?.since ?? Date.now(), last: Date.now() })
    },
    failing: (): Failing[] =>
      [...outages].filter(([place]) => isFresh(place)).map(([name, { since }]) => ({ name, since: new Date(since) })),
  }
}

/** The place of a notice by the endpoint of a browser's subscription, or by NOTIFY_URL. */
export const placeOf = (endpoint?: string): string => (endpoint === undefined ? 'NOTIFY_URL' : new URL(endpoint).host)

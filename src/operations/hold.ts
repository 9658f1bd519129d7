// Holding a call until what it asks for is there, for calls that wait for other things than a session's log.
import type { Topic } from '../log/topics.ts'
import type { Services } from '../process/services.ts'
import type { Call } from './call.ts'

const FIND_AGAIN_MS = 10_000 // a notification that another instance sent can get lost

export interface Hold {
  topic: Topic
  timeoutMs: number
  /** `find` runs at least this often, where something other than news of the topic may change the answer. Asked after each run. */
  everyMs?: () => number
}

/** Calls `find` at once and whenever the topic moves, until it finds something. Returns that; undefined when the time is up, the caller has
 *  gone or the server stops. Subscribes before each call, so that nothing is missed in between. */
export const holdFor = async <Found>(
  { waiters, stopping }: Services,
  { signal, onHeld }: Pick<Call, 'signal' | 'onHeld'>,
  { topic, timeoutMs, everyMs = () => FIND_AGAIN_MS }: Hold,
  find: () => Promise<Found | undefined>,
): Promise<Found | undefined> => {
  const over = AbortSignal.any([signal(), stopping])
  const until = performance.now() + timeoutMs
  for (let first = true; ; first = false) {
    const waiter = waiters.subscribe(topic)
    const end = () => waiter.wake()
    over.addEventListener('abort', end, { once: true })
    try {
      const found = await find()
      const left = until - performance.now()
      if (found !== undefined || left <= 0 || over.aborted) return found
      if (first) onHeld?.()
      const timer = setTimeout(end, Math.min(left, everyMs()))
      await waiter.woken()
      clearTimeout(timer)
    } finally {
      over.removeEventListener('abort', end)
      waiter.unsubscribe()
    }
  }
}

import { LRUCache } from 'lru-cache'

const SESSIONS_KEPT = 10_000
const KEPT_MS = 500

/** Cache of what was looked up about each session, invalidated by every append. A lookup that started before the invalidation fills the
 *  discarded map, so it can never serve stale data. */
export class RecentLookups<Value> {
  #bySession = new LRUCache<string, Map<string, Value>>({ max: SESSIONS_KEPT, ttl: KEPT_MS })

  /** What is cached about the session, by name. Get this map before a lookup, and put the result into it. */
  of(session: string): Map<string, Value> {
    const cached = this.#bySession.get(session)
    if (cached) return cached
    const fresh = new Map<string, Value>()
    this.#bySession.set(session, fresh)
    return fresh
  }

  invalidate(session: string) {
    this.#bySession.delete(session)
  }

  clear() {
    this.#bySession.clear()
  }
}

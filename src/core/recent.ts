/** What was looked up about a session a moment ago. It is valid for half a second, and only until the session moves: what a look-up that
 *  was under way then brings, it puts where nobody looks any more. */
export class Recent<Value> {
  #shelves = new Map<string, Shelf<Value>>()

  /** What is known, by name. Fetch this before a look-up, and put the result into it. */
  of(session: string): Map<string, Value> {
    const shelf = this.#shelves.get(session)
    const now = performance.now()
    if (shelf && now < shelf.until) return shelf.values
    const values = new Map<string, Value>()
    this.#shelves.set(session, { values, until: now + KEPT_MS })
    return values
  }

  moved(session: string) {
    this.#shelves.delete(session)
  }

  clear() {
    this.#shelves.clear()
  }
}

const KEPT_MS = 500

interface Shelf<Value> {
  values: Map<string, Value>
  until: number
}

/** What was looked up about a session a moment ago. It is valid for half a second, and only until the session moves: a look-up that was
 *  under way then keeps its result where nobody finds it. */
export class Recent<Value> {
  #shelves = new Map<string, Shelf<Value>>()

  /** By name, what is known; what is looked up from now on is put here. */
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

const MOST_NAMES = 100_000 // some 15 MB of counters; past it, new names share one counter until the minute ends
const OTHERS = ''

/** A quota per minute for each name. All counters are dropped when a minute ends, so memory is bounded. No LRU cache: evicting a counter
 *  would give its owner a new quota, and inventing names would evict it. */
export class Allowance {
  #taken = new Map<string, number>()
  #endsAt = 0
  constructor(readonly perMinute: number) {}

  /** Takes one from the quota. 0 when there was one left, else the seconds until there is one again. */
  take(name: string): number {
    const wait = this.waitOf(name)
    if (wait > 0) return wait
    const counted = this.#counted(name)
    this.#taken.set(counted, (this.#taken.get(counted) ?? 0) + 1)
    return 0
  }

  /** Takes back one that was taken, for what was not granted after all. */
  giveBack(name: string) {
    const counted = this.#counted(name)
    const taken = this.#taken.get(counted) ?? 0 // none, where a minute has ended since
    if (taken > 0) this.#taken.set(counted, taken - 1)
  }

  /** What `take` would return; takes nothing. */
  waitOf(name: string): number {
    const now = performance.now()
    if (now >= this.#endsAt) {
      this.#taken.clear()
      this.#endsAt = now + 60_000
    }
    const taken = this.#taken.get(this.#counted(name)) ?? 0
    return taken < this.perMinute ? 0 : Math.ceil((this.#endsAt - now) / 1000)
  }

  #counted = (name: string) => (this.#taken.size < MOST_NAMES || this.#taken.has(name) ? name : OTHERS)
}

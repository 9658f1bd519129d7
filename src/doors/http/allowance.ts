const MOST_NAMES = 100_000 // some 15 MB: what comes past it under a new name shares one count until the minute is over
const OTHERS = ''

/** A per-minute quota for each name, counted in whole minutes so that memory is freed with each. */
export class Allowance {
  #taken = new Map<string, number>()
  #endsAt = 0
  constructor(readonly perMinute: number) {}

  /** 0 when it was granted, else the seconds until it may be asked again. */
  take(name: string): number {
    const wait = this.waitOf(name)
    if (wait > 0) return wait
    const counted = this.#counted(name)
    this.#taken.set(counted, (this.#taken.get(counted) ?? 0) + 1)
    return 0
  }

  /** What `take` would say; nothing is taken. */
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

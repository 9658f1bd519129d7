/** So many a minute for each name. Counted in whole minutes, so that memory is freed with each. */
export class Allowance {
  #taken = new Map<string, number>()
  #endsAt = 0
  constructor(readonly perMinute: number) {}

  /** 0 when it was granted, else the seconds until it may be asked again. */
  take(name: string): number {
    const now = performance.now()
    if (now >= this.#endsAt) {
      this.#taken.clear()
      this.#endsAt = now + 60_000
    }
    const taken = (this.#taken.get(name) ?? 0) + 1
    this.#taken.set(name, taken)
    return taken <= this.perMinute ? 0 : Math.ceil((this.#endsAt - now) / 1000)
  }
}

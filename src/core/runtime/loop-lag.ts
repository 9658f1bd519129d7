// How late this process's timers are: while it computes, every call waits that long.

const TICK_MS = 200
const KEPT_MS = 60_000

/** Measures the delay of the event loop, from its making until `stop`. */
export class LoopLag {
  #late: { at: number; ms: number }[] = []
  #due = performance.now() + TICK_MS
  #timer: ReturnType<typeof setInterval>

  constructor() {
    this.#timer = setInterval(() => this.#tick(), TICK_MS)
    this.#timer.unref?.()
  }

  // A timer that is a second late stands for all that would have been due in that second.
  #tick() {
    const now = performance.now()
    for (let ms = Math.max(0, now - this.#due); ; ms -= TICK_MS) {
      this.#late.push({ at: now, ms })
      if (ms < TICK_MS) break
    }
    const from = this.#late.findIndex(({ at }) => at > now - KEPT_MS)
    if (from > 0) this.#late.splice(0, from)
    this.#due = now + TICK_MS
  }

  /** The delay that 99 of 100 moments of the last minute stayed below, in seconds. */
  get p99Seconds(): number {
    const sorted = this.#late.map(({ ms }) => ms).toSorted((a, b) => a - b)
    return (sorted[Math.ceil(sorted.length * 0.99) - 1] ?? 0) / 1_000
  }

  stop() {
    clearInterval(this.#timer)
  }
}

// Who waits for news of which session, in this process only. A wake carries no data: the woken caller looks for itself.
export interface Armed {
  woken: Promise<void>
  wake(): void // for the waiter's own reasons: its time is up, its caller has gone
  disarm(): void
}

/** Arms and wakes. An armed waiter that nobody disarms stays for good. */
export class Waiters {
  #bySession = new Map<string, Set<() => void>>()
  #told = new Map<string, number>() // the newest sequence that a session's waiters have been woken for
  #count = 0

  /** Arm before looking at the feed: an event between the look and the wait would otherwise be missed. */
  arm(session: string): Armed {
    const { promise, resolve } = Promise.withResolvers<void>()
    let waiting = this.#bySession.get(session)
    if (!waiting) this.#bySession.set(session, (waiting = new Set()))
    waiting.add(resolve)
    this.#count++
    return { woken: promise, wake: resolve, disarm: () => this.#remove(session, waiting, resolve) }
  }

  #remove(session: string, waiting: Set<() => void>, resolve: () => void) {
    if (!waiting.delete(resolve)) return
    this.#count--
    if (waiting.size > 0 || this.#bySession.get(session) !== waiting) return
    this.#bySession.delete(session)
    this.#told.delete(session)
  }

  /** `sequence`: the session's newest event, so that the sweep need not wake for it again. */
  wake(session: string, sequence = 0) {
    const waiting = this.#bySession.get(session)
    if (!waiting) return
    if (sequence > (this.#told.get(session) ?? 0)) this.#told.set(session, sequence)
    for (const resolve of waiting) resolve() // the woken run later, so the set does not change meanwhile
  }

  /** A waiter has seen this much of the session. Others who wait there since before, and were not told, are woken. */
  caughtUpTo(session: string, sequence: number) {
    const told = this.#told.get(session)
    if (told === undefined) this.#told.set(session, sequence)
    else if (sequence > told) this.wake(session, sequence)
  }

  wakeAll() {
    for (const session of this.#bySession.keys()) this.wake(session)
  }

  newestTold = (session: string) => this.#told.get(session)
  sessions = () => [...this.#bySession.keys()]

  get size() {
    return this.#count
  }
}

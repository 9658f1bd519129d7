// Who waits for news of which session, in this process only. A wake carries no data: the woken caller looks for itself.
export interface Armed {
  woken: Promise<void>
  wake(): void // for the waiter's own reasons: its time is up, its caller has gone
  disarm(): void
}

interface Waited {
  waiting: Set<() => void>
  told: number | undefined // the newest sequence that they have been woken for
}

/** Arms and wakes. An armed waiter that nobody disarms stays for good. */
export class Waiters {
  #bySession = new Map<string, Waited>()
  #count = 0

  /** Arm before looking at the feed: an event between the look and the wait would otherwise be missed. */
  arm(session: string): Armed {
    const { promise, resolve } = Promise.withResolvers<void>()
    let waited = this.#bySession.get(session)
    if (!waited) this.#bySession.set(session, (waited = { waiting: new Set(), told: undefined }))
    waited.waiting.add(resolve)
    this.#count++
    return { woken: promise, wake: resolve, disarm: () => this.#remove(session, waited, resolve) }
  }

  #remove(session: string, waited: Waited, resolve: () => void) {
    if (!waited.waiting.delete(resolve)) return
    this.#count--
    if (waited.waiting.size === 0 && this.#bySession.get(session) === waited) this.#bySession.delete(session)
  }

  /** `sequence`: the session's newest event, so that the sweep need not wake for it again. */
  wake(session: string, sequence = 0) {
    const waited = this.#bySession.get(session)
    if (!waited) return
    if (sequence > (waited.told ?? 0)) waited.told = sequence
    for (const resolve of waited.waiting) resolve() // the woken run later, so the set does not change meanwhile
  }

  /** A waiter has seen this much of the session. Others who wait there since before, and were not told, are woken. */
  caughtUpTo(session: string, sequence: number) {
    const waited = this.#bySession.get(session)
    if (!waited) return
    if (waited.told === undefined) waited.told = sequence
    else if (sequence > waited.told) this.wake(session, sequence)
  }

  wakeAll() {
    for (const session of this.#bySession.keys()) this.wake(session)
  }

  newestTold = (session: string) => this.#bySession.get(session)?.told
  sessions = () => [...this.#bySession.keys()]

  get size() {
    return this.#count
  }
}

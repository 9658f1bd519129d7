// How far the search index is behind the log, as one process knows it: the events that it was notified of and that are not indexed yet, and
// since when each of them waits. It takes no query, so that every search can say it.

interface Mark {
  through: number // a sequence
  at: number // by performance.now(): since when an event up to there may have waited
}

const GRAIN_MS = 500 // events that a session writes within so long share a mark
const MOST_MARKS = 100 // of one session
const FRESH_MS = 50 // for so long the answer is cached: a large backlog takes a moment to look through

/** Never says less than what this process knows to wait. What it was not notified of, a comparison adds (comparison.ts). */
export class IndexLag {
  #waiting = new Map<string, Mark[]>() // by session, the oldest first
  #cached = { seconds: 0, at: -Infinity }

  /** The session's log has grown up to `newest`, just now or `ageMs` ago. */
  wrote(session: string, newest: number, ageMs = 0) {
    const now = performance.now()
    const at = now - ageMs
    if (ageMs > 0) this.#cached.at = -Infinity
    const marks = this.#waiting.get(session)
    const last = marks?.at(-1)
    if (!marks || !last) return void this.#waiting.set(session, [{ through: newest, at }])
    if (newest <= last.through) marks[0]!.at = Math.min(marks[0]!.at, at)
    else if (at - last.at < GRAIN_MS || marks.length >= MOST_MARKS) last.through = newest
    else marks.push({ through: newest, at })
  }

  /** The newest event of each session that waits, as far as this process was notified; 0 if none does. */
  newestOf(sessions: string[]): Map<string, number> {
    return new Map(sessions.map((session) => [session, this.#waiting.get(session)?.at(-1)?.through ?? 0]))
  }

  /** The session is indexed up to `through`, and its log was as far as `newest` then. */
  indexed(session: string, through: number, newest = through) {
    const left = this.#waiting.get(session)?.filter((mark) => mark.through > through) ?? []
    if (left.length > 0) this.#waiting.set(session, left)
    else this.#waiting.delete(session)
    this.#cached.at = -Infinity
    if (newest > through) this.wrote(session, newest)
  }

  /** For how many seconds the oldest event that is not indexed has waited; 0 when none does. */
  get seconds(): number {
    const now = performance.now()
    if (now - this.#cached.at < FRESH_MS) return this.#cached.seconds
    let oldest = now
    for (const [first] of this.#waiting.values()) if (first && first.at < oldest) oldest = first.at
    this.#cached = { seconds: (now - oldest) / 1_000, at: now }
    return this.#cached.seconds
  }
}

// How far the search index is behind the log, as one process knows it: which events it heard of that are not indexed yet, and since when
// each of them waits. It costs no query, so that every search can say it.

interface Mark {
  through: number // a sequence
  at: number // by performance.now(): since then an event up to there may be waiting
}

const GRAIN_MS = 500 // what a session writes within so long shares a mark
const MOST_MARKS = 100 // of one session
const FRESH_MS = 50 // so long the answer is used again: a large backlog takes a moment to look through

export class IndexLag {
  #waiting = new Map<string, Mark[]>() // by session, the oldest first
  #known = { seconds: 0, at: -Infinity }

  /** The session's log has grown up to `newest`, just now or `ageMs` ago. */
  wrote(session: string, newest: number, ageMs = 0) {
    const now = performance.now()
    const at = now - ageMs
    if (ageMs > 0) this.#known.at = -Infinity
    const marks = this.#waiting.get(session)
    const last = marks?.at(-1)
    if (!marks || !last) return void this.#waiting.set(session, [{ through: newest, at }])
    if (newest <= last.through) marks[0]!.at = Math.min(marks[0]!.at, at)
    else if (at - last.at < GRAIN_MS || marks.length >= MOST_MARKS) last.through = newest
    else marks.push({ through: newest, at })
  }

  /** The newest event that was heard of in each of these sessions and waits. */
  heardOf(sessions: string[]): Map<string, number> {
    return new Map(sessions.map((session) => [session, this.#waiting.get(session)?.at(-1)?.through ?? 0]))
  }

  /** The session is indexed up to `through`, and its log was as far as `newest` then. */
  indexed(session: string, through: number, newest = through) {
    const left = this.#waiting.get(session)?.filter((mark) => mark.through > through) ?? []
    if (left.length > 0) this.#waiting.set(session, left)
    else this.#waiting.delete(session)
    this.#known.at = -Infinity
    if (newest > through) this.wrote(session, newest)
  }

  /** Since how many seconds the oldest event waits that is not indexed; 0 when none does. */
  get seconds(): number {
    const now = performance.now()
    if (now - this.#known.at < FRESH_MS) return this.#known.seconds
    let oldest = now
    for (const [first] of this.#waiting.values()) if (first && first.at < oldest) oldest = first.at
    this.#known = { seconds: (now - oldest) / 1_000, at: now }
    return this.#known.seconds
  }
}

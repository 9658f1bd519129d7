/** The newest events of the sessions that somebody follows here, straight from the commit: most wakes need no read at all.
 *  What it holds of a session is without a gap; what it does not hold, the database does. */
export class Tail<Event extends { sequence: number }> {
  #bySession = new Map<string, Event[]>()

  /** Committed events of one session, ascending. A gap before them (another instance wrote) makes what was held useless. */
  extend(session: string, events: readonly Event[]) {
    const held = this.#bySession.get(session)
    const first = events[0]?.sequence ?? 0
    const last = held?.at(-1)?.sequence ?? 0
    if (held && first <= last) return // commits of this process can be reported out of order; the database has it
    const kept = held && first === last + 1 ? [...held, ...events].slice(-EVENTS_HELD) : events.slice(-EVENTS_HELD)
    this.#bySession.delete(session)
    this.#bySession.set(session, kept)
    if (this.#bySession.size > SESSIONS_HELD) this.#bySession.delete(this.#bySession.keys().next().value!)
  }

  /** Everything after `cursor`, or undefined when only the database can tell. */
  after(session: string, cursor: number): Event[] | undefined {
    const held = this.#bySession.get(session)
    if (!held?.length || held[0]!.sequence > cursor + 1 || held.at(-1)!.sequence <= cursor) return undefined
    return held.slice(cursor + 1 - held[0]!.sequence)
  }
}

const EVENTS_HELD = 64 // of 32 KiB each at the most: 2 MiB a session
const SESSIONS_HELD = 256

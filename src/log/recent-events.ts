import { putBounded } from '../core/bounded.ts'

/** The newest events of the sessions that are read and written now: most wakes and polls need no read of the log at all.
 *  What it holds of a session is committed and without a gap; what it does not hold, the database does. */
export class Tail<Event extends { sequence: number }> {
  #bySession = new Map<string, { events: Event[]; bytes: number }>()

  /** `sizeOf`: about how many bytes an event takes; asked at most twice for each event. */
  constructor(readonly sizeOf: (event: Event) => number) {}

  /** Committed events of one session, ascending. What comes before a gap is left out: what another instance wrote there, only the database
   *  knows. */
  extend(session: string, events: readonly Event[]): void {
    if (events.length === 0) return
    const from = events.findLastIndex(({ sequence }, i) => i > 0 && sequence !== events[i - 1]!.sequence + 1)
    if (from > 0) return this.extend(session, events.slice(from))
    let held = this.#bySession.get(session)
    const last = held?.events.at(-1)?.sequence ?? 0
    if (held && events.at(-1)!.sequence <= last) return // commits can be reported out of order
    if (!held || events[0]!.sequence > last + 1) this.#put(session, (held = { events: [], bytes: 0 }))
    for (const event of events) {
      if (held.events.length > 0 && event.sequence <= last) continue
      held.events.push(event)
      held.bytes += this.sizeOf(event)
    }
    if (held.events.length > 2 * EVENTS_KEPT || held.bytes > 2 * BYTES_KEPT) this.#trim(held)
  }

  /** Everything after `cursor` up to `newest` or later, or undefined when only the database can tell. */
  after(session: string, cursor: number, newest: number): Event[] | undefined {
    const events = this.#bySession.get(session)?.events
    if (!events?.length || events[0]!.sequence > cursor + 1 || events.at(-1)!.sequence < Math.max(newest, cursor + 1)) return undefined
    return events.slice(cursor + 1 - events[0]!.sequence)
  }

  /** The database may have gone back to what it was before. */
  clear() {
    this.#bySession.clear()
  }

  #put(session: string, held: { events: Event[]; bytes: number }) {
    this.#bySession.delete(session)
    putBounded(this.#bySession, session, held, SESSIONS_KEPT)
  }

  // Down to half of what is allowed, so that it is not done at each event.
  #trim(held: { events: Event[]; bytes: number }) {
    let drop = Math.max(0, held.events.length - EVENTS_KEPT)
    for (const event of held.events.slice(0, drop)) held.bytes -= this.sizeOf(event)
    while (held.bytes > BYTES_KEPT && drop < held.events.length) held.bytes -= this.sizeOf(held.events[drop++]!)
    held.events.splice(0, drop)
  }
}

const SESSIONS_KEPT = 256
const EVENTS_KEPT = 128
const BYTES_KEPT = 128 * 1024 // up to twice that for each session: 64 MiB at the most, all together

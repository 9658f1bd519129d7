// The newest events of the sessions that are read and written now, in memory: most wakes and polls read no log at all, and one post can
// wake thousands. What is held of a session is committed and without a gap; anything else is read from the database.
import { LRUCache } from 'lru-cache'

const SESSIONS_KEPT = 256
const EVENTS_KEPT = 128
const BYTES_KEPT = 128 * 1024 // a session may reach twice this before it is trimmed: 64 MiB at the most, all together

interface Held<Event> {
  events: Event[]
  bytes: number
}

/** LRU cache of each session's newest events. */
export class RecentEvents<Event extends { sequence: number }> {
  #bySession = new LRUCache<string, Held<Event>>({ max: SESSIONS_KEPT })

  /** `sizeOf`: about how many bytes an event takes; called at most twice for each event. */
  constructor(readonly sizeOf: (event: Event) => number) {}

  /** Adds committed events of one session, ascending. Those before a gap are left out: another instance wrote what is missing, and only the
   *  database has it. */
  extend(session: string, events: readonly Event[]): void {
    if (events.length === 0) return
    const from = events.findLastIndex(({ sequence }, i) => i > 0 && sequence !== events[i - 1]!.sequence + 1)
    if (from > 0) return this.extend(session, events.slice(from))
    let held = this.#bySession.get(session)
    const last = held?.events.at(-1)?.sequence ?? 0
    if (held && events.at(-1)!.sequence <= last) return // commits can be reported out of order
    if (!held || events[0]!.sequence > last + 1) this.#bySession.set(session, (held = { events: [], bytes: 0 }))
    for (const event of events) {
      if (held.events.length > 0 && event.sequence <= last) continue
      held.events.push(event)
      held.bytes += this.sizeOf(event)
    }
    if (held.events.length > 2 * EVENTS_KEPT || held.bytes > 2 * BYTES_KEPT) this.#trim(held)
  }

  /** All events after `cursor`, up to `newest` or later; undefined when only the database has them. */
  after(session: string, cursor: number, newest: number): Event[] | undefined {
    const events = this.#bySession.get(session)?.events
    if (!events?.length || events[0]!.sequence > cursor + 1 || events.at(-1)!.sequence < Math.max(newest, cursor + 1)) return undefined
    return events.slice(cursor + 1 - events[0]!.sequence)
  }

  /** Drops a session's events, or without a session everything: the database may have been replaced by an older copy, which never had them. */
  forget(session?: string) {
    if (session === undefined) this.#bySession.clear()
    else this.#bySession.delete(session)
  }

  // Trims to half of what a session may reach, so that not every event trims.
  #trim(held: Held<Event>) {
    let drop = Math.max(0, held.events.length - EVENTS_KEPT)
    for (const event of held.events.slice(0, drop)) held.bytes -= this.sizeOf(event)
    while (held.bytes > BYTES_KEPT && drop < held.events.length) held.bytes -= this.sizeOf(held.events[drop++]!)
    held.events.splice(0, drop)
  }
}

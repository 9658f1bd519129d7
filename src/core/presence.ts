// Who is polling, in memory; one statement a second writes what changed (stores/presence.ts). A poll costs no write of its own.
import type { Clock } from './clock.ts'

export interface Seen {
  sessionId: string
  teamId: string
  lastSeenMs: number
  pollingUntilMs: number | undefined
  seenCursor: number
  deliveredCursor: number
  addressedCursor: number
}
interface Entry extends Seen {
  polls: number
  dirty: boolean
}

/** The teams that this process has seen since it last wrote them down. Only the database knows of any other. */
export class Presence {
  #entries = new Map<string, Entry>() // by the team's handle, which is of one session
  constructor(readonly clock: Clock) {}

  /** A wait begins; the caller must end it. */
  poll(sessionId: string, teamId: string, holdMs: number): Poll {
    return new Poll(this.#entry(sessionId, teamId), this.clock, holdMs)
  }

  /** Seen, and not waiting. */
  seen = (sessionId: string, teamId: string) => this.poll(sessionId, teamId, 0).end()

  /** What this process knows of a team that the database may not know yet. */
  of = (teamId: string): Seen | undefined => this.#entries.get(teamId)

  /** Hands over what changed, to be written; entries that are at rest are forgotten, since the database has them. */
  drain(): Seen[] {
    const changed: Seen[] = []
    for (const [teamId, entry] of this.#entries) {
      if (entry.dirty) changed.push({ ...entry })
      else if (entry.polls === 0) this.#entries.delete(teamId)
      entry.dirty = false
    }
    return changed
  }

  /** Writing failed: what was handed over is to be handed over again. */
  restore(seen: Seen[]) {
    for (const { sessionId, teamId } of seen) this.#entry(sessionId, teamId).dirty = true
  }

  #entry(sessionId: string, teamId: string): Entry {
    let entry = this.#entries.get(teamId)
    if (!entry) {
      const fresh = { lastSeenMs: 0, pollingUntilMs: undefined, seenCursor: 0, deliveredCursor: 0, addressedCursor: 0 }
      this.#entries.set(teamId, (entry = { sessionId, teamId, ...fresh, polls: 0, dirty: false }))
    }
    return entry
  }
}

/** One wait of a team, in this process. */
export class Poll {
  #entry: Entry
  #clock: Clock

  constructor(entry: Entry, clock: Clock, holdMs: number) {
    this.#entry = entry
    this.#clock = clock
    entry.polls++
    const until = this.#touch() + holdMs
    if (until > (entry.pollingUntilMs ?? 0)) entry.pollingUntilMs = until
  }

  /** How many the team has in flight, this one among them. */
  get ofTeam() {
    return this.#entry.polls
  }

  /** `seen`: the team said it has read so far. `delivered`: a wait has handed out so far. `addressed`: the same, of what is addressed to
   *  the team alone. Only ever forward. */
  advance({ seen = 0, delivered = 0, addressed = 0 }) {
    const entry = this.#entry
    if (seen <= entry.seenCursor && delivered <= entry.deliveredCursor && addressed <= entry.addressedCursor) return
    entry.seenCursor = Math.max(entry.seenCursor, seen)
    entry.deliveredCursor = Math.max(entry.deliveredCursor, seen, delivered)
    entry.addressedCursor = Math.max(entry.addressedCursor, addressed)
    entry.dirty = true
  }

  end() {
    if (--this.#entry.polls === 0) this.#entry.pollingUntilMs = undefined
    this.#touch()
  }

  #touch() {
    this.#entry.dirty = true
    return (this.#entry.lastSeenMs = this.#clock.now())
  }
}

// Which teams poll and which sleep, in memory. Once a second one statement writes all that changed (stores/presence.ts), so a poll costs no write.
import { LRUCache } from 'lru-cache'
import type { Clock } from './runtime/clock.ts'

export interface Seen {
  sessionId: string
  teamId: string
  lastSeenMs: number
  pollingUntilMs: number | undefined
  seenCursor: number
  deliveredCursor: number
  addressedCursor: number
  /** When a held peek of the team last began or ended here. */
  sleptMs: number | undefined
  sleepingUntilMs: number | undefined
}
interface Entry extends Seen {
  polls: number
  sleeps: number
  dirty: boolean
  /** How often the team's cursors were forgotten. */
  resets: number
}

const TEAMS_KEPT = 10_000
const NO_CURSORS = { seenCursor: 0, deliveredCursor: 0, addressedCursor: 0 }

/** The teams that this process has seen since it last wrote them to the database. */
export class Presence {
  #entries = new Map<string, Entry>() // by the team's handle, which is of one session
  #delivered = new LRUCache<string, number>({ max: TEAMS_KEPT }) // of teams that were forgotten
  constructor(readonly clock: Clock) {}

  /** A wait begins, for `holdMs` at most. The caller must end it. */
  poll(sessionId: string, teamId: string, holdMs: number): Poll {
    return new Poll(this.#entry(sessionId, teamId), this.clock, holdMs)
  }

  /** A held peek begins, for `holdMs` at most. The caller must end it. */
  sleep(sessionId: string, teamId: string, holdMs: number): Sleep {
    return new Sleep(this.#entry(sessionId, teamId), this.clock, holdMs)
  }

  /** The team was seen, but does not wait. */
  seen = (sessionId: string, teamId: string) => this.poll(sessionId, teamId, 0).end()

  /** The team's state that may not have been written yet. */
  of = (teamId: string): Seen | undefined => this.#entries.get(teamId)

  /** How far waits of this process have delivered the feed to the team, as far as is remembered: it may be further. */
  deliveredTo = (teamId: string): number => Math.max(this.#entries.get(teamId)?.deliveredCursor ?? 0, this.#delivered.get(teamId) ?? 0)

  /** Returns the teams that changed, for the caller to write; teams that did not change, do not poll and do not sleep are forgotten. */
  drain(): Seen[] {
    const changed: Seen[] = []
    for (const entry of this.#entries.values()) {
      if (entry.dirty) changed.push({ ...entry })
      else if (entry.polls + entry.sleeps === 0) this.#forget(entry)
      entry.dirty = false
    }
    return changed
  }

  /** Writing failed: the next drain returns these teams again. */
  restore(seen: Seen[]) {
    for (const { sessionId, teamId } of seen) this.#entry(sessionId, teamId).dirty = true
  }

  /** The end of this session's log was deleted, and its numbers may be given to other events: the cursors in the database count. */
  forgetCursors(sessionId: string) {
    this.#delivered.clear() // of other sessions too: it happens rarely, and the database has them
    for (const [team, entry] of this.#entries) if (entry.sessionId === sessionId) this.#entries.delete(team) // a wait that is held moves no other
  }

  /** The database may have been replaced by an older copy, whose cursors count. Those of the last second, and of calls in flight, are lost:
   *  what was delivered then is delivered once more to whoever waits without a cursor. */
  forgetAllCursors() {
    this.#delivered.clear()
    for (const entry of this.#entries.values()) Object.assign(entry, NO_CURSORS, { resets: entry.resets + 1 })
  }

  #forget({ teamId, deliveredCursor }: Entry) {
    this.#entries.delete(teamId)
    if (deliveredCursor > 0) this.#delivered.set(teamId, deliveredCursor)
  }

  #entry(sessionId: string, teamId: string): Entry {
    let entry = this.#entries.get(teamId)
    if (!entry) {
      const times = { lastSeenMs: 0, pollingUntilMs: undefined, sleptMs: undefined, sleepingUntilMs: undefined }
      this.#entries.set(teamId, (entry = { sessionId, teamId, ...NO_CURSORS, ...times, polls: 0, sleeps: 0, dirty: false, resets: 0 }))
    }
    return entry
  }
}

/** One wait of a team, in this process. */
export class Poll {
  #entry: Entry
  #clock: Clock
  #resets: number

  constructor(entry: Entry, clock: Clock, holdMs: number) {
    this.#entry = entry
    this.#clock = clock
    this.#resets = entry.resets
    entry.polls++
    const until = this.#touch() + holdMs
    if (until > (entry.pollingUntilMs ?? 0)) entry.pollingUntilMs = until
  }

  /** How many polls of the team are in flight, this one included. */
  get ofTeam() {
    return this.#entry.polls
  }

  /** Moves the team's cursors, only ever forward. `seen`: the team goes on from there. `delivered`: a wait has delivered so far.
   *  `addressed`: the same, of messages that are addressed to the team. After the cursors were forgotten, a call that began before moves none:
   *  its numbers may be of another copy of the log. */
  advance({ seen = 0, delivered = 0, addressed = 0 }) {
    const entry = this.#entry
    if (this.#resets !== entry.resets) return
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

/** One held peek of a team, in this process: its agent is asleep, and a message wakes it. It counts as a poll nowhere. */
export class Sleep {
  #entry: Entry
  #clock: Clock

  constructor(entry: Entry, clock: Clock, holdMs: number) {
    this.#entry = entry
    this.#clock = clock
    entry.sleeps++
    const until = this.#touch() + holdMs
    if (until > (entry.sleepingUntilMs ?? 0)) entry.sleepingUntilMs = until
  }

  /** How many held peeks of the team are in flight, this one included. */
  get ofTeam() {
    return this.#entry.sleeps
  }

  end() {
    if (--this.#entry.sleeps === 0) this.#entry.sleepingUntilMs = undefined
    this.#touch()
  }

  #touch() {
    this.#entry.dirty = true
    return (this.#entry.sleptMs = this.#clock.now())
  }
}

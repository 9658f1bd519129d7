// What a team had not been handed when it posted: how much others said after what waits last delivered to it. Memory answers for nearly
// every post: nobody spoke, or the team goes on posting without reading. Where others did speak, another instance may have delivered more,
// or this process does not know, one statement counts for all posts of the moment (bench/before-after).
import { LRUCache } from 'lru-cache'
import type { Database } from '../../db/database.ts'
import { createBatchLoader } from '../core/runtime/batch-loader.ts'
import { isMessage, type Event } from '../stores/events.ts'
import { isNewsTo, missedBy, MOST_NEWS, type Missing } from '../stores/speech.ts'

const TEAMS_KEPT = 10_000
const SESSIONS_KEPT = 10_000

/** A team's newest post, and how much of others' it had not been handed then (`missed`; undefined while that is being counted). */
interface Latest {
  delivered: number
  sequence: number
  missed: number | undefined
}

/** All events after `since` and up to `end` are posts that were written here. */
interface Run {
  since: number
  end: number
}

/** One of a process: whatever it does not know for sure it counts in the database, so that a number that it says holds across instances. */
export class Missed {
  #latest = new LRUCache<string, Latest>({ max: TEAMS_KEPT })
  #runs = new LRUCache<string, Run>({ max: SESSIONS_KEPT })
  #count: (post: Missing) => Promise<{ delivered: number; missed: number }>

  /** `recent`: all events of a session after a cursor, up to `newest` or later, if memory has them. */
  constructor(
    database: Database,
    readonly recent: (session: string, cursor: number, newest: number) => Event[] | undefined,
    readonly mayHavePeers: () => boolean,
  ) {
    this.#count = createBatchLoader((posts: Missing[]) => missedBy(database, posts))
  }

  /** These events of one session were committed here, ascending. */
  extend(session: string, events: readonly Event[]) {
    const [first, end] = [events[0]!.sequence, events.at(-1)!.sequence]
    const arePosts = end - first === events.length - 1 && events.every(({ type }) => isMessage(type))
    const run = this.#runs.get(session)
    if (run && arePosts && first === run.end + 1) run.end = end
    else this.#runs.set(session, { since: arePosts ? first - 1 : end, end })
  }

  /** Counts what others said after `post.delivered`, which this process knows to be delivered, and before this post, up to 1,000. Call it
   *  for each post of a team in order, or `forget` the team: its own posts that were left out would be counted as others'. */
  before(post: Missing): number | Promise<number> {
    const earlier = this.#latest.get(post.teamId)
    const delivered = Math.max(post.delivered, earlier?.delivered ?? 0)
    const latest: Latest = { delivered, sequence: post.sequence, missed: this.#fromMemory({ ...post, delivered }, earlier) }
    this.#latest.set(post.teamId, latest)
    return latest.missed ?? this.#count(post).then((counted) => Object.assign(latest, counted).missed)
  }

  /** Drops all that was counted: notifications may have been lost, the database replaced by a copy, or a session purged. */
  clear() {
    this.#latest.clear()
    this.#runs.clear()
  }

  forget(teamId: string) {
    this.#latest.delete(teamId)
  }

  #fromMemory({ sessionId, teamId, delivered, sequence }: Missing, earlier: Latest | undefined): number | undefined {
    if (sequence <= delivered + 1) return 0
    const since = this.#runs.get(sessionId)?.since ?? Infinity
    if (earlier?.missed !== undefined && earlier.delivered === delivered && earlier.sequence >= since && !this.mayHavePeers())
      return Math.min(earlier.missed + sequence - earlier.sequence - 1, MOST_NEWS)
    const events = this.recent(sessionId, delivered, sequence)
    return events && !events.some((event) => event.sequence < sequence && isNewsTo(teamId, event)) ? 0 : undefined
  }
}

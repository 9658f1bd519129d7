// Looks for loops in the background: a session with a few new posts is read again from the log, at most once a second. From the log, so
// that a restart forgets nothing and teams on two instances are seen together. LOOP_GUARD=slow also keeps in memory what the teams of a
// suspected session said last, to refuse repetitions.
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import type { Database } from '../../db/database.ts'
import { LOOP_MODES, type Config } from '../config.ts'
import { isLoop, lookback, ownSketches, repetitionOf, sketchOf, type Sketch } from './detector.ts'
import type { Event } from '../stores/events.ts'
import { recentPosts, suspect, unsuspect, unsuspectAll } from './store.ts'

/** What a person can save on the settings page. Until then LOOP_GUARD gives the mode. */
export const loopSettings = z.strictObject({
  mode: z.enum(LOOP_MODES),
  posts: z.coerce.number().int().min(6).max(100).default(12),
  likeness: z.coerce.number().min(0.5).max(1).default(0.9),
})
export type LoopSettings = z.output<typeof loopSettings>

/** The settings in force, from the saved text. Every post asks, so the text is parsed only when it has changed. */
export const loopSettingsOf = ({ LOOP_GUARD: mode }: Pick<Config, 'LOOP_GUARD'>) => {
  let from: string | undefined
  let parsed = loopSettings.parse({ mode })
  return (saved: string | undefined): LoopSettings => {
    if (saved !== from) parsed = loopSettings.parse(saved === undefined ? { mode } : JSON.parse(saved))
    from = saved
    return parsed
  }
}

const POSTS_BETWEEN_CHECKS = 4
const SLOWED_MS = 60_000
const SESSIONS_KEPT = 10_000
const SUSPECTED_KEPT = 1_000 // sessions, with about 4 KB for each of their teams

// The posts of a session since it was last checked.
interface Unchecked {
  posts: number
  newest: number // sequence
  by: unknown // the team of the last post
  switches: number // how often the speaking team changed; Infinity when some posts came through another instance, so that it is unknown
}

interface Suspicion {
  until: number
  own: Map<string, Sketch[]> // what each team said last
  marked: boolean // the mark is in the database
}

/** What one process knows of sessions that may be loops. The mark, which all processes share, is in the database (loops/store.ts). */
export class LoopGuard {
  #unchecked = new LRUCache<string, Unchecked>({ max: SESSIONS_KEPT })
  #calm = new LRUCache<string, true>({ max: SESSIONS_KEPT }) // no loop when they were checked last
  #suspected = new LRUCache<string, Suspicion>({ max: SUSPECTED_KEPT })
  #off = false // switched off, and all marks removed

  constructor(
    readonly database: Database,
    readonly now: () => number,
    readonly settings: () => LoopSettings,
  ) {}

  /** Takes note of events that this process has committed. A person's message makes the session due for a check: it may end the
   *  suspicion. */
  posted(session: string, events: Event[]) {
    if (this.settings().mode === 'off') return
    const known = this.#unchecked.get(session)
    const due = known ?? { posts: 0, newest: events[0]!.sequence - 1, by: undefined, switches: 0 }
    for (const { sequence, author, posted_by_team_id: by } of events) {
      due.posts += author === 'team' ? 1 : author === 'person' ? POSTS_BETWEEN_CHECKS : 0
      if (sequence !== due.newest + 1) due.switches = Infinity
      else if (author === 'team' && by !== due.by) due.switches++
      due.newest = sequence
      if (author === 'team') due.by = by
    }
    if (!known && due.posts > 0) this.#unchecked.set(session, due)
  }

  /** Checks the sessions that are due: marks those that have become loops, and removes the mark from those that no longer are. */
  async sweep() {
    if (this.settings().mode === 'off') return this.#switchedOff()
    this.#off = false
    const most = lookback(this.settings())
    for (const [session, due] of [...this.#unchecked].toReversed()) {
      if (due.posts < POSTS_BETWEEN_CHECKS && !this.#suspected.has(session)) continue
      this.#unchecked.delete(session) // before it is read: posts that come meanwhile are for the next sweep
      // A single team is no loop: the session need not be read.
      if (this.#calm.has(session) && due.posts >= most && due.switches <= 1) continue
      try {
        await this.#check(session)
      } catch (error) {
        const later = this.#unchecked.get(session)
        this.#unchecked.set(session, { ...(later ?? due), posts: due.posts + (later?.posts ?? 0), switches: Infinity })
        throw error
      }
    }
  }

  /** With LOOP_GUARD=slow: the seconds until this team may post this text again, or 0. A text that it has not posted lately is never held
   *  back. */
  secondsToWait(session: string, team: string, text: string): number {
    const { mode, likeness } = this.settings()
    const suspected = mode === 'slow' ? this.#suspected.get(session) : undefined
    const seconds = suspected ? Math.ceil((suspected.until - this.now()) / 1000) : 0
    return seconds > 0 && repetitionOf(sketchOf(text), suspected!.own.get(team) ?? [], likeness) ? seconds : 0
  }

  /** Drops the suspicion, because a person has released the session. */
  forget(session: string) {
    this.#suspected.delete(session)
    this.#unchecked.delete(session)
  }

  /** This process has marked the session, and not only decided to. */
  hasMarked(session: string): boolean {
    return this.#suspected.get(session)?.marked ?? false
  }

  // Once switched off, no sweep would remove a mark any more.
  async #switchedOff() {
    if (this.#off) return
    await unsuspectAll(this.database)
    for (const cache of [this.#unchecked, this.#calm, this.#suspected]) cache.clear()
    this.#off = true
  }

  async #check(session: string) {
    const rule = this.settings()
    const { posts, newest, suspected } = await recentPosts(this.database, session, lookback(rule))
    if (isLoop(posts, rule)) {
      this.#calm.delete(session)
      // Before the mark is written: a team that sees the mark is held back already.
      const suspicion: Suspicion = { until: this.now() + SLOWED_MS, own: ownSketches(posts), marked: suspected }
      this.#suspected.set(session, suspicion)
      if (!suspected) await suspect(this.database, session, newest)
      suspicion.marked = true
    } else {
      if (suspected) await unsuspect(this.database, session)
      this.#suspected.delete(session)
      this.#calm.set(session, true)
    }
  }
}

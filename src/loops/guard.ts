// Looks for loops beside the posts, not in their way: a session is read again once a few posts have come, at most once a second.
// From the log, so that a restart forgets nothing and two teams on two instances are seen together. Only for `slow` something is
// kept of the sessions that are suspected: what their teams said last.
import { z } from 'zod'
import type { Database } from '../../db/database.ts'
import type { Config } from '../config.ts'
import { putBounded } from '../core/bounded.ts'
import { isLoop, lookback, ownSketches, repeatOf, sketchOf, type Sketch } from './detector.ts'
import type { Event } from '../stores/events.ts'
import { recentlySaid, suspect, unsuspect, unsuspectAll } from './store.ts'

export const LOOP_MODES = ['off', 'warn', 'slow'] as const

/** What a person saves on the settings page; LOOP_GUARD gives the mode until then. */
export const loopSettings = z.strictObject({
  mode: z.enum(LOOP_MODES),
  posts: z.coerce.number().int().min(6).max(100).default(12),
  likeness: z.coerce.number().min(0.5).max(1).default(0.9),
})
export type LoopSettings = z.output<typeof loopSettings>

/** The active settings, from what is saved. Parsed when it changes: every post asks. */
export const loopSettingsOf = ({ LOOP_GUARD: mode }: Pick<Config, 'LOOP_GUARD'>) => {
  let from: string | undefined
  let parsed = loopSettings.parse({ mode })
  return (saved: string | undefined): LoopSettings => {
    if (saved !== from) parsed = loopSettings.parse(saved === undefined ? { mode } : JSON.parse(saved))
    from = saved
    return parsed
  }
}

const POSTS_BETWEEN_LOOKS = 4
const SLOWED_MS = 60_000
const DUE_KEPT = 10_000 // sessions
const SUSPECTED_KEPT = 1_000 // about 4 KB for each of their teams

// What was posted since the last look.
interface Due {
  posts: number
  newest: number // sequence
  by: unknown // the team that spoke last
  switches: number // how often another team than the one before spoke; Infinity when not all was posted here, and so nobody knows
}

interface Suspected {
  until: number
  own: Map<string, Sketch[]>
}

/** The suspicion of one process; the mark itself is in the database, for all of them (loops/store.ts). */
export class LoopGuard {
  #due = new Map<string, Due>()
  #calm = new Map<string, true>() // found to be no loop when they were read last
  #suspected = new Map<string, Suspected>()
  #off = false // and nothing is marked

  constructor(
    readonly database: Database,
    readonly now: () => number,
    readonly settings: () => LoopSettings,
  ) {}

  /** These events were committed here. A person's word is looked at soon: it may lift what was suspected. */
  posted(session: string, events: Event[]) {
    if (this.settings().mode === 'off') return
    const before = this.#due.get(session)
    const due = before ?? { posts: 0, newest: events[0]!.sequence - 1, by: undefined, switches: 0 }
    for (const { sequence, author, posted_by_team_id: by } of events) {
      due.posts += author === 'team' ? 1 : author === 'person' ? POSTS_BETWEEN_LOOKS : 0
      if (sequence !== due.newest + 1) due.switches = Infinity // others wrote in between, through another instance
      else if (author === 'team' && by !== due.by) due.switches++
      due.newest = sequence
      if (author === 'team') due.by = by
    }
    if (!before && due.posts > 0) putBounded(this.#due, session, due, DUE_KEPT)
  }

  /** Marks what has become a loop, and removes the mark from what no longer is one. */
  async look() {
    if (this.settings().mode === 'off') return this.#switchedOff()
    this.#off = false
    const most = lookback(this.settings())
    const all = [...this.#due]
    for (const [session, due] of all) {
      if (due.posts < POSTS_BETWEEN_LOOKS && !this.#suspected.has(session)) continue
      this.#due.delete(session) // first: what comes while it is read is looked at the next time
      // One who talks alone goes in no circle, however fast: its last posts need not be read.
      if (this.#calm.has(session) && due.posts >= most && due.switches <= 1) continue
      try {
        await this.#lookAt(session)
      } catch (error) {
        const later = this.#due.get(session)
        putBounded(this.#due, session, { ...(later ?? due), posts: due.posts + (later?.posts ?? 0), switches: Infinity }, DUE_KEPT)
        throw error
      }
    }
  }

  /** With `slow`: seconds until this team may say this again; 0 when it may now. Something new it may say at any time. */
  secondsToWait(session: string, team: string, text: string): number {
    const { mode, likeness } = this.settings()
    const suspected = mode === 'slow' ? this.#suspected.get(session) : undefined
    const seconds = suspected ? Math.ceil((suspected.until - this.now()) / 1000) : 0
    return seconds > 0 && repeatOf(sketchOf(text), suspected!.own.get(team) ?? [], likeness) ? seconds : 0
  }

  /** A person has released it. */
  forget(session: string) {
    this.#suspected.delete(session)
    this.#due.delete(session)
  }

  // A mark that nobody would ever take away again must not stay.
  async #switchedOff() {
    if (this.#off) return
    await unsuspectAll(this.database)
    for (const kept of [this.#due, this.#calm, this.#suspected]) kept.clear()
    this.#off = true
  }

  async #lookAt(session: string) {
    const rule = this.settings()
    const { said, newest, suspected } = await recentlySaid(this.database, session, lookback(rule))
    if (isLoop(said, rule)) {
      this.#calm.delete(session)
      // First here: a team that sees the mark is slowed already.
      putBounded(this.#suspected, session, { until: this.now() + SLOWED_MS, own: ownSketches(said) }, SUSPECTED_KEPT)
      if (!suspected) await suspect(this.database, session, newest)
    } else {
      if (suspected) await unsuspect(this.database, session)
      this.#suspected.delete(session)
      putBounded(this.#calm, session, true, DUE_KEPT)
    }
  }
}

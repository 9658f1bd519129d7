// What one process does in the background: presence, wake-ups that got lost, the index, loops, and the embedded database's upkeep.
import type { Database } from '../../db/database.ts'
import type { Clock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import type { Presence } from '../core/presence.ts'
import { repeat } from '../core/repeat.ts'
import type { Growth } from './publish.ts'
import type { LoopGuard } from '../loops/guard.ts'
import type { Announcer } from '../log/notifier.ts'
import { writePresence } from '../stores/presence.ts'
import type { SavedSettings } from '../stores/settings.ts'
import { newestSequences } from '../stores/sessions.ts'
import { tidier } from '../../db/vacuum.ts'

const PRESENCE_EVERY_MS = 1_000
const SWEEP_EVERY_MS = 4_500 // wake-ups are hints: a lost one costs at most this plus one read
const INDEX_EVERY_MS = 300 // what is posted can be found within a second
const LOOPS_EVERY_MS = 1_000
const TIDY_EVERY_MS = 10_000
const SETTINGS_EVERY_MS = 5_000 // a key that was revoked at another instance works here no longer than this, notified or not
const OTHERS_EVERY_MS = 30_000
const DOUBT_EVERY_MS = 5_000
const DOUBT_LOOKS = 6 // half a minute: a statement is ended by the database after 5 s

interface Parts {
  database: Database
  log: Log
  clock: Clock
  presence: Presence
  loops: LoopGuard
  settings: SavedSettings
  announcer: Announcer | undefined
  growth: Growth
  stopping: AbortSignal
}

/** Starts all of it. `stop` resolves when what was under way has ended and the last presence is written. */
export const startBackground = ({ database, log, clock, presence, loops, settings, announcer, growth, stopping }: Parts) => {
  const { waiters, membership, indexer, appended } = growth
  const lookForLoops = () => loops.look()
  const index = () => indexer.run(() => !stopping.aborted)
  const sweep = async () => {
    const waited = waiters.sessions()
    if (waited.length === 0) return
    for (const { id, last_sequence } of await newestSequences(database, waited)) {
      const told = waiters.newestTold(id)
      if (told !== undefined && last_sequence > told) growth.grew(id, last_sequence)
    }
  }
  const flushPresence = async () => {
    membership.forget()
    const seen = presence.drain()
    if (seen.length === 0) return
    try {
      clock.set(await writePresence(database, seen))
    } catch (error) {
      presence.restore(seen)
      throw error
    }
  }
  const stops = [
    repeat(flushPresence, PRESENCE_EVERY_MS, log),
    repeat(sweep, SWEEP_EVERY_MS, log),
    repeat(index, INDEX_EVERY_MS, log),
    repeat(lookForLoops, LOOPS_EVERY_MS, log),
    repeat(tidier(database, appended), TIDY_EVERY_MS, log),
  ]
  if (announcer) {
    const others = async () => {
      await announcer.greet()
      indexer.catchUp() // what one committed that was gone before it could say so
    }
    const reloadSettings = () => settings.reload()
    stops.push(repeat(reloadSettings, SETTINGS_EVERY_MS, log), repeat(others, OTHERS_EVERY_MS, log))
  }
  const doubts = doubtsOf(() => indexer.catchUp())

  return {
    outcomeUnknown: doubts.begin,
    async stop() {
      doubts.end()
      await Promise.all(stops.map((stop) => stop()))
      await flushPresence().catch(() => {})
    },
  }
}

// A caller was told the outcome is unknown. The write may still land once the database is back, so the index looks again for a while.
const doubtsOf = (look: () => void) => {
  let looks = 0
  let next: ReturnType<typeof setTimeout> | undefined
  const lookAgain = () => {
    look()
    next = --looks > 0 ? setTimeout(lookAgain, DOUBT_EVERY_MS) : undefined
  }
  const begin = () => {
    looks = DOUBT_LOOKS
    next ??= setTimeout(lookAgain, DOUBT_EVERY_MS)
  }
  return { begin, end: () => clearTimeout(next) }
}

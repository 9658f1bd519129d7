// What one process does in the background by itself: presence, wake-ups that got lost, the index, loops, and the embedded database's
// upkeep. services.ts adds what brings jobs of its own: status, courier, degraded modes, uses of credentials, and the wings.
import type { Database } from '../../db/database.ts'
import { createVacuum } from '../../db/vacuum.ts'
import type { Config } from '../config.ts'
import type { Clock } from '../core/runtime/clock.ts'
import type { Job } from '../core/runtime/job.ts'
import type { Log } from '../core/runtime/log.ts'
import type { Presence } from '../core/presence.ts'
import type { Notifier } from '../log/notifier.ts'
import type { LoopGuard } from '../loops/guard.ts'
import type { Indexer } from '../search/indexer.ts'
import { writePresence } from '../stores/presence.ts'
import type { SavedSettings } from '../stores/settings.ts'
import { newestSequences } from '../stores/sessions.ts'
import type { Publisher } from './publish.ts'
import type { StatusWatch } from './status/status.ts'

const EVERY_MS = {
  presence: 1_000,
  sweep: 4_500, // a lost wake-up costs at most this plus one read
  index: 300, // a post can be found within a second
  loops: 1_000,
  vacuum: 10_000,
  checkpoint: 10_000,
  settings: 5_000, // an operator key that another instance replaced signs in here no longer than this, even if the notification was lost
  peers: 30_000,
  recheck: 5_000,
}
const RECHECKS = 7 // cover half a minute: the database ends a statement after 5 s, and may have been away for a while

export type JobName = keyof typeof EVERY_MS

interface JobParts {
  database: Database
  config: Pick<Config, 'CLAIM_LEASE'>
  clock: Clock
  presence: Presence
  loops: LoopGuard
  settings: SavedSettings
  notifier: Notifier | undefined
  publisher: Publisher
  status: Pick<StatusWatch, 'timed'>
  stopping: AbortSignal
  log: Log
}

/** `flushPresence` writes the presence that is only in memory, as its job does: run it once more before the database is closed. `recheck`:
 *  call it when the outcome of a write is unknown. */
export const processJobs = ({
  database,
  config,
  clock,
  presence,
  loops,
  settings,
  notifier,
  publisher,
  status,
  stopping,
  log,
}: JobParts) => {
  const flushPresence = presenceFlush(database, config.CLAIM_LEASE, clock, presence, publisher)
  const rechecks = recheckerOf(publisher.indexer)
  const runs: Partial<Record<JobName, () => unknown>> = {
    presence: flushPresence,
    sweep: () => sweep(database, publisher),
    index: () => publisher.indexer.run(() => !stopping.aborted),
    loops: () => loops.sweep(),
    vacuum: createVacuum(database, publisher.appended, (message) => log('warn', message)),
    ...(database.checkpoint && { checkpoint: database.checkpoint }),
    recheck: rechecks.run,
    settings: () => status.timed(() => settings.reload()), // on the embedded database this only times its answer
    ...(notifier && { peers: () => findPeers(notifier, publisher.indexer) }),
  }
  const jobs: Job[] = Object.entries(runs).map(([name, run]) => ({ name, everyMs: EVERY_MS[name as JobName], run }))
  return { jobs, flushPresence, recheck: rechecks.begin }
}

const presenceFlush =
  (database: Database, leaseS: number, clock: Clock, presence: Presence, { memberCache }: Publisher) =>
  async () => {
    memberCache.forget() // members looked up before have older cursors than the entries that `drain` forgets
    const seen = presence.drain()
    if (seen.length === 0 && !clock.isDoubtful) return
    const askedAt = performance.now()
    try {
      clock.set(await writePresence(database, seen, leaseS), askedAt)
    } catch (error) {
      presence.restore(seen)
      throw error
    }
  }

// Wakes those who wait for a session whose log has grown further than they were told, or which was purged.
const sweep = async (database: Database, { waiters, onGrown }: Publisher) => {
  const waited = waiters.sessions()
  if (waited.length === 0) return
  const newest = await newestSequences(database, waited)
  const left = new Set(newest.map(({ id }) => id))
  for (const id of waited) if (!left.has(id)) waiters.end(id)
  for (const { id, last_sequence } of newest) {
    const woken = waiters.newestWoken(id)
    if (woken !== undefined && last_sequence > woken) onGrown(id, last_sequence)
  }
}

const findPeers = async (notifier: Notifier, indexer: Indexer) => {
  await notifier.sayHello()
  indexer.compareRecent() // the events of an instance that died before it could notify
}

// A write whose caller was told that its outcome is unknown may still land once the database is back: the index looks for it for a while.
const recheckerOf = (indexer: Indexer) => {
  let left = 0
  return {
    begin: () => void (left = RECHECKS),
    run() {
      if (left === 0) return
      left--
      indexer.compareRecent()
    },
  }
}

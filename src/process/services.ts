// What one process has: the database, its memory of who waits and who polls, and the work that goes on in the background.
import type { Database } from '../../db/database.ts'
import { startBackground } from './background.ts'
import type { Config } from '../config.ts'
import { Clock } from '../core/clock.ts'
import { combine } from '../core/batch-loader.ts'
import { newSecret, type Token } from '../core/ids.ts'
import type { Log } from '../core/log.ts'
import { Metrics } from '../core/metrics.ts'
import { Presence } from '../core/presence.ts'
import { queuesOf } from '../core/concurrency-limit.ts'
import { growthOver, type Growth } from './publish.ts'
import { LoopGuard, loopSettingsOf } from '../loops/guard.ts'
import { Announcer } from '../log/notifier.ts'
import { writePresence } from '../stores/presence.ts'
import { savedSettings, type SavedSettings } from '../stores/settings.ts'
import { overviewsOf } from '../stores/sessions.ts'

// To one session: one writes, and the next ones wait for its lock. However many writes come, a session that is held elsewhere takes no
// more connections than these.
const WRITES_AT_ONCE = 3

export type Services = Awaited<ReturnType<typeof createServices>>

/** Puts one process together over a database that is migrated. Resolves when it hears the other instances and its background work has
 *  begun; `drain`, then `close` end it, the database too. */
export const createServices = async (database: Database, config: Config, log: Log) => {
  const clock = new Clock()
  const presence = new Presence(clock)
  const metrics = new Metrics()
  const stopping = new AbortController()
  const instance = database.engine === 'postgres' ? newSecret().slice(0, 8) : undefined
  const announcer = instance === undefined ? undefined : new Announcer(database, instance, log)
  const settings = await savedSettings(database, announcer && ((tx) => announcer.settingsSaved(tx)))
  const loopSettings = loopSettingsOf(config)
  const loops = new LoopGuard(database, clock.now, () => loopSettings(settings.get('loop_guard')))
  const growth = growthOver(database, { metrics, loops, announcer })
  const overviewOf = combine((ids: string[]) => overviewsOf(database, ids))

  clock.set(await writePresence(database, []))
  await hearOthers(database, { announcer, settings, growth })
  await announcer?.introduced()
  const background = startBackground({ database, log, clock, presence, loops, settings, announcer, growth, stopping: stopping.signal })

  return {
    database,
    config,
    log,
    clock,
    waiters: growth.waiters,
    presence,
    metrics,
    instance,
    stopping: stopping.signal,
    appender: growth.appender,
    writeInTurn: queuesOf(WRITES_AT_ONCE),
    indexer: growth.indexer,
    loops,
    publish: growth.publish,
    grewHere: growth.grewHere,
    outcomeUnknown: background.outcomeUnknown,
    eventsAfter: growth.feeds.after,
    memberOf: growth.membership.memberOf,
    /** Undefined while there may be other instances: of what one of them commits this one hears a moment later, and a caller that knows of
     *  it already may ask here. */
    memberLately: (sessionId: string, token: Token, since: number) =>
      announcer === undefined || announcer.isAlone() ? growth.membership.memberLately(sessionId, token, since) : undefined,
    overviewOf,
    setting: settings.get,
    changeSetting: settings.change,
    /** What this instance tells the others comes back to it. */
    hearsItself: () => announcer?.hearsItself ?? true,
    waits: { held: 0 },
    streams: { open: 0 },
    /** Ends every held wait and stream (they answer what they have), before the server stops listening. */
    drain() {
      stopping.abort()
      growth.waiters.wakeAll()
    },
    async close() {
      stopping.abort()
      await background.stop()
      await database.close()
    },
  }
}

interface Told {
  announcer: Announcer | undefined
  settings: SavedSettings
  growth: Growth
}

const hearOthers = (database: Database, { announcer, settings, growth }: Told): Promise<void> => {
  const reloadSettings = () => void settings.reload().catch(() => {}) // what is known stays active
  const heard = (payload: string) => {
    const news = announcer?.heard(payload)
    if (news?.settings) reloadSettings()
    for (const [session, newest] of news?.moved ?? []) growth.grew(session, newest)
  }
  const connected = (others: Promise<boolean>) => {
    announcer?.listening(others)
    growth.anyMayHaveGrown()
    reloadSettings()
  }
  return database.listen(heard, connected)
}

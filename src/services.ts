// What one process has: the database, its memory of who waits and who polls, and the work that goes on in the background.
import type { Database } from '../db/database.ts'
import type { Config } from './config.ts'
import { Clock } from './core/clock.ts'
import { combine } from './core/combine.ts'
import { newSecret } from './core/ids.ts'
import type { Log } from './core/log.ts'
import { Metrics } from './core/metrics.ts'
import { Presence } from './core/presence.ts'
import { repeat } from './core/repeat.ts'
import { Waiters } from './core/waiters.ts'
import { LoopGuard, loopSettingsOf } from './loop-guard.ts'
import type { Appended, Draft } from './stores/append.ts'
import { Announcer } from './stores/announcer.ts'
import { Appender } from './stores/appender.ts'
import type { Event } from './stores/events.ts'
import { feedsOver } from './stores/feeds.ts'
import { Indexer } from './stores/indexer.ts'
import { membershipOver } from './stores/membership.ts'
import { writePresence } from './stores/presence.ts'
import { newestSequences, overviewsOf } from './stores/sessions.ts'
import { tidier } from './stores/tidy.ts'
import { forgetSetting, offerSetting, readSettings, saveSetting, type SettingName } from './stores/settings.ts'

const PRESENCE_EVERY_MS = 1_000
const SWEEP_EVERY_MS = 4_500 // wake-ups are a hint; nobody waits longer than this and a read for what a lost one announced
const INDEX_EVERY_MS = 300 // what is posted can be found within a second
const LOOPS_EVERY_MS = 1_000
const TIDY_EVERY_MS = 10_000
const DOUBT_EVERY_MS = 5_000
const DOUBT_LOOKS = 6 // half a minute: a statement is ended by the database after 5 s
const SETTINGS = 'settings' // the notification that says so, in place of sequences

export type Services = Awaited<ReturnType<typeof createServices>>

export const createServices = async (database: Database, config: Config, log: Log) => {
  const clock = new Clock()
  const waiters = new Waiters()
  const feeds = feedsOver(database)
  const presence = new Presence(clock)
  const metrics = new Metrics()
  const instance = database.engine === 'postgres' ? newSecret().slice(0, 8) : undefined
  const stopping = new AbortController()
  await offerSetting(database, 'server_secret', newSecret()) // tokens of idempotent calls and cookies hang on it
  let settings = await readSettings(database)

  const committed = (drafts: Draft[], answers: Appended[]) => {
    const bySession = new Map<string, Event[]>()
    answers.forEach((answer, i) => {
      if (answer.outcome !== 'appended') return
      const { sessionId } = drafts[i]!
      const events = bySession.get(sessionId)
      if (events) events.push(answer.event)
      else bySession.set(sessionId, [answer.event])
    })
    for (const [session, events] of bySession) publish(session, events)
  }
  let appended = 0
  let posted = 0
  const publish = (session: string, events: Event[]) => {
    posted += events.length
    feeds.extend(session, events)
    grown(session, events.at(-1)!.sequence, events.length)
    loops.posted(session, events)
  }
  /** So many events were committed, the last of them `newest`: all who wait for this session read them. */
  const grown = (session: string, newest: number, events: number) => {
    metrics.add('events_appended', events)
    appended += events
    moved(session, newest)
    announcer?.announce(session, newest)
  }
  /** The session has grown, here or elsewhere: its end is another, whoever waits looks, and it is to be indexed (its own instance may be
   *  gone by then; whoever comes first does it). */
  const moved = (session: string, newest: number) => {
    appender.moved(session, newest)
    membership.forget(session)
    waiters.wake(session, newest)
    indexer.moved(session)
  }
  const announcer = instance === undefined ? undefined : new Announcer(database, instance)
  const loopSettings = loopSettingsOf(config)
  const loops = new LoopGuard(database, clock.now, () => loopSettings(settings.get('loop_guard')))
  const appender = new Appender(database, committed)
  const indexer = new Indexer(database, () => posted)

  const membership = membershipOver(database)
  const overviewOf = combine((ids: string[]) => overviewsOf(database, ids), { atOnce: 1 })

  const heard = (payload: string) => {
    const [from, said = ''] = payload.split('|')
    if (from === instance || announcer?.heard(said)) return
    if (said === SETTINGS) return void reloadSettings().catch(() => {})
    for (const news of said.split(',')) {
      moved(news.slice(0, 36), Number(news.slice(37)))
    }
  }
  // One after the other: an older read must not come in after a newer one.
  let reloading = Promise.resolve()
  const reloadSettings = () => {
    reloading = reloading.catch(() => {}).then(async () => void (settings = await readSettings(database)))
    return reloading
  }
  const changeSetting = async (name: SettingName, value: string | undefined) => {
    await database.transaction(async (tx) => {
      await (value === undefined ? forgetSetting(tx, name) : saveSetting(tx, name, value))
      if (instance) await tx.query('select pg_notify($1, $2)', ['parley', `${instance}|${SETTINGS}`])
    })
    await reloadSettings()
  }

  // Somebody was told that it is unknown what was written. It may still be written when the database is back: the index looks for what
  // nobody told it of, for a while.
  let looks = 0
  let nextLook: ReturnType<typeof setTimeout> | undefined
  const lookAgain = () => {
    indexer.catchUp()
    nextLook = --looks > 0 ? setTimeout(lookAgain, DOUBT_EVERY_MS) : undefined
  }
  const doubted = () => {
    looks = DOUBT_LOOKS
    nextLook ??= setTimeout(lookAgain, DOUBT_EVERY_MS)
  }

  const sweep = async () => {
    const waited = waiters.sessions()
    if (waited.length === 0) return
    for (const { id, last_sequence } of await newestSequences(database, waited)) {
      const known = waiters.knows(id)
      if (known !== undefined && last_sequence > known) waiters.wake(id, last_sequence)
    }
  }
  const lookForLoops = () => loops.look()
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

  clock.set(await writePresence(database, []))
  await database.listen(heard, () => {
    announcer?.listening()
    membership.forget()
    waiters.wakeAll()
    indexer.catchUp()
    void reloadSettings().catch(() => {})
  })
  const background = [
    repeat(flushPresence, PRESENCE_EVERY_MS, log),
    repeat(sweep, SWEEP_EVERY_MS, log),
    repeat(
      async function index() {
        await indexer.run(() => !stopping.signal.aborted)
      },
      INDEX_EVERY_MS,
      log,
    ),
    repeat(lookForLoops, LOOPS_EVERY_MS, log),
    repeat(
      tidier(database, () => appended),
      TIDY_EVERY_MS,
      log,
    ),
  ]

  return {
    database,
    config,
    log,
    clock,
    waiters,
    presence,
    metrics,
    instance,
    stopping: stopping.signal,
    appender,
    indexer,
    loops,
    publish,
    grown,
    doubted,
    after: feeds.after,
    memberOf: membership.memberOf,
    /** Of what another instance commits, this one hears a moment later, and whoever was told of it may ask here at once: with others
     *  about, the database is asked. */
    memberLately: (...wanted: Parameters<typeof membership.memberLately>) =>
      announcer === undefined || announcer.alone ? membership.memberLately(...wanted) : undefined,
    overviewOf,
    setting: (name: SettingName) => settings.get(name),
    changeSetting,
    waits: { held: 0 },
    streams: { open: 0 },
    /** Ends every held wait and stream (they answer what they have), before the server stops listening. */
    drain() {
      stopping.abort()
      waiters.wakeAll()
    },
    async close() {
      stopping.abort()
      clearTimeout(nextLook)
      await Promise.all(background.map((stop) => stop()))
      await flushPresence().catch(() => {})
      await database.close()
    },
  }
}

// What one process has: the database, its memory of who waits and who polls, and the work that goes on in the background.
import { withinDeadline, type Database, type Queries } from '../../db/database.ts'
import { startBackground, type Intervals } from './background.ts'
import type { Config } from '../config.ts'
import { baseOfLink, urlAt } from '../core/address.ts'
import { Clock } from '../core/runtime/clock.ts'
import { createBatchLoader } from '../core/runtime/batch-loader.ts'
import { newSecret, type Token } from '../core/ids.ts'
import type { Job } from '../core/runtime/job.ts'
import { describeError, type Log } from '../core/runtime/log.ts'
import { Metrics } from '../core/runtime/metrics.ts'
import { Presence } from '../core/presence.ts'
import { Holdings } from '../core/holdings.ts'
import { keepSecret } from '../core/text/text.ts'
import { concurrencyLimit } from '../core/runtime/concurrency-limit.ts'
import { createCredentials, KEY_KIND, lastUsesJob, SIGN_IN_KIND, type Credentials } from './credentials.ts'
import { degradedModesJob } from './degraded.ts'
import { processJobs } from './jobs.ts'
import { CUT_KIND, createPublisher, type Publisher } from './publish.ts'
import { LoopGuard, loopSettingsOf } from '../loops/guard.ts'
import { Wakes, wakesPerHourOf } from '../loops/wakes.ts'
import { needsOfSessions } from '../loops/store.ts'
import { createCourier } from '../notices/courier.ts'
import { contactFor, newPushKeys, type PushSender } from '../notices/push.ts'
import { keysInForce } from './keys-in-force.ts'
import { Notifier } from '../log/notifier.ts'
import type { Topic } from '../log/topics.ts'
import { writePresence } from '../stores/presence.ts'
import { createStatus, type StatusWatch } from './status/status.ts'
import { createTransientFailures } from './transient-failures.ts'
import { findShares, openedBy } from '../stores/shares.ts'
import { offerSetting, savedSettings, type SavedSettings } from '../stores/settings.ts'
import { overviewsOf } from '../stores/sessions.ts'

// At most 3 write transactions per session (or other subject) at a time: a session locked elsewhere cannot exhaust the connection pool.
const WRITES_AT_ONCE = 3
const NEWEST_NEEDS = 200 // sessions that need a person, read every few seconds: people were told of older ones before

export type Services = Awaited<ReturnType<typeof createServices>>

export interface Options {
  /** The names of this server's tools: a session whose agent called one is of the kind mcp_internal. */
  ownTools?: ReadonlySet<string>
  /** What the wings do in the background, beside the process's own jobs (jobs.ts). */
  jobs?: (services: Services) => readonly Job[]
  intervals?: Intervals
  clock?: Clock
  /** Sends to the push services of browsers (notices/push-sender.ts). Without it this process tells people nothing, by no way: a command
   *  leaves that to the servers. */
  pushSender?: PushSender
  /** Where it listens, once it does; what HOST and PORT say unless given. */
  ownUrl?: () => string
}

/** Puts one process together over a database that is migrated. Resolves when it hears the other instances and its background work has
 *  begun; `drain`, then `close` end it, the database too. */
export const createServices = async (database: Database, config: Config, log: Log, options: Options = {}) => {
  if (config.ACCESS_TOKEN) keepSecret(config.ACCESS_TOKEN)
  const { clock = new Clock(), ownTools, pushSender, ownUrl = () => urlAt(config.HOST, config.PORT) } = options
  const presence = new Presence(clock)
  const metrics = new Metrics()
  const stopping = new AbortController()
  const instance = database.engine === 'postgres' ? newSecret().slice(0, 8) : undefined
  const notifier = instance === undefined ? undefined : new Notifier(database, instance, log)
  await offerSetting(database, 'push_keys', newPushKeys()) // for good: browsers subscribe to this very pair
  const settings = await savedSettings(database, notifier && ((tx) => notifier.settingsSaved(tx)))
  const loopSettings = loopSettingsOf(config)
  const loops = new LoopGuard(database, clock.now, () => loopSettings(settings.get('loop_guard')))
  const wakes = new Wakes(database, metrics, () => wakesPerHourOf(config, settings.get('wakes_per_hour')))
  const publisher = createPublisher(database, { metrics, loops, notifier, ownTools })
  const overviewOf = createBatchLoader((ids: string[]) => overviewsOf(database, ids, wakes.perHour()))
  const shareOf = createBatchLoader((ids: string[]) => findShares(database, ids))

  const credentials = createCredentials(database, () => notifier?.hasReceivedLately() ?? true)
  for (const kind of [SIGN_IN_KIND, KEY_KIND]) publisher.on(kind, credentials.forget)
  publisher.on(CUT_KIND, (session) => presence.forgetCursors(session))

  const status: StatusWatch = createStatus({ database, notifier, instance, metrics }, () => services)
  const askedAt = performance.now()
  clock.set(await writePresence(database, [], config.CLAIM_LEASE), askedAt)
  await listenToPeers(database, { presence, notifier, settings, publisher, credentials, status })
  await notifier?.ready()
  const own = processJobs({
    database,
    config,
    clock,
    presence,
    loops,
    settings,
    notifier,
    publisher,
    status,
    stopping: stopping.signal,
    log,
  })

  const base = () => {
    const link = settings.get('mcp_url') ?? config.MCP_URL
    return link ? baseOfLink(link) : ownUrl()
  }
  const pushIdentity = () => ({ keys: settings.get('push_keys')!, contact: contactFor(base()) })
  const keys = () => keysInForce({ config, setting: settings.get })
  const needs = () => newestNeeds(database, wakes.perHour())
  const courier = pushSender && createCourier({ database, needs, config, log, metrics, pushSender, pushIdentity, keys, base })

  const services = {
    database,
    config,
    log,
    clock,
    waiters: publisher.waiters,
    presence,
    metrics,
    instance,
    stopping: stopping.signal,
    groupCommit: publisher.groupCommit,
    writeInTurn: concurrencyLimit(WRITES_AT_ONCE),
    indexer: publisher.indexer,
    status,
    loops,
    wakes,
    publish: publisher.publish,
    publishTopic: publisher.publishTopic,
    /** For news that no instance must miss: sent to the others with the commit of `tx`, and to be told here by `movedHere` after it. */
    sendWith: async (tx: Queries, topic: Topic, newest: number) => notifier?.topicsMoved(tx, [topic], newest),
    movedHere: publisher.onMoved,
    onTopic: publisher.on,
    onEvents: publisher.onEvents,
    grewHere: publisher.grewHere,
    outcomeUnknown: own.recheck,
    failedForNow: createTransientFailures(log),
    eventsAfter: publisher.feeds.after,
    missed: publisher.missed,
    docVersion: publisher.docVersions.of,
    memberOf: publisher.memberCache.memberOf,
    /** Undefined unless this instance is proven to be alone: with peers its cache lags a moment behind their commits, of which the caller
     *  may know already. */
    cachedMember: (sessionId: string, token: Token, since: number) =>
      notifier === undefined || notifier.isAlone() ? publisher.memberCache.cachedMember(sessionId, token, since) : undefined,
    /** Another instance may answer a team's next call. */
    mayHavePeers: () => notifier?.mayHavePeers ?? false,
    overviewOf,
    /** The session that a read-only link opens, as long as the link is valid. */
    sharedBy: async (link: Token) => openedBy(link, await withinDeadline(shareOf(link.handle))),
    /** Who is signed in, and which keys are good. */
    credentials,
    endCredentials: credentialsEnder(database, notifier, publisher),
    setting: settings.get,
    changeSetting: settings.change,
    pushSender,
    pushIdentity,
    /** The base URL of links that nobody's request asked for. */
    base,
    /** Whether this instance's own notifications come back to it (log/notifier.ts). */
    hearsItself: () => notifier?.hearsItself ?? true,
    /** The teams that called anything but a wait or a peek since their claims were last renewed (board/leases.ts). */
    calledTeams: new Set<string>(),
    waits: { held: 0 },
    peeks: { held: 0 },
    streams: { open: 0 },
    /** Of waits and peeks together, and of streams: how many each address holds. */
    waitsOfAddress: new Holdings(config.MAX_WAITS_PER_ADDRESS),
    streamsOfAddress: new Holdings(config.MAX_STREAMS_PER_ADDRESS),
    /** Ends every held wait and stream (they answer what they have), before the server stops listening. */
    drain() {
      stopping.abort()
      publisher.waiters.wakeAll()
    },
    async close() {
      stopping.abort()
      status.stop()
      await stopBackground()
      await courier?.end()
      const lost = (what: string) => (error: unknown) => log('warn', `${what} could not be written at the close`, describeError(error))
      await own.flushPresence().catch(lost('presence'))
      await credentials.writeUses().catch(lost('the last uses of keys and sign-ins'))
      await database.close()
    },
  }
  // The type is written out: what the wings' jobs are comes from that of the services.
  const jobs: Job[] = [
    ...own.jobs,
    ...status.jobs(),
    ...(courier?.jobs ?? []),
    degradedModesJob(services),
    lastUsesJob(credentials),
    ...(options.jobs?.(services) ?? []),
  ]
  const stopBackground = startBackground(jobs, log, options.intervals)
  return services
}

const newestNeeds = async (database: Database, wakesPerHour: number) => {
  const needs = await needsOfSessions(database, wakesPerHour, NEWEST_NEEDS)
  return needs.map(({ sessionId, reason, since }) => ({ kind: reason, sessionId, about: since }))
}

/** Ends credentials. `end` marks them and returns their topics: these move here after the commit, and at other instances with it. */
const credentialsEnder =
  (database: Database, notifier: Notifier | undefined, { onMoved }: Publisher) =>
  async (end: (tx: Queries) => Promise<Topic[]>): Promise<void> => {
    const now = Date.now()
    const topics = await database.transaction(async (tx) => {
      const ended = await end(tx)
      await notifier?.topicsMoved(tx, ended, now)
      return ended
    })
    for (const topic of topics) onMoved(topic, now)
  }

interface Peers {
  presence: Presence
  notifier: Notifier | undefined
  settings: SavedSettings
  publisher: Publisher
  credentials: Credentials
  status: StatusWatch
}

const listenToPeers = (database: Database, { presence, notifier, settings, publisher, credentials, status }: Peers): Promise<void> => {
  const reloadSettings = () => void settings.reload().catch(() => {}) // what is known stays active
  const onNotification = (payload: string) => {
    const news = notifier?.receive(payload)
    if (news?.settings) reloadSettings()
    if (news?.asked) void status.answer().catch(() => {})
    if (news?.report) status.receiveReport(news.report.from, news.report.text)
    for (const [topic, newest] of news?.moved ?? []) publisher.onMoved(topic, newest)
  }
  const connected = (others: Promise<boolean>) => {
    notifier?.onListening(others)
    publisher.anyMayHaveGrown()
    presence.forgetAllCursors()
    credentials.forget()
    reloadSettings()
  }
  return database.listen(onNotification, connected)
}

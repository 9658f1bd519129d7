// What one process has: the database, its memory of who waits and who polls, and the work that goes on in the background.
import { withinDeadline, type Database, type Queries } from '../../db/database.ts'
import { startBackground, type Intervals } from './background.ts'
import type { Config } from '../config.ts'
import { createBatchLoader } from '../core/runtime/batch-loader.ts'
import type { Token } from '../core/ids.ts'
import type { Failing } from '../core/runtime/failures-in-a-row.ts'
import type { Job } from '../core/runtime/job.ts'
import { describeError, type Log } from '../core/runtime/log.ts'
import { Holdings } from '../core/holdings.ts'
import { keepSecret } from '../core/text/text.ts'
import { concurrencyLimit } from '../core/runtime/concurrency-limit.ts'
import { lastUsesJob } from './credentials.ts'
import { degradedModesJob } from './degraded.ts'
import { processJobs } from './jobs.ts'
import { needsOfSessions } from '../loops/store.ts'
import { createCourier } from '../notices/courier.ts'
import { createOutages, type Outages } from '../notices/outages.ts'
import type { PushSender } from '../notices/push.ts'
import { keysInForce } from './keys-in-force.ts'
import type { Topic } from '../log/topics.ts'
import { createParts, type PartOptions, type Parts } from './parts.ts'
import { writePresence } from '../stores/presence.ts'
import { createStatus, type StatusWatch } from './status/status.ts'
import { createTransientFailures } from './transient-failures.ts'
import { findShares, openedBy } from '../stores/shares.ts'
import { overviewsOf } from '../stores/sessions.ts'

// At most 3 write transactions per session (or other subject) at a time: a session locked elsewhere cannot exhaust the connection pool.
const WRITES_AT_ONCE = 3
const NEWEST_NEEDS = 200 // sessions that need a person, read every few seconds: people were told of older ones before

export type Services = ReturnType<typeof servicesOf>

export interface Options extends PartOptions {
  /** What the wings do in the background, beside the process's own jobs (jobs.ts). */
  jobs?: (services: Services) => readonly Job[]
  intervals?: Intervals
  /** Sends to the push services of browsers (notices/push-sender.ts). Without it this process tells people nothing, by no way: a command
   *  leaves that to the servers. */
  pushSender?: PushSender
}

/** Puts one process together over a database that is migrated. Resolves when it hears the other instances and its background work has
 *  begun; `drain`, then `close` end it, the database too. */
export const createServices = async (database: Database, config: Config, log: Log, options: Options = {}): Promise<Services> => {
  if (config.ACCESS_TOKEN) keepSecret(config.ACCESS_TOKEN)
  const parts = await createParts(database, config, log, options)
  const { clock, credentials, notifier, stopping } = parts
  const status: StatusWatch = createStatus(parts)
  const askedAt = performance.now()
  clock.set(await writePresence(database, [], config.CLAIM_LEASE), askedAt)
  await listenToPeers(parts, status)
  await notifier?.ready()
  const own = processJobs({ ...parts, status, stopping: stopping.signal })
  const outages = createOutages(log)
  const courier = courierOf(parts, outages, options.pushSender)

  const close = async () => {
    stopping.abort()
    status.stop()
    await background.stop()
    await courier?.end()
    const lost = (what: string) => (error: unknown) => log('warn', `${what} could not be written at the close`, describeError(error))
    await own.flushPresence().catch(lost('presence'))
    await credentials.writeUses().catch(lost('the last uses of keys and sign-ins'))
    await database.close()
  }
  const { pushSender } = options
  const failingJobs = () => background.failing()
  const services = servicesOf(parts, { status, pushSender, outages, failingJobs, outcomeUnknown: own.recheck, close })
  const jobs: Job[] = [
    ...own.jobs,
    ...status.jobs(),
    ...(courier?.jobs ?? []),
    degradedModesJob(services),
    lastUsesJob(credentials),
    ...(options.jobs?.(services) ?? []),
  ]
  const background = startBackground(jobs, log, options.intervals)
  status.measure(() => services)
  return services
}

const courierOf = (
  { database, config, log, metrics, settings, wakes, pushIdentity, base }: Parts,
  outages: Outages,
  pushSender: PushSender | undefined,
) => {
  const needs = () => newestNeeds(database, wakes.perHour())
  const keys = () => keysInForce({ config, setting: settings.get })
  return pushSender && createCourier({ database, needs, config, log, metrics, outages, pushSender, pushIdentity, keys, base })
}

const newestNeeds = async (database: Database, wakesPerHour: number) => {
  const needs = await needsOfSessions(database, wakesPerHour, NEWEST_NEEDS)
  return needs.map(({ sessionId, reason, since }) => ({ kind: reason, sessionId, about: since }))
}

interface Around {
  status: StatusWatch
  pushSender: PushSender | undefined
  outages: Outages
  /** The background jobs whose last run failed. */
  failingJobs: () => Failing[]
  /** The outcome of a write is unknown: it may land yet. */
  outcomeUnknown: () => void
  close: () => Promise<void>
}

// The parts, as whoever serves calls or runs jobs uses them.
const servicesOf = (parts: Parts, around: Around) => {
  const { database, config, log, notifier, settings, wakes, publisher, credentials, stopping } = parts
  const overviewOf = createBatchLoader((ids: string[]) => overviewsOf(database, ids, wakes.perHour()))
  const shareOf = createBatchLoader((ids: string[]) => findShares(database, ids))
  return {
    ...around,
    database,
    config,
    log,
    clock: parts.clock,
    waiters: publisher.waiters,
    presence: parts.presence,
    metrics: parts.metrics,
    instance: parts.instance,
    stopping: stopping.signal,
    groupCommit: publisher.groupCommit,
    writeInTurn: concurrencyLimit(WRITES_AT_ONCE),
    indexer: publisher.indexer,
    loops: parts.loops,
    wakes,
    publish: publisher.publish,
    publishTopic: publisher.publishTopic,
    /** For news that no instance must miss: sent to the others with the commit of `tx`, and to be told here by `movedHere` after it. */
    sendWith: async (tx: Queries, topic: Topic, newest: number) => notifier?.topicsMoved(tx, [topic], newest),
    movedHere: publisher.onMoved,
    onTopic: publisher.on,
    onEvents: publisher.onEvents,
    grewHere: publisher.grewHere,
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
    endCredentials: credentialsEnder(parts),
    setting: settings.get,
    changeSetting: settings.change,
    pushIdentity: parts.pushIdentity,
    /** The base URL of links that nobody's request asked for. */
    base: parts.base,
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
  }
}

/** Ends credentials. `end` marks them and returns their topics: these move here after the commit, and at other instances with it. */
const credentialsEnder =
  ({ database, notifier, publisher }: Parts) =>
  async (end: (tx: Queries) => Promise<Topic[]>): Promise<void> => {
    const now = Date.now()
    const topics = await database.transaction(async (tx) => {
      const ended = await end(tx)
      await notifier?.topicsMoved(tx, ended, now)
      return ended
    })
    for (const topic of topics) publisher.onMoved(topic, now)
  }

const listenToPeers = ({ database, presence, notifier, settings, publisher, credentials }: Parts, status: StatusWatch): Promise<void> => {
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

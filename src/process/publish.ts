// The publisher: what follows when a session's log grows or another topic moves, here or at another instance, for group commit, waiters, caches,
// the index and the other instances. Background jobs (jobs.ts) make up for what got lost.
import type { Database } from '../../db/database.ts'
import type { Metrics } from '../core/runtime/metrics.ts'
import { Waiters } from '../log/waiters.ts'
import type { LoopGuard } from '../loops/guard.ts'
import type { Notifier } from '../log/notifier.ts'
import { isSessionTopic, partsOfTopic, type Topic } from '../log/topics.ts'
import { GroupCommit, type Answered } from '../log/group-commit.ts'
import type { Event } from '../stores/events.ts'
import { createFeeds } from '../log/feeds.ts'
import { Indexer } from '../search/indexer.ts'
import { createMemberCache, TOKEN_KIND } from '../log/member-cache.ts'
import { createDocVersions, DOC_KIND } from '../log/doc-versions.ts'
import { Missed } from '../log/missed.ts'

export type Publisher = ReturnType<typeof createPublisher>

interface Parts {
  metrics: Metrics
  loops: LoopGuard
  notifier: Notifier | undefined
  ownTools: ReadonlySet<string> | undefined
}

/** The kind of topic that moves when a session was deleted for good (purge.ts). */
export const PURGED_KIND = 'purged'
/** The kind of topic that moves when a session's log was cut at its end: a piece of a purge. */
export const CUT_KIND = 'cut'

type EventListener = (session: string, events: readonly Event[]) => void
type TopicListener = (id: string, newest: number) => void

/** All that depends on how far the logs have grown, and the functions that say that one has. */
export const createPublisher = (database: Database, parts: Parts) => {
  const { metrics, loops, notifier } = parts
  let appended = 0
  let posted = 0
  const eventListeners: EventListener[] = []
  const followers = createFollowers(database, parts, { posted: () => posted, publish: (session, events) => publish(session, events) })
  const { onGrown, onCut, onPurged, anyMayHaveGrown } = growthOf(followers)
  const { on, onMoved } = createTopics(followers.waiters, onGrown)

  /** These events of one session were committed here; readers get them from memory. */
  const publish = (session: string, events: Event[]) => {
    posted += events.length
    followers.feeds.extend(session, events)
    followers.missed.extend(session, events)
    grewHere(session, events.at(-1)!.sequence, events.length)
    loops.posted(session, events)
    for (const listener of eventListeners) listener(session, events)
  }
  /** Publishes that this instance committed so many events, the last of them `newest`. By itself for events that are written by other means
   *  than the group commit: readers get them from the database. */
  const grewHere = (session: string, newest: number, events: number) => {
    metrics.eventsAppended.inc(events)
    appended += events
    publishTopic(session, newest)
  }
  /** The topic has moved to `newest`, as committed by this instance: wakes waiters and listeners here, and at the other instances. */
  const publishTopic = (topic: Topic, newest: number) => {
    onMoved(topic, newest)
    notifier?.notify(topic, newest)
  }

  on(DOC_KIND, followers.docVersions.moved)
  on(TOKEN_KIND, followers.memberCache.endToken)
  on(CUT_KIND, onCut)
  on(PURGED_KIND, onPurged)
  return {
    ...followers,
    /** `listener` is called with the events that this instance commits, for a session at a time. It must not throw, and whatever relies on
     *  it alone is lost when the process dies. */
    onEvents: (listener: EventListener) => void eventListeners.push(listener),
    publish,
    publishTopic,
    on,
    grewHere,
    onGrown,
    onMoved,
    anyMayHaveGrown,
    appended: () => appended,
  }
}

interface Publishing {
  /** How many events this instance has published. */
  posted(): number
  publish(session: string, events: Event[]): void
}

type Followers = ReturnType<typeof createFollowers>

// What follows the logs: who writes them, who waits for them, and what is remembered of them.
const createFollowers = (database: Database, { notifier, ownTools }: Parts, { posted, publish }: Publishing) => {
  const feeds = createFeeds(database)
  return {
    waiters: new Waiters(),
    feeds,
    memberCache: createMemberCache(database),
    missed: new Missed(database, feeds.recent, () => notifier?.mayHavePeers ?? false),
    indexer: new Indexer(database, { posted, ownTools }),
    docVersions: createDocVersions(),
    groupCommit: new GroupCommit(database, (answered) => {
      for (const [session, events] of eventsBySession(answered)) publish(session, events)
    }),
  }
}

// What the followers do when a session's log has changed, here or elsewhere.
const growthOf = ({ waiters, feeds, memberCache, missed, indexer, docVersions, groupCommit }: Followers) => {
  const forget = () => {
    groupCommit.forget()
    feeds.forget()
    missed.clear()
    memberCache.forget()
  }
  return {
    /** Follows a session that has grown: drops its old head and its cached members, wakes its readers, and has it indexed. Every instance
     *  indexes it: the one that wrote may be gone by then. */
    onGrown(session: string, newest: number) {
      groupCommit.moved(session, newest)
      memberCache.forget(session)
      waiters.wake(session, newest)
      indexer.moved(session, newest)
    },
    onCut(session: string) {
      waiters.end(session) // whoever follows it stands behind where the log ends now
      groupCommit.moved(session, Infinity) // restored, its log grows to the same number again with other events
      feeds.forget(session)
      missed.clear()
      memberCache.forget(session) // it is archived from the first piece on
      indexer.cut(session)
    },
    onPurged(session: string) {
      waiters.end(session)
      forget() // what is remembered of the session goes with all else: it happens rarely
      waiters.wakeAll()
      indexer.moved(session)
    },
    /** Drops all caches, wakes everybody, and has all sessions compared with the index. Any may have grown without a notification, or the
     *  database may have been replaced by an older copy. */
    anyMayHaveGrown() {
      docVersions.forget()
      forget()
      waiters.resetAll()
      indexer.compareAll()
    },
  }
}

// Topics and who listens for them. That of a session moves when its log grows.
const createTopics = (waiters: Waiters, onGrown: (session: string, newest: number) => void) => {
  const listeners = new Map<string, TopicListener[]>()
  return {
    /** A topic has moved to `newest`, here or elsewhere. A kind that nobody listens for and nobody waits for is ignored. */
    onMoved(topic: Topic, newest: number) {
      if (isSessionTopic(topic)) return onGrown(topic, newest)
      waiters.wake(topic, newest)
      const parts = partsOfTopic(topic)
      if (parts) for (const listener of listeners.get(parts.kind) ?? []) listener(parts.id, newest)
    },
    /** `listener` is called whenever a topic of this kind moves, here or elsewhere. It must not throw. A notification can get lost, and only
     *  sessions are swept: what depends on a listener alone must also expire by itself. */
    on(kind: string, listener: TopicListener) {
      listeners.set(kind, [...(listeners.get(kind) ?? []), listener])
    },
  }
}

/** What was appended, in the order of each session's numbers. */
const eventsBySession = (answered: Answered[]): Map<string, Event[]> => {
  const bySession = new Map<string, Event[]>()
  for (const { draft, answer } of answered) {
    if (answer.outcome !== 'appended') continue
    const events = bySession.get(draft.sessionId)
    if (events) events.push(answer.event)
    else bySession.set(draft.sessionId, [answer.event])
  }
  return bySession
}

// Everything that follows when a session's log grows, here or elsewhere: who posts, who waits, who reads, the index and the other
// instances each hear of it from here, and from nowhere else.
import type { Database } from '../../db/database.ts'
import type { Metrics } from '../core/metrics.ts'
import { Waiters } from '../log/waiters.ts'
import type { LoopGuard } from '../loops/guard.ts'
import type { Announcer } from '../log/notifier.ts'
import type { Appended, Draft } from '../log/append.ts'
import { Appender } from '../log/group-commit.ts'
import type { Event } from '../stores/events.ts'
import { feedsOver } from '../log/feeds.ts'
import { Indexer } from '../search/indexer.ts'
import { membershipOver } from '../log/member-cache.ts'

export type Growth = ReturnType<typeof growthOver>

interface Listeners {
  metrics: Metrics
  loops: LoopGuard
  announcer: Announcer | undefined
}

/** What depends on how far the logs have grown, and the ways to say that one has. */
export const growthOver = (database: Database, { metrics, loops, announcer }: Listeners) => {
  let appended = 0
  let posted = 0
  const waiters = new Waiters()
  const feeds = feedsOver(database)
  const membership = membershipOver(database)
  const indexer = new Indexer(database, () => posted)
  const appender = new Appender(database, (drafts, answers) => {
    for (const [session, events] of eventsBySession(drafts, answers)) publish(session, events)
  })

  /** These events were committed here; they are in memory for their readers. */
  const publish = (session: string, events: Event[]) => {
    posted += events.length
    feeds.extend(session, events)
    grewHere(session, events.at(-1)!.sequence, events.length)
    loops.posted(session, events)
  }
  /** `events`: how many were committed, the last of them `newest`; all who wait for this session read them. */
  const grewHere = (session: string, newest: number, events: number) => {
    metrics.add('events_appended', events)
    appended += events
    grew(session, newest)
    announcer?.announce(session, newest)
  }
  /** The session has grown, here or elsewhere: its log ends at another place, those who wait look, and it is to be indexed. Every instance
   *  tries to: the one that wrote may be gone by then. */
  const grew = (session: string, newest: number) => {
    appender.moved(session, newest)
    membership.forget(session)
    waiters.wake(session, newest)
    indexer.moved(session, newest)
  }
  /** Any session may have grown unheard, or have lost what a database that was replaced by a copy never had. */
  const anyMayHaveGrown = () => {
    appender.forget()
    feeds.forget()
    membership.forget()
    waiters.wakeAll()
    indexer.catchUp()
  }
  return { appender, waiters, feeds, membership, indexer, publish, grewHere, grew, anyMayHaveGrown, appended: () => appended }
}

/** What was appended, in the order of each session's numbers. */
const eventsBySession = (drafts: Draft[], answers: Appended[]): Map<string, Event[]> => {
  const bySession = new Map<string, Event[]>()
  answers.forEach((answer, i) => {
    if (answer.outcome !== 'appended') return
    const { sessionId } = drafts[i]!
    const events = bySession.get(sessionId)
    if (events) events.push(answer.event)
    else bySession.set(sessionId, [answer.event])
  })
  return bySession
}

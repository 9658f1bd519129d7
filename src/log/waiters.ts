// Who waits for which topic, in this process only. A wake carries no data: the woken caller reads for itself.
import { isSessionTopic, type Topic } from './topics.ts'

/** Subscriptions by topic. Each must be unsubscribed, or it stays for good. */
export class Waiters {
  #byTopic = new Map<Topic, Subscribed>()

  /** How many are subscribed, to all topics together. */
  size = 0

  /** Subscribe before you read: an event that lands between the read and the wait would otherwise be missed. */
  subscribe(topic: Topic): Waiter {
    let subscribed = this.#byTopic.get(topic)
    if (!subscribed) this.#byTopic.set(topic, (subscribed = { topic, waiters: new Set(), newestWoken: undefined }))
    const waiter = new Waiter(this, subscribed)
    subscribed.waiters.add(waiter)
    this.size++
    return waiter
  }

  unsubscribe(waiter: Waiter, subscribed: Subscribed) {
    if (!subscribed.waiters.delete(waiter)) return
    this.size--
    if (subscribed.waiters.size === 0) this.#byTopic.delete(subscribed.topic)
  }

  /** `newest`: the topic's newest number (of a session: its last sequence), so that the sweep need not wake for it again. */
  wake(topic: Topic, newest = 0) {
    const subscribed = this.#byTopic.get(topic)
    if (subscribed) wakeEach(subscribed, newest)
  }

  wakeAll() {
    for (const subscribed of this.#byTopic.values()) wakeEach(subscribed, 0)
  }

  /** Wakes everybody, and tells them that what they knew of their topics may be wrong: the database may be another copy. */
  resetAll() {
    for (const subscribed of this.#byTopic.values()) {
      subscribed.newestWoken = 0
      for (const waiter of subscribed.waiters) waiter.isReset = true
    }
    this.wakeAll()
  }

  /** The topic's subject, as a session, is being deleted: wakes those who wait for it, and tells them. */
  end(topic: Topic) {
    for (const waiter of this.#byTopic.get(topic)?.waiters ?? []) waiter.end()
  }

  /** The newest number that those who wait for the topic were woken for. */
  newestWoken = (topic: Topic) => this.#byTopic.get(topic)?.newestWoken

  /** The sessions that somebody waits for. */
  sessions = () => [...this.#byTopic.keys()].filter(isSessionTopic)
}

// A topic that somebody is subscribed to.
interface Subscribed {
  topic: Topic
  waiters: Set<Waiter>
  newestWoken: number | undefined
}

const wakeEach = (subscribed: Subscribed, newest: number) => {
  if (newest > (subscribed.newestWoken ?? 0)) subscribed.newestWoken = newest
  const now = performance.now()
  for (const waiter of subscribed.waiters) waiter.wake(now) // the woken run later, so the set does not change meanwhile
}

/** One subscription. */
export class Waiter {
  #waiters: Waiters
  #subscribed: Subscribed
  #isWoken = false
  #woken: Promise<void> | undefined
  #resolve: (() => void) | undefined
  /** Whether the topic's subject is being deleted. */
  hasEnded = false
  /** Whether what its owner knew of the topic may be wrong. */
  isReset = false
  /** When this process learned of what woke it, by performance.now(). */
  wokenAt: number | undefined

  constructor(waiters: Waiters, subscribed: Subscribed) {
    this.#waiters = waiters
    this.#subscribed = subscribed
  }

  /** Resolves when the waiter is woken. The promise is made on demand: most polls find something to answer, and never wait. */
  woken(): Promise<void> {
    return (this.#woken ??= this.#isWoken ? Promise.resolve() : new Promise((resolve) => void (this.#resolve = resolve)))
  }

  /** Wakes it. The caller may do so for reasons of its own, too: its time is up, or its client has gone. */
  wake(at?: number) {
    this.wokenAt ??= at
    this.#isWoken = true
    this.#resolve?.()
  }

  end() {
    this.hasEnded = true
    this.wake()
  }

  /** The newest number that those who wait for this topic were woken for. */
  get newestWoken(): number | undefined {
    return this.#subscribed.newestWoken
  }

  /** This waiter has read the topic as far as `newest`. If the others were not woken for that, they are now: its notification got lost. */
  caughtUpTo(newest: number) {
    if (this.#subscribed.newestWoken === undefined) this.#subscribed.newestWoken = newest
    else if (newest > this.#subscribed.newestWoken) wakeEach(this.#subscribed, newest)
  }

  unsubscribe() {
    this.#waiters.unsubscribe(this, this.#subscribed)
  }
}

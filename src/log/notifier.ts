// NOTIFY between the instances that share a Postgres. A notification is sent after the commit, not in it: a transaction that notifies holds
// a lock that all commits share, and took 20 % longer (bench/post). It is only a hint: what gets lost, the sweep of the others finds within
// seconds.
//
// An instance that is alone notifies nobody (a tenth of what a post costs, bench/post) and answers from memory. It may take itself for alone
// only with a proof: notifications arrive in the order in which they were committed, so an instance that received its own has received
// every HELLO before it. The proof is good for PROOF_LASTS_MS from when it was sent, and an instance that starts while others are there
// serves nobody until that time has passed since its HELLO: by then every other has received it, or has no proof any more. A proof is
// asked for when it is needed: an idle server sends nothing.
//
// This file sends, and reads what comes. What it read is handed on by process/services.ts (listenToPeers): the publisher wakes those who wait
// (process/publish.ts, `onMoved`).
import { LRUCache } from 'lru-cache'
import { CHANNEL, type Database, type Queries } from '../../db/database.ts'
import type { Log } from '../core/runtime/log.ts'
import { ASK, decode, encode, HELLO, HERE, listOf, SETTINGS, type Moment, type Moved, type Notification } from './notification.ts'
import { isSessionTopic, type Topic } from './topics.ts'

const TOPICS_AT_ONCE = 100 // a payload has at most 7,999 bytes, and a topic takes 75 of them at the most
const ANSWERED_WITHIN_MS = 2_000
const ECHO_WITHIN_MS = 2_000
const PROOF_LASTS_MS = 1_000
const CLOCKS_DIFFER_MS = 50
const RECEIVED_LASTS_MS = 2_000 // for this long a silent listener may go unnoticed by those who ask hasReceivedLately

const DEAF =
  'Notifications of the database do not come through: what other instances write is noticed seconds later. If DATABASE_URL names a pooler, use a direct connection, or a pooler in session mode.'

/** What another instance notified of. */
export interface Received {
  settings: boolean
  moved: Moved[]
  /** The sender asks how the other instances are. */
  asked?: boolean
  /** The sender reports how it is. */
  report?: { from: string; text: string }
}

const NOTHING: Received = { settings: false, moved: [] }

const now = (): Moment => ({ steady: performance.now(), wall: Date.now() })
const ageOf = ({ steady, wall }: Moment): number => Math.max(performance.now() - steady, Math.abs(Date.now() - wall))
const NEVER: Moment = { steady: -Infinity, wall: -Infinity }

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms).unref?.())

/** Sends and receives the notifications of one instance. */
export class Notifier {
  #unsent = new Map<Topic, number>()
  #movedWhileAlone = new LRUCache<Topic, number>({ max: TOPICS_AT_ONCE }) // sent to the first peer that appears
  #sending = false
  #hasPeers: boolean | undefined // undefined: just listening, and nobody has answered yet
  #proof = NEVER // when the newest of our own notifications that came back was sent
  #helloSent = -Infinity
  #proofAsked = -Infinity
  #listeningSince = -Infinity // on the connection that listens now
  #ready: Promise<void> = Promise.resolve()
  #hearsItself = true

  constructor(
    readonly database: Database,
    readonly instance: string,
    readonly log: Log,
  ) {}

  /** Call it whenever the connection listens (anew). `others`: whether another instance listens too, even one that cannot answer. */
  onListening(others: Promise<boolean>) {
    const since = (this.#listeningSince = performance.now())
    if (!this.#hasPeers) this.#hasPeers = undefined
    this.#ready = this.#introduce(others)
    this.#ready.catch(() => {})
    void Promise.all([others, sleep(ANSWERED_WITHIN_MS)]).then(([found]) => {
      if (this.#listeningSince === since) this.#hasPeers ??= found
    })
  }

  /** Resolves when no other instance takes itself for alone any more: from then on this one may serve. */
  ready(): Promise<void> {
    return this.#ready
  }

  async #introduce(others: Promise<boolean>) {
    if (await others) this.#hasPeers = true
    const sent = now()
    await this.#send(this.database, HELLO)
    void this.#expectEcho(sent)
    if (await others) await sleep(PROOF_LASTS_MS + CLOCKS_DIFFER_MS)
  }

  /** Repeated now and then: a HELLO that got lost would leave two instances unknown to each other. */
  async sayHello() {
    this.#helloSent = performance.now()
    const sent = now()
    if (await this.#trySend(HELLO)) void this.#expectEcho(sent)
  }

  /** Whether this instance's own notifications come back to it. If not, it receives none of the others' either. */
  get hearsItself() {
    return this.#hearsItself
  }

  async #expectEcho(sent: Moment) {
    await sleep(ECHO_WITHIN_MS)
    await sleep(0) // what arrived while this process was busy is received first
    const came = this.#proof.steady >= sent.steady
    if (came === this.#hearsItself || (!came && this.#listeningSince > sent.steady)) return
    this.#hearsItself = came
    this.log(came ? 'info' : 'warn', came ? 'Notifications of the database come through again.' : DEAF)
  }

  /** Reads a notification of another instance, or of this one. A peer that may have missed what moved before is sent it now. */
  receive(payload: string): Received {
    const { from, message, sent, moved, report } = decode(payload)
    if (from === this.instance) return this.#receiveEcho(sent)
    const wasKnown = this.#hasPeers === true
    this.#hasPeers = true
    if (message === HELLO) void this.#trySend(HERE)
    if (!wasKnown || message === HELLO) this.#sendSoon()
    return { settings: message === SETTINGS, moved, asked: message === ASK, ...(report && { report: { from, text: report } }) }
  }

  #receiveEcho(sent: Moment): Received {
    if (sent.steady > this.#proof.steady) this.#proof = sent
    return NOTHING
  }

  /** Asks the others how they are. */
  async ask() {
    await this.#trySend(ASK)
  }

  /** Says how this instance is, to those who have asked. */
  async report(text: string) {
    await this.#trySend(HERE, undefined, text)
  }

  /** Sent in the transaction that saves the setting: a change is rare, and must not get lost between a commit and a notification after
   *  it. */
  async settingsSaved(queries: Queries) {
    await this.#send(queries, SETTINGS)
  }

  /** Sent in the transaction that moves these topics: for news that must not get lost between a commit and a notification after it. */
  async topicsMoved(queries: Queries, topics: Topic[], newest: number) {
    if (topics.length > 0) await this.#send(queries, HERE, listOf(topics.slice(0, TOPICS_AT_ONCE).map((topic) => [topic, newest])))
  }

  /** Whether another instance is known, or cannot be ruled out yet. Unlike isAlone it needs no proof, so it may miss a peer that has just
   *  begun. */
  get mayHavePeers(): boolean {
    return this.#hasPeers !== false
  }

  /** Whether no other instance writes, so that what this process knows of a session is all there is. Judged anew at each call: a process
   *  that was frozen has missed what happened meanwhile. */
  isAlone(): boolean {
    if (this.mayHavePeers) return false
    const isDue = (age: number) => age > PROOF_LASTS_MS / 2
    if (isDue(ageOf(this.#proof)) && isDue(performance.now() - this.#helloSent)) void this.sayHello()
    return this.#isProvenAlone()
  }

  #isProvenAlone() {
    return this.#hasPeers === false && ageOf(this.#proof) < PROOF_LASTS_MS
  }

  /** Whether this instance has received all that the others sent until two seconds ago. Sends itself a notification when its proof ages, so
   *  that the next caller may get true; a caller that gets false must ask the database instead. */
  hasReceivedLately(): boolean {
    const age = ageOf(this.#proof)
    if (age > RECEIVED_LASTS_MS / 2 && performance.now() - this.#proofAsked > RECEIVED_LASTS_MS / 2) {
      this.#proofAsked = performance.now()
      void this.#trySend(HERE)
    }
    return age < RECEIVED_LASTS_MS
  }

  /** Sends that a topic has moved to `newest`. What moves while one notification is under way goes with the next. */
  notify(topic: Topic, newest: number) {
    if (this.#isProvenAlone()) return void this.#movedWhileAlone.set(topic, Math.max(newest, this.#movedWhileAlone.get(topic) ?? 0))
    this.#unsent.set(topic, Math.max(newest, this.#unsent.get(topic) ?? 0))
    this.#sendSoon()
  }

  #sendSoon() {
    for (const [topic, newest] of this.#movedWhileAlone.entries()) this.#unsent.set(topic, Math.max(newest, this.#unsent.get(topic) ?? 0))
    this.#movedWhileAlone.clear()
    if (this.#sending) return
    this.#sending = true
    queueMicrotask(() => void this.#sendUnsent())
  }

  async #sendUnsent() {
    while (this.#unsent.size > 0 && !this.#isProvenAlone()) {
      const moved = [...this.#unsent].slice(0, TOPICS_AT_ONCE)
      for (const [topic] of moved) this.#unsent.delete(topic)
      const sessions = moved.filter(([topic]) => isSessionTopic(topic))
      const others = moved.filter(([topic]) => !isSessionTopic(topic))
      if (sessions.length > 0) await this.#trySend(listOf(sessions))
      if (others.length > 0) await this.#trySend(HERE, listOf(others))
    }
    this.#sending = false
  }

  #trySend = (message: Notification['message'], others?: string, report?: string): Promise<boolean> =>
    this.#send(this.database, message, others, report).then(
      () => true,
      () => false,
    )

  #send = ({ query }: Queries, message: Notification['message'], others?: string, report?: string) =>
    query('select pg_notify($1, $2)', [CHANNEL, encode(this.instance, message, now(), others, report)])
}

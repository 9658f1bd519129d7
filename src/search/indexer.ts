// Keeps the search index close behind the log, off the post's path: it is notified of sessions that moved and indexes them in batches. While
// nothing is written it sends no query. What it was not notified of (before a crash, by another instance) it finds by comparing.
import type { Database } from '../../db/database.ts'
import { pause } from '../core/runtime/pause.ts'
import { isAway } from '../../db/errors.ts'
import { Comparison } from './comparison.ts'
import { IndexLag } from './index-lag.ts'
import { indexBatch, type SessionProgress } from './event-index.ts'
import { emptyIndex, noteRebuilt, sessionsBehind, stillBehind } from './index-state.ts'
import { Pace } from './pace.ts'
import { SessionIndexer } from './session-index.ts'

const SESSIONS_AT_ONCE = 200
const SESSIONS_COMPARED = 5_000 // to find those with the least to index, or those that another instance has indexed
const COMPARES_MS = 500 // at a time
const BUSY_MS = 100 // until the next try, while another instance is at it
// A transcript that was imported before this process began has waited for an unknown time, at least as long as a start takes.
const UNKNOWN_AGE_MS = 2_000
// In a batch. PGlite works on this very thread: a post that comes meanwhile waits for all of it.
const EVENTS_AT_ONCE = { pglite: 50, postgres: 5_000 }
const BATCH_MS = 1_000 // after which a batch in bulk reads no more
const BULK = 1_000 // events that were left by the last batch
const EVENTS_BESIDE_OTHERS = { pglite: 50, postgres: 200 }

interface Options {
  /** How many events have been posted so far. */
  posted?: () => number
  /** The names of this server's tools, by which a session's kind is known. */
  ownTools?: ReadonlySet<string> | undefined
}

/** `moved`, `compareRecent` and `compareAll` say what there is to do, `run` does it, `rebuild` does all of it again. */
export class Indexer {
  #moved = new Set<string>() // in the order of their turn: a session that failed goes to the end
  #suspects = new Set<string>() // of a batch that failed: each is then tried alone, so that it holds up no other
  #last: Promise<unknown> = Promise.resolve()
  #sessions: SessionIndexer
  #comparison: Comparison
  #lag = new IndexLag()
  #leastFirst = false
  #left = 0 // by the last batch, of its sessions
  #pace: Pace
  #ownTools: ReadonlySet<string>

  constructor(
    readonly database: Database,
    { posted = () => 0, ownTools = new Set() }: Options = {},
  ) {
    this.#sessions = new SessionIndexer(database)
    this.#comparison = new Comparison(database, (ids) => this.#compare(ids))
    this.#pace = new Pace(posted)
    this.#ownTools = ownTools
  }

  /** The session's log has grown to `newest`; without it, its title, description or document may have changed. */
  moved(session: string, newest?: number) {
    this.#moved.add(session)
    this.#sessions.moved(session)
    if (newest !== undefined) this.#lag.wrote(session, newest)
  }

  /** The end of the session's log was deleted: what was noted of it is found anew by comparing. */
  cut(session: string) {
    this.#lag.indexed(session, Infinity)
    this.moved(session)
  }

  /** For how many seconds the oldest event that no search finds yet has been in the log; 0 when there is none. */
  get lagSeconds() {
    return this.#lag.seconds
  }

  /** For how many seconds the oldest change of a title, description or document has been known that no search finds yet; 0 when there is
   *  none. */
  get sessionsLagSeconds() {
    return this.#sessions.lagSeconds
  }

  /** Requests a comparison of recent sessions with the index: something may have been written without a notification. */
  compareRecent() {
    this.#comparison.compareRecent()
  }

  /** Requests a comparison of all sessions with the index. */
  compareAll() {
    this.#comparison.compareAll()
  }

  /** Slows the indexing down until this search is answered. */
  duringSearch<Answer>(search: Promise<Answer>): Promise<Answer> {
    return this.#pace.duringSearch(search)
  }

  /** Indexes all that there is to index, as long as `goOn()` is true. Calls `onBatch` with the number of events in each batch. */
  run(goOn = () => true, onBatch: (events: number) => void = () => {}): Promise<void> {
    return this.#alone(() => this.#work(goOn, onBatch))
  }

  /** Rebuilds the index from the log, as long as `goOn`; `run` does the rest. Calls `onProgress` with how many events are done, and how many
   *  there are. */
  rebuild(onProgress: (done: number, all: number) => void, goOn = () => true): Promise<void> {
    return this.#alone(async () => {
      const all = await emptyIndex(this.database)
      this.#sessions.emptied()
      let done = 0
      onProgress(done, all)
      this.compareAll()
      while (goOn() && (this.#comparison.isDue || this.#moved.size > 0)) {
        await this.#work(goOn, (events) => onProgress((done += events), all))
        if (this.#moved.size > 0) await pause(BUSY_MS)
      }
      if (goOn() && done < all) onProgress(all, all) // other instances have indexed the rest
    })
  }

  // One run after the other within this process; between processes the advisory lock of a batch sees to it.
  async #alone<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(work)
    this.#last = mine.catch(() => {})
    return mine
  }

  async #work(goOn: () => boolean, onBatch: (events: number) => void): Promise<void> {
    // A comparison may fail, and one of all sessions takes a while. What the index was notified of is indexed all the same, and between its
    // pieces.
    let failure: unknown
    do {
      const until = performance.now() + COMPARES_MS
      await this.#comparison.run(() => goOn() && performance.now() < until).catch((error) => (failure = error))
      await this.#events(goOn, onBatch).catch(async (error) => {
        if (!isAway(error)) await this.#sessions.run(goOn) // events that cannot be indexed hold up nobody's document
        throw error
      })
      await this.#sessions.run(goOn)
    } while (this.#comparison.isDue && failure === undefined && goOn())
    if (failure !== undefined) throw failure
    if (this.#moved.size === 0 && this.#comparison.takeFoundRebuilding()) await noteRebuilt(this.database)
  }

  async #compare(ids: string[]): Promise<void> {
    for (const { id, newest, age_ms } of await sessionsBehind(this.database, ids)) {
      this.#moved.add(id)
      this.#lag.wrote(id, newest, age_ms ?? UNKNOWN_AGE_MS)
    }
    await this.#sessions.compare(ids)
  }

  async #events(goOn: () => boolean, onBatch: (events: number) => void): Promise<void> {
    const { engine } = this.database
    while (this.#moved.size > 0 && goOn()) {
      const from = performance.now()
      const besideOthers = this.#pace.begin()
      const inBulk = engine === 'postgres' && !besideOthers && this.#left >= BULK
      // Every other batch is of the sessions with the least to index: a post is found while a million events of an import still wait.
      const leastFirst = (this.#leastFirst = !this.#leastFirst)
      const sessions = this.#take(leastFirst ? SESSIONS_COMPARED : SESSIONS_AT_ONCE)
      const seen = this.#lag.newestOf(sessions)
      const batch = await indexBatch(this.database, sessions, {
        limit: (besideOthers ? EVENTS_BESIDE_OTHERS : EVENTS_AT_ONCE)[engine],
        leastFirst,
        ownTools: this.#ownTools,
        ...(inBulk && { goOn: () => !this.#pace.isSearched && performance.now() - from < BATCH_MS }),
        giveWay: engine === 'postgres' ? () => this.#pace.giveWay() : pause, // PGlite's transaction holds up all questions
      }).catch((error) => {
        this.#left = 0 // the next is not in bulk: sorting a large list in may have taken too long
        this.#putBack(sessions)
        if (isAway(error) || sessions.length === 1) throw error
        for (const session of sessions) this.#suspects.add(session)
      })
      if (!batch) continue
      if (batch === 'busy') {
        this.#left = 0 // a batch in bulk has a connection of its own
        this.#putBack(sessions)
        return this.#followOther()
      }
      for (const session of sessions) this.#suspects.delete(session)
      this.#note(seen, batch.progress)
      this.#left = batch.progress.reduce((left, { indexed, newest }) => left + newest - indexed, 0)
      onBatch(batch.events)
      await this.#sessions.keepUp(goOn)
      await this.#pace.end(performance.now() - from)
    }
  }

  // Another instance holds the index's lock: drops the sessions that it has indexed already, which need not be done here.
  async #followOther(): Promise<void> {
    const sessions = this.#take(SESSIONS_COMPARED)
    const seen = this.#lag.newestOf(sessions)
    const behind = await stillBehind(this.database, sessions).catch((error) => {
      this.#putBack(sessions)
      throw error
    })
    this.#note(seen, behind)
  }

  // `seen`: where the log of each of these sessions ended before the database was asked. All of it is indexed, except in the sessions that
  // `progress` says are behind.
  #note(seen: Map<string, number>, progress: SessionProgress[]) {
    for (const { session, indexed, newest } of progress) {
      if (indexed < newest) this.#moved.add(session)
      this.#lag.indexed(session, indexed, newest)
      seen.delete(session)
    }
    for (const [session, newest] of seen) this.#lag.indexed(session, newest)
  }

  #take(most: number): string[] {
    const moved = [...this.#moved]
    const trusted = this.#suspects.size === 0 ? moved : moved.filter((session) => !this.#suspects.has(session))
    const taken = trusted.length > 0 ? trusted.slice(0, most) : moved.slice(0, 1)
    for (const session of taken) this.#moved.delete(session)
    return taken
  }

  #putBack(sessions: string[]) {
    for (const session of sessions) this.#moved.add(session)
  }
}

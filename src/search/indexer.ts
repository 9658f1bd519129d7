// Keeps the search index close behind the log, off the post's path: it is told which sessions moved and takes them in batches. It
// asks the database nothing while nothing is written. What it was not notified of (a crash, another instance's) it finds by catching up.
import type { Database } from '../../db/database.ts'
import { pause } from '../core/pause.ts'
import { isAway } from '../../db/errors.ts'
import { IndexLag } from './index-lag.ts'
import { emptyIndex, indexBatch, sessionsBehind, stillBehind, type Reached } from './event-index.ts'
import { SessionIndexer } from './session-index.ts'

const SESSIONS_AT_ONCE = 200
const SESSIONS_LOOKED_AT = 5_000 // for those that have the least to index
const BUSY_MS = 100 // until the next try, while another instance is at it
const LOOKED_AT = 5_000 // sessions of which this instance asks how far another one has come
// A transcript that was imported before this process began waits for nobody knows how long, and at least as long as a start takes.
const UNKNOWN_AGE_MS = 2_000
// PGlite works on this very thread: a post that comes meanwhile waits for one batch.
const EVENTS_AT_ONCE = { pglite: 50, postgres: 2_000 }
// Above this many posts a second, posts come first: the index takes small batches and rests after each, the longer the more are
// posted. It catches up later.
const LIVELY = 1_000
const EVENTS_BESIDE = { pglite: 50, postgres: 200 }
const RESTS = 4 // times as long as the batch took, for each LIVELY posts a second
const RESTS_AT_MOST = 20
const SHORTEST_S = 0.01 // a rate is told from

/** `moved` and `catchUp` say what there is to do, `run` does it, `rebuild` does all of it again. */
export class Indexer {
  #moved = new Set<string>() // the first to move first; what failed goes to the end
  #suspects = new Set<string>() // of a batch that failed: each is taken by itself, so that it holds up no other
  #behind = true // until the first look at the database
  #last: Promise<unknown> = Promise.resolve()
  #sessions: SessionIndexer
  #lag = new IndexLag()
  #leastFirst = false
  #asked = { at: performance.now(), posted: 0 }

  /** `posted`: how many events have been posted so far. */
  constructor(
    readonly database: Database,
    readonly posted = () => 0,
  ) {
    this.#sessions = new SessionIndexer(database)
  }

  /** The session's log has grown to `newest`; without it, its title, description or document may have changed. */
  moved(session: string, newest?: number) {
    this.#moved.add(session)
    this.#sessions.moved(session)
    if (newest !== undefined) this.#lag.wrote(session, newest)
  }

  /** For how many seconds the oldest event that no search finds yet has been in the log; 0 when there is none. */
  get lagSeconds() {
    return this.#lag.seconds
  }

  /** Something may have been written without a notification. */
  catchUp() {
    this.#behind = true
  }

  /** Indexes all that there is to index, unless it is no longer `wanted`; `indexed` hears of each batch. */
  run(wanted = () => true, indexed: (events: number) => void = () => {}): Promise<void> {
    return this.#alone(() => this.#work(wanted, indexed))
  }

  /** Rebuilds the index from the log. `progress` hears how many events are done, and of how many. */
  rebuild(progress: (done: number, all: number) => void): Promise<void> {
    return this.#alone(async () => {
      const all = await emptyIndex(this.database)
      await this.#sessions.empty()
      let done = 0
      progress(done, all)
      this.#behind = true
      while (this.#behind || this.#moved.size > 0) {
        await this.#work(
          () => true,
          (events) => progress((done += events), all),
        )
        if (this.#moved.size > 0) await pause(BUSY_MS)
      }
    })
  }

  // One after the other within this process; between processes the database sees to it.
  async #alone<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(work)
    this.#last = mine.catch(() => {})
    return mine
  }

  async #work(wanted: () => boolean, indexed: (events: number) => void): Promise<void> {
    if (this.#behind) {
      this.#behind = false
      try {
        for (const { id, newest, age_ms } of await sessionsBehind(this.database)) {
          this.#moved.add(id)
          this.#lag.wrote(id, newest, age_ms ?? UNKNOWN_AGE_MS)
        }
        await this.#sessions.catchUp()
      } catch (error) {
        this.#behind = true
        throw error
      }
    }
    await this.#events(wanted, indexed).catch(async (error) => {
      if (!isAway(error)) await this.#sessions.run(wanted) // whose events cannot be indexed holds up nobody's document
      throw error
    })
    await this.#sessions.run(wanted)
  }

  async #events(wanted: () => boolean, indexed: (events: number) => void): Promise<void> {
    while (this.#moved.size > 0 && wanted()) {
      const from = performance.now()
      const liveliness = this.#liveliness()
      const lively = liveliness > 1
      // Every other batch is of those that have the least to index: a post is found while a million events of an import still wait.
      const leastFirst = (this.#leastFirst = !this.#leastFirst)
      const sessions = this.#next(leastFirst ? SESSIONS_LOOKED_AT : SESSIONS_AT_ONCE)
      for (const session of sessions) this.#moved.delete(session)
      const again = () => sessions.forEach((session) => this.#moved.add(session))
      const atOnce = (lively ? EVENTS_BESIDE : EVENTS_AT_ONCE)[this.database.engine]
      const heard = this.#lag.heardOf(sessions)
      const batch = await indexBatch(this.database, sessions, atOnce, leastFirst).catch((error) => {
        again()
        if (isAway(error) || sessions.length === 1) throw error
        for (const session of sessions) this.#suspects.add(session)
      })
      if (!batch) continue
      if (batch === 'busy') {
        again()
        return this.#heed()
      }
      for (const session of sessions) this.#suspects.delete(session)
      this.#note(heard, batch.reached)
      indexed(batch.events)
      await this.#sessions.keepUp(wanted)
      const took = performance.now() - from
      // Between batches it is the turn of those who wait for an answer.
      await pause(lively ? Math.min(RESTS * liveliness, RESTS_AT_MOST) * took : 0)
    }
  }

  // Another instance is indexing: what it has done need not be done here, and is no longer behind.
  async #heed(): Promise<void> {
    const sessions = [...this.#moved].slice(0, LOOKED_AT)
    for (const session of sessions) this.#moved.delete(session)
    const heard = this.#lag.heardOf(sessions)
    const behind = await stillBehind(this.database, sessions).catch((error) => {
      for (const session of sessions) this.#moved.add(session)
      throw error
    })
    this.#note(heard, behind)
  }

  // `heard`: of these sessions, how far each log went by what was heard before the database was asked. All of it is indexed but of those
  // that are behind.
  #note(heard: Map<string, number>, reached: Reached[]) {
    for (const { session, through, newest } of reached) {
      if (through < newest) this.#moved.add(session)
      this.#lag.indexed(session, through, newest)
      heard.delete(session)
    }
    for (const [session, newest] of heard) this.#lag.indexed(session, newest)
  }

  #next(most: number): string[] {
    const moved = [...this.#moved]
    const trusted = this.#suspects.size === 0 ? moved : moved.filter((session) => !this.#suspects.has(session))
    return trusted.length > 0 ? trusted.slice(0, most) : moved.slice(0, 1)
  }

  // Posts a second since it was last asked, in units of LIVELY.
  #liveliness(): number {
    const [at, posted] = [performance.now(), this.posted()]
    const perSecond = (posted - this.#asked.posted) / Math.max((at - this.#asked.at) / 1_000, SHORTEST_S)
    this.#asked = { at, posted }
    return perSecond / LIVELY
  }
}

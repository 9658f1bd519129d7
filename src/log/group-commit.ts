// Group commit: while one batch is being written, posts gather; the next batch takes them all. One commit serves many posts.
import { ANSWER_WITHIN_MS, DatabaseTimeout, type Database } from '../../db/database.ts'
import { appendEvents, type Appended, type Draft } from './append.ts'
import { LOCK, LOCK_WAIT, NO_LIMIT } from './append-sql.ts'
import { plainArray } from '../../db/arrays.ts'
import { continueLogs } from './append-at-head.ts'
import { isAway, isHeld, isRefused } from '../../db/errors.ts'
import { Heads } from './heads.ts'

const BATCH = 500
// One batch at a time: two half as large took a fifth longer (bench/post). The sessions that are not in it go past one that takes longer
// than this.
const SLOW_MS = 50
const AT_ONCE = 8
const HELD_AT_ONCE = AT_ONCE - 2 // however many sessions somebody else holds, the others have a place

// How posts are written:
//   known   where their log is known to end
//   judged  by the database
//   locked  first: their log grew while the statement waited for the lock
//   alone   with no other session: somebody else has held one of those they were with for too long (LOCK_WAIT)
//   held    alone, and for as long as it takes: it is this session
type Way = 'known' | 'judged' | 'locked' | 'alone' | 'held'

interface Pending {
  draft: Draft
  since: number
  way?: Way // after one that has not written it
  resolve(answer: Appended): void
  reject(error: unknown): void
}

interface Batch {
  posts: Pending[]
  sessions: Set<string>
  way: Way
  slow: boolean
}

// What became of a post; or the way it goes next, as nothing was decided.
type Outcome = Appended | { outcome: 'failed'; error: unknown } | Way

const isAlone = (way: Way) => way === 'alone' || way === 'held'
const isWay = (outcome: Outcome): outcome is Way => typeof outcome === 'string'

/** Takes all posts of this process, and writes them in batches. */
export class Appender {
  #queue: Pending[] = []
  #writing = new Set<Batch>()
  #heads = new Heads()
  #due = false
  batches = 0

  /** `committed` hears of every batch once it is durable, before its posters do. */
  constructor(
    readonly database: Database,
    readonly committed: (drafts: Draft[], answers: Appended[]) => void,
  ) {}

  /** Resolves when the event is committed; rejects when the database refuses it or is away. */
  post(draft: Draft): Promise<Appended> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ draft, since: performance.now(), resolve, reject })
      if (this.#due) return
      this.#due = true
      queueMicrotask(() => this.#flush())
    })
  }

  /** The session's log has grown to this event, here or elsewhere. */
  moved(session: string, sequence: number) {
    this.#heads.moved(session, sequence)
  }

  /** Any log may end elsewhere. */
  forget() {
    this.#heads.clear()
  }

  #flush(most = BATCH) {
    this.#due = false
    if (this.#queue.length === 0 || this.#writing.size === AT_ONCE) return
    for (const { slow } of this.#writing) if (!slow) return
    const batch = this.#takeBatch(most)
    if (batch.posts.length === 0) return
    void this.#write(batch)
    if (batch.slow) this.#flush(most)
  }

  // A session's posts stay in their order. Those of a session that is being written wait for what it will be told; so does the second
  // post with one idempotency key, as its statement would not see the first.
  #takeBatch(most: number): Batch {
    const batch: Batch = { posts: [], sessions: new Set(), way: 'known', slow: false }
    const passed = new Set<string>()
    let held = 0
    for (const { sessions, way } of this.#writing) {
      for (const session of sessions) passed.add(session)
      if (way === 'held') held++
    }
    const keys = new Set<string>()
    const later: Pending[] = []
    const tooLate = performance.now() - ANSWER_WITHIN_MS
    for (const pending of this.#queue) {
      const { sessionId, key } = pending.draft
      if (pending.since < tooLate) {
        pending.reject(new DatabaseTimeout()) // nobody waits for it now: it is not sent
        continue
      }
      const way = pending.way ?? (this.#heads.before(pending.draft) ? 'known' : 'judged')
      const first = batch.posts.length === 0
      const hasPlace = first ? way !== 'held' || held < HELD_AT_ONCE : way === batch.way && (!isAlone(way) || batch.sessions.has(sessionId))
      const fits = hasPlace && batch.posts.length < most
      const name = key && `${sessionId}/${key.caller}/${key.keyHash}`
      if (passed.has(sessionId) || !fits || (name && keys.has(name))) {
        passed.add(sessionId)
        later.push(pending)
        continue
      }
      if (first) {
        batch.way = way
        batch.slow = isAlone(way) // the others go past it from the start
      }
      batch.posts.push(pending)
      batch.sessions.add(sessionId)
      if (name) keys.add(name)
    }
    this.#queue = later
    return batch
  }

  async #write(batch: Batch) {
    this.#writing.add(batch)
    const late = setTimeout(() => {
      batch.slow = true
      this.#flush()
    }, SLOW_MS)
    const drafts = batch.posts.map(({ draft }) => draft)
    const outcomes = await (batch.way === 'known' ? this.#continue(drafts) : this.#judge(drafts, batch.way))
    clearTimeout(late)
    this.#writing.delete(batch)
    this.#queue.unshift(
      ...batch.posts.filter((pending, i) => {
        const outcome = outcomes[i]!
        if (isWay(outcome)) pending.way = outcome
        return isWay(outcome)
      }),
    )
    // First: the database works on the next batch while this one is told. No more than half of all who post now: else 8 and 92 of a
    // hundred may take turns, and each side waits for the other (6 % less through REST, bench/post).
    this.#flush(Math.min(BATCH, Math.ceil((batch.posts.length + this.#queue.length) / 2)))
    this.batches++
    this.#tell(batch.posts, outcomes)
  }

  #tell(posts: Pending[], outcomes: Outcome[]) {
    const [drafts, answers]: [Draft[], Appended[]] = [[], []]
    posts.forEach(({ draft }, i) => {
      const outcome = outcomes[i]!
      if (isWay(outcome) || outcome.outcome === 'failed') return
      drafts.push(draft)
      answers.push(outcome)
    })
    try {
      if (answers.length > 0) this.committed(drafts, answers)
    } finally {
      posts.forEach(({ resolve, reject }, i) => {
        const outcome = outcomes[i]!
        if (isWay(outcome)) return
        if (outcome.outcome === 'failed') reject(outcome.error)
        else resolve(outcome)
      })
    }
  }

  /** Those whose logs end elsewhere have no known end any more, and so they are judged. */
  async #continue(drafts: Draft[]): Promise<Outcome[]> {
    try {
      return (await continueLogs(this.database, drafts, this.#heads)).map((answer) => answer ?? 'judged')
    } catch (error) {
      for (const { sessionId } of drafts) this.#heads.moved(sessionId)
      return drafts.map(() => (isHeld(error) ? 'alone' : isRefused(error) ? 'judged' : { outcome: 'failed', error }))
    }
  }

  // When the database is away, or the fault is ours, nobody knows what was written: only the posters can decide to try again, with their
  // keys. Of what it refuses it has written nothing: they go one by one, so that what cannot be stored fails alone; twice, for a deadlock
  // or a key that another instance used in between.
  async #judge(drafts: Draft[], way: Way, tries = 2): Promise<Outcome[]> {
    try {
      const answers = await (way === 'judged' ? appendEvents(this.database, drafts, LOCK_WAIT) : this.#appendLocked(drafts, way))
      this.#heads.learn(drafts, answers)
      return answers.map((answer) => answer ?? 'locked')
    } catch (error) {
      if (isHeld(error)) return drafts.map(() => (way === 'alone' ? 'held' : 'alone'))
      if (!isRefused(error) || (drafts.length === 1 && tries === 1)) return drafts.map(() => ({ outcome: 'failed', error }))
      return drafts.length === 1 ? this.#judge(drafts, way, tries - 1) : this.#oneByOne(drafts, way)
    }
  }

  #appendLocked(drafts: Draft[], way: Way) {
    const sessions = plainArray(drafts.map(({ sessionId }) => sessionId))
    return this.database.transaction(async (tx) => {
      await tx.query(LOCK, [sessions, way === 'held' ? NO_LIMIT : LOCK_WAIT])
      return appendEvents(tx, drafts)
    })
  }

  async #oneByOne(drafts: Draft[], way: Way): Promise<Outcome[]> {
    const outcomes: Outcome[] = []
    for (const draft of drafts) {
      const last = outcomes.at(-1)
      const away = typeof last === 'object' && last.outcome === 'failed' && isAway(last.error) ? last : undefined
      outcomes.push(away ?? (await this.#judge([draft], way === 'judged' ? 'locked' : way))[0]!)
    }
    return outcomes
  }
}

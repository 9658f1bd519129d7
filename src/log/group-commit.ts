// Group commit: while one batch is being written, posts gather; the next batch takes them all. One commit serves many posts.
//
// Posts go by one of two lanes:
//   shared  posts of any sessions, one batch at a time: two half as large took a fifth longer (bench/post). It waits LOCK_WAIT at most for a
//           session that another transaction holds; if that is not enough, nothing is written, and that session's posts go alone
//   alone   posts of one session, beside the shared batch and for as long as its lock takes: a held session holds up no other
import { DatabaseTimeout, type Database } from '../../db/database.ts'
import type { Appended, Draft } from './append.ts'
import { BatchWriter, isLate, isUndecided, type Outcome, type Post } from './batch-writer.ts'

const BATCH = 500
const SLOW_MS = 50 // after this long a shared batch lets the next one start, with the sessions that it does not have
const AT_ONCE = 8
const ALONE_AT_ONCE = AT_ONCE - 2 // however many sessions are held, the shared lane has a place

interface Pending extends Post {
  resolve(answer: Appended): void
  reject(error: unknown): void
}

type Lane = 'shared' | 'alone'

interface Batch {
  lane: Lane
  sessions: Set<string>
  slow: boolean
}

export interface Answered {
  draft: Draft
  answer: Appended
}

const expectsSilenceOf = (taken: Pending[], { draft: { sessionId, holder, expectedCursor } }: Pending): boolean =>
  expectedCursor !== undefined && taken.some(({ draft }) => draft.sessionId === sessionId && draft.holder !== holder)

/** Takes all posts of this process, and writes them in batches. */
export class GroupCommit {
  #queue: Pending[] = []
  #writing = new Set<Batch>()
  #held = new Set<string>() // sessions whose posts go alone
  #writer: BatchWriter
  #due = false
  batches = 0

  /** `committed` is called for every batch once it is durable, before its posts are answered. */
  constructor(
    database: Database,
    readonly committed: (answered: Answered[]) => void,
  ) {
    this.#writer = new BatchWriter(database)
  }

  /** Resolves when the event is committed; rejects when the database refuses it or is away. */
  post(draft: Draft): Promise<Appended> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ draft, since: performance.now(), resolve, reject })
      if (this.#due) return
      this.#due = true
      queueMicrotask(() => this.#flush())
    })
  }

  /** The session's log has grown to this event, here or elsewhere: a head before it is dropped. Infinity: it was cut, and no head holds. */
  moved(session: string, sequence: number) {
    this.#writer.heads.moved(session, sequence)
  }

  /** Drops all heads: notifications may have been lost, the database replaced by a copy, or a session purged. */
  forget() {
    this.#writer.heads.clear()
  }

  #flush(most = BATCH) {
    this.#due = false
    for (const session of this.#held) {
      if (!this.#hasPlace('alone')) break
      if (this.#isBeingWritten(session)) continue
      const posts = this.#take((other) => other === session, BATCH)
      if (posts.length > 0) void this.#write('alone', posts)
      else this.#held.delete(session) // no post of it is left: all timed out in the queue
    }
    if (!this.#hasPlace('shared')) return
    const posts = this.#take((session) => !this.#held.has(session) && !this.#isBeingWritten(session), most)
    if (posts.length > 0) void this.#write('shared', posts)
  }

  #hasPlace(lane: Lane) {
    const batches = [...this.#writing]
    if (lane === 'shared') return batches.length < AT_ONCE && batches.every((batch) => batch.lane === 'alone' || batch.slow)
    return batches.length < AT_ONCE && batches.filter((batch) => batch.lane === 'alone').length < ALONE_AT_ONCE
  }

  #isBeingWritten(session: string) {
    for (const { sessions } of this.#writing) if (sessions.has(session)) return true
    return false
  }

  // A session's posts stay in their order. Of two posts with one idempotency key the second waits for the next batch, and so does a post
  // that expects others to have been silent behind one of theirs: a statement does not see what it writes itself.
  #take(isWanted: (session: string) => boolean, most: number): Pending[] {
    const [taken, later]: [Pending[], Pending[]] = [[], []]
    const waiting = new Set<string>()
    const idempotencyKeys = new Set<string>()
    for (const pending of this.#queue) {
      if (isLate(pending)) {
        pending.reject(new DatabaseTimeout())
        continue
      }
      const { sessionId, idempotency } = pending.draft
      const idempotencyKey = idempotency && `${sessionId}/${idempotency.caller}/${idempotency.keyHash}`
      const fits = taken.length < most && isWanted(sessionId) && !waiting.has(sessionId)
      if (!fits || (idempotencyKey && idempotencyKeys.has(idempotencyKey)) || expectsSilenceOf(taken, pending)) {
        waiting.add(sessionId)
        later.push(pending)
        continue
      }
      taken.push(pending)
      if (idempotencyKey) idempotencyKeys.add(idempotencyKey)
    }
    this.#queue = later
    return taken
  }

  async #write(lane: Lane, posts: Pending[]) {
    const batch: Batch = { lane, sessions: new Set(posts.map(({ draft }) => draft.sessionId)), slow: false }
    this.#writing.add(batch)
    const late = setTimeout(() => {
      batch.slow = true
      this.#flush()
    }, SLOW_MS)
    const outcomes = await this.#writer[lane](posts)
    clearTimeout(late)
    this.#writing.delete(batch)
    if (lane === 'alone') this.#held.delete(posts[0]!.draft.sessionId)
    this.#putBack(posts, outcomes)
    // First: the database works on the next batch while this one is answered. No more than half of all who post now: else 8 and 92 of a
    // hundred may take turns, and each side waits for the other (6 % less through REST, bench/post).
    this.#flush(Math.min(BATCH, Math.ceil((posts.length + this.#queue.length) / 2)))
    this.batches++
    this.#answer(posts, outcomes)
  }

  // Puts undecided posts back at the head of the queue, so that each session's posts keep their order. Those of held sessions go alone
  // next.
  #putBack(posts: Pending[], outcomes: Outcome[]) {
    this.#queue.unshift(...posts.filter((_, i) => isUndecided(outcomes[i]!)))
    posts.forEach(({ draft }, i) => outcomes[i]!.outcome === 'held' && this.#held.add(draft.sessionId))
  }

  #answer(posts: Pending[], outcomes: Outcome[]) {
    const answered = posts.flatMap(({ draft }, i) => {
      const answer = outcomes[i]!
      return isUndecided(answer) || answer.outcome === 'failed' ? [] : [{ draft, answer }]
    })
    try {
      if (answered.length > 0) this.committed(answered)
    } finally {
      posts.forEach(({ resolve, reject }, i) => {
        const answer = outcomes[i]!
        if (answer.outcome === 'failed') reject(answer.error)
        else if (!isUndecided(answer)) resolve(answer)
      })
    }
  }
}

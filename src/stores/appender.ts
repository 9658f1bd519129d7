// Group commit: while one batch is being written, posts gather; the next batch takes them all. One commit serves many posts.
import { ANSWER_WITHIN_MS, DatabaseTimeout, type Database, type Queries } from '../../db/database.ts'
import { appendEvents, type Appended, type Draft } from './append.ts'
import { plainArray } from './arrays.ts'
import { continueLogs } from './continue.ts'
import { isAway } from './failures.ts'
import { Heads } from './heads.ts'

const BATCH = 500
// A batch that takes longer than this waits, mostly for somebody who holds one of its sessions: the other sessions go past it. One at a
// time otherwise: two half as large took a fifth longer (bench/post).
const SLOW_MS = 50
const SLOW_AT_ONCE = 8

interface Pending {
  draft: Draft
  since: number
  overtaken: boolean // its log grew while the statement waited for the lock: next time the lock is taken first
  resolve(answer: Appended): void
  reject(error: unknown): void
}

interface Batch {
  posts: Pending[]
  sessions: Set<string>
  known: boolean // where all their logs end
  slow: boolean
}

type Outcome = Appended | { outcome: 'failed'; error: unknown }

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
      this.#queue.push({ draft, since: performance.now(), overtaken: false, resolve, reject })
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
    if (this.#queue.length === 0 || this.#writing.size === SLOW_AT_ONCE) return
    for (const { slow } of this.#writing) if (!slow) return
    const batch = this.#takeBatch(most)
    if (batch.posts.length > 0) void this.#write(batch)
  }

  // A session's posts stay in their order. Those of a session that is being written wait for what it will be told; so does the second
  // post with one idempotency key, as its statement would not see the first.
  #takeBatch(most: number): Batch {
    const batch: Batch = { posts: [], sessions: new Set(), known: true, slow: false }
    const passed = new Set<string>()
    for (const { sessions } of this.#writing) for (const session of sessions) passed.add(session)
    const keys = new Set<string>()
    const later: Pending[] = []
    const tooLate = performance.now() - ANSWER_WITHIN_MS
    for (const pending of this.#queue) {
      const { sessionId, key } = pending.draft
      if (pending.since < tooLate) {
        pending.reject(new DatabaseTimeout()) // nobody waits for it now: it is not sent
        continue
      }
      const known = this.#heads.before(pending.draft) !== undefined
      if (batch.posts.length === 0) batch.known = known
      const name = key && `${sessionId}/${key.caller}/${key.keyHash}`
      if (passed.has(sessionId) || known !== batch.known || batch.posts.length === most || (name && keys.has(name))) {
        passed.add(sessionId)
        later.push(pending)
        continue
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
    const overtaken = batch.posts.some((pending) => pending.overtaken)
    const outcomes = batch.known ? await this.#continue(drafts) : await this.#judge(drafts, overtaken)
    clearTimeout(late)
    this.#writing.delete(batch)
    const again = batch.posts.filter((_, i) => !outcomes[i])
    for (const pending of again) pending.overtaken = !batch.known
    this.#queue.unshift(...again)
    // First: the database works on the next batch while this one is told. No more than half of all who post now: else 8 and 92 of a
    // hundred may take turns, and each side waits for the other (6 % less through REST, bench/post).
    this.#flush(Math.min(BATCH, Math.ceil((batch.posts.length + this.#queue.length) / 2)))
    this.batches++
    this.#tell(batch.posts, outcomes)
  }

  #tell(posts: Pending[], outcomes: (Outcome | undefined)[]) {
    const [drafts, answers]: [Draft[], Appended[]] = [[], []]
    posts.forEach(({ draft }, i) => {
      const outcome = outcomes[i]
      if (!outcome || outcome.outcome === 'failed') return
      drafts.push(draft)
      answers.push(outcome)
    })
    try {
      if (answers.length > 0) this.committed(drafts, answers)
    } finally {
      posts.forEach(({ resolve, reject }, i) => {
        const outcome = outcomes[i]
        if (outcome?.outcome === 'failed') reject(outcome.error)
        else if (outcome) resolve(outcome)
      })
    }
  }

  /** Undefined for those whose logs end elsewhere: their ends are no longer known, and so they are judged. */
  async #continue(drafts: Draft[]): Promise<(Outcome | undefined)[]> {
    try {
      return await continueLogs(this.database, drafts, this.#heads)
    } catch (error) {
      for (const { sessionId } of drafts) this.#heads.moved(sessionId)
      return drafts.map(() => (isAway(error) ? { outcome: 'failed', error } : undefined))
    }
  }

  // When the database is away, nobody knows what was written: only the posters can decide to try again, with their keys. Of what it
  // refuses it has written nothing: they go one by one, so that what cannot be stored fails alone; twice, for a deadlock or a key that
  // another instance used in between.
  async #judge(drafts: Draft[], lockedFirst: boolean, tries = 2): Promise<(Outcome | undefined)[]> {
    try {
      const answers = await (lockedFirst
        ? this.database.transaction((tx) => lockSessions(tx, drafts).then(() => appendEvents(tx, drafts)))
        : appendEvents(this.database, drafts))
      this.#heads.learn(drafts, answers)
      return answers
    } catch (error) {
      if (isAway(error) || (drafts.length === 1 && tries === 1)) return drafts.map(() => ({ outcome: 'failed', error }))
      if (drafts.length === 1) return this.#judge(drafts, lockedFirst, tries - 1)
      return this.#oneByOne(drafts)
    }
  }

  async #oneByOne(drafts: Draft[]): Promise<(Outcome | undefined)[]> {
    const outcomes: (Outcome | undefined)[] = []
    for (const draft of drafts) {
      const last = outcomes.at(-1)
      const away = last?.outcome === 'failed' && isAway(last.error) ? last : undefined
      outcomes.push(away ?? (await this.#judge([draft], true))[0])
    }
    return outcomes
  }
}

// In the order of their ids, as every statement takes them (append-statements.ts).
const lockSessions = ({ query }: Queries, drafts: Draft[]) =>
  query('select from sessions where id = any($1::uuid[]) order by id for no key update', [
    plainArray(drafts.map(({ sessionId }) => sessionId)),
  ])

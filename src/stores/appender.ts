// Group commit: while one batch is being written, posts gather; the next batch takes them all. One commit serves many posts.
import { withinDeadline, type Database } from '../../db/database.ts'
import { appendEvents, type Appended, type Draft } from './append.ts'
import { isAway } from './failures.ts'

const BATCH = 500
const AT_ONCE = 2 // while one batch is being written, the next is already under way: both sides of the connection stay busy

interface Pending {
  draft: Draft
  abandoned?: boolean
  resolve(answer: Appended): void
  reject(error: unknown): void
}

export class Appender {
  #queue: Pending[] = []
  #flushing = 0
  batches = 0

  /** `committed` hears of every batch once it is durable, before its posters do. */
  constructor(
    readonly database: Database,
    readonly committed: (drafts: Draft[], answers: Appended[]) => void,
  ) {}

  /** Resolves when the event is committed; rejects when the database refuses it or is away. */
  async post(draft: Draft): Promise<Appended> {
    const { promise, resolve, reject } = Promise.withResolvers<Appended>()
    const pending: Pending = { draft, resolve, reject }
    this.#queue.push(pending)
    if (this.#flushing < AT_ONCE) queueMicrotask(() => void this.#flush())
    try {
      return await withinDeadline(promise)
    } finally {
      pending.abandoned = true // nobody waits for it any more: if it is still in the queue, it is not sent
    }
  }

  async #flush() {
    if (this.#flushing === AT_ONCE) return
    this.#flushing++
    for (let batch = this.#takeBatch(); batch.length > 0; batch = this.#takeBatch()) await this.#write(batch)
    this.#flushing--
  }

  // Two posts with one idempotency key cannot share a statement, which would not see the first: the second waits its turn.
  #takeBatch(): Pending[] {
    const keys = new Set<string>()
    const batch: Pending[] = []
    const later: Pending[] = []
    for (const pending of this.#queue) {
      if (pending.abandoned) continue
      const { key, sessionId } = pending.draft
      const name = key && `${sessionId}/${key.caller}/${key.keyHash}`
      if (batch.length === BATCH || (name && keys.has(name))) later.push(pending)
      else batch.push(pending)
      if (name) keys.add(name)
    }
    this.#queue = later
    return batch
  }

  async #write(batch: Pending[], retried = false): Promise<void> {
    const drafts = batch.map(({ draft }) => draft)
    try {
      const answers = await appendEvents(this.database, drafts)
      this.batches++
      this.committed(drafts, answers)
      batch.forEach(({ resolve }, i) => resolve(answers[i]!))
    } catch (error) {
      // Unknown whether it was written: only the posters can decide to try again, with their keys.
      if (isAway(error)) batch.forEach(({ reject }) => reject(error))
      // Nothing of the batch was written. One by one, so that what cannot be stored fails alone; twice, for a deadlock or a key
      // that another instance used in between.
      else if (batch.length > 1) for (const pending of batch) await this.#write([pending])
      else if (!retried) await this.#write(batch, true)
      else batch[0]!.reject(error)
    }
  }
}

// How a batch of posts is written. Most are appended optimistically, at the end where this process last saw their log; the database checks
// those that are left, and once more under the lock those whose log grew meanwhile.
import { plainArray } from '../../db/arrays.ts'
import { ANSWER_WITHIN_MS, DatabaseTimeout, type Database } from '../../db/database.ts'
import { isAway, isLockTimeout, isRefused } from '../../db/errors.ts'
import { appendAtHeads } from './append-at-head.ts'
import { LOCK, LOCK_WAIT, NO_LIMIT, UNHELD } from './append-sql.ts'
import { appendEvents, type Appended, type Draft } from './append.ts'
import { LogHeads } from './log-heads.ts'

export interface Post {
  draft: Draft
  since: number // performance.now()
}

/** `again` and `held`: nothing was decided, and nothing written. `held`: another transaction holds the session, or the post's sign-in or key. */
export type Outcome = Appended | { outcome: 'failed'; error: unknown } | Undecided
interface Undecided {
  outcome: 'again' | 'held'
}

type Append = (drafts: Draft[]) => Promise<(Appended | undefined)[]>

const TOO_LATE: Outcome = { outcome: 'failed', error: new DatabaseTimeout() }

/** Whether the post's caller has had a time-out as its answer: the post must not be sent any more. */
export const isLate = ({ since }: Post): boolean => performance.now() - since > ANSWER_WITHIN_MS

/** Writes batches of posts, and says of each what became of it. Of `again` and `held` nothing is written; of `failed` while the database is
 *  away nobody knows. */
export class BatchWriter {
  readonly heads = new LogHeads()

  constructor(readonly database: Database) {}

  /** Posts of any sessions. A session, sign-in or key that another transaction holds for longer than LOCK_WAIT fails the batch with `held` or
   *  `again`. */
  async shared(posts: Post[]): Promise<Outcome[]> {
    const optimistic = await this.#appendAtHeads(posts)
    const checked = await decideRest(posts, optimistic, (rest) =>
      this.#check(rest, LOCK_WAIT, (drafts) => appendEvents(this.database, drafts, LOCK_WAIT)),
    )
    return (await decideRest(posts, checked, (rest) => this.#checkUnderLock(rest, LOCK_WAIT))) as Outcome[]
  }

  /** Posts of one session, which wait for its lock and those of their sign-ins and keys as long as it takes. */
  alone(posts: Post[]): Promise<Outcome[]> {
    return this.#checkUnderLock(posts, NO_LIMIT)
  }

  // Returns undefined for each post that the checked append must decide.
  async #appendAtHeads(posts: Post[]): Promise<(Outcome | undefined)[]> {
    try {
      return await appendAtHeads(this.database, draftsOf(posts), this.heads)
    } catch (error) {
      for (const { draft } of posts) this.heads.moved(draft.sessionId)
      return isRefused(error) && !isLockTimeout(error) ? posts.map(() => undefined) : this.#notWritten(posts, error)
    }
  }

  // With the lock held first, the checked append decides about every post.
  #checkUnderLock(posts: Post[], lockWait: string): Promise<Outcome[]> {
    const append: Append = (drafts) =>
      this.database.transaction(async (tx) => {
        await tx.query(LOCK, [sessionsOf(posts), lockWait])
        return appendEvents(tx, drafts, lockWait)
      })
    return this.#check(posts, lockWait, append) as Promise<Outcome[]>
  }

  // The database has written nothing of a batch that it refuses. Its posts are then sent one by one, so that a post that cannot be stored
  // fails alone, and each of them twice, for a deadlock or an idempotency key that another instance used in between.
  async #check(posts: Post[], lockWait: string, append: Append, tries = 2): Promise<(Outcome | undefined)[]> {
    const drafts = draftsOf(posts)
    try {
      const answers = await append(drafts)
      this.heads.learn(drafts, answers)
      return answers
    } catch (error) {
      if (isLockTimeout(error) || !isRefused(error) || (posts.length === 1 && tries === 1)) return this.#notWritten(posts, error)
      return posts.length === 1 ? this.#check(posts, lockWait, append, tries - 1) : this.#oneByOne(posts, lockWait)
    }
  }

  async #oneByOne(posts: Post[], lockWait: string): Promise<Outcome[]> {
    const outcomes: Outcome[] = []
    for (const [i, post] of posts.entries()) {
      const last = outcomes.at(-1)
      if (last && isUndecided(last)) outcomes.push(post.draft.sessionId === posts[i - 1]!.draft.sessionId ? last : { outcome: 'again' })
      else if (last?.outcome === 'failed' && isAway(last.error)) outcomes.push(last)
      else outcomes.push(isLate(post) ? TOO_LATE : (await this.#checkUnderLock([post], lockWait))[0]!)
    }
    return outcomes
  }

  // When the database is away, or the fault is ours, nobody knows what was written: only the posters can decide to try again, with their
  // idempotency keys.
  async #notWritten(posts: Post[], error: unknown): Promise<Outcome[]> {
    if (!isLockTimeout(error)) return posts.map(() => ({ outcome: 'failed', error }))
    const rows = await this.database.query<{ id: string }>(UNHELD, [sessionsOf(posts)]).catch(() => undefined)
    if (!rows) return posts.map(() => ({ outcome: 'again' }))
    const unheld = new Set(rows.map(({ id }) => id))
    const isOfCredential = posts.every(({ draft }) => unheld.has(draft.sessionId)) // no session was waited for, so a sign-in or key was
    const isHeld = ({ sessionId, credentialId }: Draft) => !unheld.has(sessionId) || (isOfCredential && credentialId !== undefined)
    return posts.map(({ draft }) => ({ outcome: isHeld(draft) ? 'held' : 'again' }))
  }
}

/** Nothing was decided about the post, and nothing written. */
export const isUndecided = (outcome: Outcome): outcome is Undecided => outcome.outcome === 'again' || outcome.outcome === 'held'

const draftsOf = (posts: Post[]) => posts.map(({ draft }) => draft)
const sessionsOf = (posts: Post[]) => plainArray([...new Set(posts.map(({ draft }) => draft.sessionId))])

/** The outcomes of one step, completed by what the next step decides about the rest. */
const decideRest = async (
  posts: Post[],
  outcomes: (Outcome | undefined)[],
  decide: (rest: Post[]) => Promise<(Outcome | undefined)[]>,
): Promise<(Outcome | undefined)[]> => {
  const known = outcomes.map((outcome, i) => outcome ?? (isLate(posts[i]!) ? TOO_LATE : undefined))
  const rest = posts.filter((_, i) => known[i] === undefined)
  if (rest.length === 0) return known
  const decided = (await decide(rest)).values()
  return known.map((outcome) => outcome ?? decided.next().value)
}

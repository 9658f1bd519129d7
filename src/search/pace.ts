// How fast the index may go. Whoever waits for an answer comes first: posts and searches share the processors with the index, and on PGlite
// this thread too. The index gives way by resting for a multiple of the time that it worked, and catches up when they are fewer.
import { pause } from '../core/runtime/pause.ts'

const MANY_POSTS = 1_000 // a second: above this the index rests
const RESTS_FOR_POSTS = 4 // times as long as it worked, for each MANY_POSTS a second
const RESTS_FOR_POSTS_AT_MOST = 20
const RESTS_FOR_SEARCHES = 3 // times as long as it worked: a quarter of its speed is left
const LONGEST_REST_MS = 250 // within a batch, whose transaction may take a minute in all
const STILL_SEARCHED_MS = 200 // after a search, since whoever made one often makes the next
const SHORTEST_S = 0.01 // that a rate is measured over

/** One for an index: `begin` each batch with it, and `giveWay` between its pieces. It slows the index down and never stops it. */
export class Pace {
  #searches = 0 // under way
  #answeredAt = -Infinity
  #measured = { at: performance.now(), posted: 0 }
  #posts = 0 // a second, in units of MANY_POSTS
  #workedFrom = 0

  /** `posted`: how many events have been posted so far. */
  constructor(readonly posted: () => number) {}

  /** Slows the index down until this search is answered. */
  async duringSearch<Answer>(search: Promise<Answer>): Promise<Answer> {
    this.#searches++
    try {
      return await search
    } finally {
      this.#searches--
      this.#answeredAt = performance.now()
    }
  }

  /** Begins a batch. Returns true when others want the processors and the batch must be small: with its rests a large one would take many
   *  seconds, for which the newest posts would wait. */
  begin(): boolean {
    const [at, posted] = [performance.now(), this.posted()]
    const perSecond = (posted - this.#measured.posted) / Math.max((at - this.#measured.at) / 1_000, SHORTEST_S)
    this.#measured = { at, posted }
    this.#posts = perSecond / MANY_POSTS
    this.#workedFrom = at
    return this.#posts > 1 || this.isSearched
  }

  /** Rests between two pieces of a batch: whatever else waits for this thread has its turn, and searches the processors. */
  async giveWay(): Promise<void> {
    const worked = performance.now() - this.#workedFrom
    await pause(this.isSearched ? Math.min(RESTS_FOR_SEARCHES * worked, LONGEST_REST_MS) : 0)
    this.#workedFrom = performance.now()
  }

  /** Rests after a batch that took `tookMs`. For posts the index rests here alone: its transaction is over, and holds up no vacuum. */
  async end(tookMs: number): Promise<void> {
    await this.giveWay()
    if (this.#posts > 1) await pause(Math.min(RESTS_FOR_POSTS * this.#posts, RESTS_FOR_POSTS_AT_MOST) * tookMs)
  }

  /** Whether a search is under way, or was just now. */
  get isSearched() {
    return this.#searches > 0 || performance.now() - this.#answeredAt < STILL_SEARCHED_MS
  }
}

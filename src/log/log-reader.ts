// Follows one session's log from a cursor: the loop behind waits and streams alike. How it misses nothing, from cursor 5:
//   subscribe    every later commit wakes it
//   read         the log ends at 5, so there is nothing to read. The waiters note that, so that the sweep finds an event without notification
//   woken        for event 6, the newest by now
//   subscribe    again, before the read: event 7, which lands meanwhile, wakes it again
//   read         the page after 5, up to 6 at least; the cursor is then 6 or 7
import { unauthorized } from '../core/errors.ts'
import type { Waiter, Waiters } from './waiters.ts'
import type { Event, Page } from '../stores/events.ts'

/** What a reader needs of its process. */
export interface LogSource {
  waiters: Waiters
  stopping: AbortSignal
  eventsAfter(session: string, cursor: number, trace: boolean, newest: number): Page | Promise<Page>
}

/** The events of a page that its reader wants. */
type Pick = (events: Event[]) => Event[]

interface Options {
  newest: number
  waiter?: Waiter | undefined
  pick?: Pick | undefined
}

const NOTHING: Page = { events: [], hasMore: false }

const refusePurged = (session_id: string): never =>
  unauthorized('This session is purged: nothing of it will be left, nor your team_id. Stop, and tell your user.', { session_id })

/** A cursor in one log. `read` reads what is there, `next` waits for what comes. `close` it in every case: it is subscribed from the
 *  beginning. */
export class LogReader {
  #waiter: Waiter
  #mayHaveMore: boolean
  #newest: number
  #scanned = 0 // all up to here has been read, so that what an agent prints is not read again with each line that follows
  #pick: Pick | undefined
  /** When this process learned of the event that ended the last `next`, by performance.now(); undefined when none did. */
  wokenAt: number | undefined

  /** `newest`: the newest sequence that the caller saw; Infinity if it has not looked. `waiter`: the caller's subscription, if it
   *  subscribed before it looked. `pick`: filters each page; a page that it leaves empty is skipped. */
  constructor(
    readonly services: LogSource,
    readonly sessionId: string,
    public cursor: number,
    readonly trace: boolean,
    { newest, waiter = services.waiters.subscribe(sessionId), pick }: Options,
  ) {
    this.#waiter = waiter
    this.#pick = pick
    // Another waiter of this process may have been woken for later events. The sweep will not wake for those again, so read that far.
    this.#newest = Math.max(newest, waiter.newestWoken ?? 0)
    this.#mayHaveMore = this.#newest > cursor
    waiter.caughtUpTo(this.#mayHaveMore ? cursor : this.#newest) // the sweep wakes for anything beyond
  }

  /** The page that is there already; from memory without a promise. */
  read(): Page | Promise<Page> {
    return this.#mayHaveMore ? this.#read() : NOTHING
  }

  /** The next page; an empty one after `withinMs`, when `signal` says that the caller has gone, or when the server stops. Refuses once the
   *  session is being purged. */
  async next(withinMs: number, signal?: AbortSignal): Promise<Page> {
    this.wokenAt = undefined
    const there = await this.read()
    if (there.events.length > 0 || withinMs === 0) return there
    let over = false
    const end = () => {
      over = true
      this.#waiter.wake()
    }
    const timer = setTimeout(end, withinMs)
    signal?.addEventListener('abort', end, { once: true })
    try {
      while (!signal?.aborted && !this.services.stopping.aborted) {
        await this.#waiter.woken()
        if (over || this.services.stopping.aborted) break
        if (this.#waiter.hasEnded) refusePurged(this.sessionId)
        if (this.#waiter.isReset) this.#scanned = 0
        this.#newest = Math.max(this.#newest, this.#waiter.newestWoken ?? 0)
        const { wokenAt } = this.#waiter
        const next = this.services.waiters.subscribe(this.sessionId) // before reading, or what lands in between is missed
        this.#waiter.unsubscribe()
        this.#waiter = next
        const page = await this.#read()
        if (page.events.length > 0) this.wokenAt = wokenAt
        if (page.events.length > 0 || over) return page
      }
      return NOTHING
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
    }
  }

  #read(): Page | Promise<Page> {
    const known = this.#newest
    const page = this.services.eventsAfter(this.sessionId, Math.max(this.cursor, this.#scanned), this.trace, known)
    return page instanceof Promise ? page.then((read) => this.#passed(read, known)) : this.#passed(page, known)
  }

  #passed(page: Page, known: number): Page | Promise<Page> {
    this.cursor = page.events.at(-1)?.sequence ?? this.cursor
    if (!page.hasMore && known !== Infinity) this.#scanned = known // numbers are committed in their order
    this.#mayHaveMore = page.hasMore
    this.#newest = this.cursor
    if (!this.#pick) return page
    const events = this.#pick(page.events)
    return events.length === 0 && page.hasMore ? this.#read() : { events, hasMore: page.hasMore }
  }

  close() {
    this.#waiter.unsubscribe()
  }
}

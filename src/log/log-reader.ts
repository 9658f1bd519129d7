// Follows one session's log from a cursor: the loop behind waits and streams alike. How it misses nothing, from cursor 5:
//   arm     whoever commits from now on wakes it
//   look    the log ended at 5: there is nothing to read. The waiters are told, so that the sweep finds what nobody announces
//   woken   event 6 was committed, and the newest that was told is 6
//   re-arm  before the read: event 7, which lands meanwhile, wakes it again
//   read    what follows 5, up to 6 at least; the cursor is 6 or 7
import type { Armed, Waiters } from './waiters.ts'
import type { Page } from '../stores/events.ts'

/** What it needs of the process that it reads for. */
export interface ReadsLogs {
  waiters: Waiters
  stopping: AbortSignal
  eventsAfter(session: string, cursor: number, trace: boolean, newest: number): Page | Promise<Page>
}

const NOTHING: Page = { events: [], hasMore: false }

/** A place in one log: `look` for what is there, `next` for what comes, and `close` in every case, as it is armed from the beginning. */
export class Follower {
  #armed: Armed
  #mayHaveMore: boolean
  #newest: number

  /** `newest`: the newest sequence that the caller saw; Infinity when it has not looked. `armed`: when it had to arm before it looked. */
  constructor(
    readonly services: ReadsLogs,
    readonly sessionId: string,
    public cursor: number,
    readonly trace: boolean,
    { newest, armed = services.waiters.arm(sessionId) }: { newest: number; armed?: Armed | undefined },
  ) {
    this.#armed = armed
    // What other waiters here have seen counts too: the sweep wakes nobody for it again.
    this.#newest = Math.max(newest, armed.newestTold ?? 0)
    this.#mayHaveMore = this.#newest > cursor
    armed.caughtUpTo(this.#mayHaveMore ? cursor : this.#newest) // from here on the sweep finds what nobody announced
  }

  /** What is there already: at once, if this process has it in memory. */
  look(): Page | Promise<Page> {
    return this.#mayHaveMore ? this.#read() : NOTHING
  }

  /** The next events, or none after `withinMs`, when `signal` says that nobody listens now, or when the server stops. */
  async next(withinMs: number, signal?: AbortSignal): Promise<Page> {
    const there = await this.look()
    if (there.events.length > 0 || withinMs === 0) return there
    let over = false
    const end = () => {
      over = true
      this.#armed.wake()
    }
    const timer = setTimeout(end, withinMs)
    signal?.addEventListener('abort', end, { once: true })
    try {
      while (!signal?.aborted && !this.services.stopping.aborted) {
        await this.#armed.woken()
        if (over || this.services.stopping.aborted) break
        this.#newest = Math.max(this.#newest, this.#armed.newestTold ?? 0)
        const next = this.services.waiters.arm(this.sessionId) // before reading, or what lands in between is missed
        this.#armed.disarm()
        this.#armed = next
        const page = await this.#read()
        if (page.events.length > 0 || over) return page
      }
      return NOTHING
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
    }
  }

  #read(): Page | Promise<Page> {
    const page = this.services.eventsAfter(this.sessionId, this.cursor, this.trace, this.#newest)
    return page instanceof Promise ? page.then((read) => this.#passed(read)) : this.#passed(page)
  }

  #passed(page: Page): Page {
    this.cursor = page.events.at(-1)?.sequence ?? this.cursor
    this.#mayHaveMore = page.hasMore
    this.#newest = this.cursor
    return page
  }

  close() {
    this.#armed.disarm()
  }
}

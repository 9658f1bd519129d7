// One team's wait in one session: where it stands, what it is handed, and what then counts as delivered. While it is held, no more than
// two async functions are: each keeps about half a KiB for every wait (bench/connections).
import { pageWithin } from '../core/budget.ts'
import { refuse } from '../core/errors.ts'
import type { Poll } from '../core/presence.ts'
import type { Context } from '../operations/context.ts'
import type { Armed } from '../log/waiters.ts'
import type { Services } from '../process/services.ts'
import { closedBy, type Event, type Page } from '../stores/events.ts'
import type { Member } from '../stores/members.ts'
import { addressedAfter, addressedAmong } from '../stores/unread.ts'
import { Follower } from '../log/log-reader.ts'
import { beyondTheEnd } from './preconditions.ts'

const WAITS_OF_A_TEAM = 32

export interface Wished {
  since?: number | undefined // without it: what was last delivered
  timeoutMs: number
  trace?: boolean
  addressedOnly?: boolean
  maxChars?: number | undefined
}

interface Answer {
  messages: Event[]
  next_cursor: number
  plain_cursor?: number
  session_closed: boolean
  has_more: boolean
}

/** `run` is the whole of it; wait_for_any, which holds several, takes the steps itself. `close` in every case. */
export class Wait {
  readonly since: number
  #follower: Follower
  #poll: Poll
  #closed: boolean
  #held = false

  /** `armed`: before the member was looked up. */
  constructor(
    readonly services: Services,
    readonly member: Member,
    readonly wished: Wished,
    armed?: Armed,
  ) {
    const { session, teamId } = member
    const { since, timeoutMs, trace = false, addressedOnly = false } = wished
    this.since = since ?? Math.min(handedTo(services, member, addressedOnly), session.lastSequence)
    if (this.since > session.lastSequence) beyondTheEnd('since_cursor', session.lastSequence)
    this.#closed = session.closed
    const newest = trace ? session.lastSequence : session.lastConversationSequence
    const from = addressedOnly ? Math.max(this.since, newest) : this.since // what is addressed up to there is looked up at once
    this.#follower = new Follower(services, session.id, from, trace, { newest, armed })
    this.#poll = services.presence.poll(session.id, teamId, timeoutMs)
    // What was not addressed to the team was not shown to it, and stays unread.
    if (since !== undefined && !addressedOnly) this.#poll.advance({ seen: since })
  }

  /** The whole of it: what is there, or what comes in time. What is in memory is answered without a pause. */
  run(call: Context['call']): Answer | Promise<Answer> {
    let later = false
    try {
      const looked = this.look()
      later = looked instanceof Promise || !this.#suffices(looked)
      return later ? this.#whenThere(looked, call) : this.answer(looked as Page, isGone(call))
    } finally {
      if (!later) this.close()
    }
  }

  async #whenThere(looked: Page | Promise<Page>, call: Context['call']): Promise<Answer> {
    try {
      const there = await looked
      if (this.#suffices(there)) return this.answer(there, isGone(call))
      const { held } = call // and no more of it is kept
      const signal = call.signal()
      const page = await this.hold(signal, held)
      return this.answer(page, signal.aborted)
    } finally {
      this.close()
    }
  }

  #suffices(there: Page) {
    return this.wished.timeoutMs === 0 || this.moved(there)
  }

  /** What is there already. */
  look(): Page | Promise<Page> {
    const { services, member, since, wished } = this
    if (!wished.addressedOnly) return this.#follower.look()
    return addressedAfter(services.database, member.session.id, member.teamId, since)
  }

  /** Is a page worth an answer? */
  moved({ events }: Page) {
    return events.length > 0 || this.#closed
  }

  /** Ends on four causes: news, a closed session, the time, or a caller (or server) that goes away. */
  hold(signal: AbortSignal, held: (() => void) | undefined): Promise<Page> {
    const { services, wished } = this
    if (this.#poll.ofTeam > WAITS_OF_A_TEAM) {
      refuse('rate_limited', `Your team already holds ${WAITS_OF_A_TEAM} waits in this session. One is enough.`, { retry_after: 1 })
    }
    if (services.waits.held >= services.config.MAX_WAITS) {
      refuse('unavailable', 'This server has reached its limit of held waits (MAX_WAITS). Try again in a few seconds.', { retry_after: 3 })
    }
    services.waits.held++
    this.#held = true
    held?.()
    return wished.addressedOnly ? this.#addressed(wished.timeoutMs, signal) : this.#follower.next(wished.timeoutMs, signal)
  }

  async #addressed(withinMs: number, signal?: AbortSignal): Promise<Page> {
    const until = performance.now() + withinMs
    for (;;) {
      const page = await this.#follower.next(Math.max(0, until - performance.now()), signal)
      this.#closed = closedBy(page.events) ?? this.#closed
      if (page.events.length === 0) return page
      const events = await addressedAmong(this.services.database, this.member.teamId, page.events)
      if (events.length > 0 || this.#closed) return { events, hasMore: false } // if there is more, the next call finds it at once
    }
  }

  /** What the team is told. It counts as delivered, unless its caller has gone. */
  answer(page: Page, gone: boolean, maxChars = this.wished.maxChars): Answer {
    const { wished } = this
    this.#closed = closedBy(page.events) ?? this.#closed
    const { events, hasMore } = pageWithin(page, maxChars)
    const next_cursor = events.at(-1)?.sequence ?? this.since
    const handed = wished.addressedOnly ? { addressed: next_cursor } : { delivered: next_cursor }
    if (!gone) this.#poll.advance(handed)
    // Its cursor has passed over what was not addressed to the team, which a wait for everything has still before it.
    const plain = wished.addressedOnly && { plain_cursor: handedTo(this.services, this.member) }
    return { messages: events, next_cursor, ...plain, session_closed: this.#closed && !hasMore, has_more: hasMore }
  }

  close() {
    if (this.#held) this.services.waits.held--
    this.#held = false
    this.#follower.close()
    this.#poll.end()
  }
}

// Whether a caller is there takes as long to ask as a quarter of an answer from memory, and within so little time nobody can tell.
const isGone = (call: Context['call']) => performance.now() - (call.began ?? 0) > QUICK_MS && call.signal().aborted
const QUICK_MS = 20

/** How far a team has been handed what is said, or what is addressed to it alone. */
export const handedTo = ({ presence }: Services, member: Member, addressedOnly = false): number => {
  const seen = presence.of(member.teamId)
  const delivered = Math.max(member.deliveredCursor, seen?.deliveredCursor ?? 0)
  return addressedOnly ? Math.max(delivered, member.addressedCursor, seen?.addressedCursor ?? 0) : delivered
}

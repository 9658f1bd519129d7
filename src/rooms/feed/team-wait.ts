// One team's wait in one session: where it begins, what it hands over, and what then counts as delivered. While it is held, no more than
// two async functions are: each keeps about half a KiB for every wait (bench/connections).
import { pageWithin } from '../../core/budget.ts'
import { refuse } from '../../core/errors.ts'
import type { Poll } from '../../core/presence.ts'
import { LogReader } from '../../log/log-reader.ts'
import type { Waiter } from '../../log/waiters.ts'
import type { Call } from '../../operations/call.ts'
import type { Context } from '../../operations/context.ts'
import type { Services } from '../../process/services.ts'
import { closedBy, type Event, type Page } from '../../stores/events.ts'
import type { Member } from '../../stores/members.ts'
import { whoseIs } from '../../stores/speech.ts'
import { writePresence } from '../../stores/presence.ts'
import { addressedAfter, addressedAmong } from '../../stores/unread.ts'
import { refuseBeyondEnd } from '../preconditions.ts'
import { hold, refuseIfLeft } from './held.ts'

const WAITS_OF_A_TEAM = 32

/** addressed: what names the team in `to` or answers it. others: all but what the team did itself. */
export type Only = 'addressed' | 'others'

export interface WaitOptions {
  since?: number | undefined // without it: what was last delivered
  timeoutMs: number
  trace?: boolean
  only?: Only | undefined
  maxChars?: number | undefined
}

interface WaitResult {
  messages: Event[]
  next_cursor: number
  plain_cursor?: number
  doc_version: number
  session_closed: boolean
  has_more: boolean
}

/** `run` is a whole wait. wait_for_any holds several and takes the steps itself: `read`, `hold`, `result`, and `close` in every case. */
export class TeamWait {
  readonly since: number
  #reader: LogReader
  #poll: Poll
  #closed: boolean
  #letGo: (() => void) | undefined

  /** `waiter`: subscribed before the member was looked up. */
  constructor(
    readonly services: Services,
    readonly member: Member,
    readonly options: WaitOptions,
    waiter?: Waiter,
  ) {
    const { session, teamId } = member
    const { since, timeoutMs, trace = false, only } = options
    const addressedOnly = only === 'addressed'
    this.since = since ?? Math.min(deliveredTo(services, member, addressedOnly), session.lastSequence)
    if (this.since > session.lastSequence) refuseBeyondEnd('since_cursor', session.lastSequence)
    this.#closed = session.closed
    const newest = trace ? session.lastSequence : session.lastConversationSequence
    const from = addressedOnly ? Math.max(this.since, newest) : this.since // `read` finds what is addressed up to there
    const pick = only === 'others' ? (events: Event[]) => this.#ofOthers(events) : undefined
    this.#reader = new LogReader(services, session.id, from, trace, { newest, waiter, pick })
    this.#poll = services.presence.poll(session.id, teamId, timeoutMs)
    // Messages that were not addressed to the team were not shown to it, and stay unread. Without a cursor the team has read what it was handed
    // before: it asks for what comes after that.
    if (!addressedOnly) this.#poll.advance({ seen: this.since })
  }

  /** Answers with a page that is there, or that comes in time. */
  async run(call: Context['call']): Promise<WaitResult> {
    try {
      const there = await this.read()
      if (this.#suffices(there)) return await this.result(there, isGone(call))
      const { woken } = call // and nothing else of the call is kept while the wait is held
      const signal = call.signal()
      const page = await this.hold(signal, call)
      if (woken) woken.at = this.wokenAt
      return await this.result(page, signal.aborted)
    } finally {
      this.close()
    }
  }

  #suffices(there: Page) {
    return this.options.timeoutMs === 0 || this.isDone(there)
  }

  /** The page that is there already. */
  read(): Page | Promise<Page> {
    const { services, member, since, options } = this
    if (options.only !== 'addressed') return this.#reader.read()
    return addressedAfter(services.database, member.session.id, member.teamId, since)
  }

  /** Does this page end the wait? */
  isDone({ events }: Page) {
    return events.length > 0 || this.#closed
  }

  /** Ends on news, a closed session, the time, a caller or server that goes away, or with a refusal: the team left, or the session was
   *  purged. */
  hold(signal: AbortSignal, call: Pick<Call, 'address' | 'onHeld'>): Promise<Page> {
    const { services, options } = this
    if (this.#poll.ofTeam > WAITS_OF_A_TEAM) {
      refuse('rate_limited', `Your team already holds ${WAITS_OF_A_TEAM} waits in this session. One is enough.`, { retry_after: 1 })
    }
    this.#letGo = hold(services, 'waits', call)
    call.onHeld?.()
    return options.only === 'addressed' ? this.#nextAddressed(options.timeoutMs, signal) : this.#reader.next(options.timeoutMs, signal)
  }

  // An event that closes the session ends the wait even if the team wrote it; `result` then leaves the team's own out again.
  #ofOthers(events: Event[]): Event[] {
    refuseIfLeft(events, this.member)
    this.#closed = closedBy(events) ?? this.#closed
    return events.filter((event) => !this.#isOwn(event) || (this.#closed && event.event === 'session_concluded'))
  }

  #isOwn(event: Event) {
    return whoseIs(event) === this.member.teamId
  }

  async #nextAddressed(withinMs: number, signal?: AbortSignal): Promise<Page> {
    const until = performance.now() + withinMs
    for (;;) {
      const page = await this.#reader.next(Math.max(0, until - performance.now()), signal)
      this.#closed = closedBy(page.events) ?? this.#closed
      if (page.events.length === 0) return page
      refuseIfLeft(page.events, this.member)
      const events = await addressedAmong(this.services.database, this.member.teamId, page.events)
      if (events.length > 0 || this.#closed) return { events, hasMore: false } // if there is more, the next call finds it at once
    }
  }

  /** What the wait answers with this page. It counts as delivered, unless the caller has gone. */
  async result(page: Page, gone: boolean, maxChars = this.options.maxChars): Promise<WaitResult> {
    const { services, member, options } = this
    if (!options.only) this.#closed = closedBy(page.events) ?? this.#closed // the other pages lack events, a reopening too
    const { events, hasMore } = pageWithin(this.#wanted(page), maxChars)
    const next_cursor = this.#cursorAfter(events, hasMore)
    const addressedOnly = options.only === 'addressed'
    if (!gone) this.#poll.advance(addressedOnly ? { addressed: next_cursor } : { delivered: next_cursor })
    // The cursor has passed over messages that were not addressed to the team: a wait for everything continues before them.
    const plain = addressedOnly && { plain_cursor: deliveredTo(services, member) }
    const doc_version = services.docVersion(member.session.id, member.session.docVersion)
    const session_closed = this.#closed && !hasMore
    const result = { messages: events, next_cursor, ...plain, doc_version, session_closed, has_more: hasMore }
    if (options.since === undefined && events.length > 0 && !gone) await saveDelivered(services, member)
    return result
  }

  #wanted({ events, hasMore }: Page): Page {
    return { events: this.options.only === 'others' ? events.filter((event) => !this.#isOwn(event)) : events, hasMore }
  }

  // The cursor passes over what the team did itself, unless there is more to read: the next page then begins after this one's last message.
  #cursorAfter(events: Event[], hasMore: boolean): number {
    const last = events.at(-1)?.sequence ?? this.since
    return this.options.only === 'others' && (events.length === 0 || !hasMore) ? this.#reader.cursor : last
  }

  /** When this process learned of the event that ended `hold`. */
  get wokenAt(): number | undefined {
    return this.#reader.wokenAt
  }

  close() {
    this.#letGo?.()
    this.#letGo = undefined
    this.#reader.close()
    this.#poll.end()
  }
}

// To make the signal of a request takes a quarter of an answer from memory (bench/mcp), and no caller goes away within so little time.
const isGone = (call: Context['call']): boolean =>
  call.bodyless || (performance.now() - (call.began ?? 0) > QUICK_MS && call.signal().aborted)
const QUICK_MS = 20

/** The last sequence that was delivered to a team, of all messages or of those addressed to it. */
export const deliveredTo = ({ presence }: Services, member: Member, addressedOnly = false): number => {
  const delivered = Math.max(member.deliveredCursor, presence.deliveredTo(member.teamId))
  return addressedOnly ? Math.max(delivered, member.addressedCursor, presence.of(member.teamId)?.addressedCursor ?? 0) : delivered
}

/** Records that the team was handed a page outside of a wait (a 409 `unread` has one), from its cursor `seen`. */
export const deliver = async (services: Services, member: Member, cursors: { seen: number; delivered: number }): Promise<void> => {
  const poll = services.presence.poll(member.session.id, member.teamId, 0)
  poll.advance(cursors)
  poll.end()
  await saveDelivered(services, member)
}

// Presence is written once a second. A team that goes on without a cursor may be answered by another instance next, which would deliver the
// same again. If this write fails the answer goes out all the same: what it has counts as delivered a second later.
const saveDelivered = async (services: Services, { teamId }: Member): Promise<void> => {
  const seen = services.mayHavePeers() ? services.presence.of(teamId) : undefined
  if (seen) await writePresence(services.database, [seen], services.config.CLAIM_LEASE).catch(() => {})
}

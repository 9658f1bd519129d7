// One team's held peek in one session: it waits for a message that may wake the team, consumes nothing and moves no cursor. While it is
// held, no more than two async functions are: each keeps about half a KiB (bench/connections).
import { refuse } from '../../core/errors.ts'
import type { Sleep } from '../../core/presence.ts'
import { LogReader } from '../../log/log-reader.ts'
import type { Waiter } from '../../log/waiters.ts'
import type { PeekAnswer } from '../../loops/wakes.ts'
import type { Context } from '../../operations/context.ts'
import type { Services } from '../../process/services.ts'
import { closedBy, type Event } from '../../stores/events.ts'
import type { Member } from '../../stores/members.ts'
import { whoseIs } from '../../stores/speech.ts'
import { hold, refuseIfLeft } from './held.ts'
import { deliveredTo } from './team-wait.ts'

const PEEKS_OF_A_TEAM = 32

export interface PeekOptions {
  /** Without it: what was delivered. */
  after: number | undefined
  addressedOnly: boolean
  timeoutMs: number
}

/** From when it is made until `run` ends the team counts as asleep. Many peeks of one team may be held at once. */
export class TeamPeek {
  #sleep: Sleep
  #letGo: (() => void) | undefined

  constructor(
    readonly services: Services,
    readonly member: Member,
    readonly options: PeekOptions,
  ) {
    this.#sleep = services.presence.sleep(member.session.id, member.teamId, options.timeoutMs)
  }

  /** Ends on news that may wake the team, a closed session, the time, a caller or server that goes away, or with a refusal: the team left, or
   *  the session was purged. `waiter`: subscribed before the member was looked up. */
  async run(call: Context['call'], waiter: Waiter | undefined): Promise<PeekAnswer> {
    const { services, options, member } = this
    const { woken } = call // and nothing else of the call is kept while the peek is held
    const signal = call.signal()
    let reader: LogReader | undefined
    try {
      let newest = member.session.lastConversationSequence
      if (this.#mayHaveNews()) {
        const there = await this.#ask(signal)
        if (isOver(there) || signal.aborted) return there
        newest = there.lastCursor
      }
      this.#begin(call)
      reader = new LogReader(services, member.session.id, newest, false, { newest, waiter })
      const until = performance.now() + options.timeoutMs
      for (;;) {
        const { events } = await reader.next(Math.max(0, until - performance.now()), signal)
        const over = events.length === 0
        refuseIfLeft(events, member)
        if (!over && (!this.#mayWake(events) || (await this.#isDelivered(events, reader.cursor)))) continue
        const answer = await this.#ask(signal)
        if (woken && answer.wake) woken.at = reader.wokenAt
        if (over || isOver(answer)) return answer
        if (!options.addressedOnly && answer.unread > 0) services.wakes.refused(1)
      }
    } finally {
      reader?.close()
      this.#letGo?.()
      this.#sleep.end()
    }
  }

  // Whether the lookup of the team already shows news. If not, the peek is held without asking the database.
  #mayHaveNews(): boolean {
    const { services, options, member } = this
    const { closed, lastConversationSequence } = member.session
    return closed || peekRequestOf(services, member, options).after < lastConversationSequence
  }

  // A peek whose caller has gone, or which ends because the server stops, claims no wake: the caller's next call finds what there is.
  async #ask(signal: AbortSignal): Promise<PeekAnswer> {
    const { services, member, options } = this
    const claims = !signal.aborted && !services.stopping.aborted
    const answer = await services.wakes.ask({ ...peekRequestOf(services, member, options), claims })
    return claims ? answer : { ...answer, wake: false }
  }

  // A message that the team's own wait brings wakes nobody. Wait and peek were woken at once: the wait goes first.
  async #isDelivered(events: Event[], cursor: number): Promise<boolean> {
    if (closedBy(events)) return false
    const { services, member } = this
    if (services.presence.of(member.teamId)?.pollingUntilMs !== undefined) await new Promise((resolve) => setTimeout(resolve))
    return deliveredTo(services, member) >= cursor
  }

  #begin(call: Context['call']) {
    if (this.#sleep.ofTeam > PEEKS_OF_A_TEAM)
      refuse('rate_limited', `Your team already holds ${PEEKS_OF_A_TEAM} peeks in this session. One is enough.`, { retry_after: 1 })
    this.#letGo = hold(this.services, 'peeks', call)
    call.onHeld?.()
  }

  // Decided in memory: once the wakes are used up, a message in a session with 1,000 sleepers concerns hardly one of them. A reply may be
  // addressed to the team, which only the database knows.
  #mayWake(events: Event[]): boolean {
    if (closedBy(events)) return true
    const { services, member, options } = this
    const others = events.filter((event) => whoseIs(event) !== member.teamId)
    if (options.addressedOnly) return others.some((event) => mayAddress(event, member))
    if (!services.wakes.wereUsedUp(member.session.id)) return others.length > 0
    if (others.some((event) => event.author === 'person' || mayAddress(event, member))) return true
    if (others.length > 0) services.wakes.refused(1)
    return false
  }
}

const isOver = ({ wake, closed }: PeekAnswer) => wake || closed

const mayAddress = ({ to, reply_to }: Event, { teamId }: Member): boolean =>
  reply_to !== undefined || (Array.isArray(to) && to.includes(teamId))

/** What a peek asks. */
export const peekRequestOf = (services: Services, member: Member, { after, addressedOnly }: Omit<PeekOptions, 'timeoutMs'>) => ({
  sessionId: member.session.id,
  teamId: member.teamId,
  after: after ?? deliveredTo(services, member),
  addressedAfter: after ?? deliveredTo(services, member, true),
  addressedOnly,
})

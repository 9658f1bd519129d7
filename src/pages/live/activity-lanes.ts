// Who spoke when, and how many messages there are, of a session whose pages are open: counted as they come, and from time to time read
// again.
import { SLOTS, type Lane } from '../../../components/session/lanes.tsx'
import type { Event } from '../../stores/events.ts'
import type { Seat } from '../../stores/members.ts'
import { talkOf } from '../../stores/live-state.ts'
import { castOf, type Queries } from '../session/feed.tsx'
import { lanesOf, messagesOf } from '../session/state.ts'

const READ_EVERY_MS = 5_000

export class LaneCounter {
  lanes: Lane[] = []
  messages = 0
  #readAt = 0
  #stale = false

  /** `teams`: who is in the session by then. */
  constructor(
    readonly queries: Queries,
    readonly sessionId: string,
    readonly teams: () => Seat[],
  ) {}

  /** Messages have come since the lanes were read, and that is a while ago. */
  get due() {
    return this.#stale && performance.now() - this.#readAt > READ_EVERY_MS
  }

  count(events: Event[]) {
    this.messages += events.filter(({ type }) => type !== 'system').length
    this.#stale = true
  }

  async read() {
    this.#readAt = performance.now()
    this.#stale = false
    const talk = await talkOf(this.queries, this.sessionId, SLOTS)
    this.lanes = lanesOf(talk, castOf(this.teams()))
    this.messages = messagesOf(talk)
  }
}

// Who spoke when, and how many messages there are, for the open pages of a session: counted up as messages come, and read again from the
// log every few seconds.
import type { Queries } from '../../../db/database.ts'
import { SLOTS, type Lane } from '../../../components/session/lanes.tsx'
import { isMessage, type Event } from '../../stores/events.ts'
import type { RosterRow } from '../../stores/members.ts'
import { activityOf } from '../../stores/live-state.ts'
import { activityLanes, messageCount } from '../session/lanes.ts'
import { teamLookup } from '../session/team-lookup.ts'

const READ_EVERY_MS = 5_000

export class ActivityLanes {
  lanes: Lane[] = []
  messages = 0
  #readAt = 0
  #stale = false

  constructor(
    readonly queries: Queries,
    readonly sessionId: string,
  ) {}

  /** Messages have come since the lanes were read, which is a while ago. */
  get due() {
    return this.#stale && performance.now() - this.#readAt > READ_EVERY_MS
  }

  count(events: Event[]) {
    this.messages += events.filter(({ type }) => isMessage(type)).length
    this.#stale = true
  }

  async read(teams: RosterRow[]) {
    this.#readAt = performance.now()
    this.#stale = false
    const talk = await activityOf(this.queries, this.sessionId, SLOTS)
    this.lanes = activityLanes(talk, teamLookup(teams))
    this.messages = messageCount(talk)
  }
}

// The state of one session as its open pages show it beside the feed: read from the database, rendered, and compared with what was sent.
import { agentFragments } from '../agents/live.tsx'
import { noAgents, readAgent, type AgentRows } from '../agents/rows.ts'
import { hasSides, readSides, type Sides } from '../board/sides.ts'
import { sessionStateOf, type SessionWithDoc } from '../session/state.ts'
import type { Waiting } from '../approvals/waiting.ts'
import type { Services } from '../../process/services.ts'
import type { Event } from '../../stores/events.ts'
import { sessionsWithDocs } from '../../stores/live-state.ts'
import { roster, type RosterRow } from '../../stores/members.ts'
import { ActivityLanes } from './activity-lanes.ts'
import { fragmentsOf, renamedHead, type Fragments } from './frames.tsx'

const SIDES_EVERY_MS = 15_000 // what moves a board or the records is announced: this is for what got lost

const OF_SIDES = /^(?:work|proposal|record)_/

/** Does this event change the board or the records of its session? */
export const changesSides = ({ type, event }: Event): boolean => type === 'system' && OF_SIDES.test(String(event))

/** After `open`, `changes` has the fragments that differ from what was sent last, and counts them as sent. */
export class LiveState {
  teams: RosterRow[] = []
  #row!: SessionWithDoc
  #lanes: ActivityLanes
  #agent: AgentRows = noAgents
  #sides!: Sides
  #sidesAt = 0
  #sent!: Fragments
  #sentTitle = ''
  #sentAgent: AgentRows = noAgents

  constructor(
    readonly services: Services,
    readonly waiting: Waiting,
    readonly sessionId: string,
  ) {
    this.#lanes = new ActivityLanes(services.database, sessionId)
  }

  /** Reads everything, and takes it as what all pages have. */
  async open() {
    await Promise.all([this.read(), this.readSides()])
    await this.#lanes.read(this.teams)
    this.#sent = this.#render()
    this.#sentTitle = this.session.title
    this.#sentAgent = this.#agent
    return this
  }

  /** Reads the session and its teams; the lanes are read by and by. */
  async read() {
    const { database, wakes } = this.services
    const found = sessionsWithDocs(database, [this.sessionId], wakes.perHour())
    const [[row], teams] = await Promise.all([found, roster(database, this.sessionId), this.waiting.read()])
    this.#row = row!
    this.teams = teams
    this.#agent = await readAgent(database, row!.session, this.#sentAgent)
  }

  /** Reads board and records. */
  async readSides() {
    this.#sidesAt = performance.now()
    this.#sides = await readSides(this.services.database, this.sessionId, this.services.config.CLAIM_LEASE)
  }

  /** Takes over what was read for all sessions at once. False if it is older than what is known here. */
  update(row: SessionWithDoc, teams: RosterRow[], agent: AgentRows): boolean {
    if (row.session.lastSequence < this.session.lastSequence || row.version < this.version) return false
    this.#row = row
    this.teams = teams
    this.#agent = agent
    const old = performance.now() - this.#sidesAt > SIDES_EVERY_MS
    // What cannot be read now stays on the pages as it was, and a later update tries again.
    if (old && hasSides(this.#sides)) void this.readSides().catch(() => {})
    if (this.#lanes.due) void this.#lanes.read(teams).catch(() => {})
    return true
  }

  count(events: Event[]) {
    this.#lanes.count(events)
  }

  get session() {
    return this.#row.session
  }

  /** The session's agent as all pages have it. */
  get agent() {
    return this.#sentAgent
  }

  /** The document's newest version. */
  get version() {
    return this.#row.version
  }

  /** The fragments as all pages have them. */
  get sent(): Readonly<Fragments> {
    return this.#sent
  }

  /** Renders the state, and returns the fragments that differ from what was sent: they count as sent from now on. */
  changes(): string {
    const before = this.#sent
    const now = (this.#sent = this.#render())
    const { title } = this.session
    const renamed = title !== this.#sentTitle
    this.#sentTitle = title
    this.#sentAgent = this.#agent
    const changed = Object.keys(now).filter((name) => now[name] !== before[name])
    return changed.map((name) => (name === 'head' && renamed ? renamedHead(this.#state()) : now[name]!)).join('')
  }

  #state = () => sessionStateOf(this.services, this.#row, this.teams, this.#sides)

  #render = (): Fragments => ({
    ...fragmentsOf({ state: this.#state(), lanes: this.#lanes.lanes, messages: this.#lanes.messages }),
    ...agentFragments(this.services, this.#agent),
  })
}

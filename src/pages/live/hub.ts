// What one session's open pages share: its log is followed once, each event is rendered once, and the same bytes go to all.
import { LRUCache } from 'lru-cache'
import type { EventKinds } from '../../core/events/event-kinds.ts'
import { Refusal } from '../../core/errors.ts'
import { createFailuresInARow } from '../../core/runtime/failures-in-a-row.ts'
import { pause } from '../../core/runtime/pause.ts'
import { LogReader } from '../../log/log-reader.ts'
import type { Services } from '../../process/services.ts'
import { editsIn, type Edit } from '../../stores/documents.ts'
import type { Event } from '../../stores/events.ts'
import type { RosterRow } from '../../stores/members.ts'
import type { AgentRows } from '../agents/rows.ts'
import type { Waiting } from '../approvals/waiting.ts'
import type { FeedEnd } from '../session/edits.ts'
import { rowsAfter, type Feed } from '../session/feed.tsx'
import type { SessionWithDoc } from '../session/state.ts'
import { teamLookup } from '../session/team-lookup.ts'
import { feedEndAt, missedRows, type FeedPosition } from './catch-up.ts'
import { approvalsLink, feedPartials } from './frames.tsx'
import { CLOSED, frame, PING, PING_MS, type Bytes } from './protocol.ts'
import { changesSides, LiveState } from './state.ts'
import type { Subscriber } from './subscriber.ts'
import { pushWaiting } from './push-waiting.ts'

const TRY_AGAIN_MS = 1_000
// Sending to 2,000 viewers takes 20 to 40 ms: what comes meanwhile and shortly after goes together (bench/pages). One viewer hardly waits.
const GATHER_MS_PER_VIEWER = 0.05
const PAGES_CACHED = 8

/** A page of rows for a viewer that lags, and the position that it leads to. */
type CatchUpPage = FeedPosition & { bytes: Bytes }

/** Every viewer gets all rows of the conversation, in order and once: those after the position that it names when it enters. Lives from
 *  `open` until its last viewer leaves. */
export class Hub {
  /** The sequence, and the document's version, up to which rows were sent. */
  cursor = 0
  version = 0
  readonly services: Services
  readonly kinds: EventKinds
  #viewers = new Set<Subscriber>()
  #over = new AbortController()
  #end!: FeedEnd
  #state: LiveState
  #sentAt = 0
  #states = new Map<number, Bytes>() // the state as one frame, for each number that waits
  #pages = new LRUCache<string, Promise<CatchUpPage>>({ max: PAGES_CACHED })
  #turn: Promise<unknown> = Promise.resolve()
  #following: ReturnType<typeof createFailuresInARow>

  constructor(
    { services, kinds, waiting }: { services: Services; kinds: EventKinds; waiting: Waiting },
    readonly sessionId: string,
    readonly onEmpty: () => void,
  ) {
    this.services = services
    this.kinds = kinds
    this.#state = new LiveState(services, waiting, sessionId)
    this.#following = createFailuresInARow(services.log, 'following a session failed; retrying', 'a session is followed again')
  }

  /** Reads all of the session's state, and follows the log from there. */
  async open() {
    const waiter = this.services.waiters.subscribe(this.sessionId) // before reading, so that nothing lands unseen in between
    try {
      await this.#state.open()
      this.cursor = this.#state.session.lastConversationSequence
      this.version = this.#state.version
      this.#end = await feedEndAt(this.services.database, this.sessionId, this)
      this.#sentAt = performance.now()
    } catch (error) {
      waiter.unsubscribe()
      throw error
    }
    const options = { newest: this.#state.session.lastSequence, waiter }
    void this.#follow(new LogReader(this.services, this.sessionId, this.cursor, false, options))
    return this
  }

  /** The last viewer has left: nobody may enter now. */
  get ended() {
    return this.#over.signal.aborted
  }

  /** The session is closed, and its last event was sent. */
  get closed() {
    const { status, lastConversationSequence } = this.#state.session
    return status === 'closed' && this.cursor >= lastConversationSequence
  }

  enter(viewer: Subscriber) {
    this.#viewers.add(viewer)
  }

  leave(viewer: Subscriber) {
    this.#viewers.delete(viewer)
    if (this.#viewers.size > 0) return
    this.#over.abort()
    this.onEmpty()
  }

  /** The session's agent as all pages have it. */
  get agent() {
    return this.#state.agent
  }

  /** The document's newest version known here; its rows may not have been sent yet. */
  get known() {
    return this.#state.version
  }

  /** Reads now what the next sweep would bring. */
  refresh() {
    return this.#inTurn(() => this.#state.read().then(() => this.#sendEdits()))
  }

  /** The board has changed, and no event of the conversation says so. */
  boardMoved() {
    const send = async () => {
      await this.#state.readSides()
      const changes = this.#state.changes()
      if (changes !== '') this.#send(changes)
    }
    void this.#inTurn(send).catch((error) => this.#following.failed(error))
  }

  /** The state for a page that has caught up with the hub. `waiting`: the number in its header. */
  stateFor(waiting: number): Bytes {
    const cached = this.#states.get(waiting)
    if (cached) return cached
    const bytes = frame(this.#id(), Object.values(this.#state.sent).join('') + approvalsLink(waiting))
    this.#states.set(waiting, bytes)
    return bytes
  }

  /** The next page of rows for a viewer that lags. After a cut many viewers come back at once, from one position: they share it. */
  pageAfter(cursor: number, version: number): Promise<CatchUpPage> {
    const key = `${cursor}.${version}`
    const cached = this.#pages.get(key)
    if (cached) return cached
    const page = this.#readPage({ cursor, version })
    this.#pages.set(key, page)
    page.catch(() => this.#pages.delete(key))
    return page
  }

  /** Takes over what a sweep has read of the session, and sends what differs. */
  update(row: SessionWithDoc, teams: RosterRow[], agent: AgentRows) {
    pushWaiting(this.#viewers, this.#id)
    if (!this.#state.update(row, teams, agent)) return
    if (this.#hasEdits) return void this.#inTurn(() => this.#sendEdits()).catch((error) => this.#following.failed(error))
    const changes = this.#state.changes()
    if (changes !== '') this.#send(changes)
    else if (performance.now() - this.#sentAt > PING_MS) this.#toAll(PING)
    this.#endIfClosed()
  }

  #id = () => `${this.cursor}.${this.version}`

  #feed = (): Feed => ({
    services: this.services,
    queries: this.services.database,
    sessionId: this.sessionId,
    teams: teamLookup(this.#state.teams),
    kinds: this.kinds,
  })

  // Events and edits are sent one after the other, in the order in which they were written.
  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#turn.then(work)
    this.#turn = result.catch(() => {})
    return result
  }

  async #follow(first: LogReader) {
    let reader = first
    while (!this.ended && !this.services.stopping.aborted) {
      try {
        const { events } = await reader.next(PING_MS, this.#over.signal)
        if (events.length > 0) await this.#inTurn(() => this.#sendEvents(events))
        this.#following.worked()
        if (events.length === 0) continue
        await pause(this.#viewers.size * GATHER_MS_PER_VIEWER)
      } catch (error) {
        if (error instanceof Refusal) break // its session was purged
        this.#following.failed(error)
        await pause(TRY_AGAIN_MS)
        reader.close()
        reader = new LogReader(this.services, this.sessionId, this.cursor, false, { newest: Infinity })
      }
    }
    reader.close()
    for (const viewer of this.#viewers) viewer.end()
  }

  async #sendEvents(events: Event[]) {
    // Writers hold the session's lock, so every edit older than these events is committed already. Newer edits may belong behind an event
    // that was not read yet: they are left to the next sweep.
    const edits = await editsIn(this.services.database, this.sessionId, { after: this.version, before: events.at(-1)!.at })
    if (edits.length > 0 || events.some(({ type }) => type === 'system')) await this.#state.read()
    if (events.some(changesSides)) await this.#state.readSides()
    await this.#sendRows(events, edits, edits.at(-1)?.to ?? this.version)
  }

  // Whether edits after the last event are still to be sent. They wait while an event is: they may belong behind it.
  get #hasEdits() {
    return this.#state.version > this.version && this.#state.session.lastConversationSequence <= this.cursor
  }

  async #sendEdits() {
    if (!this.#hasEdits) return
    const { version } = this.#state
    await this.#sendRows([], await editsIn(this.services.database, this.sessionId, { after: this.version, upTo: version }), version)
  }

  async #sendRows(events: Event[], edits: Edit[], version: number) {
    const rows = await rowsAfter(this.#feed(), this.#end, events, edits)
    // From here on nothing awaits: a viewer that catches up finds either the old position or the new one.
    this.#end = rows.end
    this.cursor = events.at(-1)?.sequence ?? this.cursor
    this.version = version
    if (events.length > 0) this.#state.count(events)
    this.#send(feedPartials(rows) + this.#state.changes())
    this.#endIfClosed()
  }

  // Viewers that still catch up notice the end themselves.
  #endIfClosed() {
    if (this.closed) for (const viewer of this.#viewers) viewer.endLive(CLOSED)
  }

  #send(html: string) {
    this.#pages.clear()
    this.#states.clear()
    this.#toAll(frame(this.#id(), html))
  }

  #toAll(bytes: Bytes) {
    this.#sentAt = performance.now()
    for (const viewer of this.#viewers) viewer.push(bytes)
  }

  async #readPage(from: FeedPosition): Promise<CatchUpPage> {
    const to = { cursor: this.cursor, version: this.version }
    const { cursor, version, html, edited } = await missedRows(this.#feed(), from, to)
    const written = edited ? this.#state.sent.written : '' // a viewer that is cut off after this page has the document's head as well
    return { cursor, version, bytes: frame(`${cursor}.${version}`, html + written) }
  }
}

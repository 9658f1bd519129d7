// What one session's open pages share: its log is followed once, each event is rendered once, and the same bytes go to all.
import { putBounded } from '../../core/bounded.ts'
import { describeError } from '../../core/log.ts'
import { pause } from '../../core/pause.ts'
import { Follower } from '../../log/log-reader.ts'
import type { Services } from '../../process/services.ts'
import { editsIn } from '../../stores/documents.ts'
import type { Event } from '../../stores/events.ts'
import { roster, type Seat } from '../../stores/members.ts'
import { sessionsWithDocs } from '../../stores/live-state.ts'
import type { Tail } from '../session/edits.ts'
import { castOf, rowsAfter } from '../session/feed.tsx'
import { stateOf, type Watched } from '../session/state.ts'
import { CLOSED, feedPartials, frame, PING, piecesOf, renamedHead, type Bytes, type Piece, type Pieces } from './frames.tsx'
import { LaneCounter } from './activity-lanes.ts'
import { missedRows, tailAt, type Place } from './catch-up.ts'
import type { Viewer } from './viewer.ts'

const PING_MS = 15_000
const TRY_AGAIN_MS = 1_000
// Sending to 2,000 takes 20 to 40 ms: what is said meanwhile, and for a while after, goes together (bench/pages). A single viewer does
// not wait.
const GATHER_MS_PER_VIEWER = 0.05
const PAGES_KEPT = 8

interface Page extends Place {
  bytes: Bytes
}

/** One session as all its open pages see it: follows the log, renders each row once, and hands the same bytes to every viewer. */
export class Hub {
  cursor = 0
  /** Of the document, up to which the rows go. */
  version = 0
  #viewers = new Set<Viewer>()
  #over = new AbortController()
  #tail!: Tail
  #watched!: Watched
  #teams: Seat[] = []
  #counter: LaneCounter
  #pieces!: Pieces
  #title = ''
  #sentAt = 0
  #states = new Map<boolean, Bytes>() // as they are sent to those who come up to the cursor now
  #pages = new Map<string, Promise<Page>>()
  #turn: Promise<unknown> = Promise.resolve()

  constructor(
    readonly services: Services,
    readonly sessionId: string,
    readonly onEmpty: () => void,
  ) {
    this.#counter = new LaneCounter(services.database, sessionId, () => this.#teams)
  }

  /** Reads all of the session's state, and follows from there. */
  async open() {
    const armed = this.services.waiters.arm(this.sessionId) // before the look, as for a wait
    try {
      await this.#read()
      this.cursor = this.#watched.session.lastConversationSequence
      this.version = this.#watched.version
      this.#tail = await tailAt(this.services.database, this.sessionId, this)
      await this.#counter.read()
      this.#pieces = this.#render()
      this.#title = this.#watched.session.title
      this.#sentAt = performance.now()
    } catch (error) {
      armed.disarm()
      throw error
    }
    void this.#follow(
      new Follower(this.services, this.sessionId, this.cursor, false, { newest: this.#watched.session.lastSequence, armed }),
    )
    return this
  }

  /** Its last viewer has left: nobody may enter now. */
  get ended() {
    return this.#over.signal.aborted
  }

  /** The session is closed, and its last event has been told. */
  get closed() {
    const { status, lastConversationSequence } = this.#watched.session
    return status === 'closed' && this.cursor >= lastConversationSequence
  }

  enter(viewer: Viewer) {
    this.#viewers.add(viewer)
  }

  leave(viewer: Viewer) {
    this.#viewers.delete(viewer)
    if (this.#viewers.size > 0) return
    this.#over.abort()
    this.onEmpty()
  }

  /** The newest version of the document that is known here, of which the rows may not have told yet. */
  get known() {
    return this.#watched.version
  }

  /** Reads now what the second's look would bring. */
  refresh() {
    return this.#inTurn(async () => {
      await this.#read()
      await this.#tellEdits()
    })
  }

  /** The state as a page needs it that has come up to the hub's cursor and version, having begun with `version`. */
  stateFor(version: number): Bytes {
    const current = version === this.#watched.version
    const known = this.#states.get(current)
    if (known) return known
    const { written, ...rest } = this.#pieces
    const state = frame(this.#id(), Object.values(rest).join('') + (current ? '' : written))
    this.#states.set(current, state)
    return state
  }

  /** The next page of what one who lags behind has missed. Many come back at once after a cut: they share it. */
  pageAfter(cursor: number, version: number) {
    const place = `${cursor}.${version}`
    const known = this.#pages.get(place)
    if (known) return known
    const page = this.#readPage({ cursor, version })
    putBounded(this.#pages, place, page, PAGES_KEPT)
    page.catch(() => this.#pages.delete(place))
    return page
  }

  /** What the second's look at all watched sessions has found. */
  look(watched: Watched, teams: Seat[]) {
    const { session, version } = this.#watched
    if (watched.session.lastSequence < session.lastSequence || watched.version < version) return // was read before what is known here
    this.#watched = watched
    this.#teams = teams
    if (this.#counter.due) void this.#counter.read().catch(() => {})
    if (this.#hasEdits) return void this.#inTurn(() => this.#tellEdits()).catch((error) => this.#failed(error))
    const news = this.#news()
    if (news !== '') this.#send(news)
    else if (performance.now() - this.#sentAt > PING_MS) this.#toAll(PING)
    this.#endIfClosed()
  }

  #id = () => `${this.cursor}.${this.version}`

  // Events and edits are told one after the other, in the order in which they were written.
  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#turn.then(work)
    this.#turn = result.catch(() => {})
    return result
  }

  #failed = (error: unknown) => this.services.log('warn', 'following a session failed; retrying', describeError(error))

  async #follow(first: Follower) {
    let follower = first
    const { signal } = this.#over
    while (!signal.aborted && !this.services.stopping.aborted) {
      try {
        const { events } = await follower.next(PING_MS, signal)
        if (events.length === 0) continue
        await this.#inTurn(() => this.#tell(events))
        await pause(this.#viewers.size * GATHER_MS_PER_VIEWER)
      } catch (error) {
        this.#failed(error)
        await pause(TRY_AGAIN_MS)
        follower.close()
        follower = new Follower(this.services, this.sessionId, this.cursor, false, { newest: Infinity })
      }
    }
    follower.close()
    for (const viewer of this.#viewers) viewer.end()
  }

  async #tell(events: Event[]) {
    const { database } = this.services
    // Whoever writes holds the session's lock: what was written before one of these is there by now. What is there beyond the last of
    // them may belong behind an event that is still to be read: the next look tells it.
    const edits = await editsIn(database, this.sessionId, { after: this.version, before: events.at(-1)!.at })
    if (edits.length > 0 || events.some(({ type }) => type === 'system')) await this.#read()
    const rows = await rowsAfter(database, this.sessionId, castOf(this.#teams), this.#tail, events, edits)
    // From here on nothing awaits: viewers come up to the old cursor or to the new one.
    this.#tail = rows.tail
    this.cursor = events.at(-1)!.sequence
    this.version = edits.at(-1)?.to ?? this.version
    this.#counter.count(events)
    this.#send(feedPartials(rows) + this.#news())
    this.#endIfClosed()
  }

  // Edits that no event came after. Not while an event is to be told: they may belong behind it, and come with it.
  get #hasEdits() {
    const { session, version } = this.#watched
    return version > this.version && session.lastConversationSequence <= this.cursor
  }

  async #tellEdits() {
    if (!this.#hasEdits) return
    const { database } = this.services
    const { version } = this.#watched
    const edits = await editsIn(database, this.sessionId, { after: this.version, upTo: version })
    const rows = await rowsAfter(database, this.sessionId, castOf(this.#teams), this.#tail, [], edits)
    this.#tail = rows.tail
    this.version = version
    this.#send(feedPartials(rows) + this.#news())
    this.#endIfClosed()
  }

  // Those who still catch up are told when they have.
  #endIfClosed() {
    if (this.closed) for (const viewer of this.#viewers) viewer.endLive(CLOSED)
  }

  async #read() {
    const [[watched], teams] = await Promise.all([
      sessionsWithDocs(this.services.database, [this.sessionId]),
      roster(this.services.database, this.sessionId),
    ])
    this.#watched = watched!
    this.#teams = teams
  }

  #state = () => stateOf(this.services, this.#watched, this.#teams)

  #render = (): Pieces => piecesOf({ state: this.#state(), lanes: this.#counter.lanes, messages: this.#counter.messages })

  // What of the state looks different from what was sent last.
  #news(): string {
    const before = this.#pieces
    const now = (this.#pieces = this.#render())
    const { title } = this.#watched.session
    const renamed = title !== this.#title
    this.#title = title
    const changed = (Object.keys(now) as Piece[]).filter((name) => now[name] !== before[name])
    return changed.map((name) => (name === 'head' && renamed ? renamedHead(this.#state()) : now[name])).join('')
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

  async #readPage(from: Place): Promise<Page> {
    const to = { cursor: this.cursor, version: this.version }
    const { cursor, version, html, edited } = await missedRows(this.services.database, this.sessionId, this.#teams, from, to)
    const written = edited ? this.#pieces.written : '' // who is cut off after it must know of the document too
    return { cursor, version, bytes: frame(`${cursor}.${version}`, html + written) }
  }
}

// One open page's stream. At first it catches up, as fast as its socket takes the rows; then its session's hub pushes what all viewers get.
import { pause } from '../../core/runtime/pause.ts'
import type { Hub } from './hub.ts'
import { CLOSED, frame, handOver, hello, nothingAhead, type Bytes, type Controller } from './protocol.ts'

const CHECK_AGAIN_MS = 20

/** `body` is the stream that the page reads. */
export class Viewer {
  readonly body: ReadableStream<Bytes>
  #controller!: Controller
  #live = false
  #ended = false
  #waiting: number | undefined

  /** `waitingNow`: the number in the page's header. `cursor` and `version`: the position up to which the page has rows, in the log and in the
   *  document's versions. `first`: markup that it gets before all else. */
  constructor(
    readonly hub: Hub,
    readonly waitingNow: () => number,
    public cursor: number,
    public version: number,
    first: string,
    readonly onEnd: () => void,
  ) {
    this.body = new ReadableStream<Bytes>(
      {
        start: (controller) => {
          this.#controller = controller
          controller.enqueue(hello())
          if (first !== '') controller.enqueue(frame(`${cursor}.${version}`, first))
        },
        pull: () => (this.#live || this.#ended ? undefined : this.#catchUp()),
        cancel: () => this.#over(),
      },
      nothingAhead(),
    )
    hub.enter(this)
  }

  /** Called by the hub with the bytes that all viewers get. A page that lags too far is disconnected, and reconnects. */
  push(bytes: Bytes) {
    if (this.#live && !handOver(this.#controller, bytes, this.hub.services)) this.#over()
  }

  /** Called by the hub each second. A page that has caught up has the number with the state. */
  pushWaiting(bytesOf: (count: number) => Bytes) {
    const count = this.waitingNow()
    if (!this.#live || count === this.#waiting) return
    this.#waiting = count
    this.push(bytesOf(count))
  }

  /** Ends the stream if the page has caught up. */
  endLive(last: Bytes) {
    if (this.#live) this.end(last)
  }

  /** Ends the stream after the bytes that are queued. */
  end(last?: Bytes) {
    if (this.#ended) return
    if (last) this.#controller.enqueue(last)
    this.#controller.close()
    this.#over()
  }

  // Nothing awaits between reading the hub's position and setting `#live`: no frame can be missed, and none comes twice.
  async #catchUp() {
    try {
      await this.#hubIsUpTo()
      if (this.cursor < this.hub.cursor || this.version < this.hub.version) {
        const { bytes, cursor, version } = await this.hub.pageAfter(this.cursor, this.version)
        if (this.#ended) return
        this.cursor = cursor
        this.version = version
        return this.#controller.enqueue(bytes)
      }
      if (this.#ended) return
      this.#waiting = this.waitingNow()
      this.#controller.enqueue(this.hub.stateFor(this.#waiting))
      if (this.hub.closed) return this.end(CLOSED)
      this.#live = true
    } catch {
      if (!this.#ended) this.#controller.error() // the page reconnects, and is served once the database answers again
      this.#over()
    }
  }

  // A page that was rendered a moment ago may be ahead of the hub: wait for the hub. A version beyond the document's newest is set to that.
  async #hubIsUpTo() {
    const { hub } = this
    if (this.version > hub.version) await hub.refresh()
    while (!this.#ended && this.version > hub.version && this.version <= hub.known) await pause(CHECK_AGAIN_MS)
    this.version = Math.min(this.version, hub.version)
    while (!this.#ended && this.cursor > hub.cursor) await pause(CHECK_AGAIN_MS)
  }

  #over() {
    if (this.#ended) return
    this.#ended = true
    this.#live = false
    this.hub.leave(this)
    this.onEnd()
  }
}

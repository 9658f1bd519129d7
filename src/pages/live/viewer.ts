// One open page's stream. First it catches up, as fast as its socket takes it; then it is handed what its session's hub sends to all.
import { pause } from '../../core/pause.ts'
import type { Hub } from './hub.ts'
import { CLOSED, HELLO, type Bytes } from './frames.tsx'

const LAG_BYTES = 1024 * 1024 // what may lie here for a socket that does not take it
const LOOK_AGAIN_MS = 20

/** `body` is the stream. One whose socket has more than 1 MiB still to take is cut, and comes back. */
export class Viewer {
  readonly body: ReadableStream<Bytes>
  #controller!: ReadableStreamDefaultController<Bytes>
  #live = false
  #ended = false

  /** `cursor` and `version`: up to where the page's rows go, in the log and in the document's versions. */
  constructor(
    readonly hub: Hub,
    public cursor: number,
    public version: number,
    readonly onEnd: () => void,
  ) {
    this.body = new ReadableStream<Bytes>(
      {
        start: (controller) => {
          this.#controller = controller
          controller.enqueue(HELLO)
        },
        pull: () => (this.#live || this.#ended ? undefined : this.#catchUp()),
        cancel: () => this.#over(),
      },
      new ByteLengthQueuingStrategy({ highWaterMark: 0 }), // nothing is made ahead, and so all that lies here is lag
    )
    hub.enter(this)
  }

  /** For the hub: hands over what all get. A page that lags too far is disconnected, and reconnects. */
  push(bytes: Bytes) {
    if (!this.#live) return
    this.#controller.enqueue(bytes)
    if (-this.#controller.desiredSize! <= LAG_BYTES) return
    this.#controller.error() // what lies here is dropped; a reason would be printed
    this.hub.services.metrics.add('viewers_cut')
    this.#over()
  }

  /** Ends the stream of one who has all that there is. */
  endLive(last: Bytes) {
    if (this.#live) this.end(last)
  }

  /** Ends the stream after what was handed over. */
  end(last?: Bytes) {
    if (this.#ended) return
    if (last) this.#controller.enqueue(last)
    this.#controller.close()
    this.#over()
  }

  // Nothing awaits between the look at the hub's cursor and `#live`: no frame can be missed, and none comes twice.
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
      this.#controller.enqueue(this.hub.stateFor(this.version))
      if (this.hub.closed) return this.end(CLOSED)
      this.#live = true
    } catch {
      if (!this.#ended) this.#controller.error() // the page comes back when the database does
      this.#over()
    }
  }

  // The page may be newer than the hub. A version that never was is one that the page does not have.
  async #hubIsUpTo() {
    const { hub } = this
    if (this.version > hub.version) await hub.refresh()
    while (!this.#ended && this.version > hub.version && this.version <= hub.known) await pause(LOOK_AGAIN_MS)
    this.version = Math.min(this.version, hub.version)
    while (!this.#ended && this.cursor > hub.cursor) await pause(LOOK_AGAIN_MS)
  }

  #over() {
    if (this.#ended) return
    this.#ended = true
    this.#live = false
    this.hub.leave(this)
    this.onEnd()
  }
}

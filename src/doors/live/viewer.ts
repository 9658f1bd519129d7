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

  /** `version`: of the document that the page has. */
  constructor(
    readonly hub: Hub,
    public cursor: number,
    readonly version: number,
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
      while (!this.#ended && this.cursor > this.hub.cursor) await pause(LOOK_AGAIN_MS) // the page was newer
      if (this.cursor < this.hub.cursor) {
        const { bytes, cursor } = await this.hub.pageAfter(this.cursor)
        if (this.#ended) return
        this.cursor = cursor
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

  #over() {
    if (this.#ended) return
    this.#ended = true
    this.#live = false
    this.hub.leave(this)
    this.onEnd()
  }
}

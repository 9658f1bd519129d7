// A stream that a session's link opened ends with that link: what may be taken back is looked at again while it is used.
import type { Services } from '../services.ts'
import { mayRead, mayReadSession } from './guards.ts'
import type { Http } from './http.ts'
import { sharedTokenOf } from './shared.ts'

const LOOK_AGAIN_MS = 1_000

/** The stream, until within a second after the link of whoever reads it has ended. Nothing awaits before the stream is handed on: its
 *  body is open already, and a failure would leave it so. */
export const endingWithLink = (c: Http, services: Services, stream: Response): Response => {
  const shared = sharedTokenOf(c)
  if (!stream.body || !shared || mayRead(c, services)) return stream
  return new Response(
    whileAllowed(stream.body, () => mayReadSession(c, services, shared.sessionId)),
    stream,
  )
}

/** `body` until `allowed` says no, or cannot say; it is asked once a second, whether anything is sent or not. */
const whileAllowed = (body: ReadableStream<Uint8Array>, allowed: () => Promise<boolean>) => {
  const reader = body.getReader()
  let timer: ReturnType<typeof setTimeout> | undefined
  let looking: Promise<void> | undefined
  let over = false
  const end = () => {
    over = true
    clearTimeout(timer)
  }
  return new ReadableStream<Uint8Array>({
    start(controller) {
      const lookLater = () => (timer = setTimeout(() => (looking = look()), LOOK_AGAIN_MS))
      const look = async () => {
        const still = await allowed().catch(() => false) // the database is away: whoever may read comes back when it does
        if (over) return
        if (still) return void lookLater()
        end()
        controller.close()
        reader.cancel().catch(() => {}) // it may have failed before anybody read that
      }
      lookLater()
    },
    async pull(controller) {
      try {
        const { done, value } = await reader.read()
        await looking // what comes meanwhile waits for the answer
        if (over) return
        if (!done) return controller.enqueue(value)
        end()
        controller.close()
      } catch (error) {
        end()
        throw error
      }
    },
    cancel(reason) {
      end()
      return reader.cancel(reason)
    },
  })
}

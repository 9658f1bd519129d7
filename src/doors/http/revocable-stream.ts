// A stream ends with what opened it: a link that is revoked, a team that leaves, a key or password that is changed. What may end is
// looked at again while it is used.
import type { Services } from '../../process/services.ts'
import { mayReadSession, readsForGood } from './guards.ts'
import type { Http } from './http.ts'
import { sharedTokenOf } from './share-link.ts'

const LINK_AGAIN_MS = 1_000
const CREDENTIAL_AGAIN_MS = 5_000

/** The stream of a session, until its reader may no longer read it: a link is looked at each second, any other credential every five.
 *  Nothing awaits before the stream is handed on: its body is open already, and a failure would leave it so. */
export const whileReadable = (c: Http, services: Services, sessionId: string, stream: Response): Response => {
  if (!stream.body || readsForGood(c, services)) return stream
  const everyMs = sharedTokenOf(c) ? LINK_AGAIN_MS : CREDENTIAL_AGAIN_MS
  return new Response(
    whileAllowed(stream.body, () => mayReadSession(c, services, sessionId), everyMs),
    stream,
  )
}

/** `body` until `allowed` says no, or cannot say; it is asked every `everyMs`, whether anything is sent or not. */
const whileAllowed = (body: ReadableStream<Uint8Array>, allowed: () => Promise<boolean>, everyMs: number) => {
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
      const lookLater = () => (timer = setTimeout(() => (looking = look()), everyMs))
      const look = async () => {
        const still = await allowed().catch(() => false) // the database is away: those who may read come back when it does
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

// A stream ends when its reader loses the right to read: a link is revoked, a team leaves, a key or password is changed. Rights that can
// end are checked again while the stream is open.
import type { Services } from '../../process/services.ts'
import { mayReadSession, readsForGood } from './guards.ts'
import type { Http } from './http.ts'
import { sharedTokenOf } from './share-link.ts'

const LINK_CHECK_MS = 1_000
const CREDENTIAL_CHECK_MS = 5_000

/** The stream of a session, until its reader may no longer read it: a shared link is checked every second, any other credential every
 *  five. Synchronous, because the body is open already: a failure before it is handed on would leave it open. */
export const whileReadable = (c: Http, services: Services, sessionId: string, stream: Response): Response => {
  if (!stream.body || readsForGood(c, services)) return stream
  const everyMs = sharedTokenOf(c) ? LINK_CHECK_MS : CREDENTIAL_CHECK_MS
  return new Response(
    whileAllowed(stream.body, () => mayReadSession(c, services, sessionId), everyMs),
    stream,
  )
}

/** `body` until `allowed`, called every `everyMs`, resolves to false or rejects. */
const whileAllowed = (body: ReadableStream<Uint8Array>, allowed: () => Promise<boolean>, everyMs: number) => {
  const reader = body.getReader()
  let timer: ReturnType<typeof setTimeout> | undefined
  let checking: Promise<void> | undefined
  let over = false
  const end = () => {
    over = true
    clearTimeout(timer)
  }
  return new ReadableStream<Uint8Array>({
    start(controller) {
      const checkLater = () => (timer = setTimeout(() => (checking = check()), everyMs))
      const check = async () => {
        const still = await allowed().catch(() => false) // the database is away: readers reconnect, and are let in once it is back
        if (over) return
        if (still) return void checkLater()
        end()
        controller.close()
        reader.cancel().catch(() => {}) // the body may have failed unread
      }
      checkLater()
    },
    async pull(controller) {
      try {
        const { done, value } = await reader.read()
        await checking // what came meanwhile waits for the result
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

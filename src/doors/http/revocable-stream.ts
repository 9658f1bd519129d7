// A stream ends when its reader loses the right to read: a link is revoked, a team leaves, a key or password is changed. Rights that can
// end are checked again while the stream is open. A sign-in or key that it came with ends it at once, even where reading is open to all.
import type { Services } from '../../process/services.ts'
import { bringsCredential, isStillGood, watchCredentials } from './credentials.ts'
import { mayRead, mayReadSession, readsForGood } from './guards.ts'
import type { Http } from './http.ts'
import { sharedTokenOf } from './share-link.ts'

const LINK_CHECK_MS = 1_000
const CREDENTIAL_CHECK_MS = 5_000

/** The stream of a session (undefined: of all of them), until its reader may no longer read it: a shared link is checked every second, a
 *  team every five; a sign-in or key ends it at once. Synchronous, because the body is open already: a failure before it is handed on would
 *  leave it open. */
export const whileReadable = (c: Http, services: Services, sessionId: string | undefined, stream: Response): Response => {
  if (!stream.body) return stream
  const reads = async () => (sessionId === undefined ? mayRead(c, services) : mayReadSession(c, services, sessionId))
  if (bringsCredential(c)) {
    const allowed = async () => (await isStillGood(c, services)) && reads()
    return new Response(
      whileAllowed(stream.body, allowed, (check) => watchCredentials(c, services, check)),
      stream,
    )
  }
  if (readsForGood(c, services)) return stream
  return new Response(whileAllowed(stream.body, reads, sharedTokenOf(c) ? withLinks : withTeams), stream)
}

/** Calls `check` again and again, until the returned function is called. */
type Checking = (check: () => void) => () => void

// All at the same time: they share a statement, however many are open.
const together = (ms: number): Checking => {
  const open = new Set<() => void>()
  let timer: ReturnType<typeof setInterval> | undefined
  return (check) => {
    open.add(check)
    timer ??= setInterval(() => open.forEach((one) => one()), ms)
    return () => {
      open.delete(check)
      if (open.size > 0) return
      clearInterval(timer)
      timer = undefined
    }
  }
}

const withLinks = together(LINK_CHECK_MS)
const withTeams = together(CREDENTIAL_CHECK_MS)

/** Passes `body` on until `allowed`, which is asked whenever `checking` says so, resolves to false or rejects. */
const whileAllowed = (body: ReadableStream<Uint8Array>, allowed: () => Promise<boolean>, checking: Checking) => {
  const reader = body.getReader()
  let stop = () => {}
  let underway: Promise<void> | undefined
  let due = false // asked for while it was being looked up
  let over = false
  const end = () => {
    over = true
    stop()
  }
  return new ReadableStream<Uint8Array>({
    start(controller) {
      const check = async () => {
        let still = true
        for (due = true; due && still && !over;) {
          due = false
          still = await allowed().catch(() => false) // the database is away: readers reconnect, and are let in once it is back
        }
        underway = undefined
        if (over || still) return
        end()
        controller.close()
        reader.cancel().catch(() => {}) // the body may have failed unread
      }
      stop = checking(() => {
        due = true
        if (!over) underway ??= check()
      })
    },
    async pull(controller) {
      try {
        const { done, value } = await reader.read()
        await underway // what came meanwhile waits for the result
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

// What all open inboxes of this process share: what waits is read when something may have changed, and told to each of them. A page is told
// the ids of what waits, and asks for the cards that it lacks or that are out of date (inbox-live.tsx); so it is right again after
// whatever it has missed.
import { describeError } from '../../core/log.ts'
import type { Services } from '../../process/services.ts'
import { decidedSince } from '../../stores/records/proposal-context.ts'
import { waitingProposals, waitingRequests } from '../../stores/records/waiting.ts'
import { requestsOf } from '../../stores/control/watched.ts'
import { cardAnchor, permissionView } from '../agents/permission-view.ts'
import { MOST_WAITING, readNeedy, todaysBegin } from './inbox-waiting.ts'
import { HELLO, handOver, namedEvent, nothingAhead, PING, PING_MS, type Bytes, type Controller } from '../live/protocol.ts'
import { inboxFragments } from './inbox-fragments.tsx'
import { INBOX, type Waiting } from './waiting.ts'

const EVERY_MS = 5_000 // what moves no topic: loops, used-up wakes, the time that is left
const COUNTING_MS = 1_000 // while an agent waits for leave, its seconds are counted down

export type InboxHub = ReturnType<typeof createInboxHub>

/** One for each process. It reads nothing while no inbox is open. */
export const createInboxHub = (services: Services, waiting: Waiting) => {
  const pages = new Map<Controller, () => void>() // with what is to be done when one has left
  let told = '' // what waits, as all pages know it
  let shown: Record<string, string> = {}
  let sentAt = 0
  let following = false

  const leave = (page: Controller) => {
    const onEnd = pages.get(page)
    pages.delete(page)
    onEnd?.()
  }
  const toAll = (bytes: Bytes) => {
    sentAt = performance.now()
    for (const page of pages.keys()) if (!handOver(page, bytes, services)) leave(page)
  }

  /** Reads what waits, and tells what changed. True while an agent waits for leave. */
  const look = async (): Promise<boolean> => {
    const { database, config, clock, wakes } = services
    const [proposals, named, needy, today, count] = await Promise.all([
      waitingProposals(database, MOST_WAITING),
      waitingRequests(database, config.PERMISSION_WAIT, MOST_WAITING),
      readNeedy(database, wakes.perHour()),
      decidedSince(database, todaysBegin(clock.now())),
      waiting.read(),
    ])
    const requests = (await requestsOf(database, named)).map((request) => permissionView(request, config.PERMISSION_WAIT))
    const fragments = inboxFragments({ proposals, requests, needy, today, count, now: clock.now() })
    const tells = JSON.stringify({
      proposals: proposals.map(({ id, session_id }) => [id, session_id]),
      requests: named.map(({ id, session_id }) => [cardAnchor(id), session_id, id]),
    })
    const changed = Object.keys(fragments).filter((name) => fragments[name] !== shown[name])
    shown = fragments
    if (tells !== told) toAll(namedEvent('waiting', (told = tells)))
    if (changed.length > 0) toAll(namedEvent('html', changed.map((name) => fragments[name]).join('')))
    return requests.length > 0
  }

  const follow = async () => {
    following = true
    while (pages.size > 0 && !services.stopping.aborted) {
      const waiter = services.waiters.subscribe(INBOX) // before looking, so that nothing lands unseen in between
      let next = EVERY_MS
      try {
        if (await look()) next = COUNTING_MS
        if (performance.now() - sentAt > PING_MS) toAll(PING)
      } catch (error) {
        services.log('warn', 'reading the inbox failed; retrying', describeError(error))
      }
      const timer = setTimeout(() => waiter.wake(), next)
      await waiter.woken()
      clearTimeout(timer)
      waiter.unsubscribe()
    }
    following = false
    told = ''
    shown = {}
    for (const page of pages.keys()) {
      page.close()
      leave(page)
    }
  }

  return {
    /** The stream of a page that opens. `onEnd` is called once, when it is over. */
    open(onEnd: () => void): ReadableStream<Bytes> {
      let mine: Controller
      return new ReadableStream<Bytes>(
        {
          start(controller) {
            mine = controller
            pages.set(controller, onEnd)
            controller.enqueue(HELLO)
            if (told !== '') controller.enqueue(namedEvent('waiting', told))
            if (told !== '') controller.enqueue(namedEvent('html', Object.values(shown).join('')))
            if (!following) void follow()
          },
          cancel: () => leave(mine),
        },
        nothingAhead(),
      )
    },
  }
}

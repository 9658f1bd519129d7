// Follows what waits for people, once for all open inboxes of this process: reads it when something may have changed, and sends it to each
// of them. A page gets the ids of what waits, and asks for the cards that it lacks or that are out of date (inbox-live.tsx); so it is right
// again after whatever it has missed. What a person is asked by name is sent to that person's pages alone.
import { describeError } from '../../core/runtime/log.ts'
import type { Services } from '../../process/services.ts'
import { decidedSince } from '../../stores/records/proposal-context.ts'
import { waitingProposals, waitingRequests } from '../../stores/records/waiting.ts'
import { requestsOf } from '../../stores/control/watched.ts'
import { cardAnchor, permissionView } from '../agents/permission-view.ts'
import { MOST_WAITING, readNeedy, todaysBegin } from './inbox-waiting.ts'
import { hello, handOver, namedEvent, nothingAhead, PING, PING_MS, type Bytes, type Controller } from '../live/protocol.ts'
import type { NeedyView } from '../../../components/approvals/inbox-view.ts'
import { inboxFragments, readersFragments } from './inbox-fragments.tsx'
import { INBOX, type Waiting } from './waiting.ts'

const EVERY_MS = 5_000 // for what moves no topic: loops, used-up wakes, the time that is left
const COUNTING_MS = 1_000 // while an agent waits for permission, its seconds are counted down

/** Who reads a page, and the one session that it shows. */
interface Reader {
  person: string | undefined
  meeting: string | undefined
}

/** `key`: the same for pages that show the same. `onEnd`: what is to be done when it has left. */
interface Page {
  reader: Reader
  key: string
  onEnd: () => void
}

export type InboxHub = ReturnType<typeof createInboxHub>

/** One for each process. It reads nothing while no inbox is open. */
export const createInboxHub = (services: Services, waiting: Waiting) => {
  const pages = new Map<Controller, Page>()
  let sent = '' // what waits, as all pages know it
  const shown = new Map<string, Record<string, string>>() // by the key of pages that are open: it is kept up to date only so long
  let sentAt = 0
  let following = false

  const leave = (page: Controller) => {
    const left = pages.get(page)
    pages.delete(page)
    if (left && ![...pages.values()].some(({ key }) => key === left.key)) shown.delete(left.key)
    left?.onEnd()
  }
  const send = (bytes: Bytes, wanted: (page: Page) => boolean = () => true) => {
    sentAt = performance.now()
    for (const [controller] of [...pages].filter(([, page]) => wanted(page))) if (!handOver(controller, bytes, services)) leave(controller)
  }

  /** Reads what waits, and sends what changed. True while an agent waits for permission, whose seconds are counted down. */
  const refresh = async (): Promise<boolean> => {
    const { database, config, clock, wakes } = services
    const [proposals, named, needy, today] = await Promise.all([
      waitingProposals(database, MOST_WAITING),
      waitingRequests(database, config.PERMISSION_WAIT, MOST_WAITING),
      readNeedy(database, wakes.perHour()),
      decidedSince(database, todaysBegin(clock.now())),
      waiting.read(),
    ])
    const requests = (await requestsOf(database, named)).map((request) => permissionView(request, config.PERMISSION_WAIT))
    const fragments = inboxFragments({ proposals, requests, today, now: clock.now() })
    const now = JSON.stringify({
      proposals: proposals.map(({ id, session_id }) => [id, session_id]),
      requests: named.map(({ id, session_id }) => [cardAnchor(id), session_id, id]),
    })
    if (now !== sent) send(namedEvent('waiting', (sent = now)))
    for (const [key, reader] of new Map([...pages.values()].map(({ key, reader }) => [key, reader]))) show(key, reader, needy, fragments)
    return requests.length > 0
  }

  const show = (key: string, { person, meeting }: Reader, sessions: NeedyView[], shared: Record<string, string>) => {
    const isHere = (id: string) => meeting === undefined || id === meeting
    const asked = waiting.askedOf(person).filter(({ session }) => isHere(session.id))
    const needy = sessions.filter(({ id }) => isHere(id))
    const count = waiting.countFor(person)
    const now = { ...shared, ...readersFragments({ asked, needy, count, now: services.clock.now() }) }
    const before = shown.get(key) ?? {}
    shown.set(key, now)
    const changed = Object.keys(now).filter((name) => now[name] !== before[name])
    if (changed.length > 0) send(namedEvent('html', changed.map((name) => now[name]).join('')), (page) => page.key === key)
  }

  const follow = async () => {
    following = true
    while (pages.size > 0 && !services.stopping.aborted) {
      const waiter = services.waiters.subscribe(INBOX) // before looking, so that nothing lands unseen in between
      let next = EVERY_MS
      try {
        if (await refresh()) next = COUNTING_MS
        if (performance.now() - sentAt > PING_MS) send(PING)
      } catch (error) {
        services.log('warn', 'reading the inbox failed; retrying', describeError(error))
      }
      const timer = setTimeout(() => waiter.wake(), next)
      await waiter.woken()
      clearTimeout(timer)
      waiter.unsubscribe()
    }
    following = false
    sent = ''
    shown.clear()
    for (const page of pages.keys()) {
      page.close()
      leave(page)
    }
  }

  return {
    /** The stream of a page that opens. `onEnd` is called once, when it is over. */
    open(reader: Reader, onEnd: () => void): ReadableStream<Bytes> {
      const key = JSON.stringify([reader.person ?? null, reader.meeting ?? null])
      let mine: Controller
      return new ReadableStream<Bytes>(
        {
          start(controller) {
            mine = controller
            pages.set(controller, { reader, key, onEnd })
            controller.enqueue(hello())
            if (sent !== '') controller.enqueue(namedEvent('waiting', sent))
            const before = shown.get(key)
            if (before) controller.enqueue(namedEvent('html', Object.values(before).join('')))
            if (!following) void follow()
          },
          cancel: () => leave(mine),
        },
        nothingAhead(),
      )
    },
  }
}

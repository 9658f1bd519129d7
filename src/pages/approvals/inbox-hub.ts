// Follows what waits for people, once for all open inboxes of this process: reads it when something may have changed, and sends it to each
// of them. A page gets the ids of what waits, and asks for the cards that it lacks or that are out of date (inbox-live.tsx); so it is right
// again after whatever it has missed. What a person is asked by name is sent to that person's pages alone.
import { createFailuresInARow } from '../../core/runtime/failures-in-a-row.ts'
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

/** `onEnd`: what is to be done when it has left. */
interface Page {
  group: Group
  onEnd: () => void
}

/** The pages of one reader and session, which show the same: `shown`, once it has been read. */
interface Group {
  key: string
  reader: Reader
  pages: Set<Controller>
  shown: Record<string, string> | undefined
}

export type InboxHub = ReturnType<typeof createInboxHub>

/** One for each process. It reads nothing while no inbox is open. */
export const createInboxHub = (services: Services, waiting: Waiting) => {
  const pages = new Map<Controller, Page>()
  let sent = '' // what waits, as all pages know it
  const groups = new Map<string, Group>()
  let sentAt = 0
  let following = false
  const reading = createFailuresInARow(services.log, 'reading the inbox failed; retrying', 'the inbox is read again')

  const leave = (page: Controller) => {
    const left = pages.get(page)
    if (!left || !pages.delete(page)) return
    left.group.pages.delete(page)
    if (left.group.pages.size === 0) groups.delete(left.group.key)
    left.onEnd()
  }
  const send = (bytes: Bytes, to: Iterable<Controller> = pages.keys()) => {
    sentAt = performance.now()
    for (const controller of to) if (!handOver(controller, bytes, services)) leave(controller)
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
    const own = ownParts(needy)
    for (const group of groups.values()) show(group, { ...fragments, ...own(group.reader) })
    return requests.length > 0
  }

  // Readers may name any session: what is the same for many, mostly nothing, is rendered once.
  const ownParts = (sessions: NeedyView[]) => {
    const rendered = new Map<string, Record<string, string>>()
    return (reader: Reader): Record<string, string> => {
      const read = partsOf(reader, sessions)
      const key = JSON.stringify([
        read.asked.map(({ session, sequence }) => [session.id, sequence]),
        read.needy.map(({ id }) => id),
        read.count,
      ])
      const parts = rendered.get(key) ?? readersFragments({ ...read, now: services.clock.now() })
      rendered.set(key, parts)
      return parts
    }
  }

  const partsOf = ({ person, meeting }: Reader, sessions: NeedyView[]) => {
    const isHere = (id: string) => meeting === undefined || id === meeting
    const asked = waiting.askedOf(person).filter(({ session }) => isHere(session.id))
    return { asked, needy: sessions.filter(({ id }) => isHere(id)), count: waiting.countFor(person) }
  }

  const show = (group: Group, now: Record<string, string>) => {
    const before = group.shown ?? {}
    group.shown = now
    const changed = Object.keys(now).filter((name) => now[name] !== before[name])
    if (changed.length > 0) send(namedEvent('html', changed.map((name) => now[name]).join('')), group.pages)
  }

  const follow = async () => {
    following = true
    while (pages.size > 0 && !services.stopping.aborted) {
      const waiter = services.waiters.subscribe(INBOX) // before looking, so that nothing lands unseen in between
      let next = EVERY_MS
      try {
        if (await refresh()) next = COUNTING_MS
        reading.worked()
        if (performance.now() - sentAt > PING_MS) send(PING)
      } catch (error) {
        reading.failed(error)
      }
      const timer = setTimeout(() => waiter.wake(), next)
      await waiter.woken()
      clearTimeout(timer)
      waiter.unsubscribe()
    }
    following = false
    sent = ''
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
            const group = groups.get(key) ?? { key, reader, pages: new Set(), shown: undefined }
            groups.set(key, group)
            group.pages.add(controller)
            pages.set(controller, { group, onEnd })
            controller.enqueue(hello())
            if (sent !== '') controller.enqueue(namedEvent('waiting', sent))
            if (group.shown) controller.enqueue(namedEvent('html', Object.values(group.shown).join('')))
            if (!following) void follow()
          },
          cancel: () => leave(mine),
        },
        nothingAhead(),
      )
    },
  }
}

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

/** One for each process. It reads nothing while no inbox is open. */
export class InboxHub {
  #pages = new Map<Controller, Page>()
  #groups = new Map<string, Group>()
  #sent = '' // what waits, as all pages know it
  #sentAt = 0
  #following = false
  #reading: ReturnType<typeof createFailuresInARow>

  constructor(
    readonly services: Services,
    readonly waiting: Waiting,
  ) {
    this.#reading = createFailuresInARow(services.log, 'reading the inbox failed; retrying', 'the inbox is read again')
  }

  /** The stream of a page that opens. `onEnd` is called once, when it is over. */
  open(reader: Reader, onEnd: () => void): ReadableStream<Bytes> {
    let mine: Controller
    return new ReadableStream<Bytes>(
      {
        start: (controller) => this.#enter((mine = controller), reader, onEnd),
        cancel: () => this.#leave(mine),
      },
      nothingAhead(),
    )
  }

  #enter(page: Controller, reader: Reader, onEnd: () => void) {
    const key = JSON.stringify([reader.person ?? null, reader.meeting ?? null])
    const group = this.#groups.get(key) ?? { key, reader, pages: new Set(), shown: undefined }
    this.#groups.set(key, group)
    group.pages.add(page)
    this.#pages.set(page, { group, onEnd })
    page.enqueue(hello())
    if (this.#sent !== '') page.enqueue(namedEvent('waiting', this.#sent))
    if (group.shown) page.enqueue(namedEvent('html', Object.values(group.shown).join('')))
    if (!this.#following) void this.#follow()
  }

  #leave(page: Controller) {
    const left = this.#pages.get(page)
    if (!left || !this.#pages.delete(page)) return
    left.group.pages.delete(page)
    if (left.group.pages.size === 0) this.#groups.delete(left.group.key)
    left.onEnd()
  }

  #send(bytes: Bytes, to: Iterable<Controller> = this.#pages.keys()) {
    this.#sentAt = performance.now()
    for (const controller of to) if (!handOver(controller, bytes, this.services)) this.#leave(controller)
  }

  async #follow() {
    this.#following = true
    const { stopping, waiters } = this.services
    while (this.#pages.size > 0 && !stopping.aborted) {
      const waiter = waiters.subscribe(INBOX) // before looking, so that nothing lands unseen in between
      let next = EVERY_MS
      try {
        if (await this.#refresh()) next = COUNTING_MS
        this.#reading.worked()
        if (performance.now() - this.#sentAt > PING_MS) this.#send(PING)
      } catch (error) {
        this.#reading.failed(error)
      }
      const timer = setTimeout(() => waiter.wake(), next)
      await waiter.woken()
      clearTimeout(timer)
      waiter.unsubscribe()
    }
    this.#following = false
    this.#sent = ''
    for (const page of this.#pages.keys()) {
      page.close()
      this.#leave(page)
    }
  }

  // Reads what waits, and sends what changed. True while an agent waits for permission, whose seconds are counted down.
  async #refresh(): Promise<boolean> {
    const { database, config, clock, wakes } = this.services
    const [proposals, named, needy, today] = await Promise.all([
      waitingProposals(database, MOST_WAITING),
      waitingRequests(database, config.PERMISSION_WAIT, MOST_WAITING),
      readNeedy(database, wakes.perHour()),
      decidedSince(database, todaysBegin(clock.now())),
      this.waiting.read(),
    ])
    const requests = (await requestsOf(database, named)).map((request) => permissionView(request, config.PERMISSION_WAIT))
    const fragments = inboxFragments({ proposals, requests, today, now: clock.now() })
    const now = JSON.stringify({
      proposals: proposals.map(({ id, session_id }) => [id, session_id]),
      requests: named.map(({ id, session_id }) => [cardAnchor(id), session_id, id]),
    })
    if (now !== this.#sent) this.#send(namedEvent('waiting', (this.#sent = now)))
    const own = this.#ownParts(needy)
    for (const group of this.#groups.values()) this.#show(group, { ...fragments, ...own(group.reader) })
    return requests.length > 0
  }

  // Readers may name any session: what is the same for many, mostly nothing, is rendered once.
  #ownParts(sessions: NeedyView[]) {
    const rendered = new Map<string, Record<string, string>>()
    return (reader: Reader): Record<string, string> => {
      const read = this.#partsOf(reader, sessions)
      const key = JSON.stringify([
        read.asked.map(({ session, sequence }) => [session.id, sequence]),
        read.needy.map(({ id }) => id),
        read.count,
      ])
      const parts = rendered.get(key) ?? readersFragments({ ...read, now: this.services.clock.now() })
      rendered.set(key, parts)
      return parts
    }
  }

  #partsOf({ person, meeting }: Reader, sessions: NeedyView[]) {
    const isHere = (id: string) => meeting === undefined || id === meeting
    const asked = this.waiting.askedOf(person).filter(({ session }) => isHere(session.id))
    return { asked, needy: sessions.filter(({ id }) => isHere(id)), count: this.waiting.countFor(person) }
  }

  #show(group: Group, now: Record<string, string>) {
    const before = group.shown ?? {}
    group.shown = now
    const changed = Object.keys(now).filter((name) => now[name] !== before[name])
    if (changed.length > 0) this.#send(namedEvent('html', changed.map((name) => now[name]).join('')), group.pages)
  }
}

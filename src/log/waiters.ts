// Who waits for news of which session, in this process only. A wake carries no data: the woken caller looks for itself.

/** Arms and wakes. An armed waiter that nobody disarms stays for good. */
export class Waiters {
  #bySession = new Map<string, Room>()

  /** How many are armed. */
  size = 0

  /** Arm before looking at the feed: an event between the look and the wait would otherwise be missed. */
  arm(session: string): Armed {
    let room = this.#bySession.get(session)
    if (!room) this.#bySession.set(session, (room = { session, armed: new Set(), told: undefined }))
    const armed = new Armed(this, room)
    room.armed.add(armed)
    this.size++
    return armed
  }

  disarm(armed: Armed, room: Room) {
    if (!room.armed.delete(armed)) return
    this.size--
    if (room.armed.size === 0) this.#bySession.delete(room.session)
  }

  /** `sequence`: the session's newest event, so that the sweep need not wake for it again. */
  wake(session: string, sequence = 0) {
    const room = this.#bySession.get(session)
    if (room) wakeIn(room, sequence)
  }

  wakeAll() {
    for (const room of this.#bySession.values()) wakeIn(room, 0)
  }

  newestTold = (session: string) => this.#bySession.get(session)?.told
  sessions = () => [...this.#bySession.keys()]
}

// There as long as somebody is armed in it.
interface Room {
  session: string
  armed: Set<Armed>
  told: number | undefined // the newest sequence that they have been woken for
}

const wakeIn = (room: Room, sequence: number) => {
  if (sequence > (room.told ?? 0)) room.told = sequence
  for (const armed of room.armed) armed.wake() // the woken run later, so the set does not change meanwhile
}

/** One who waits for a session's news. */
export class Armed {
  #waiters: Waiters
  #room: Room
  #isWoken = false
  #woken: Promise<void> | undefined
  #resolve: (() => void) | undefined

  constructor(waiters: Waiters, room: Room) {
    this.#waiters = waiters
    this.#room = room
  }

  /** Made when it is asked for: most polls find what they look for, and do not wait. */
  woken(): Promise<void> {
    return (this.#woken ??= this.#isWoken ? Promise.resolve() : new Promise((resolve) => void (this.#resolve = resolve)))
  }

  /** Also for the waiter's own reasons: its time is up, its caller has gone. */
  wake() {
    this.#isWoken = true
    this.#resolve?.()
  }

  /** The newest sequence that those who wait for this session were told. */
  get newestTold(): number | undefined {
    return this.#room.told
  }

  /** It has seen this much of the session. Others who wait there since before, and were not told, are woken. */
  caughtUpTo(sequence: number) {
    if (this.#room.told === undefined) this.#room.told = sequence
    else if (sequence > this.#room.told) wakeIn(this.#room, sequence)
  }

  disarm() {
    this.#waiters.disarm(this, this.#room)
  }
}

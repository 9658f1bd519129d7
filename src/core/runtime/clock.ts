const DOUBTFUL_MS = 1_000

/** The database's clock, carried forward by this process's monotonic one: a jump of the wall clock changes nothing here. */
export class Clock {
  #databaseMs = Date.now()
  #readAt = performance.now()
  #wallAt = Date.now() // at the same moment

  /** Takes the time that the database has answered, as RFC 3339 or in milliseconds since the epoch. `askedAt`: `performance.now()` when it was
   *  asked. It was that time at some moment since, however late the answer came. What this clock says stays, where that can be right, and is
   *  otherwise moved to the nearer end of what can: the answer of a connection that stood still for seconds sets no clock back by them. */
  set(time: string | number, askedAt = performance.now()) {
    const earliest = typeof time === 'number' ? time : Date.parse(time)
    const latest = earliest + performance.now() - askedAt
    this.#databaseMs = Math.min(Math.max(this.now(), earliest), latest)
    this.#readAt = performance.now()
    this.#wallAt = Date.now()
  }

  /** The wall clock has gone on otherwise than the monotonic one, which stands still while the machine sleeps: the database is to be asked again. */
  get isDoubtful(): boolean {
    return Math.abs(Date.now() - this.#wallAt - (performance.now() - this.#readAt)) > DOUBTFUL_MS
  }

  /** Milliseconds since the epoch. */
  now = (): number => this.#databaseMs + performance.now() - this.#readAt

  nowText = (): string => new Date(this.now()).toISOString()
}

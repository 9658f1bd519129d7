const DOUBTFUL_MS = 1_000

/** The database's clock, carried forward by this process's monotonic one: a jump of the wall clock changes nothing here. */
export class Clock {
  #databaseMs = Date.now()
  #readAt = performance.now()
  #wallAt = Date.now() // at the same moment

  /** Corrects this clock by the database's answer: `time`, as RFC 3339 or in milliseconds since the epoch. `askedAt`: `performance.now()` when the
   *  database was asked. Between then and now it was `time` there, so the database's clock is now at `time` at the least, and at the most at
   *  `time` plus the round trip. This clock stays where it lies between, and is moved to the nearer bound otherwise: an answer that a stalled
   *  connection brings seconds late sets no clock back by them. */
  set(time: string | number, askedAt = performance.now()) {
    const earliest = typeof time === 'number' ? time : Date.parse(time)
    const latest = earliest + performance.now() - askedAt
    this.#databaseMs = Math.min(Math.max(this.now(), earliest), latest)
    this.#readAt = performance.now()
    this.#wallAt = Date.now()
  }

  /** The wall clock has gone on otherwise than the monotonic one, which stands still while the machine sleeps: the database is to be asked
   *  again. */
  get isDoubtful(): boolean {
    return Math.abs(Date.now() - this.#wallAt - (performance.now() - this.#readAt)) > DOUBTFUL_MS
  }

  /** Milliseconds since the epoch. */
  now = (): number => this.#databaseMs + performance.now() - this.#readAt

  nowText = (): string => new Date(this.now()).toISOString()
}

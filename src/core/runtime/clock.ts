const DOUBTFUL_MS = 1_000

/** The database's clock, carried forward by this process's monotonic one: a jump of the wall clock changes nothing here. */
export class Clock {
  #databaseMs = Date.now()
  #readAt = performance.now()
  #wallAt = Date.now() // at the same moment

  /** The time that the database has just answered, as RFC 3339 or in milliseconds since the epoch. */
  set(time: string | number) {
    this.#databaseMs = typeof time === 'number' ? time : Date.parse(time)
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

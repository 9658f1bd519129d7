/** The database's clock, carried forward by this process's monotonic one: a jump of the wall clock changes nothing here. */
export class Clock {
  #databaseMs = Date.now()
  #readAt = performance.now()

  /** The time that the database has just answered, as RFC 3339 or in milliseconds since the epoch. */
  set(time: string | number) {
    this.#databaseMs = typeof time === 'number' ? time : Date.parse(time)
    this.#readAt = performance.now()
  }

  /** Milliseconds since the epoch. */
  now = (): number => this.#databaseMs + performance.now() - this.#readAt

  nowText = (): string => new Date(this.now()).toISOString()
}

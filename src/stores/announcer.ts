// Tells other instances what was committed here. After the commit, not in it: a transaction that notifies holds a lock that all
// commits share, and took 20 % longer (bench/post). What is lost on the way, the sweep of the others finds within seconds.
import type { Database } from '../../db/database.ts'

const SESSIONS_IN_ONE = 120 // a payload has at most 7,999 bytes, a session takes 53 of them at the most

export class Announcer {
  #newest = new Map<string, number>()
  #sending = false

  constructor(
    readonly database: Database,
    readonly instance: string,
  ) {}

  /** What gathers while one notification is under way goes with the next. */
  announce(session: string, sequence: number) {
    this.#newest.set(session, Math.max(sequence, this.#newest.get(session) ?? 0))
    if (this.#sending) return
    this.#sending = true
    queueMicrotask(() => void this.#send())
  }

  async #send() {
    while (this.#newest.size > 0) {
      const sessions = [...this.#newest].slice(0, SESSIONS_IN_ONE)
      for (const [session] of sessions) this.#newest.delete(session)
      const payload = `${this.instance}|${sessions.map(([session, sequence]) => `${session}:${sequence}`).join(',')}`
      await this.database.query('select pg_notify($1, $2)', ['parley', payload]).catch(() => {})
    }
    this.#sending = false
  }
}

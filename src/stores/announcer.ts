// What instances tell each other, written and read only here: `<instance>|` and one of two greetings, SETTINGS, or sessions with their
// newest sequence. What was committed is told after the commit, not in it: a transaction that notifies holds a lock that all commits
// share, and took 20 % longer (bench/post). What is lost on the way, the sweep of the others finds within seconds. An instance that is
// alone notifies nobody: it was a tenth of what a post costs (bench/post).
import { CHANNEL, type Database, type Queries } from '../../db/database.ts'
import { putBounded } from '../core/bounded.ts'
import { UUID_LENGTH } from '../core/ids.ts'

const SESSIONS_IN_ONE = 120 // a payload has at most 7,999 bytes, a session takes 53 of them at the most
const ANSWERED_WITHIN_MS = 2_000

const HELLO = 'hello' // said whenever this instance begins to listen: the others answer, and know of it from then on
const HERE = 'here'
const SETTINGS = 'settings' // one was saved

/** What another instance did. */
export interface News {
  settings: boolean
  moved: [session: string, newest: number][]
}

const NOTHING: News = { settings: false, moved: [] }

/** One instance's voice and ear among those that share a Postgres. */
export class Announcer {
  #newest = new Map<string, number>() // what was not told yet; while alone, what moved last: the first other to come is told it
  #sending = false
  #company: boolean | undefined // undefined: nobody has answered yet

  constructor(
    readonly database: Database,
    readonly instance: string,
  ) {}

  /** From now on this instance hears others. */
  listening() {
    void this.greet()
    if (this.#company) return
    this.#company = undefined
    setTimeout(() => (this.#company ??= false), ANSWERED_WITHIN_MS).unref?.()
  }

  /** Said again now and then: a word that got lost would leave two instances alone with each other. */
  greet = () => this.#say(HELLO)

  /** Reads what was said, by another or by this one. What another may have missed before, it is told now. */
  heard(payload: string): News {
    const [from, said = ''] = payload.split('|')
    if (from === this.instance) return NOTHING
    const known = this.#company === true
    this.#company = true
    if (said === HELLO) void this.#say(HERE)
    if (!known || said === HELLO) this.#wake()
    if (said === HELLO || said === HERE) return NOTHING
    if (said === SETTINGS) return { settings: true, moved: [] }
    return { settings: false, moved: said.split(',').map((one) => [one.slice(0, UUID_LENGTH), Number(one.slice(UUID_LENGTH + 1))]) }
  }

  /** In the transaction that saves: it is rare, and must not get lost between the two. */
  async settingsSaved(queries: Queries) {
    await this.#notify(queries, SETTINGS)
  }

  /** Nobody else writes: what this process knows of a session is all there is. */
  get alone() {
    return this.#company === false
  }

  /** What gathers while one notification is under way goes with the next. */
  announce(session: string, sequence: number) {
    const newest = Math.max(sequence, this.#newest.get(session) ?? 0)
    this.#newest.delete(session)
    if (this.#company === false) return putBounded(this.#newest, session, newest, SESSIONS_IN_ONE)
    this.#newest.set(session, newest)
    this.#wake()
  }

  #wake() {
    if (this.#sending) return
    this.#sending = true
    queueMicrotask(() => void this.#send())
  }

  async #send() {
    while (this.#newest.size > 0 && this.#company !== false) {
      const sessions = [...this.#newest].slice(0, SESSIONS_IN_ONE)
      for (const [session] of sessions) this.#newest.delete(session)
      await this.#say(sessions.map(([session, sequence]) => `${session}:${sequence}`).join(','))
    }
    this.#sending = false
  }

  #say = (said: string) => this.#notify(this.database, said).catch(() => {})

  #notify = ({ query }: Queries, said: string) => query('select pg_notify($1, $2)', [CHANNEL, `${this.instance}|${said}`])
}

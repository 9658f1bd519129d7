// What instances tell each other, written and read only here: `<instance>|<what>|<when it was sent>`. What is one of two greetings, SETTINGS,
// or sessions with their newest sequence. What was committed is told after the commit, not in it: a transaction that notifies holds a lock
// that all commits share, and took 20 % longer (bench/post). What is lost on the way, the sweep of the others finds within seconds.
//
// An instance that is alone notifies nobody (it was a tenth of what a post costs, bench/post) and answers from memory. It may believe so
// only with a proof: notifications arrive in the order in which they were committed, so that whoever hears its own has heard every hello
// before it. The proof is good for PROOF_LASTS_MS from when it was sent, and an instance that comes while others are there serves nobody
// until that time has passed since its hello: by then nobody who has not heard it believes to be alone. A proof is asked for when it is
// needed: an idle server sends nothing.
import { CHANNEL, type Database, type Queries } from '../../db/database.ts'
import { putBounded } from '../core/bounded.ts'
import { UUID_LENGTH } from '../core/ids.ts'
import type { Log } from '../core/log.ts'

const SESSIONS_IN_ONE = 120 // a payload has at most 7,999 bytes, a session takes 53 of them at the most
const ANSWERED_WITHIN_MS = 2_000
const HEARD_WITHIN_MS = 2_000
const PROOF_LASTS_MS = 1_000
const CLOCKS_DIFFER_MS = 50

const HELLO = 'hello' // said whenever this instance begins to listen: the others answer, and know of it from then on
const HERE = 'here'
const SETTINGS = 'settings' // one was saved

const DEAF =
  'Notifications of the database do not come through: what other instances write is noticed seconds later. If DATABASE_URL names a pooler, use a direct connection, or a pooler in session mode.'

/** What another instance did. */
export interface News {
  settings: boolean
  moved: [session: string, newest: number][]
}

const NOTHING: News = { settings: false, moved: [] }

/** A time by two clocks: one stands still while the machine sleeps, the other may be set. */
interface Moment {
  steady: number
  wall: number
}
const now = (): Moment => ({ steady: performance.now(), wall: Date.now() })
const ageOf = ({ steady, wall }: Moment): number => Math.max(performance.now() - steady, Math.abs(Date.now() - wall))
const NEVER: Moment = { steady: -Infinity, wall: -Infinity }

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms).unref?.())

/** One instance's voice and ear among those that share a Postgres. */
export class Announcer {
  #newest = new Map<string, number>() // what was not told yet; while alone, what moved last: the first other to come is told it
  #sending = false
  #company: boolean | undefined // undefined: nobody has answered yet
  #proof = NEVER // when the newest of our own notifications that came back was sent
  #greeted = -Infinity
  #began = -Infinity // to listen, on the connection that listens now
  #introduced: Promise<void> = Promise.resolve()
  #hears = true

  constructor(
    readonly database: Database,
    readonly instance: string,
    readonly log: Log,
  ) {}

  /** From now on this instance hears others. `others`: whether one of them is there, even if it cannot answer. */
  listening(others: Promise<boolean>) {
    const began = (this.#began = performance.now())
    if (!this.#company) this.#company = undefined
    this.#introduced = this.#introduce(others)
    this.#introduced.catch(() => {})
    void Promise.all([others, sleep(ANSWERED_WITHIN_MS)]).then(([found]) => {
      if (this.#began === began) this.#company ??= found
    })
  }

  /** Resolves when nobody who has not heard of this instance believes to be alone any more. */
  introduced(): Promise<void> {
    return this.#introduced
  }

  async #introduce(others: Promise<boolean>) {
    if (await others) this.#company = true
    const said = now()
    await this.#notify(this.database, HELLO)
    void this.#watchFor(said)
    if (await others) await sleep(PROOF_LASTS_MS + CLOCKS_DIFFER_MS)
  }

  /** Said again now and then: a word that got lost would leave two instances alone with each other. */
  async greet() {
    this.#greeted = performance.now()
    const said = now()
    if (await this.#say(HELLO)) void this.#watchFor(said)
  }

  /** What this instance says comes back to it. */
  get hearsItself() {
    return this.#hears
  }

  // Called when the database has taken what was said.
  async #watchFor(said: Moment) {
    await sleep(HEARD_WITHIN_MS)
    await sleep(0) // what arrived while this process was busy is read first
    const heard = this.#proof.steady >= said.steady
    if (heard === this.#hears || (!heard && this.#began > said.steady)) return
    this.#hears = heard
    this.log(heard ? 'info' : 'warn', heard ? 'Notifications of the database come through again.' : DEAF)
  }

  /** Reads what was said, by another or by this one. What another may have missed before, it is told now. */
  heard(payload: string): News {
    const [from, said = '', sent = ''] = payload.split('|')
    if (from === this.instance) return this.#heardItself(sent)
    const known = this.#company === true
    this.#company = true
    if (said === HELLO) void this.#say(HERE)
    if (!known || said === HELLO) this.#wake()
    if (said === HELLO || said === HERE) return NOTHING
    if (said === SETTINGS) return { settings: true, moved: [] }
    return { settings: false, moved: said.split(',').map((one) => [one.slice(0, UUID_LENGTH), Number(one.slice(UUID_LENGTH + 1))]) }
  }

  #heardItself(sent: string): News {
    const [steady = NaN, wall = NaN] = sent.split('/').map(Number)
    if (steady > this.#proof.steady) this.#proof = { steady, wall }
    return NOTHING
  }

  /** In the transaction that saves: it is rare, and must not get lost between the two. */
  async settingsSaved(queries: Queries) {
    await this.#notify(queries, SETTINGS)
  }

  /** Nobody else writes: what this process knows of a session is all there is. Judged anew at each call: a process that was frozen has
   *  missed what happened meanwhile. */
  isAlone(): boolean {
    if (this.#company !== false) return false
    const isDue = (at: number) => at > PROOF_LASTS_MS / 2
    if (isDue(ageOf(this.#proof)) && isDue(performance.now() - this.#greeted)) void this.greet()
    return this.#isProvenAlone()
  }

  #isProvenAlone() {
    return this.#company === false && ageOf(this.#proof) < PROOF_LASTS_MS
  }

  /** What gathers while one notification is under way goes with the next. */
  announce(session: string, sequence: number) {
    const newest = Math.max(sequence, this.#newest.get(session) ?? 0)
    this.#newest.delete(session)
    if (this.#isProvenAlone()) return putBounded(this.#newest, session, newest, SESSIONS_IN_ONE)
    this.#newest.set(session, newest)
    this.#wake()
  }

  #wake() {
    if (this.#sending) return
    this.#sending = true
    queueMicrotask(() => void this.#send())
  }

  async #send() {
    while (this.#newest.size > 0 && !this.#isProvenAlone()) {
      const sessions = [...this.#newest].slice(0, SESSIONS_IN_ONE)
      for (const [session] of sessions) this.#newest.delete(session)
      await this.#say(sessions.map(([session, sequence]) => `${session}:${sequence}`).join(','))
    }
    this.#sending = false
  }

  #say = (said: string): Promise<boolean> =>
    this.#notify(this.database, said).then(
      () => true,
      () => false,
    )

  #notify = ({ query }: Queries, said: string) => {
    const { steady, wall } = now()
    return query('select pg_notify($1, $2)', [CHANNEL, `${this.instance}|${said}|${steady}/${wall}`])
  }
}

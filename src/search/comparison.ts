// Finds what the index was not notified of, by comparing sessions with it, a page of them at a time, those with the newest activity first.
// All are compared once, and from then on those in which something has happened since the last comparison: it costs what happened, not what
// there is.
import type { Database } from '../../db/database.ts'

const SESSIONS_AT_ONCE = 2_000
// A row has the time of its statement, and is seen once its transaction ends.
const COMMITTED_WITHIN = '5 minutes'
const EVER = '-infinity'

/** A session's place among all, by which pages of them follow one another. */
interface Place {
  active_hour: string
  id: string
}
const FIRST: Place = { active_hour: 'infinity', id: 'ffffffff-ffff-ffff-ffff-ffffffffffff' }

interface Round {
  began: string // by the database's clock
  since: string
  rebuilding: boolean // the index was being rebuilt when it began
  after: Place | undefined // where the last page ended; undefined: that was the last one
  others: string[] | undefined // sessions that these pages may miss; undefined: not read yet
  failed: string[][] // pages that are to be compared again
}

/** `compareAll` and `compareRecent` say what there is to do, `run` does it. */
export class Comparison {
  #due: 'all' | 'recent' | undefined = 'all'
  #round: Round | undefined
  #since = EVER // when the last round began that came to its end
  #foundRebuilding = false

  constructor(
    readonly database: Database,
    /** Compares these sessions. */
    readonly compare: (ids: string[]) => Promise<void>,
  ) {}

  /** Requests a comparison of all sessions: any may have changed. */
  compareAll() {
    this.#due = 'all'
  }

  /** Requests a comparison of recent sessions: something may have been written without a notification since the last one. */
  compareRecent() {
    this.#due ??= 'recent'
  }

  /** Whether, since it was asked last, all has been found that an index which is being rebuilt lacks. */
  takeFoundRebuilding(): boolean {
    const found = this.#foundRebuilding
    this.#foundRebuilding = false
    return found
  }

  /** Whether a comparison is still to be done, or to be ended. */
  get isDue(): boolean {
    return this.#due !== undefined || this.#round !== undefined
  }

  /** Compares all that is due, as long as `goOn()` is true. Throws as soon as a page fails: the next run goes on with the page after it, and tries
   *  it again when the others are done. */
  async run(goOn: () => boolean): Promise<void> {
    while (this.isDue && goOn()) {
      if (this.#round) await this.#goThrough(this.#round, goOn)
      if (this.#due === undefined || !goOn()) return
      this.#round = await this.#begin(this.#due)
      this.#due = undefined
    }
  }

  // `least`: the database's clock may have been set back, and what is written now has earlier times. Whoever rebuilds the index may have been
  // ended: all of it is compared then.
  async #begin(due: 'all' | 'recent'): Promise<Round> {
    const [row] = await this.database.query<{ began: string; recently: string; rebuilding: boolean }>(
      `select now()::text as began, (least($1::timestamptz, now()) - interval '${COMMITTED_WITHIN}')::text as recently,
         (select rebuilding from search_corpus where id = 1) is not null as rebuilding`,
      [this.#since],
    )
    const { began, recently, rebuilding } = row!
    const since = due === 'all' || rebuilding ? EVER : recently
    return { began, since, rebuilding, after: FIRST, others: since === EVER ? [] : undefined, failed: [] }
  }

  async #goThrough(round: Round, goOn: () => boolean): Promise<void> {
    const compare = async (ids: string[]) => {
      if (ids.length === 0) return
      await this.compare(ids).catch((error) => {
        round.failed.push(ids)
        throw error
      })
    }
    while (round.after && goOn()) await compare(await this.#nextPage(round, round.after))
    round.others ??= await this.#others(round)
    while (round.others.length > 0 && goOn()) await compare(round.others.splice(0, SESSIONS_AT_ONCE))
    // A round that failed somewhere is not done. If another one is due meanwhile, that begins as far back as this one.
    while (round.failed.length > 0 && this.#due === undefined && goOn()) await compare(round.failed.shift()!)
    if (!goOn()) return
    if (round.failed.length === 0) {
      this.#since = round.began
      this.#foundRebuilding ||= round.rebuilding
    }
    this.#round = undefined
  }

  async #nextPage(round: Round, after: Place): Promise<string[]> {
    const page = await this.database.query<Place>(
      `select id, active_hour::text from sessions s
       where s.active_hour > $1::timestamptz - interval '1 hour' and (s.active_hour, s.id) < ($2::timestamptz, $3::uuid)
       order by s.active_hour desc, s.id desc limit ${SESSIONS_AT_ONCE}`,
      [round.since, after.active_hour, after.id],
    )
    round.after = page.length < SESSIONS_AT_ONCE ? undefined : page.at(-1)
    return page.map(({ id }) => id)
  }

  // Sessions that the pages may miss: a document is written without an event, and an imported event has its transcript's time.
  async #others({ since }: Round): Promise<string[]> {
    const rows = await this.database.query<{ id: string }>(
      `select session_id as id from session_doc_history where written_at > $1::timestamptz
       union select session_id from imports where at > $1::timestamptz`,
      [since],
    )
    return rows.map(({ id }) => id)
  }
}

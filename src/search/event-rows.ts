// What a batch of the log adds to the tables of the index, worked out before anything is written (event-index.ts).
import { searchableText, type Content } from '../core/events/event-text.ts'
import { eventTypeNumber, eventTypeOf } from '../core/events/event-types.ts'
import { sessionKindAfter, type SessionKind } from '../core/session-kind.ts'
import { isMessage } from '../stores/events.ts'
import { indexed, LEVELS, termsOf } from './tokenizer.ts'

const TOKENIZED_AT_ONCE = 32 * 1024 // characters, after which others have their turn

/** An event as the log has it. */
export interface LoggedEvent {
  session_id: string
  sequence: number
  id: string
  turn: number
  type: string
  author: string
  content: Content
  tool_name: string | null
  at: string
  repeats: number | null // the sequence of the response that this answer repeats
}

/** In how many events a term is, and in how many of them at each level. */
interface TermCount {
  term: string
  events: number
  levels?: number[]
}

// The order of the index, in which neighbours share its pages: twice as fast.
const byTerm = (a: TermCount, b: TermCount) => (a.term < b.term ? -1 : 1)

const count = (terms: Map<string, TermCount>, term: string, level: number | undefined) => {
  let counted = terms.get(term)
  if (counted) counted.events++
  else terms.set(term, (counted = { term, events: 1 }))
  if (level === undefined) return
  counted.levels ??= LEVELS.map(() => 0)
  counted.levels[level]!++
}

/** How far a session is indexed with these events, how many of them are messages, and what kind of session it is after them. */
interface SessionRow {
  session_id: string
  sequence: number
  messages: number
  mode: SessionKind | undefined
}

interface EventRow {
  session_id: string
  turn: number
  sequence: number
  id: string
  kind: number
  at: string
  length: number
  tsv: string
  hot: string
}

/** The rows of some events: new ones, and those that move to an answer which repeats its trace's end. */
export interface EventRows {
  events: EventRow[]
  moves: object[]
}

/** What events have added to the counts of the index. */
export interface Added {
  events: number
  /** Answers that took the place of an event which is counted already. */
  repeats: number
  length: number
  terms: TermCount[]
  sessions: SessionRow[]
}

interface Indexing {
  kinds: Map<string, SessionKind> // of the sessions before these events
  ownTools: ReadonlySet<string>
  giveWay: () => Promise<void>
}

/** The rows of events, made a piece of the log at a time, and what all pieces together add to the counts. */
export class IndexRows {
  #terms = new Map<string, TermCount>()
  #sessions = new Map<string, { sequence: number; messages: number }>()
  #added = { events: 0, repeats: 0, length: 0 }

  /** `kinds` is kept up to date. */
  constructor(readonly options: Indexing) {}

  /** The rows of these events. An answer that repeats the end of its trace takes that response's place (`moves`): found once, and as what was
   *  said. */
  async of(logged: LoggedEvent[]): Promise<EventRows> {
    const { kinds, ownTools, giveWay } = this.options
    const events: EventRow[] = []
    const moves: object[] = []
    let tokenized = 0
    for (const { session_id, sequence, id, turn, type: logType, author, content, tool_name, at, repeats } of logged) {
      const type = eventTypeOf(logType, author)
      const messages = (this.#sessions.get(session_id)?.messages ?? 0) + Number(isMessage(logType))
      this.#sessions.set(session_id, { sequence, messages })
      kinds.set(session_id, sessionKindAfter(kinds.get(session_id)!, type, tool_name, ownTools))
      if (repeats !== null) {
        moves.push({ session_id, turn, repeats, sequence, id, at })
        continue
      }
      const text = searchableText(type, content, tool_name)
      if ((tokenized += text.length) > TOKENIZED_AT_ONCE) {
        await giveWay()
        tokenized = text.length
      }
      const counts = termsOf(text)
      const { levels, ...columns } = indexed(counts)
      for (const term of counts.keys()) count(this.#terms, term, levels.get(term))
      this.#added.length += columns.length
      events.push({ session_id, turn, sequence, id, kind: eventTypeNumber(type), at, ...columns })
    }
    this.#added.events += events.length
    this.#added.repeats += moves.length
    return { events, moves }
  }

  /** How many different terms the events have so far. */
  get terms() {
    return this.#terms.size
  }

  /** What the events so far add. */
  get added(): Added {
    return {
      ...this.#added,
      terms: [...this.#terms.values()].sort(byTerm),
      sessions: [...this.#sessions].map(([session_id, upTo]) => ({ session_id, ...upTo, mode: this.options.kinds.get(session_id) })),
    }
  }
}

// The ends of the logs that this process appends to. Who is present and whether the session is open changes only together with a log's
// end: joining, leaving, closing and reopening write an event. So if the end is where it was last seen, all that decides about a
// post is known, and it can be numbered without asking.
import { putBounded } from '../core/bounded.ts'
import type { Appended, Draft } from './append.ts'

export interface Head {
  sequence: number
  turn: number
  ordinal: number
  holder: string
  names: Map<string, string> // of teams that are present, by handle: those that were seen to post since the log was last moved elsewhere
}

/** The ends that are known, of at most 10,000 logs. */
export class Heads {
  #bySession = new Map<string, Head>()

  /** The end of the log that this post can be put to; undefined when only the database can tell what becomes of it. */
  before({ sessionId, teamId, key, holder, type }: Draft): Head | undefined {
    const head = this.#bySession.get(sessionId)
    if (!head || key || holder === undefined || type === 'system') return undefined
    return teamId === undefined || head.names.has(teamId) ? head : undefined
  }

  /** What the database said of posts that it judged itself, in the order of their numbers. */
  learn(drafts: readonly Draft[], answers: readonly (Appended | undefined)[]) {
    drafts.forEach(({ sessionId, teamId, holder }, i) => {
      const answer = answers[i]
      if (answer?.outcome !== 'appended' || holder === undefined) return
      const { sequence } = answer.event
      const before = this.#bySession.get(sessionId)
      if (before && before.sequence >= sequence) return
      const names = before?.sequence === sequence - 1 ? before.names : new Map<string, string>()
      if (teamId !== undefined) names.set(teamId, String(answer.event.team))
      this.put(sessionId, { sequence, turn: answer.turn, ordinal: answer.ordinal, holder, names })
    })
  }

  put(session: string, head: Head) {
    putBounded(this.#bySession, session, head, SESSIONS_KEPT)
  }

  /** No end is known from now on. */
  clear() {
    this.#bySession.clear()
  }

  /** The log has grown to this event, or to one that is not known: by somebody else, unless it is what was put here. */
  moved(session: string, sequence = Infinity) {
    if ((this.#bySession.get(session)?.sequence ?? Infinity) < sequence) this.#bySession.delete(session)
  }
}

const SESSIONS_KEPT = 10_000

/** The place of a post that follows this end: a turn opens with each prompt, and with each chat of another than the one who holds it. */
export const placeAfter = ({ sequence, turn, ordinal, holder, names }: Head, draft: Draft): Head => {
  const opens = draft.type === 'user_input' || draft.holder !== holder
  return { sequence: sequence + 1, turn: turn + (opens ? 1 : 0), ordinal: opens ? 1 : ordinal + 1, holder: draft.holder!, names }
}

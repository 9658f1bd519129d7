// Where the logs end that this process appends to: what an optimistic append is numbered from. It rests on one invariant: every fact that
// decides about a post by a team_id (is its team present, is its session open) changes only in a transaction that also moves the log's end.
// Joining, leaving and concluding write an event. So a log that still ends where it was last seen decides as it did then. db/schema.ts lists
// the facts beside their columns, and tests/stores/post-decisions.test.ts fails when one changes without an event.
import { LRUCache } from 'lru-cache'
import type { Appended, Draft } from './append.ts'

/** The end of one log. */
export interface Head {
  sequence: number
  turn: number
  ordinal: number
  holder: string // who has the turn, and spoke at `sequence`: a system event forgets the head
  others: number // nobody but the holder spoke after this sequence; they may have been silent for longer
  names: Map<string, string> // by handle: the teams that were seen to post since another process last moved this log
}

const SESSIONS_KEPT = 10_000

/** LRU cache of heads, by session. */
export class LogHeads {
  #bySession = new LRUCache<string, Head>({ max: SESSIONS_KEPT })

  /** The head that this post can be appended to optimistically. Undefined, so the database must check it, for posts with an idempotency
   *  key, for those of a sign-in or key (which end without an event), for system events (which have no holder), for teams that were not seen
   *  since the head was cached, and where others may have spoken after the cursor that the post expects. */
  headFor({ sessionId, teamId, credentialId, idempotency, holder, expectedCursor }: Draft): Head | undefined {
    const head = this.#bySession.get(sessionId)
    if (!head || idempotency || credentialId !== undefined || holder === undefined) return undefined
    if (expectedCursor !== undefined && !isReadUpTo(head, holder, expectedCursor)) return undefined
    return teamId === undefined || head.names.has(teamId) ? head : undefined
  }

  /** Takes the heads from what the database answered about posts that it checked, in the order of their numbers. */
  learn(drafts: readonly Draft[], answers: readonly (Appended | undefined)[]) {
    drafts.forEach(({ sessionId, teamId, holder, expectedCursor }, i) => {
      const answer = answers[i]
      if (answer?.outcome !== 'appended' || holder === undefined) return
      const { sequence } = answer.event
      const before = this.#bySession.get(sessionId)
      if (before && before.sequence >= sequence) return
      const known = before?.sequence === sequence - 1 ? before : undefined
      const names = known?.names ?? new Map<string, string>()
      const others = known ? othersAfter(known, holder) : (expectedCursor ?? sequence - 1)
      if (teamId !== undefined) names.set(teamId, String(answer.event.team))
      this.put(sessionId, { sequence, turn: answer.turn, ordinal: answer.ordinal, holder, others, names })
    })
  }

  put(session: string, head: Head) {
    this.#bySession.set(session, head)
  }

  /** Drops every head: any log may end elsewhere by now. */
  clear() {
    this.#bySession.clear()
  }

  /** The log has grown to this sequence, or to an unknown one: a head before it is another process's past, and is forgotten. */
  moved(session: string, sequence = Infinity) {
    if ((this.#bySession.peek(session)?.sequence ?? Infinity) < sequence) this.#bySession.delete(session)
  }
}

/** The head after this post: a turn opens with each prompt, and with each chat of another author than the one who holds it. The statement
 *  APPEND_BATCH has the same rule (append-sql.ts, `opened`). */
export const numberAfter = (head: Head, draft: Draft): Head => {
  const { sequence, turn, ordinal, names } = head
  const holder = draft.holder!
  const opens = draft.type === 'user_input' || holder !== head.holder
  const others = othersAfter(head, holder)
  return { sequence: sequence + 1, turn: turn + (opens ? 1 : 0), ordinal: opens ? 1 : ordinal + 1, holder, others, names }
}

const othersAfter = ({ sequence, holder, others }: Head, next: string): number => (next === holder ? others : sequence)

// False leaves the post to the statement that checks, which also refuses a cursor beyond the end.
const isReadUpTo = (head: Head, holder: string, cursor: number): boolean => cursor >= othersAfter(head, holder) && cursor <= head.sequence

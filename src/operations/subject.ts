// What a write is about, and therefore holds: said by the operation, so that a wing's tasks or approvals are locked as sessions are.
import { refuse } from '../core/errors.ts'
import { isUuid } from '../core/ids.ts'
import { redacted } from '../core/text/text.ts'
import type { Queries } from '../../db/database.ts'
import { lockSession, type Session } from '../stores/sessions.ts'

export interface Subject<Row = unknown> {
  /** Names it among all subjects: its idempotency keys are kept under this, and the writes of one process to it queue up by it. */
  key: string
  /** Locks it for the rest of the transaction; undefined when it does not exist. */
  lock(tx: Queries): Promise<Row | undefined>
  /** Refuses a call about one that does not exist. */
  missing(): never
}

export interface SessionSubject extends Subject<Session> {
  isSession: true
}

/** The refusal of a session that is not there, wherever one is named: a session that the caller may not know of is answered the same. */
export const NO_SUCH_SESSION =
  'There is no such session. Check the session_id: its page has it in the address, and list_sessions lists it, if you have that tool.'

/** Refuses an unknown id. Its details have the text that was sent, redacted: it may be a credential. */
export const noSuchSession = (id: string, message = NO_SUCH_SESSION): never => refuse('not_found', message, { session_id: redacted(id) })

/** The session that a call names. Its writes come one after the other, and may append to its log. */
export const sessionSubject = (id: string, missing = NO_SUCH_SESSION): SessionSubject => ({
  isSession: true,
  key: id,
  async lock(tx) {
    const session = isUuid(id) ? await lockSession(tx, id) : undefined
    return session?.purgedAt === null ? session : undefined // of a purged one nothing is left but its place in the trees
  },
  missing: () => noSuchSession(id, missing),
})

export const isSessionSubject = (subject: Subject | undefined): subject is SessionSubject => subject !== undefined && 'isSession' in subject

// What an operation is given to work with, whichever door it was called through.
import type { ErrorBody } from '../core/errors.ts'
import type { Call } from './call.ts'
import type { Caller } from './callers.ts'
import type { AnyOperation, AnyServed } from './operation.ts'
import type { Topic } from '../log/topics.ts'
import type { Waiter } from '../log/waiters.ts'
import type { Queries } from '../../db/database.ts'
import type { Services } from '../process/services.ts'
import type { Idempotency, Draft, Posted } from '../log/append.ts'
import type { Event } from '../stores/events.ts'
import type { Member } from '../stores/members.ts'
import type { Session } from '../stores/sessions.ts'

export interface Context {
  services: Services
  caller: Caller
  call: Call
  /** The transaction of a write; the database itself for a read. */
  queries: Queries
  /** The row that a write's subject locked; `session` where that is a session. */
  locked: unknown
  session: Session | undefined
  /** Writes a system event into a session's log, in this transaction; readers hear of it once it is committed. It may be another session's
   *  log than the subject's. When two writes wait for each other that way, the database undoes one, which is tried again. */
  append(sessionId: string, content: Draft['content'], options?: AppendOptions): Promise<Event>
  /** Writes what happened into a session's log as a `runtime` event, which is no part of the conversation: it ends no team's wait. */
  note(sessionId: string, content: Draft['content'], options?: AppendOptions): Promise<void>
  /** Writes a prompt or a message into a session's log, as `append` does a system event. */
  post(draft: Draft): Promise<Posted>
  /** Events up to `newest` were written into this session's log by other means than `append` and `post`: `count` of them. */
  grew(sessionId: string, newest: number, count: number): void
  /** Something other than an event has changed what search finds of this session: it is indexed again after the commit. Not needed for the
   *  session that is the subject. */
  changed(sessionId: string): void
  /** A topic that is no session's log has moved, to `newest` where it counts by itself, else to now: its waiters and listeners, here and at
   *  other instances, hear of it once this is committed. */
  moved(topic: Topic, newest?: number): void
  /** The secret of this handle's new credential, the same at each call: derived from the idempotency key when there is one. */
  secretFor(handle: string): string
  /** For waits: subscribed to the operation's topic before the caller was looked up. `perform` ends the subscription. */
  waiter: Waiter | undefined
  /** For appends, which keep their idempotency key themselves. */
  idempotency: Idempotency | undefined
  replayed(): void
}

export interface AppendOptions {
  /** Append even to a closed session. */
  evenClosed?: boolean
  /** The handle of the team whose doing it is, if that is not the caller; null: nobody's. A team is not woken by what it did itself. */
  doneBy?: string | null
  /** The handles of those that it is addressed to; readers see them in its field `to`. */
  to?: string[]
}

export type AnyOp = AnyOperation<Context>
export type ServedOp = AnyServed<Context>

/** One call of an operation, its shape and caller checked. */
export interface Request {
  operation: AnyOp
  services: Services
  call: Call
  caller: Caller
  input: Record<string, any>
}

export type Outcome = { ok: true; data: Record<string, unknown>; replayed: boolean } | { ok: false; error: ErrorBody }

/** What an operation is given. Without `more` it may only read: whatever writes throws. */
export const createContext = ({ services, call, caller }: Request, more: Partial<Context>): Context => ({
  services,
  caller,
  call,
  queries: services.database,
  locked: undefined,
  session: undefined,
  append: outsideWrite,
  note: outsideWrite,
  post: outsideWrite,
  grew: outsideWrite,
  changed: outsideWrite,
  moved: outsideWrite,
  secretFor: outsideWrite,
  waiter: undefined,
  idempotency: undefined,
  replayed: () => {},
  ...more,
})

const outsideWrite = (): never => {
  throw new Error('only an operation with effect: write may do this')
}

/** Under which address the caller reaches this server and its pages. */
export const baseOf = ({ call, services }: Pick<Context, 'call' | 'services'>): string => call.link?.().base ?? services.base()

/** The team of a call to an operation that teams alone may call. */
export const teamOf = ({ caller }: Context): Member => {
  if (caller.kind !== 'team') throw new Error('perform lets only teams through to here')
  return caller.member
}

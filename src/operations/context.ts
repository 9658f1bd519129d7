// What an operation is given to work with, whichever door it was called through.
import type { ErrorBody } from '../core/errors.ts'
import type { AnyOperation, AnyServed } from './operation.ts'
import type { Armed } from '../log/waiters.ts'
import type { Queries } from '../../db/database.ts'
import type { Services } from '../process/services.ts'
import type { AppendKey, Draft } from '../log/append.ts'
import type { Event } from '../stores/events.ts'
import type { Member } from '../stores/members.ts'
import type { Session } from '../stores/sessions.ts'

/** What the door found in the request, before any of it is believed. */
export interface Call {
  token?: string | undefined // X-Team-ID; the argument team_id wins over it
  person?: () => string | undefined // the name in a signed-in person's cookie, which the door has checked
  reader?: () => boolean // may read what the pages show
  key?: () => string | undefined // Idempotency-Key; the argument idempotency_key wins over it
  base?: () => string // this server's address, as the caller should know it
  signal: () => AbortSignal // aborts when the caller hangs up; made when asked for, which takes longer than most of a read (bench/mcp)
  began?: number // by performance.now(): when the door got it
  held?: (() => void) | undefined // told when the answer is held back, and was not refused at once
}

export type Caller = { kind: 'anyone' } | { kind: 'team'; member: Member } | { kind: 'person'; name: string }

export interface Context {
  services: Services
  caller: Caller
  call: Call
  /** The transaction of a write; the database itself for a read. */
  queries: Queries
  /** The session a write holds. */
  session: Session | undefined
  /** Writes a system event in this transaction; readers hear of it once it is committed. */
  append(content: Draft['content'], evenClosed?: boolean): Promise<Event>
  /** The new team's secret, the same at each call: derived from the idempotency key when there is one. */
  secretFor(handle: string): string
  /** For waits: armed before the caller's session was looked at. */
  armed: Armed | undefined
  /** For appends, which keep their key themselves. */
  appendKey: AppendKey | undefined
  replayed(): void
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

/** Named one by one: a spread of `more` takes longer, and every read has a context (bench/mcp). */
export const contextOf = ({ services, call, caller }: Request, more: Partial<Context>): Context => ({
  services,
  caller,
  call,
  queries: more.queries ?? services.database,
  session: more.session,
  append: more.append ?? outsideWrite,
  secretFor: more.secretFor ?? outsideWrite,
  armed: more.armed,
  appendKey: more.appendKey,
  replayed: more.replayed ?? nothing,
})

const nothing = () => {}
const outsideWrite = (): never => {
  throw new Error('only an operation with effect: write may do this')
}

/** The team of a call to an operation with access: team. */
export const teamOf = ({ caller }: Context): Member => {
  if (caller.kind !== 'team') throw new Error('the gate lets only teams through to here')
  return caller.member
}

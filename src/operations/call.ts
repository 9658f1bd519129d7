// One call as a door hands it on.
import type { ServerLink } from '../core/server-link.ts'
import type { Key } from '../stores/keys.ts'

export interface SignedInPerson {
  id: string // of the sign-in
  name: string
  verified: boolean // came by a link bound to this name
}

/** What the door found in the request, before any of it is believed. */
export interface Call {
  token?: string | undefined // X-Team-ID; the argument team_id wins over it
  person?: () => SignedInPerson | undefined // by the cookie, which the door has checked
  key?: Key | undefined // a program's key, which the door has checked
  invite?: string | undefined // the argument invite; it wins over the header X-Invite
  mayRead?: () => boolean // what the pages show
  isReader?: () => boolean // signed in with the viewer's password
  header?: (name: string) => string | undefined // for kinds of callers that the door knows nothing of
  idempotencyKey?: () => string | undefined // Idempotency-Key; the argument idempotency_key wins over it
  address?: () => string // the IP address that it comes from; absent from calls of the process itself
  link?: () => ServerLink // how the caller reaches this server; absent from calls of the process itself
  thread?: string | undefined // the caller's conversation in Codex, which names it with each call of a tool
  signal: () => AbortSignal // aborts when the caller hangs up
  /** Does held work with a signal that also aborts when a key or sign-in of the call ends; the result is then undefined. */
  untilEnded?: <T>(signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>) => Promise<T | undefined>
  /** Refuses the call, which came without the ACCESS_TOKEN that it needs. Not asked of what an invitation lets pass. */
  refuseTokenless?: (() => never) | undefined
  bodyless?: boolean // a HEAD request, which cannot receive messages: none of them counts as delivered
  began?: number // by performance.now(): when the door got it
  woken?: { at?: number | undefined } // set by a wait or held peek that an event ended: when this process learned of it, by performance.now()
  onHeld?: (() => void) | undefined // called when the answer is held back, and was not refused at once
}

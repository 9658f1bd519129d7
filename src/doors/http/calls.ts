// A request as a call of an operation, and what is done with its answer at every door.
import { secondsSince } from '../../core/runtime/metrics.ts'
import type { Call } from '../../operations/call.ts'
import type { Outcome, ServedOp } from '../../operations/context.ts'
import type { Services } from '../../process/services.ts'
import { actingPersonOf, personOf } from './cookies.ts'
import { credentialsOf } from './credentials.ts'
import { mayRead } from './guards.ts'
import type { Http } from './http.ts'
import { addressOf, serverLink } from './origin.ts'

/** The call as its headers show it, at whatever door. Nobody is signed in. */
export const signedOutCallOf = (c: Http, services: Services): Call => ({
  token: c.req.header('x-team-id'),
  mayRead: () => mayRead(c, services),
  link: () => serverLink(c, services),
  address: () => addressOf(c, services),
  header: (name) => c.req.header(name),
  idempotencyKey: () => c.req.header('idempotency-key'),
  signal: () => c.req.raw.signal,
  began: performance.now(),
  woken: {},
  onHeld: c.env?.untimed,
  ...credentialsOf(c, services),
})

/** The call as its headers and cookie show it. The signal of a HEAD request is aborted, so that it is not held. */
export const callOf = (c: Http, services: Services): Call => ({
  ...signedOutCallOf(c, services),
  person: () => actingPersonOf(c, services),
  isReader: () => personOf(c, services)?.role === 'reader',
  ...(c.req.method === 'HEAD' && { bodyless: true, signal: () => AbortSignal.abort() }),
})

/** Call it when the answer of a call is complete. */
export const observeWake = ({ metrics }: Services, { woken }: Call) => {
  if (woken?.at !== undefined) metrics.wakeSeconds.observe(secondsSince(woken.at))
}

/** An error in the operation's own shape, if it has one. */
export const refusalOf = ({ refusal }: ServedOp, outcome: Outcome, raw: unknown, { began = 0 }: Call) =>
  outcome.ok ? undefined : refusal?.(outcome.error, raw, performance.now() - began)

// The one way into an operation: untrusted input in, an outcome out, nothing thrown. Every door answers from the outcome.
import { z } from 'zod'
import { withinDeadline } from '../../db/database.ts'
import { answersAnyHost } from '../core/address.ts'
import type { Call } from './call.ts'
import type { AnyCallerKind, Caller, Credential } from './callers.ts'
import { createContext, type AnyOp, type Outcome } from './context.ts'
import { ALWAYS, NOT_AUTHENTICATED, Refusal, refuse, type ErrorBody } from '../core/errors.ts'
import { newSecret, parseToken } from '../core/ids.ts'
import { notOpened } from '../core/key-scopes.ts'
import { describeError } from '../core/runtime/log.ts'
import { checkTexts, redacted } from '../core/text/text.ts'
import { validationMessage } from '../core/text/validation-messages.ts'
import { idempotencyKeyOf } from './idempotency.ts'
import { keyRowOf } from './operation.ts'
import { notAuthenticated } from './not-authenticated.ts'
import type { Services } from '../process/services.ts'
import { isAway, isFull, isUndone } from '../../db/errors.ts'
import { findAnswer } from '../stores/idempotency.ts'
import { write } from './transaction.ts'
import { withoutNulls } from './without-nulls.ts'

/** Calls an operation. First what needs no look at the call: this server's hosts are known and the key opens the operation (403), the access
 *  token is there (401; where that depends on the team, once it is known). Then, in one order: a credential is there (401), the shape is right
 *  (400), the credential is good (401), no team calls what is for people only (403), an idempotency key's earlier answer, state and role
 *  (403, 404, 409). `raw` is whatever was sent. */
export const perform = async (operation: AnyOp, services: Services, call: Call, raw: unknown): Promise<Outcome> => {
  const begun = performance.now()
  let outcome: Outcome
  try {
    const attempted = admitted(operation, services, call, raw)
    // One limit for all that a call asks of the database, waiting in line included. A held wait has its own.
    outcome = await (operation.held ? attempted : withinDeadline(attempted))
  } catch (error) {
    if (operation.effect !== 'read' && isAway(error)) services.outcomeUnknown()
    outcome = { ok: false, error: errorBody(operation, services, error) }
  }
  const result = outcome.ok ? 'ok' : outcome.error.code
  services.metrics.calls.inc({ operation: operation.id, outcome: result })
  if (services.config.LOG_LEVEL === 'debug')
    services.log('debug', operation.id, { outcome: result, ms: Math.round(performance.now() - begun) })
  return outcome.ok && (outcome.replayed || operation.effect === 'write') ? inSchemaOrder(operation, outcome) : outcome
}

// A key must open the operation, and what is held ends with the key or sign-in that it came with.
const admitted = async (operation: AnyOp, services: Services, call: Call, raw: unknown): Promise<Outcome> => {
  if (operation.needsKnownHosts && answersAnyHost(services.config)) return { ok: false, error: HOSTS_UNKNOWN }
  if (call.key && !keyRowOf(operation)[call.key.scope]) {
    const { scope } = call.key
    return {
      ok: false,
      error: { code: 'forbidden', message: notOpened(scope, keyRowOf(operation), operation.onlyFor), details: { scope } },
    }
  }
  if (!operation.held || !call.untilEnded) return attempt(operation, services, call, raw)
  const outcome = await call.untilEnded(call.signal(), (signal) => attempt(operation, services, { ...call, signal: () => signal }, raw))
  return outcome ?? { ok: false, error: ENDED }
}

const HOSTS_UNKNOWN: ErrorBody = {
  code: 'forbidden',
  message:
    'This server answers to any host name, so that a foreign web page could steer agents in a visitor’s name. Set ALLOWED_HOSTS to the names by which it is reached, and restart it.',
  details: { variable: 'ALLOWED_HOSTS' },
}

const ENDED: ErrorBody = {
  code: 'unauthorized',
  message: `${NOT_AUTHENTICATED} The key or sign-in that this call came with has ended. Ask whoever made it for a new one.`,
  details: {},
}

const attempt = async (operation: AnyOp, services: Services, given: Call, sent: unknown): Promise<Outcome> => {
  const raw = withoutNulls(operation.input, withTokenTrimmed(sent) ?? {})
  const fields = (typeof raw === 'object' && raw !== null ? raw : {}) as Record<string, unknown>
  // A call that lacks the access token and brings no team's token is refused before anything is said of its arguments.
  if (given.refuseTokenless && !operation.letsIn && !isToken(fields.team_id ?? given.token)) given.refuseTokenless()
  const [kind, credential] = credentialOf(operation, given, fields) ?? notAuthenticated(operation)
  const { input, carried } = withoutCarried(operation, parsed(operation, raw))
  if (!operation.cleansTexts) checkTexts(input, credential.secret)
  const call = withCarried(given, carried)
  // Subscribed before the lookup of the caller, which is the first read: whatever happens from then on wakes the waiter.
  const topic = operation.topic?.(input)
  const waiter = topic === undefined ? undefined : services.waiters.subscribe(topic)
  try {
    const caller: Caller = (await kind.resolve(credential, { operation, services, call, input })) ?? notAuthenticated(operation)
    // Of what can be held, a wait is told by presence, and a peek, held or not, is a hook's or a watcher's: no sign that an agent is at work.
    if (caller.kind === 'team' && !operation.held) services.calledTeams.add(caller.member.teamId)
    if (call.refuseTokenless && !isInvited(caller) && !(await operation.letsIn?.(services, call, input))) call.refuseTokenless()
    const subject = operation.effect === 'read' ? undefined : operation.subject?.(input, caller)
    const idempotency = idempotencyKeyOf(operation, subject, caller, carried.idempotency_key ?? call.idempotencyKey?.(), input)
    // An append decides under the lock whether its team is still there, and a call with an idempotency key may be a replay.
    if (caller.ended && operation.effect !== 'append' && idempotency === undefined) notAuthenticated(operation)
    if (operation.peopleOnly) refuseTeams(operation, caller)
    const request = { operation, services, call, caller, input }
    if (operation.effect === 'write') {
      if (operation.beforehand && !(idempotency && (await findAnswer(services.database, idempotency))))
        await operation.beforehand(createContext(request, {}), input)
      const written = await write({ ...request, subject, idempotency })
      if (!written.ok || !operation.afterwards) return written
      return { ...written, data: await operation.afterwards(createContext(request, { waiter }), written.data, input) }
    }
    let replayed = false
    const context = createContext(request, { waiter, idempotency, replayed: () => void (replayed = true) })
    const data = await operation.run(context, input)
    return { ok: true, data, replayed }
  } finally {
    waiter?.unsubscribe()
  }
}

// A team that has left is not even told that it may not.
const refuseTeams = (operation: AnyOp, { kind, ended }: Caller): void => {
  if (kind === 'person' || kind === 'key') return
  if (ended) notAuthenticated(operation)
  refuse('forbidden', operation.onlyFor ?? 'Only a signed-in person may do this. Ask one.')
}

// A team_id that was read from a file has its line's end.
const withTokenTrimmed = (sent: unknown): unknown => {
  const { team_id } = (sent ?? {}) as { team_id?: unknown }
  return typeof team_id === 'string' && team_id !== team_id.trim() ? { ...(sent as object), team_id: team_id.trim() } : sent
}

// The first of the operation's kinds of callers whose credential the call brings, with that credential.
const credentialOf = ({ callers }: AnyOp, call: Call, fields: Record<string, unknown>): [AnyCallerKind, Credential] | undefined => {
  for (const kind of callers) {
    const credential = kind.credentialIn(call, fields)
    if (credential !== undefined) return [kind, credential]
  }
  return undefined
}

// jsonb keeps an object's keys in an order of its own. A retry is answered with the same bytes as the first call: both in the schema's order.
const inSchemaOrder = ({ output }: AnyOp, outcome: Extract<Outcome, { ok: true }>): Outcome => {
  const { success, data } = output.safeParse(outcome.data)
  return success ? { ...outcome, data } : outcome // an earlier version may have answered in another shape
}

const withoutCarried = (operation: AnyOp, given: Record<string, any>) => {
  const input = { ...given }
  const carried: Record<string, any> = {}
  for (const name of operation.carried) {
    carried[name] = input[name]
    delete input[name]
  }
  return { input, carried }
}

const isToken = (text: unknown) => typeof text === 'string' && parseToken(text) !== undefined
const isInvited = (caller: Caller) => caller.kind === 'team' && caller.member.invited

// An argument wins over the header.
const withCarried = (call: Call, { team_id: token, invite }: Record<string, unknown>): Call =>
  typeof token === 'string' || typeof invite === 'string'
    ? { ...call, ...(typeof token === 'string' && { token }), ...(typeof invite === 'string' && { invite }) }
    : call

const parsed = (operation: AnyOp, raw: unknown): Record<string, any> => {
  const result = operation.input.safeParse(raw, { error: validationMessage })
  return result.success ? result.data : invalid(result.error)
}

const ISSUES_NAMED = 5 // in the message
const ISSUES_TOLD = 50 // in the details: a body may have a million

const invalid = ({ issues }: z.ZodError): never => {
  const all = issues.slice(0, ISSUES_TOLD).map((issue) => ({ field: redacted(fieldOf(issue)), message: redacted(issue.message) })) // unknown names are told
  const said = ({ field, message }: { field: string; message: string }, i: number) => {
    const at = issues[i]!.code === 'unrecognized_keys' ? issues[i]!.path.join('.') : field // the message names what is unknown
    return at ? `${at}: ${message}` : message
  }
  return refuse('invalid_request', all.slice(0, ISSUES_NAMED).map(said).join('; '), { field: all[0]!.field, issues: all })
}

const fieldOf = (issue: z.core.$ZodIssue) =>
  [...issue.path, ...(issue.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [])].join('.')

/** The error of a call, as its caller is told. A failure that is no refusal is logged with its cause. Of a fault of ours the caller gets only a reference. */
export const errorBody = (
  { id, effect, refuses }: Pick<AnyOp, 'id' | 'effect' | 'refuses'>,
  services: Services,
  error: unknown,
): ErrorBody => {
  if (error instanceof Refusal) {
    if (!ALWAYS.includes(error.code) && !refuses.includes(error.code))
      services.log('warn', `${id} refused with an undeclared code`, { code: error.code })
    return error.body
  }
  services.metrics.callsFailed.inc()
  if (isAway(error) || isUndone(error)) services.failedForNow(id, error)
  if (isAway(error)) return away(effect !== 'read', isFull(error))
  if (isUndone(error)) return UNDONE // by its last try too
  const reference = newSecret().slice(0, 12)
  services.log('error', `${id} failed`, { reference, ...describeError(error) })
  const message = `Something went wrong on the server. If it persists, give the operator the reference ${reference}.`
  return { code: 'internal_error', message, details: { reference } }
}

const UNDONE: ErrorBody = {
  code: 'unavailable',
  message: 'Other calls at the same time got in the way of this one, and the database undid it. Try again in a second.',
  details: { retry_after: 1 }, // no `outcome`: nothing was written
}

const away = (writing: boolean, full: boolean): ErrorBody => ({
  code: 'unavailable',
  message: full
    ? `The disk of the database is full: nothing is written until its operator makes room there. Try again then${writing ? ' with the same idempotency key' : ''}.`
    : writing
      ? 'The database is not responding. Whether this was written is unknown: try again with the same idempotency key.'
      : 'The database is not responding. Try again in a second.',
  details: { retry_after: 1, ...(writing && { outcome: 'unknown' }), ...(full && { disk_full: true }) },
})

// The only gate: untrusted input in, an outcome out, nothing thrown. Every door answers from the outcome.
import { z } from 'zod'
import { withinDeadline } from '../../db/database.ts'
import { contextOf, type AnyOp, type Call, type Caller, type Outcome, type Request } from './context.ts'
import { ALWAYS, Refusal, refuse, unauthorized, type ErrorBody } from '../core/errors.ts'
import { isUuid, newSecret, parseToken, type Token } from '../core/ids.ts'
import { describeError } from '../core/log.ts'
import { checkTexts, redacted } from '../core/text.ts'
import { wording } from '../core/validation-messages.ts'
import type { Armed } from '../log/waiters.ts'
import { keyOf } from './idempotency.ts'
import type { Services } from '../process/services.ts'
import type { Member } from '../stores/members.ts'
import { isAway, isUndone } from '../../db/errors.ts'
import { write } from './transaction.ts'

/** Calls an operation in the contract's order of checks (section 4). `raw` is whatever the caller sent. What is answered from memory is
 *  there at once. */
export const perform = (operation: AnyOp, services: Services, call: Call, raw: unknown): Outcome | Promise<Outcome> => {
  const began = services.config.LOG_LEVEL === 'debug' ? performance.now() : undefined
  const told = (outcome: Outcome) => {
    const came = outcome.ok ? 'ok' : outcome.error.code
    services.metrics.add('calls', 1, `operation="${operation.name}",outcome="${came}"`)
    if (began !== undefined) services.log('debug', operation.name, { outcome: came, ms: Math.round(performance.now() - began) })
    return outcome.ok && outcome.replayed ? asFirstTold(operation, outcome) : outcome
  }
  const failed = (error: unknown) => {
    if (operation.effect !== 'read' && isAway(error)) services.outcomeUnknown()
    return told({ ok: false, error: errorBody(operation, services, error) })
  }
  try {
    const attempted = attempt(operation, services, call, raw)
    if (!(attempted instanceof Promise)) return told(attempted)
    // One limit for all that a call asks of the database, waiting in line included. A held wait has its own.
    return (operation.held ? attempted : withinDeadline(attempted)).then(told, failed)
  } catch (error) {
    return failed(error)
  }
}

// Not an async function: it would stay for as long as a wait is held, and a read from memory would take a tenth longer (bench/mcp).
const attempt = (operation: AnyOp, services: Services, call: Call, raw: unknown): Outcome | Promise<Outcome> => {
  const { access, held } = operation
  const given = (typeof raw === 'object' && raw !== null ? raw : {}) as Record<string, unknown>
  const credential = given.team_id ?? call.token
  const person = access === 'room' && credential === undefined ? call.person?.() : undefined
  if (access !== 'open' && credential === undefined && person === undefined) unauthorized()
  const all = parsed(operation, raw)
  const { team_id, idempotency_key: argumentKey } = all
  const input = team_id === undefined && argumentKey === undefined ? all : withoutThese(all) // a copy only where there is one
  const token = typeof credential === 'string' ? parseToken(credential) : undefined
  checkTexts(input, token?.secret)
  // Armed before the first look at the session, which is the look-up of its member: what lands in between wakes.
  const armed = held && isUuid(input.session_id) ? services.waiters.arm(input.session_id) : undefined
  const believed = credential === call.token ? call : { ...call, token: typeof credential === 'string' ? credential : undefined }
  const keyText = operation.effect === 'read' ? undefined : (argumentKey ?? call.key?.())
  const as = (caller: Caller) => admit({ operation, services, call: believed, caller, input }, keyText, armed)
  const unheard = (error: unknown) => {
    armed?.disarm()
    throw error
  }
  try {
    const caller = callerOf(operation, services, person, token, input)
    return caller instanceof Promise ? caller.then(as).catch(unheard) : as(caller)
  } catch (error) {
    return unheard(error)
  }
}

/** Throws what is refused before the operation runs. From then on what was armed is the operation's to disarm. */
const admit = (request: Request, keyText: string | undefined, armed: Armed | undefined): Outcome | Promise<Outcome> => {
  const { operation, caller, input } = request
  const key = keyOf(operation, caller, keyText, input)
  const decidesItself = operation.effect === 'append' || key !== undefined // under the lock; with a key it may be a replay
  if (caller.kind === 'team' && caller.member.left && !decidesItself) unauthorized()
  if (operation.effect === 'write') return write(request, key)
  let replayed = false
  const context = contextOf(request, { armed, appendKey: key, replayed: () => void (replayed = true) })
  const done = (data: Record<string, unknown>): Outcome => ({ ok: true, data, replayed })
  const data = operation.run(context, input)
  return data instanceof Promise ? data.then(done) : done(data)
}

// jsonb keeps an object's keys in an order of its own. A retry is answered with the same bytes as the first call: those of the schema.
const asFirstTold = ({ output }: AnyOp, outcome: Extract<Outcome, { ok: true }>): Outcome => {
  const { success, data } = output.safeParse(outcome.data)
  return success ? { ...outcome, data } : outcome // an earlier version may have answered in another shape
}

// The credential and the key are the call's own, and no part of the operation's input.
const withoutThese = ({ team_id: _, idempotency_key: __, ...input }: Record<string, any>) => input

const IN_OUR_WORDS = { error: wording }

const parsed = (operation: AnyOp, raw: unknown): Record<string, any> => {
  const result = operation.input.safeParse(withoutNulls(raw ?? {}), IN_OUR_WORDS)
  return result.success ? result.data : invalid(result.error, Object.keys(operation.input.shape))
}

// Many clients send null for an argument that they leave out.
const withoutNulls = (raw: unknown): unknown => {
  if (typeof raw !== 'object' || raw === null) return raw
  for (const name in raw)
    if ((raw as Record<string, unknown>)[name] === null)
      return Object.fromEntries(Object.entries(raw).filter(([, value]) => value !== null))
  return raw
}

const ISSUES_TOLD = 5 // in the message; all of them are in the details

const invalid = ({ issues }: z.ZodError, known: string[]): never => {
  const all = issues.map((issue) => ({ field: redacted(fieldOf(issue)), message: redacted(issue.message) })) // unknown names are told
  const said = ({ field, message }: { field: string; message: string }, i: number) =>
    field && issues[i]!.code !== 'unrecognized_keys' ? `${field}: ${message}` : message // that names its field itself
  const told = all.slice(0, ISSUES_TOLD).map(said)
  if (issues.some(({ code, path }) => code === 'unrecognized_keys' && path.length === 0)) told.push(`the arguments are ${known.join(', ')}`)
  return refuse('invalid_request', told.join('; '), { field: all[0]!.field, issues: all })
}

const fieldOf = (issue: z.core.$ZodIssue) =>
  [...issue.path, ...(issue.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [])].join('.')

const callerOf = (
  { access, effect, held }: AnyOp,
  services: Services,
  person: string | undefined,
  token: Token | undefined,
  { session_id, since_cursor }: Record<string, any>,
): Caller | Promise<Caller> => {
  if (access === 'open') return { kind: 'anyone' }
  if (person !== undefined) return { kind: 'person', name: person }
  if (!token) return unauthorized()
  const asTeam = (member: Member | undefined): Caller => (member ? { kind: 'team', member } : unauthorized())
  const known = held && services.memberLately(session_id, token, since_cursor ?? 0)
  return known ? asTeam(known) : services.memberOf(session_id, token, { lasting: effect === 'append' }).then(asTeam)
}

/** What the caller is told about a failure. A fault of ours is logged with its cause; the caller gets only a reference. */
export const errorBody = (
  { name, effect, refuses }: Pick<AnyOp, 'name' | 'effect' | 'refuses'>,
  services: Services,
  error: unknown,
): ErrorBody => {
  if (error instanceof Refusal) {
    if (!ALWAYS.includes(error.code) && !refuses.includes(error.code))
      services.log('warn', `${name} refused with an undeclared code`, { code: error.code })
    return error.body
  }
  if (isAway(error)) return away(effect !== 'read')
  if (isUndone(error)) return UNDONE // as often as it was tried
  const reference = newSecret().slice(0, 12)
  services.log('error', `${name} failed`, { reference, ...describeError(error) })
  const message = `Something went wrong on the server. If it persists, give the operator the reference ${reference}.`
  return { code: 'internal_error', message, details: { reference } }
}

const UNDONE: ErrorBody = {
  code: 'unavailable',
  message: 'Other calls at the same time got in the way of this one, and the database undid it. Try again in a second.',
  details: { retry_after: 1 }, // its outcome is known
}

const away = (writing: boolean): ErrorBody => ({
  code: 'unavailable',
  message: writing
    ? 'The database is not responding. Whether this was written is unknown: try again with the same idempotency key.'
    : 'The database is not responding. Try again in a second.',
  details: { retry_after: 1, ...(writing && { outcome: 'unknown' }) },
})

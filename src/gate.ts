// The only gate: untrusted input in, an outcome out, nothing thrown. Every door speaks from the outcome.
import { z } from 'zod'
import type { Queries } from '../db/database.ts'
import { Refusal, refuse, unauthorized, type ErrorBody } from './core/errors.ts'
import { derivedSecret, isUuid, newSecret, parseToken, sameText, sha256, type Token } from './core/ids.ts'
import { describeError } from './core/log.ts'
import type { AnyOperation } from './core/operation.ts'
import { checkTexts } from './core/text.ts'
import type { Armed } from './core/waiters.ts'
import type { Services } from './services.ts'
import { appendEvents, type AppendKey, type Draft } from './stores/append.ts'
import type { Event } from './stores/events.ts'
import { isAway, isCollision } from './stores/failures.ts'
import { findAnswer, lockKey, remember } from './stores/idempotency.ts'
import type { Member } from './stores/members.ts'
import { lockSession, type Session } from './stores/sessions.ts'

/** What the door found in the request, before any of it is believed. */
export interface Call {
  token?: string | undefined // X-Team-ID; the argument team_id wins over it
  person?: string | undefined // the name in a signed-in person's cookie, which the door has checked
  reader?: boolean | undefined // may read what the pages show
  key?: string | undefined // Idempotency-Key; the argument idempotency_key wins over it
  signal: AbortSignal
}

export type Caller = { kind: 'anyone' } | { kind: 'team'; member: Member; token: Token } | { kind: 'person'; name: string }

export interface Context {
  services: Services
  caller: Caller
  call: Call
  signal: AbortSignal
  /** The transaction of a write; the database itself for a read. */
  queries: Queries
  /** The session a write holds. */
  session: Session | undefined
  /** Writes events in this transaction; readers hear of them once it is committed. */
  append(draft: Draft): Promise<Event>
  /** The new team's secret, the same at each call: derived from the idempotency key when there is one. */
  secretFor(handle: string): string
  /** For waits: armed before the caller's session was looked at. */
  armed: Armed | undefined
  /** For appends, which keep their key themselves. */
  appendKey: AppendKey | undefined
  replayed(): void
}

export type Outcome = { ok: true; data: Record<string, unknown>; replayed: boolean } | { ok: false; error: ErrorBody }

export const perform = async (operation: AnyOperation<Context>, services: Services, call: Call, raw: unknown): Promise<Outcome> => {
  const outcome = await attempt(operation, services, call, raw).catch((error): Outcome => ({
    ok: false,
    error: errorBody(operation, services, error),
  }))
  services.metrics.add('calls', 1, { operation: operation.name, outcome: outcome.ok ? 'ok' : outcome.error.code })
  return outcome
}

const attempt = async (operation: AnyOperation<Context>, services: Services, call: Call, raw: unknown): Promise<Outcome> => {
  const { access } = operation
  const given = (typeof raw === 'object' && raw !== null ? raw : {}) as Record<string, unknown>
  const credential = given.team_id ?? call.token
  if (access !== 'open' && credential === undefined && !(access === 'room' && call.person !== undefined)) unauthorized()
  const { team_id: _, idempotency_key: argumentKey, ...input } = parsed(operation, raw)
  const token = typeof credential === 'string' ? parseToken(credential) : undefined
  checkTexts(input, token?.secret)
  // Armed before the first look at the session, which is the look-up of its member: what lands in between wakes.
  const armed = operation.held && isUuid(input.session_id) ? services.waiters.arm(input.session_id) : undefined
  try {
    return await admit(
      operation,
      services,
      { ...call, token: typeof credential === 'string' ? credential : undefined },
      token,
      argumentKey,
      input,
      armed,
    )
  } finally {
    armed?.disarm()
  }
}

const admit = async (
  operation: AnyOperation<Context>,
  services: Services,
  call: Call,
  token: Token | undefined,
  argumentKey: string | undefined,
  input: Record<string, any>,
  armed: Armed | undefined,
): Promise<Outcome> => {
  const { effect } = operation
  const caller = await callerOf(operation, services, call, token, input.session_id)
  const key = effect === 'read' ? undefined : keyOf(operation, caller, argumentKey ?? call.key, input)
  if (effect === 'write') return write(operation, services, call, caller, key, input)
  if (caller.kind === 'team' && caller.member.left && !(effect === 'append' && key)) unauthorized()
  let replayed = false
  const context = contextOf(services, call, caller, { armed, appendKey: key, replayed: () => void (replayed = true) })
  return { ok: true, data: await operation.run(context, input), replayed }
}

const parsed = (operation: AnyOperation<Context>, raw: unknown): Record<string, any> => {
  const result = operation.input.safeParse(raw ?? {})
  return result.success ? result.data : invalid(result.error)
}

const invalid = ({ issues }: z.ZodError): never => {
  const fieldOf = ({ path, code, ...rest }: z.core.$ZodIssue) =>
    [...path, ...(code === 'unrecognized_keys' ? (rest as { keys: string[] }).keys.slice(0, 1) : [])].join('.')
  const [first] = issues
  const field = fieldOf(first!)
  const all = issues.map((issue) => ({ field: fieldOf(issue), message: issue.message }))
  return refuse('invalid_request', field ? `${field}: ${first!.message}` : first!.message, { field, issues: all })
}

const callerOf = async (
  { access }: AnyOperation<Context>,
  services: Services,
  call: Call,
  token: Token | undefined,
  sessionId: string,
): Promise<Caller> => {
  if (access === 'open') return { kind: 'anyone' }
  if (call.token === undefined && call.person !== undefined) return { kind: 'person', name: call.person }
  const member = token && (await memberOf(services, sessionId, token))
  return member ? { kind: 'team', member, token } : unauthorized()
}

/** The team of this session that a token proves; undefined for any other token and any other session. */
export const memberOf = async (services: Services, sessionId: string, { handle, secret }: Token): Promise<Member | undefined> => {
  if (!isUuid(sessionId)) return undefined
  const member = await services.members({ sessionId, teamId: handle })
  return member && sameText(member.tokenHash, sha256(secret)) ? member : undefined
}

interface Key extends AppendKey {
  scope: string
  text: string
}

const keyOf = (
  operation: AnyOperation<Context>,
  caller: Caller,
  text: string | undefined,
  input: Record<string, unknown>,
): Key | undefined => {
  if (text === undefined) return undefined
  const issue = operation.input.shape.idempotency_key?.safeParse(text)
  if (issue && !issue.success) refuse('invalid_request', `idempotency_key: ${issue.error.issues[0]!.message}`, { field: 'idempotency_key' })
  const who = caller.kind === 'team' ? caller.member.teamId : caller.kind === 'person' ? `person:${caller.name}` : ''
  const scope = operation.access === 'open' ? 'open' : String(input.session_id)
  return { scope, caller: who, text, keyHash: sha256(text), operation: operation.name, bodyHash: sha256(canonical(input)) }
}

/** JSON with its keys in order, so that the same body has the same text. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, inner) =>
    inner && typeof inner === 'object' && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )

const TRIES = 4

const write = async (
  operation: AnyOperation<Context>,
  services: Services,
  call: Call,
  caller: Caller,
  key: Key | undefined,
  input: Record<string, any>,
): Promise<Outcome> => {
  for (let tried = 1; ; tried++) {
    const appended: { session: string; event: Event }[] = []
    try {
      const outcome = await services.database.transaction((tx) => writeOnce(tx, operation, services, call, caller, key, input, appended))
      for (const { session, event } of appended) services.publish(session, [event])
      return outcome
    } catch (error) {
      if (!isCollision(error) || tried === TRIES) throw error
    }
  }
}

const writeOnce = async (
  tx: Queries,
  operation: AnyOperation<Context>,
  services: Services,
  call: Call,
  caller: Caller,
  key: Key | undefined,
  input: Record<string, any>,
  appended: { session: string; event: Event }[],
): Promise<Outcome> => {
  const session = isUuid(input.session_id ?? '') ? await lockSession(tx, input.session_id) : undefined
  if (operation.access !== 'open' && !session) return refuse('not_found', 'There is no such session.', { session_id: input.session_id })
  if (key?.scope === 'open') await lockKey(tx, key.keyHash)
  const seen = key && (await findAnswer(tx, key))
  if (seen) return { ok: true, data: replay(operation, services, call, key, seen), replayed: true }
  if (caller.kind === 'team' && (caller.member.left || !(await isPresent(tx, caller.member)))) unauthorized()
  const fresh = newSecret()
  const secretFor = (handle: string) => (key ? derivedSecret(services.setting('server_secret')!, operation.name, key.text, handle) : fresh)
  const append = async (draft: Draft) => {
    const [answer] = await appendEvents(tx, [draft], services.instance)
    if (answer?.outcome !== 'appended') throw new Error(`an event was ${answer?.outcome} inside its own transaction`)
    appended.push({ session: draft.sessionId, event: answer.event })
    return answer.event
  }
  const data = await operation.run(contextOf(services, call, caller, { queries: tx, session, append, secretFor }), input)
  if (key) {
    const { team_id: _, ...safe } = data as Record<string, unknown>
    await remember(tx, {
      scope: key.scope,
      caller: key.caller,
      keyHash: key.keyHash,
      operation: key.operation,
      bodyHash: key.bodyHash,
      answer: operation.issues ? safe : data,
    })
  }
  return { ok: true, data, replayed: false }
}

// A team that left on another connection since it was looked up: its presence is decided under the session's lock.
const isPresent = async ({ query }: Queries, { session, teamId }: Member) =>
  (await query('select 1 from participants where session_id = $1 and team_id = $2 and left_at is null', [session.id, teamId])).length > 0

/** The answer that a key had before. Of a credential only its making is known, so it is made again. */
const replay = (
  operation: AnyOperation<Context>,
  services: Services,
  call: Call,
  key: Key,
  seen: { operation: string; bodyHash: string; answer: Record<string, unknown> },
) => {
  assertSameBody(key, seen)
  if (!operation.issues) return seen.answer
  const handle = String(seen.answer.handle)
  const own = call.token && parseToken(call.token)?.handle === handle ? call.token : undefined
  const team_id = own ?? `${handle}.${derivedSecret(services.setting('server_secret')!, operation.name, key.text, handle)}`
  return { ...seen.answer, team_id }
}

export const assertSameBody = (key: Pick<AppendKey, 'operation' | 'bodyHash'>, seen: Pick<AppendKey, 'operation' | 'bodyHash'>) => {
  if (seen.operation === key.operation && seen.bodyHash === key.bodyHash) return
  refuse(
    'idempotency_mismatch',
    `This idempotency key was used before for ${seen.operation} with ${seen.operation === key.operation ? 'another body' : 'its own body'}. Use a new key.`,
  )
}

const contextOf = (services: Services, call: Call, caller: Caller, more: Partial<Context>): Context => ({
  services,
  caller,
  call,
  signal: call.signal,
  queries: services.database,
  session: undefined,
  append: outsideWrite,
  secretFor: outsideWrite,
  appendKey: undefined,
  armed: undefined,
  replayed: () => {},
  ...more,
})
const outsideWrite = (): never => {
  throw new Error('only an operation with effect: write may do this')
}

export const errorBody = (
  { name, effect, refuses }: Pick<AnyOperation<Context>, 'name' | 'effect' | 'refuses'>,
  services: Services,
  error: unknown,
): ErrorBody => {
  if (error instanceof Refusal) {
    if (!ALWAYS.has(error.code) && !refuses.includes(error.code))
      services.log('warn', `${name} refused with an undeclared code`, { code: error.code })
    return error.body
  }
  if (isAway(error)) return away(effect !== 'read')
  const reference = newSecret().slice(0, 12)
  services.log('error', `${name} failed`, { reference, ...describeError(error) })
  return {
    code: 'internal_error',
    message: `Something went wrong on our side. If it stays so, tell the operator the reference ${reference}.`,
    details: { reference },
  }
}
const ALWAYS = new Set(['unauthorized', 'invalid_request', 'secret_in_text', 'idempotency_mismatch', 'not_found', 'unavailable'])

const away = (writing: boolean): ErrorBody => ({
  code: 'unavailable',
  message: writing
    ? 'The database does not answer. Whether this was written is unknown: try again with the same idempotency key.'
    : 'The database does not answer. Try again in a second.',
  details: { retry_after: 1, ...(writing && { outcome: 'unknown' }) },
})

// Idempotency keys: the same key, operation and body from the same caller gives the same answer and does nothing again.
import type { AnyOp, Caller } from './context.ts'
import { refuse } from '../core/errors.ts'
import { sha256 } from '../core/ids.ts'
import { wording } from '../core/validation-messages.ts'
import type { AppendKey } from '../log/append.ts'

export interface Key extends AppendKey {
  scope: string // the session, or 'open' where there is none yet, or the key itself is the caller's secret
  text: string
}

/** The key of a write as it is stored: the text of it is only ever hashed. */
export const keyOf = (operation: AnyOp, caller: Caller, text: string | undefined, input: Record<string, unknown>): Key | undefined => {
  if (text === undefined || operation.effect === 'read') return undefined
  const checked = operation.input.shape.idempotency_key.safeParse(text, { error: wording })
  if (!checked.success) refuse('invalid_request', `idempotency_key: ${checked.error.issues[0].message}`, { field: 'idempotency_key' })
  const scope = operation.access === 'open' || input.session_id === undefined ? 'open' : String(input.session_id)
  return { scope, caller: nameOf(caller), text, keyHash: sha256(text), operation: operation.name, bodyHash: sha256(canonical(input)) }
}

const nameOf = (caller: Caller) => (caller.kind === 'team' ? caller.member.teamId : caller.kind === 'person' ? `person:${caller.name}` : '')

// JSON with its keys in order, so that the same body has the same text.
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, inner) => (isPlain(inner) ? Object.fromEntries(Object.entries(inner).sort(byName)) : inner))
const isPlain = (value: unknown): value is object => typeof value === 'object' && value !== null && !Array.isArray(value)
const byName = ([a]: [string, unknown], [b]: [string, unknown]) => (a < b ? -1 : 1)

type Use = Pick<AppendKey, 'operation' | 'bodyHash'>

export const assertSameUse = (key: Use, before: Use) => {
  if (before.operation === key.operation && before.bodyHash === key.bodyHash) return
  const body = before.operation === key.operation ? ' with a different body' : ''
  refuse('idempotency_mismatch', `This idempotency key was already used for ${before.operation}${body}. Use a new key.`)
}

// Idempotency keys: the same key, operation and body from the same caller gives the same answer and does nothing again.
import type { Caller } from './callers.ts'
import type { AnyOp } from './context.ts'
import { isOpen } from './operation.ts'
import type { Subject } from './subject.ts'
import { refuse } from '../core/errors.ts'
import { sha256 } from '../core/ids.ts'
import { validationMessage } from '../core/text/validation-messages.ts'
import { isObject } from '../core/text/json.ts'
import type { Idempotency } from '../log/append.ts'
import { NO_SUBJECT } from '../stores/idempotency.ts'

export interface IdempotencyKey extends Idempotency {
  scope: string // the subject, or NO_SUBJECT where there is none yet, or the key itself is the caller's secret
  text: string
}

/** The idempotency key of a write as it is stored: its text is only ever hashed. 400 for a text of the wrong length. */
export const idempotencyKeyOf = (
  operation: AnyOp,
  subject: Subject | undefined,
  caller: Caller,
  text: string | undefined,
  input: Record<string, unknown>,
): IdempotencyKey | undefined => {
  if (text === undefined || operation.effect === 'read') return undefined
  const checked = operation.input.shape.idempotency_key.safeParse(text, { error: validationMessage })
  if (!checked.success) refuse('invalid_request', `idempotency_key: ${checked.error.issues[0].message}`, { field: 'idempotency_key' })
  const scope = isOpen(operation) ? NO_SUBJECT : (subject?.key ?? NO_SUBJECT)
  return {
    scope,
    caller: caller.id,
    text,
    keyHash: sha256(text),
    operation: operation.id,
    bodyHash: sha256(canonical(bodyOf(operation, input))),
  }
}

// An argument that a retry may change counts as left out.
const bodyOf = ({ retryMayChange = [], input: { shape } }: AnyOp, input: Record<string, unknown>) => ({
  ...input,
  ...Object.fromEntries(retryMayChange.map((name) => [name, shape[name]!.safeParse(undefined).data])),
})

/** No subject's lock guards this key. */
export const isUnguarded = ({ scope }: IdempotencyKey) => scope === NO_SUBJECT

// JSON with its fields sorted by name, so that the same body has the same text.
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, inner) => (isObject(inner) ? Object.fromEntries(Object.entries(inner).sort(byName)) : inner))
const byName = ([a]: [string, unknown], [b]: [string, unknown]) => (a < b ? -1 : 1)

type Use = Pick<Idempotency, 'operation' | 'bodyHash'>

/** Refuses a key that was used for something else. */
export const refuseOtherUse = (now: Use, before: Use) => {
  if (before.operation === now.operation && before.bodyHash === now.bodyHash) return
  const body = before.operation === now.operation ? ' with a different body' : ''
  const name = before.operation.slice(before.operation.indexOf('.') + 1)
  refuse('idempotency_mismatch', `This idempotency key was already used for ${name}${body}. Use a new key.`)
}

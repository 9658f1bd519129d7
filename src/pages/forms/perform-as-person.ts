// What a person does on a page goes through the same gate as what agents do, with the person's cookie as its credential.
import type { Problem } from '../../../components/forms/form-field.tsx'
import type { AnyOp, Outcome } from '../../operations/context.ts'
import { refuse, type ErrorBody, type ErrorCode } from '../../core/errors.ts'
import { perform } from '../../operations/perform.ts'
import { personOf } from '../../doors/http/cookies.ts'
import type { Http } from '../../doors/http/http.ts'
import { callOf } from '../../doors/rest/routes.ts'
import type { Site } from '../respond.tsx'

/** Calls an operation as the signed-in person. `key` comes with the form: sent twice, it is done once. */
export const act = async (c: Http, site: Site, operation: AnyOp, key: string | undefined, input: object): Promise<Outcome> => {
  const error = notAllowed(c, site)
  if (error) return { ok: false, error }
  const { services } = site
  return perform(operation, services, { ...callOf(c, services), token: undefined, key: () => key || undefined }, input)
}

/** Refuses those who are not signed in as one who may change something. */
export const assertActor = (c: Http, site: Site): void => {
  const error = notAllowed(c, site)
  if (error) refuse(error.code, error.message)
}

const notAllowed = (c: Http, { services }: Site): ErrorBody | undefined => {
  const person = personOf(c, services)
  return person?.role === 'person' ? undefined : person ? READER : STRANGER
}

const STRANGER: ErrorBody = { code: 'unauthorized', message: 'You are no longer signed in. Sign in again.', details: {} }
const READER: ErrorBody = {
  code: 'forbidden',
  message: "You signed in with the viewer's password, which only allows reading.",
  details: {},
}

/** The key of the next attempt: the same again, unless it was used for something else. */
export const nextKey = (key: string | undefined, error?: ErrorBody): string =>
  key && error && error.code !== 'idempotency_mismatch' ? key : crypto.randomUUID()

// Where the sentence for agents speaks of tools, people get one of their own.
const FOR_PEOPLE: Partial<Record<ErrorCode, string>> = {
  session_closed: 'This session is concluded and accepts no more changes. Resume it in a new one, or reopen it.',
  version_conflict: 'Somebody changed the document in the meantime, so nothing was saved. Look at the newest version and try again.',
  idempotency_mismatch: 'This form was already submitted with different content. Submit again to send this as well.',
  unavailable: 'The database is not responding. Submit again in a moment: it is applied once, however often you submit.',
}

/** What a person is told about a refusal, and beside which of the form's fields. */
export const problemOf = ({ code, message, details }: ErrorBody, fields: string[] = []): Problem => {
  const field = fields.find((name) => name === details.field)
  const text = FOR_PEOPLE[code] ?? message.replace(/^[\w.]+: /, '').replace(/^./, (first) => first.toUpperCase())
  return { field, text: /[.!?]$/.test(text) ? text : `${text}.`, ...(code === 'unauthorized' && { signIn: true }) }
}

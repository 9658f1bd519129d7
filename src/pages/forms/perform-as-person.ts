// Operations called from pages: the same way in as for agents (operations/perform.ts), with the person's cookie as the credential.
import type { Problem } from '../../../components/forms/form-field.tsx'
import type { AnyOp, Outcome } from '../../operations/context.ts'
import { refuse, type ErrorBody, type ErrorCode } from '../../core/errors.ts'
import { perform } from '../../operations/perform.ts'
import { personOf } from '../../doors/http/cookies.ts'
import type { Http } from '../../doors/http/http.ts'
import { callOf } from '../../doors/http/calls.ts'
import type { Site } from '../respond.tsx'

/** Calls an operation as the signed-in person. The form brings the idempotency key: submitted twice, it is applied once. */
export const performAsPerson = async (
  c: Http,
  site: Site,
  operation: AnyOp,
  idempotencyKey: string | undefined,
  input: object,
): Promise<Outcome> => {
  const error = notAllowed(c, site)
  if (error) return { ok: false, error }
  const { services } = site
  return perform(
    operation,
    services,
    { ...callOf(c, services), token: undefined, idempotencyKey: () => idempotencyKey || undefined },
    input,
  )
}

/** Refuses readers and people who are not signed in: only a signed-in person may change something. */
export const assertActor = (c: Http, site: Site): void => {
  const error = notAllowed(c, site)
  if (error) refuse(error.code, error.message)
}

const notAllowed = (c: Http, { services }: Site): ErrorBody | undefined => {
  const person = personOf(c, services)
  return person?.role === 'person' ? undefined : person ? READER : STRANGER
}

const NOT_SIGNED_IN = 'You are not signed in, or no longer. Sign in and try again.'
const STRANGER: ErrorBody = { code: 'unauthorized', message: NOT_SIGNED_IN, details: {} }
const READER: ErrorBody = {
  code: 'forbidden',
  message:
    "You signed in with the viewer's password, which only allows reading. Sign out, and in with the operator key or a link of your own.",
  details: {},
}

/** The idempotency key of the next attempt: the same again after an error, unless the key was used for something else. */
export const nextIdempotencyKey = (sent: string | undefined, error?: ErrorBody): string =>
  sent && error && error.code !== 'idempotency_mismatch' ? sent : crypto.randomUUID()

// Refusals whose sentence for agents speaks of tools have one for people.
const FOR_PEOPLE: Partial<Record<ErrorCode, string>> = {
  unauthorized: NOT_SIGNED_IN,
  session_closed: 'This session is concluded and accepts no more changes. Resume it in a new one, or reopen it.',
  version_conflict: 'Somebody changed the document in the meantime, so nothing was saved. Look at the newest version and try again.',
  idempotency_mismatch: 'This form was already submitted with different content. Submit again to send this as well.',
  unavailable: 'The database is not responding. Submit again in a moment: it is applied once, however often you submit.',
}

const DISK_FULL =
  'The disk of the database is full, so nothing was saved. Once whoever runs this server has made room, submit again: it is applied once.'

const ARCHIVED =
  'This session is archived and accepts no changes. Its menu brings it back, by “Start the agent again” or “Bring the session back”.'

/** A refusal in words for people, with the field of the form that it is about. */
export const problemOf = ({ code, message, details }: ErrorBody, fields: string[] = []): Problem => {
  const field = fields.find((name) => name === details.field)
  const forPeople = code === 'session_closed' && details.archived ? ARCHIVED : details.disk_full ? DISK_FULL : FOR_PEOPLE[code]
  const text = forPeople ?? message.replace(/^[\w.]+: /, '').replace(/^./, (first) => first.toUpperCase())
  return { field, text: /[.!?]$/.test(text) ? text : `${text}.`, ...(code === 'unauthorized' && { signIn: true }) }
}

/** Every code of a refusal, with its HTTP status. */
export const STATUS = {
  invalid_request: 400,
  secret_in_text: 400,
  invalid_id: 400,
  unsupported_event_type: 400,
  unauthorized: 401,
  session_closed: 403,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  version_conflict: 409,
  idempotency_mismatch: 409,
  conflict: 409,
  unread: 409,
  payload_too_large: 413,
  rate_limited: 429,
  loop_suspected: 429,
  internal_error: 500,
  unavailable: 503,
  deadline_exceeded: 504,
} as const

export type ErrorCode = keyof typeof STATUS

/** Codes that any operation may answer with. An operation declares the others that it uses. */
export const ALWAYS: readonly ErrorCode[] = [
  'unauthorized',
  'invalid_request',
  'secret_in_text',
  'idempotency_mismatch',
  'not_found',
  'internal_error',
  'unavailable',
]

export interface ErrorBody {
  code: ErrorCode
  message: string
  details: Record<string, unknown>
}

/** A refusal, which the caller gets in full. `details.retry_after` (seconds) also becomes the Retry-After header. */
export class Refusal extends Error {
  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly details: Record<string, unknown> = {},
  ) {
    super(message)
  }

  get body(): ErrorBody {
    return { code: this.code, message: this.message, details: this.details }
  }
}

/** Throws a Refusal. The sentence tells the caller what to do next. */
export const refuse = (code: ErrorCode, message: string, details?: Record<string, unknown>): never => {
  throw new Refusal(code, message, details)
}

/** Refuses a call with 401, which begins alike whatever its credential lacks. Without a sentence it is the same answer for a missing, unknown or
 *  foreign credential, a team that has left, and a session that does not exist: none of them can be told apart by trying. */
export const unauthorized = (sentence = TEAM_WANTED, details?: Record<string, unknown>): never =>
  refuse('unauthorized', `${NOT_AUTHENTICATED} ${sentence}`, details)

export const NOT_AUTHENTICATED = 'Not authenticated.'

const TEAM_WANTED =
  'Send the team_id that create_session or join_session gave you for this very session, in the X-Team-ID header or as the argument team_id, and check the session_id. If you have left it, join again.'

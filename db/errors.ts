// What an error of the database means to a caller: try later, try again at once, or it took too long.
import { DatabaseTimeout, STALE_STATEMENT } from './database.ts'

const sqlStateOf = (error: unknown): string => {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code } = cause as Error & { code?: unknown }
    if (typeof code === 'string') return code
  }
  return ''
}

// 25P03: the server rolled back a transaction that idled too long (db/session-settings.ts).
const AWAY = /^(08|53|57P|58|25006|25P03|ECONN|EHOSTDOWN|EHOSTUNREACH|ENETDOWN|ENETUNREACH|ENOTFOUND|EAI_AGAIN|EPIPE|ETIMEDOUT|CONNECT)/

/** The database cannot be used now: the connection was refused, cut or never made, or the server is starting, stopping, full or
 *  read-only. */
export const isAway = (error: unknown): boolean => AWAY.test(sqlStateOf(error)) || isTimeout(error)

/** The disk of the database is full, which one that `isAway` can be: it refused to write. */
export const isFull = (error: unknown): boolean => sqlStateOf(error) === '53100'

const UNDONE = ['40P01', '40001', ...STALE_STATEMENT]

/** The whole transaction was rolled back through no fault of its own (deadlock, serialization, a stale prepared statement): it can be tried
 *  again. */
export const isUndone = (error: unknown): boolean => UNDONE.includes(sqlStateOf(error))

/** `isUndone`, or another transaction has inserted the same unique value: this one can be tried again. */
export const isCollision = (error: unknown): boolean => isUndone(error) || sqlStateOf(error) === '23505'

/** The database has refused the statement and written nothing. After any other failure it is unknown what was written. */
export const isRefused = (error: unknown): boolean => /^(?=.*\d)[0-9A-Z]{5}$/.test(sqlStateOf(error)) && !isAway(error)

/** The statement waited for a row's lock longer than `lock_timeout`, and was rolled back whole. */
export const isLockTimeout = (error: unknown): boolean => sqlStateOf(error) === '55P03'

/** The statement was to create what is there already: a table or index, a type, a constraint. */
export const isThere = (error: unknown): boolean => ['42P07', '42710'].includes(sqlStateOf(error))

/** The statement exceeded statement_timeout, or our own time limit (`withinDeadline`). */
export const isTimeout = (error: unknown): boolean => sqlStateOf(error) === '57014' || timedOut(error)

const timedOut = (error: unknown): boolean => error instanceof DatabaseTimeout || (error instanceof Error && timedOut(error.cause))

/** The disk has too little space left, and nothing was sent to the embedded database. Has the code that Postgres has for it. */
export class DiskFull extends Error {
  override name = 'DiskFull'
  readonly code = '53100'
}

/** The database cannot be used as it is; the message is a sentence for the operator that says what to do. */
export class CannotOpen extends Error {}

/** The embedded database's files are not where they were; the message says what to do about it. */
export class FilesGone extends Error {}

/** The embedded database's files could not be copied; the message says why, and what to do about it. */
export class CopyFailed extends Error {
  constructor(to: string, reason: string) {
    super(`The database could not be copied to ${to}: ${reason}. Name a file in a folder that can be written to, with room for all of it.`)
  }
}

/** The message of whatever was thrown, or its code or name when it has none: PGlite throws objects that are no errors. */
export const reasonOf = (error: unknown): string => {
  if (typeof error !== 'object' || error === null) return String(error)
  const { message, code, name } = error as { message?: unknown; code?: unknown; name?: unknown }
  return String(message || (code ?? name ?? 'for no reason that it told'))
}

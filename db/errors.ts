// What a database's failure means to a caller: try later, try again at once, or it took too long.
import { DatabaseTimeout, STALE_STATEMENT } from './database.ts'

const sqlStateOf = (error: unknown): string => {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code } = cause as Error & { code?: unknown }
    if (typeof code === 'string') return code
  }
  return ''
}

// 25P03: the server undid a transaction that idled too long (db/postgres.ts).
const AWAY = /^(08|53|57P|58|25006|25P03|ECONN|EHOSTDOWN|EHOSTUNREACH|ENETDOWN|ENETUNREACH|ENOTFOUND|EAI_AGAIN|EPIPE|ETIMEDOUT|CONNECT)/

/** The connection was refused, cut or never made: the server is away, starting, stopping, full, or read-only. */
export const isAway = (error: unknown): boolean => AWAY.test(sqlStateOf(error)) || isTimeout(error)

const UNDONE = ['40P01', '40001', ...STALE_STATEMENT]

/** The database undid this transaction whole, for no fault of its own: transactions got in each other's way, or a statement was prepared
 *  for a schema that has changed. */
export const isUndone = (error: unknown): boolean => UNDONE.includes(sqlStateOf(error))

/** The same, or both wrote what there is only one of: this one can be tried again. */
export const isCollision = (error: unknown): boolean => isUndone(error) || sqlStateOf(error) === '23505'

/** The database said no, and has written nothing. Of any other failure, nobody knows what it came after. */
export const isRefused = (error: unknown): boolean => /^(?=.*\d)[0-9A-Z]{5}$/.test(sqlStateOf(error)) && !isAway(error)

/** Somebody else held a row for longer than the statement was to wait, and it was undone whole. */
export const isHeld = (error: unknown): boolean => sqlStateOf(error) === '55P03'

/** Neither the statement nor our own patience had the time. */
export const isTimeout = (error: unknown): boolean => sqlStateOf(error) === '57014' || timedOut(error)

const timedOut = (error: unknown): boolean => error instanceof DatabaseTimeout || (error instanceof Error && timedOut(error.cause))

// Why callers are told to try again: the database was away, or undid the call.
import { describeError, type Log } from '../core/runtime/log.ts'

const QUIET_MS = 60_000 // while the database is away, every call fails

/** Logs one such failure a minute at the most, whatever failed. */
export const createTransientFailures = (log: Log) => {
  let quietUntil = 0
  return (operation: string, error: unknown): void => {
    if (performance.now() < quietUntil) return
    quietUntil = performance.now() + QUIET_MS
    const line = `${operation} failed, and its caller was told to try again. For a minute no more such failures are logged.`
    log('warn', line, describeError(error))
  }
}

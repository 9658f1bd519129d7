import { describeError, type Log } from './log.ts'

/** Logs the first of failures in a row, as `failing`, and then that it works again, as `working`. */
export const createFailuresInARow = (log: Log, failing: string, working: string) => {
  let failed = false
  return {
    failed(error: unknown): void {
      if (!failed) log('warn', failing, describeError(error))
      failed = true
    },
    worked(): void {
      if (failed) log('info', working)
      failed = false
    },
  }
}

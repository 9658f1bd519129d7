import { describeError, type Log } from './log.ts'

/** What fails, by its name, and since when. */
export interface Failing {
  name: string
  since: Date
}

/** Logs the first of failures in a row, as `failing`, and then that it works again, as `working`. */
export const createFailuresInARow = (log: Log, failing: string, working: string) => {
  let since: Date | undefined
  return {
    failed(error: unknown): void {
      if (!since) log('warn', failing, describeError(error))
      since ??= new Date()
    },
    worked(): void {
      if (since) log('info', working)
      since = undefined
    },
    /** When the first of the failures was; undefined while it works. */
    get since() {
      return since
    },
  }
}

import type { Job } from './job.ts'
import { createFailuresInARow, type Failing } from './failures-in-a-row.ts'
import type { Log } from './log.ts'

const RETRY_MS = 60_000 // at most, after a failure

/** Runs a job again and again, the first time after `job.everyMs`. Of failures in a row only the first is logged; then, that
 *  the job works again. `stop` resolves when the run that is under way has ended. */
export const repeat = (job: Job, log: Log) => {
  let stopped = false
  const name = `the background job "${job.name}"`
  const inARow = createFailuresInARow(log, `${name} failed; retrying`, `${name} works again`)
  let running = Promise.resolve()
  const run = async () => {
    try {
      await job.run()
      if (!stopped) inARow.worked()
    } catch (error) {
      if (!stopped) inARow.failed(error)
    }
    if (!stopped) next()
  }
  let timer: ReturnType<typeof setTimeout>
  const next = () => {
    const waitMs = inARow.since ? Math.min(job.everyMs, RETRY_MS) : job.everyMs
    timer = setTimeout(() => void (running = run()), waitMs)
  }
  next()
  return {
    stop(): Promise<void> {
      stopped = true
      clearTimeout(timer)
      return running
    },
    failing: (): Failing[] => (inARow.since ? [{ name: job.name, since: inARow.since }] : []),
  }
}

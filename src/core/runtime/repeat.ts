import type { Job } from './job.ts'
import { describeError, type Log } from './log.ts'

/** Runs a job again and again, the first time after `job.everyMs`. Of failures in a row only the first is logged; then, that
 *  the job works again. The returned function stops it, and resolves when the run that is under way has ended. */
export const repeat = (job: Job, log: Log): (() => Promise<void>) => {
  let stopped = false
  let failing = false
  let running = Promise.resolve()
  const run = async () => {
    try {
      await job.run()
      if (failing && !stopped) log('info', `the background job "${job.name}" works again`)
      failing = false
    } catch (error) {
      if (!failing && !stopped) log('warn', `the background job "${job.name}" failed; retrying`, describeError(error))
      failing = true
    }
    if (!stopped) next()
  }
  let timer: ReturnType<typeof setTimeout>
  const next = () => {
    timer = setTimeout(() => void (running = run()), job.everyMs)
  }
  next()
  return () => {
    stopped = true
    clearTimeout(timer)
    return running
  }
}

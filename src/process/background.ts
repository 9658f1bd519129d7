import type { Job } from '../core/runtime/job.ts'
import type { Log } from '../core/runtime/log.ts'
import { repeat } from '../core/runtime/repeat.ts'
import type { JobName } from './jobs.ts'

/** Other intervals than the jobs' own, in milliseconds by the job's name: tests need not wait for seconds. */
export type Intervals = Partial<Record<JobName | (string & {}), number>>

/** Starts these jobs. `stop` stops them all, and resolves when the runs that are under way have ended; `failing` are those whose last run
 *  failed. */
export const startBackground = (jobs: readonly Job[], log: Log, intervals: Intervals = {}) => {
  const started = jobs.map((job) => repeat({ name: job.name, everyMs: intervals[job.name] ?? job.everyMs, run: () => job.run() }, log))
  return {
    async stop(): Promise<void> {
      await Promise.all(started.map(({ stop }) => stop()))
    },
    failing: () => started.flatMap(({ failing }) => failing()),
  }
}

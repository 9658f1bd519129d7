/** Something that a process does again and again in the background. It may fail: it is tried again, and the others go on. */
export interface Job {
  name: string
  everyMs: number // from the end of one run to the beginning of the next
  run(): unknown // what it gives back is awaited, and ignored
}

const AWAY_MS = 20_000

/** Whether so much lies between two runs of a job, by the database's clock, that nobody could call meanwhile: the database was away, the machine
 *  slept, or that clock was set. For jobs that run every few seconds. */
export const wasAway = (sinceMs: number): boolean => sinceMs > AWAY_MS || sinceMs < 0

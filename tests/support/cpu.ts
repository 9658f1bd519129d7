import { availableParallelism, loadavg } from 'node:os'
import { madeForAll } from './empty.ts'
import { FULL } from './full.ts'

/** How many milliseconds of processor time the work takes. Unlike the time on the clock it is much the same on a busy machine. */
export const cpuMs = (work: () => unknown): number => {
  const from = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(from)
  return (user + system) / 1_000
}

/** The same for asynchronous work; what else runs in this process meanwhile counts too. */
export const cpuMsAsync = async (work: () => Promise<unknown>): Promise<number> => {
  const from = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(from)
  return (user + system) / 1_000
}

// The load is a mean of the last minute, which begins low: in the first minutes of a run it says little of the processes beside this one.
const BESIDE_OTHERS = madeForAll && !FULL ? 3 : 1

/** The limit for something that takes at most `ms` on a machine with a core to spare, on this one as busy as it is now. */
export const whileBusy = (ms: number): number => ms * Math.max(BESIDE_OTHERS, loadavg()[0]! / availableParallelism())

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

/** How many times as long as usual a fixed piece of work takes now, in processor time of this thread; one at the least. A slow machine, and
 *  processes that share its cores and caches, make all work take longer. */
export const slowness = (): number => {
  for (let n = 0; n < PIECES; n++) pieceOfWork() // its code is compiled
  const from = process.threadCpuUsage()
  for (let n = 0; n < PIECES; n++) pieceOfWork()
  const { user, system } = process.threadCpuUsage(from)
  return Math.max(1, (user + system) / 1_000 / USUAL_MS)
}

const PIECES = 10
const USUAL_MS = 75 // of processor time, on the machine of README's figures with nothing else running

const pieceOfWork = (): number => {
  const counts = new Map<string, number>()
  for (let i = 0; i < 60_000; i++) {
    const word = `word ${(i * 7_919) % 5_003}`
    counts.set(word, (counts.get(word) ?? 0) + 1)
  }
  return JSON.stringify([...counts]).length
}

// The load is a mean of the last minute, which begins low: in the first minutes of a run it says little of the processes beside this one.
const BESIDE_OTHERS = madeForAll && !FULL ? 3 : 1

/** The limit for something that takes at most `ms` on a machine with a core to spare, on this one as busy as it is now. */
export const whileBusy = (ms: number): number => ms * Math.max(BESIDE_OTHERS, loadavg()[0]! / availableParallelism())

import { describeError, type Log } from './log.ts'

/** Runs `work` again and again with a pause of `everyMs` between; a failure is logged once until it works again, under the function's
 *  name: give it one that says what it does. The function that this returns stops it, and resolves when the turn under way has ended. */
export const repeat = (work: () => Promise<void>, everyMs: number, log: Log) => {
  let stopped = false
  let failing = false
  let timer: ReturnType<typeof setTimeout>
  let running = Promise.resolve()
  const turn = () => {
    running = work()
      .then(() => void (failing = false))
      .catch((error) => {
        if (!failing && !stopped) log('warn', `${work.name} failed; retrying`, describeError(error))
        failing = true
      })
      .finally(() => void (stopped || (timer = setTimeout(turn, everyMs))))
  }
  timer = setTimeout(turn, everyMs)
  return () => {
    stopped = true
    clearTimeout(timer)
    return running
  }
}

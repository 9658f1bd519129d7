import { afterEach, expect, test } from 'bun:test'
import type { Job } from '../../src/core/runtime/job.ts'
import { startBackground } from '../../src/process/background.ts'

const logged: string[] = []
let background: ReturnType<typeof startBackground> | undefined
afterEach(async () => {
  await background?.stop()
  logged.length = 0
})

const start = (jobs: Job[], intervals?: Record<string, number>) =>
  (background = startBackground(jobs, (_, message, more) => void logged.push(`${message}: ${JSON.stringify(more)}`), intervals))

/** A job that counts its runs; `soon` resolves when there were so many. */
const counting = (name: string, work: (run: number) => unknown = () => {}) => {
  const waiting: { runs: number; resolve(): void }[] = []
  const job = {
    name,
    everyMs: 1,
    runs: 0,
    run() {
      job.runs++
      for (const { runs, resolve } of waiting) if (job.runs >= runs) resolve()
      return work(job.runs)
    },
    soon: (runs: number) => new Promise<void>((resolve) => (job.runs >= runs ? resolve() : void waiting.push({ runs, resolve }))),
  }
  return job
}

test('a job that throws, or rejects, is tried again, and the others go on', async () => {
  const jobs = [
    counting('throws', () => {
      throw new Error('at once')
    }),
    counting('rejects', () => Promise.reject(new Error('later'))),
    counting('is well'),
  ]
  start(jobs)
  await Promise.all(jobs.map(({ soon }) => soon(3)))
})

test('of failures in a row the first is logged, then that it works again, and after that the next failure', async () => {
  const job = counting('counts', (run) => {
    if (run !== 3) throw new Error(`run ${run}`)
  })
  start([job])
  await job.soon(6)
  expect(
    logged.map((line) =>
      line
        .match(/"counts" (works again)|failed; retrying: .*(run \d)/)
        ?.slice(1)
        .join(''),
    ),
  ).toEqual(['run 1', 'works again', 'run 4'])
})

test('what failed when it was run last is known, and since when', async () => {
  const job = counting('counts', (run) => {
    if (run === 2 || run === 3) throw new Error(`run ${run}`)
  })
  const others = counting('is well')
  const failing: unknown[] = []
  const { run } = job
  job.run = () => {
    failing.push(background!.failing())
    return run()
  }
  const from = Date.now()
  start([job, others])
  await job.soon(5)
  const one = [{ name: 'counts', since: expect.any(Date) }]
  expect(failing.slice(0, 5)).toEqual([[], [], one, one, []])
  const [second, third] = failing.slice(2, 4).map((some: any) => some[0].since.getTime())
  expect([second === third, second >= from]).toEqual([true, true])
})

test('a run begins when the one before has ended, so a slow job never meets itself', async () => {
  let under = 0
  let most = 0
  const job = counting('slow', async () => {
    most = Math.max(most, ++under)
    await Bun.sleep(5)
    under--
  })
  start([job])
  await job.soon(4)
  expect(most).toBe(1)
})

test('stop resolves when the run that is under way has ended, and starts no other', async () => {
  const { promise: release, resolve } = Promise.withResolvers<void>()
  const job = counting('held', () => release)
  start([job])
  await job.soon(1)
  let stopped = false
  const stopping = background!.stop().then(() => (stopped = true))
  await Bun.sleep(10)
  expect(stopped).toBe(false)
  resolve()
  await stopping
  await Bun.sleep(10)
  expect(job.runs).toBe(1)
})

test('an interval that is handed in takes the place of the job’s own', async () => {
  const job = { ...counting('rare'), everyMs: 3_600_000 }
  let runs = 0
  start([{ ...job, run: () => void runs++ }], { rare: 1 })
  while (runs < 2) await Bun.sleep(1)
})

// When the index gives way, and for how long.
import { expect, test } from 'bun:test'
import { Pace } from '../../src/search/pace.ts'

const timed = async (work: Promise<unknown>) => {
  const from = performance.now()
  await work
  return performance.now() - from
}

const WORKED_MS = 40
const work = () => Bun.sleep(WORKED_MS)

/** The shortest of a few, since a busy machine lets any of them take longer. */
const shortest = async (what: () => Promise<unknown>) => {
  const took: number[] = []
  for (let n = 0; n < TRIES || (n < MOST_TRIES && Math.min(...took) >= 2 * WORKED_MS); n++) took.push(await timed(work().then(what)))
  return Math.min(...took) - WORKED_MS
}
const TRIES = 5
const MOST_TRIES = 50

test('while nobody asks or posts, the index does not rest', async () => {
  const pace = new Pace(() => 0)
  expect(pace.begin()).toBe(false)
  expect(await shortest(() => pace.giveWay())).toBeLessThan(WORKED_MS)
  expect(await shortest(() => pace.end(WORKED_MS))).toBeLessThan(WORKED_MS)
})

test('while a search is under way, and for a moment after it, the index rests three times as long as it worked', async () => {
  const pace = new Pace(() => 0)
  const search = Promise.withResolvers<string>()
  const answer = pace.duringSearch(search.promise)
  expect(pace.begin()).toBe(true) // a small batch
  await work()
  expect(await timed(pace.giveWay())).toBeGreaterThan(2.5 * WORKED_MS)
  search.resolve('an answer')
  expect(await answer).toBe('an answer')
  let rested = 0 // one of a few, since on a busy machine the moment may be over before the work is
  for (let n = 0; n < TRIES && rested < 2.5 * WORKED_MS; n++) {
    await pace.duringSearch(work())
    rested = await timed(pace.giveWay())
  }
  expect(rested).toBeGreaterThan(2.5 * WORKED_MS)
  await Bun.sleep(250)
  pace.begin()
  expect(await shortest(() => pace.giveWay())).toBeLessThan(WORKED_MS)
})

test('a search that fails is over too', async () => {
  const pace = new Pace(() => 0)
  await expect(pace.duringSearch(Promise.reject(new Error('gone')))).rejects.toThrow('gone')
  await Bun.sleep(250)
  pace.begin()
  expect(await shortest(() => pace.giveWay())).toBeLessThan(WORKED_MS)
})

test('above a thousand posts a second batches are small, and the index rests between them, but not within', async () => {
  let posted = 0
  const pace = new Pace(() => posted)
  pace.begin()
  await work()
  posted = 1_000_000 // however long that work took: more than a thousand a second
  expect(pace.begin()).toBe(true)
  expect(await shortest(() => pace.giveWay())).toBeLessThan(WORKED_MS)
  expect(await timed(pace.end(WORKED_MS))).toBeGreaterThan(RESTS_AT_LEAST * WORKED_MS)
  expect(pace.begin()).toBe(false)
})

const RESTS_AT_LEAST = 4

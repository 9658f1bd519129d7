import { expect, test } from 'bun:test'
import { concurrencyLimit } from '../../src/core/runtime/concurrency-limit.ts'

test('tasks of one key start in their order, so many at a time, and one that fails makes room', async () => {
  const limited = concurrencyLimit(2)
  const log: string[] = []
  let running = 0
  const task = (name: string) => async () => {
    expect(++running).toBeLessThanOrEqual(2)
    log.push(name)
    await Bun.sleep(2)
    running--
    if (name === 'b') throw new Error('b failed')
    return name
  }
  const all = await Promise.allSettled(['a', 'b', 'c', 'd', 'e'].map((name) => limited('key', task(name))))
  expect(log).toEqual(['a', 'b', 'c', 'd', 'e'])
  expect(all.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled', 'fulfilled'])
  expect(await limited('key', task('f'))).toBe('f')
})

test('another key does not wait, and a task that throws at once is a rejection', async () => {
  const limited = concurrencyLimit(1)
  const { promise, resolve } = Promise.withResolvers<void>()
  const held = limited('held', () => promise)
  expect(await limited('free', async () => 'passed')).toBe('passed')
  await expect(
    limited('free', () => {
      throw new Error('at once')
    }),
  ).rejects.toThrow('at once')
  expect(await limited('free', async () => 'passed')).toBe('passed')
  resolve()
  await held
})

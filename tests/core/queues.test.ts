import { expect, test } from 'bun:test'
import { queuesOf } from '../../src/core/concurrency-limit.ts'

test('work under one key comes in its order, so many at a time, and a failure frees the place', async () => {
  const inTurn = queuesOf(2)
  const log: string[] = []
  let running = 0
  const work = (name: string) => async () => {
    expect(++running).toBeLessThanOrEqual(2)
    log.push(name)
    await Bun.sleep(2)
    running--
    if (name === 'b') throw new Error('b failed')
    return name
  }
  const all = await Promise.allSettled(['a', 'b', 'c', 'd', 'e'].map((name) => inTurn('key', work(name))))
  expect(log).toEqual(['a', 'b', 'c', 'd', 'e'])
  expect(all.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled', 'fulfilled'])
  expect(await inTurn('key', work('f'))).toBe('f')
})

test('another key does not wait, and work that fails at once is a rejection', async () => {
  const inTurn = queuesOf(1)
  const { promise, resolve } = Promise.withResolvers<void>()
  const held = inTurn('held', () => promise)
  expect(await inTurn('free', async () => 'passed')).toBe('passed')
  await expect(
    inTurn('free', () => {
      throw new Error('at once')
    }),
  ).rejects.toThrow('at once')
  expect(await inTurn('free', async () => 'passed')).toBe('passed')
  resolve()
  await held
})

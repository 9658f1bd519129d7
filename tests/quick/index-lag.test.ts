// How far the index is behind, as a process keeps count of it.
import { expect, test } from 'bun:test'
import { IndexLag } from '../../src/search/index-lag.ts'

const [A, B] = ['a', 'b']

test('nothing waits until something was written, and again once all of it is indexed', () => {
  const lag = new IndexLag()
  expect(lag.seconds).toBe(0)
  lag.wrote(A, 3, 5_000)
  expect(lag.seconds).toBeWithin(5, 6)
  lag.indexed(A, 3)
  expect(lag.seconds).toBe(0)
})

test('the oldest event that waits counts, whichever session it is in', () => {
  const lag = new IndexLag()
  lag.wrote(A, 1, 4_000)
  lag.wrote(B, 1, 9_000)
  lag.wrote(A, 7)
  expect(lag.seconds).toBeWithin(9, 10)
  lag.indexed(B, 1)
  expect(lag.seconds).toBeWithin(4, 5)
})

test('what is indexed first makes the lag shorter before all is', () => {
  const lag = new IndexLag()
  for (const [newest, age] of [
    [10, 9_000],
    [20, 6_000],
    [30, 3_000],
  ] as const)
    lag.wrote(A, newest, age)
  lag.indexed(A, 9, 30)
  expect(lag.seconds).toBeWithin(9, 10)
  lag.indexed(A, 10, 30)
  expect(lag.seconds).toBeWithin(6, 7)
  lag.indexed(A, 25, 30)
  expect(lag.seconds).toBeWithin(3, 4)
})

test('an event without a notification waits from when it is seen', () => {
  const lag = new IndexLag()
  lag.indexed(A, 5, 9)
  expect(lag.seconds).toBeLessThan(1)
  expect(lag.newestOf([A, B])).toEqual(
    new Map([
      [A, 9],
      [B, 0],
    ]),
  )
})

test('an older event that is found later counts from when it was written', () => {
  const lag = new IndexLag()
  lag.wrote(A, 9)
  lag.wrote(A, 9, 60_000)
  expect(lag.seconds).toBeWithin(60, 61)
})

test('of a session that never stops, no more is kept than that takes', () => {
  const lag = new IndexLag()
  for (let newest = 1; newest <= 10_000; newest++) lag.wrote(A, newest, (10_000 - newest) * 1_000)
  lag.indexed(A, 9_999, 10_000)
  expect(lag.newestOf([A]).get(A)).toBe(10_000)
  expect(lag.seconds).toBeGreaterThan(0)
})

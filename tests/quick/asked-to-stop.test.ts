import { expect, test } from 'bun:test'
import { createStopWish } from '../../src/core/runtime/asked-to-stop.ts'

test('what comes within a second of the first wish to stop is the same one, what comes later another', () => {
  const wished = createStopWish()
  expect([5_000, 5_000, 5_999, 6_000, 9_000].map((at) => wished(at))).toEqual(['first', 'same', 'same', 'again', 'again'])
})

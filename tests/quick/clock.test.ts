// The clock of a process, which carries the database's forward.
import { afterEach, expect, setSystemTime, test } from 'bun:test'
import { Clock } from '../../src/core/runtime/clock.ts'

afterEach(() => void setSystemTime())

const NOON = Date.parse('2026-03-01T12:00:00Z')

test('an answer that comes late sets it neither back nor ahead, and one that it cannot have been moves it no further than it must', () => {
  const clock = new Clock()
  clock.set(NOON)
  const asked = (ago: number) => performance.now() - ago
  clock.set(NOON - 5_000, asked(8_000)) // read five seconds ago, of a connection that then stood still
  expect(clock.now() - NOON).toBeWithin(0, 1_000)
  clock.set(NOON + 60_000, asked(8_000)) // the database's clock was set ahead
  expect(clock.now() - NOON).toBeWithin(60_000, 61_000)
  clock.set(NOON - 60_000, asked(8_000)) // and back
  expect(clock.now() - NOON).toBeWithin(-52_000, -51_000)
  clock.set(new Date(NOON).toISOString())
  expect(clock.now() - NOON).toBeWithin(0, 1_000)
})

test('a wall clock that jumps changes no time, and says that the database is to be asked again', () => {
  const clock = new Clock()
  const time = Date.parse('2026-03-01T12:00:00Z')
  clock.set(time)
  expect(clock.isDoubtful).toBe(false)
  for (const hours of [8, -8]) {
    setSystemTime(new Date(Date.now() + hours * 3_600_000)) // as after a sleep, in which the monotonic clock stood still
    expect(clock.isDoubtful).toBe(true)
    expect(clock.now() - time).toBeWithin(0, 60_000)
    clock.set(time)
    expect(clock.isDoubtful).toBe(false)
  }
})

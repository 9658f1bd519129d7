// The clock of a process, which carries the database's forward.
import { afterEach, expect, setSystemTime, test } from 'bun:test'
import { Clock } from '../../src/core/runtime/clock.ts'

afterEach(() => void setSystemTime())

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

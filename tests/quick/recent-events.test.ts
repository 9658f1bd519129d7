import { expect, test } from 'bun:test'
import { RecentEvents } from '../../src/log/recent-events.ts'

const empty = (size = 1) => new RecentEvents<{ sequence: number }>(() => size)
const those = (...sequences: number[]) => sequences.map((sequence) => ({ sequence }))
const events = (from: number, to: number) => those(...Array.from({ length: to - from + 1 }, (_, n) => from + n))
const numbers = (events: { sequence: number }[] | undefined) => events?.map(({ sequence }) => sequence)

test('it has all events after a cursor, or none', () => {
  const recent = empty()
  expect(recent.after('s', 0, 0)).toBeUndefined()
  recent.extend('s', events(5, 7))
  expect(numbers(recent.after('s', 4, 7))).toEqual([5, 6, 7])
  expect(numbers(recent.after('s', 6, 7))).toEqual([7])
  for (const cursor of [3, 7, 8]) expect(recent.after('s', cursor, 7)).toBeUndefined()
  expect(recent.after('s', 4, 8), 'it does not have what the caller knows of').toBeUndefined()
  expect(recent.after('other', 4, 5)).toBeUndefined()
})

test('after a gap it holds only the events behind it, and events that come late are left out', () => {
  const recent = empty()
  recent.extend('s', events(1, 3))
  recent.extend('s', events(3, 4))
  expect(numbers(recent.after('s', 0, 4))).toEqual([1, 2, 3, 4])
  recent.extend('s', events(7, 8))
  expect(recent.after('s', 4, 8)).toBeUndefined()
  expect(numbers(recent.after('s', 6, 8))).toEqual([7, 8])
  recent.extend('s', events(5, 6))
  recent.extend('s', [])
  expect(numbers(recent.after('s', 6, 8))).toEqual([7, 8])
  expect(recent.after('s', 4, 8)).toBeUndefined()
})

test('it keeps the newest events of a session, and of only so many sessions', () => {
  const recent = empty()
  for (let n = 1; n <= 2_000; n++) recent.extend('s', events(n, n))
  expect(recent.after('s', 1_000, 2_000)).toBeUndefined()
  expect(numbers(recent.after('s', 1_900, 2_000))).toEqual(events(1_901, 2_000).map(({ sequence }) => sequence))
  for (let n = 0; n < 1_000; n++) recent.extend(`other ${n}`, events(1, 1))
  expect(recent.after('s', 1_999, 2_000)).toBeUndefined()
  expect(recent.after('other 999', 0, 1)).toHaveLength(1)
})

test('it keeps few events when they are large', () => {
  const recent = empty(32 * 1024)
  for (let n = 1; n <= 200; n++) recent.extend('s', events(n, n))
  expect(recent.after('s', 150, 200)).toBeUndefined()
  expect(numbers(recent.after('s', 199, 200))).toEqual([200])
})

test('the events it holds have no gap, in whatever pieces they came', () => {
  const recent = empty()
  recent.extend('s', those(1, 2))
  recent.extend('s', those(3, 5, 6)) // another wrote 4 in between
  expect(recent.after('s', 2, 6)).toBeUndefined()
  expect(recent.after('s', 4, 6)).toEqual(those(5, 6))
  recent.extend('s', those(7))
  expect(recent.after('s', 5, 7)).toEqual(those(6, 7))
  recent.extend('s', those(9, 11))
  expect(recent.after('s', 10, 11)).toEqual(those(11))
  expect(recent.after('s', 9, 11)).toBeUndefined()
})

test('it answers only with events that reach as far as the caller knows to be committed', () => {
  const recent = empty()
  recent.extend('s', those(4, 5))
  expect(recent.after('s', 3, 5)).toEqual(those(4, 5))
  expect(recent.after('s', 3, 6)).toBeUndefined()
  expect(recent.after('s', 2, 5)).toBeUndefined()
  expect(recent.after('s', 5, 5)).toBeUndefined()
  expect(recent.after('other', 0, 0)).toBeUndefined()
})

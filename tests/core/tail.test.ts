import { expect, test } from 'bun:test'
import { Tail } from '../../src/log/recent-events.ts'

const made = (size = 1) => new Tail<{ sequence: number }>(() => size)
const those = (...sequences: number[]) => sequences.map((sequence) => ({ sequence }))
const events = (from: number, to: number) => those(...Array.from({ length: to - from + 1 }, (_, n) => from + n))
const numbers = (held: { sequence: number }[] | undefined) => held?.map(({ sequence }) => sequence)

test('it gives everything after a cursor, or says that it cannot', () => {
  const tail = made()
  expect(tail.after('s', 0, 0)).toBeUndefined()
  tail.extend('s', events(5, 7))
  expect(numbers(tail.after('s', 4, 7))).toEqual([5, 6, 7])
  expect(numbers(tail.after('s', 6, 7))).toEqual([7])
  for (const cursor of [3, 7, 8]) expect(tail.after('s', cursor, 7)).toBeUndefined()
  expect(tail.after('s', 4, 8), 'it does not have what the caller knows of').toBeUndefined()
  expect(tail.after('other', 4, 5)).toBeUndefined()
})

test('after a gap it holds only what came behind it, and what comes late is left out', () => {
  const tail = made()
  tail.extend('s', events(1, 3))
  tail.extend('s', events(3, 4))
  expect(numbers(tail.after('s', 0, 4))).toEqual([1, 2, 3, 4])
  tail.extend('s', events(7, 8))
  expect(tail.after('s', 4, 8)).toBeUndefined()
  expect(numbers(tail.after('s', 6, 8))).toEqual([7, 8])
  tail.extend('s', events(5, 6))
  tail.extend('s', [])
  expect(numbers(tail.after('s', 6, 8))).toEqual([7, 8])
  expect(tail.after('s', 4, 8)).toBeUndefined()
})

test('it keeps the newest events of a session, whatever comes, and of only so many sessions', () => {
  const tail = made()
  for (let n = 1; n <= 2_000; n++) tail.extend('s', events(n, n))
  expect(tail.after('s', 1_000, 2_000)).toBeUndefined()
  expect(numbers(tail.after('s', 1_900, 2_000))).toEqual(events(1_901, 2_000).map(({ sequence }) => sequence))
  for (let n = 0; n < 1_000; n++) tail.extend(`other ${n}`, events(1, 1))
  expect(tail.after('s', 1_999, 2_000)).toBeUndefined()
  expect(tail.after('other 999', 0, 1)).toHaveLength(1)
})

test('it keeps few events when they are large', () => {
  const tail = made(32 * 1024)
  for (let n = 1; n <= 200; n++) tail.extend('s', events(n, n))
  expect(tail.after('s', 150, 200)).toBeUndefined()
  expect(numbers(tail.after('s', 199, 200))).toEqual([200])
})

test('what it holds follows without a gap, however it was told', () => {
  const held = made()
  held.extend('s', those(1, 2))
  held.extend('s', those(3, 5, 6)) // another wrote 4 in between
  expect(held.after('s', 2, 6)).toBeUndefined()
  expect(held.after('s', 4, 6)).toEqual(those(5, 6))
  held.extend('s', those(7))
  expect(held.after('s', 5, 7)).toEqual(those(6, 7))
  held.extend('s', those(9, 11))
  expect(held.after('s', 10, 11)).toEqual(those(11))
  expect(held.after('s', 9, 11)).toBeUndefined()
})

test('only what reaches as far as is known to be there is an answer', () => {
  const held = made()
  held.extend('s', those(4, 5))
  expect(held.after('s', 3, 5)).toEqual(those(4, 5))
  expect(held.after('s', 3, 6)).toBeUndefined()
  expect(held.after('s', 2, 5)).toBeUndefined()
  expect(held.after('s', 5, 5)).toBeUndefined()
  expect(held.after('other', 0, 0)).toBeUndefined()
})

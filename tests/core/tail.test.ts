import { expect, test } from 'bun:test'
import { Tail } from '../../src/core/tail.ts'

const tail = () => new Tail<{ sequence: number }>(() => 1)
const numbered = (...sequences: number[]) => sequences.map((sequence) => ({ sequence }))

test('what it holds follows without a gap, however it was told', () => {
  const held = tail()
  held.extend('s', numbered(1, 2))
  held.extend('s', numbered(3, 5, 6)) // another wrote 4 in between
  expect(held.after('s', 2, 6)).toBeUndefined()
  expect(held.after('s', 4, 6)).toEqual(numbered(5, 6))
  held.extend('s', numbered(7))
  expect(held.after('s', 5, 7)).toEqual(numbered(6, 7))
  held.extend('s', numbered(9, 11))
  expect(held.after('s', 10, 11)).toEqual(numbered(11))
  expect(held.after('s', 9, 11)).toBeUndefined()
})

test('only what reaches as far as is known to be there is an answer', () => {
  const held = tail()
  held.extend('s', numbered(4, 5))
  expect(held.after('s', 3, 5)).toEqual(numbered(4, 5))
  expect(held.after('s', 3, 6)).toBeUndefined()
  expect(held.after('s', 2, 5)).toBeUndefined()
  expect(held.after('s', 5, 5)).toBeUndefined()
  expect(held.after('other', 0, 0)).toBeUndefined()
})

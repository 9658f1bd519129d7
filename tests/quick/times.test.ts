// Times and what is due, in words.
import { expect, test } from 'bun:test'
import { agoInWords, dueAt } from '../../components/parts/time.ts'

const NOW = Date.parse('2026-11-27T14:41:05.000Z')
const ago = (seconds: number) => agoInWords(new Date(NOW - seconds * 1000).toISOString(), NOW)

test('how long ago something was is said the same way everywhere, and never in single seconds', () => {
  expect([-5, 0, 9, 10, 29, 60, 41 * 60, 3 * 86_400].map(ago)).toEqual([
    'just now',
    'just now',
    'just now',
    '10s ago',
    '20s ago',
    '1m ago',
    '41m ago',
    '3d ago',
  ])
})

test('what is due on a day says the day; with a time, that too', () => {
  expect(dueAt('2027-03-01T00:00:00Z')).toBe('1 March 2027')
  expect(dueAt('2027-03-01T00:00:00.000+01:00')).toBe('28 February 2027, 23:00 UTC')
  expect(dueAt('2027-03-01T09:00:00Z')).toBe('1 March 2027, 09:00 UTC')
})

import { expect, test } from 'bun:test'
import { Clock } from '../../src/core/runtime/clock.ts'
import { Presence } from '../../src/core/presence.ts'

const at = (ms: number) => {
  const clock = new Clock()
  clock.set(ms)
  return clock
}

test('a team polls until its last poll has ended', () => {
  const presence = new Presence(at(1_000_000))
  const [first, second] = [presence.poll('s', 't', 30_000), presence.poll('s', 't', 10_000)]
  expect([first.ofTeam, second.ofTeam]).toEqual([2, 2])
  second.end()
  expect(presence.of('t')!.pollingUntilMs).toBeGreaterThan(1_029_000)
  first.end()
  expect([first.ofTeam, presence.of('t')!.pollingUntilMs]).toEqual([0, undefined])
})

test('cursors only ever go forward, and what was read was delivered', () => {
  const presence = new Presence(at(0))
  const poll = presence.poll('s', 't', 0)
  poll.advance({ seen: 5 })
  poll.advance({ delivered: 9 })
  poll.advance({ seen: 3 })
  expect(presence.of('t')).toMatchObject({ seenCursor: 5, deliveredCursor: 9 })
  poll.advance({ seen: 12 })
  expect(presence.of('t')).toMatchObject({ seenCursor: 12, deliveredCursor: 12, addressedCursor: 0 })
  poll.advance({ addressed: 7 })
  poll.advance({ addressed: 4 })
  expect(presence.of('t')).toMatchObject({ seenCursor: 12, deliveredCursor: 12, addressedCursor: 7 })
})

test('a change is drained once, again when writing failed, and a team at rest is forgotten', () => {
  const presence = new Presence(at(0))
  const poll = presence.poll('s', 't', 1_000)
  expect(presence.drain()).toHaveLength(1)
  expect(presence.drain()).toHaveLength(0)
  expect(presence.of('t')).toBeDefined()
  poll.end()
  const drained = presence.drain()
  presence.restore(drained)
  expect(presence.drain()).toHaveLength(1)
  expect(presence.drain()).toHaveLength(0)
  expect(presence.of('t')).toBeUndefined()
})

test('a team that holds peeks sleeps until the last of them has ended, and is not seen', () => {
  const presence = new Presence(at(1_000_000))
  const [first, second] = [presence.sleep('s', 't', 30_000), presence.sleep('s', 't', 10_000)]
  expect([first.ofTeam, presence.of('t')!.lastSeenMs, presence.of('t')!.pollingUntilMs]).toEqual([2, 0, undefined])
  presence.drain()
  presence.drain()
  second.end()
  expect(presence.of('t')!.sleepingUntilMs).toBeGreaterThan(1_029_000)
  first.end()
  expect([first.ofTeam, presence.of('t')!.sleepingUntilMs]).toEqual([0, undefined])
  expect(presence.of('t')!.sleptMs).toBeGreaterThanOrEqual(1_000_000)
  expect(presence.drain()).toHaveLength(1)
  expect(presence.drain()).toHaveLength(0)
  expect(presence.of('t')).toBeUndefined()
})

test('a call that began before the cursors were forgotten moves none of them; what comes after it does', () => {
  const presence = new Presence(at(0))
  const before = presence.poll('s', 't', 30_000)
  before.advance({ delivered: 9 })
  presence.forgetAllCursors()
  before.advance({ delivered: 20 })
  expect([presence.deliveredTo('t'), before.ofTeam]).toEqual([0, 1])
  presence.poll('s', 't', 0).advance({ delivered: 6 })
  expect(presence.deliveredTo('t')).toBe(6)
})

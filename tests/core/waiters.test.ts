import { expect, test } from 'bun:test'
import { Waiters } from '../../src/core/waiters.ts'

const isWoken = async (woken: Promise<void>) => (await Promise.race([woken.then(() => true), Bun.sleep(2).then(() => false)])) as boolean

test('a wake reaches those of its session, and who was disarmed is not counted', async () => {
  const waiters = new Waiters()
  const [a, b, c] = [waiters.arm('s'), waiters.arm('s'), waiters.arm('t')]
  expect(waiters.size).toBe(3)
  b.disarm()
  b.disarm()
  waiters.wake('s', 4)
  expect([await isWoken(a.woken), await isWoken(b.woken), await isWoken(c.woken)]).toEqual([true, false, false])
  a.disarm()
  c.disarm()
  expect([waiters.size, waiters.sessions(), waiters.newestTold('s')]).toEqual([0, [], undefined])
})

test('a waiter who sees more than the others were told wakes them', async () => {
  const waiters = new Waiters()
  const early = waiters.arm('s')
  waiters.caughtUpTo('s', 5)
  expect(await isWoken(early.woken)).toBe(false)
  const late = waiters.arm('s')
  waiters.caughtUpTo('s', 5)
  expect(await isWoken(early.woken)).toBe(false)
  waiters.caughtUpTo('s', 6)
  expect([await isWoken(early.woken), await isWoken(late.woken)]).toEqual([true, true])
  expect(waiters.newestTold('s')).toBe(6)
})

test('all are woken at once', async () => {
  const waiters = new Waiters()
  const armed = ['a', 'b', 'c'].map((session) => waiters.arm(session))
  waiters.wakeAll()
  expect(await Promise.all(armed.map(({ woken }) => isWoken(woken)))).toEqual([true, true, true])
})

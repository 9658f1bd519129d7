import { expect, test } from 'bun:test'
import { Waiters, type Armed } from '../../src/log/waiters.ts'

const isWoken = async (armed: Armed) => (await Promise.race([armed.woken().then(() => true), Bun.sleep(2).then(() => false)])) as boolean

test('a wake reaches those of its session, and who was disarmed is not counted', async () => {
  const waiters = new Waiters()
  const [a, b, c] = [waiters.arm('s'), waiters.arm('s'), waiters.arm('t')]
  expect(waiters.size).toBe(3)
  b.disarm()
  b.disarm()
  waiters.wake('s', 4)
  expect([await isWoken(a), await isWoken(b), await isWoken(c)]).toEqual([true, false, false])
  a.disarm()
  c.disarm()
  expect([waiters.size, waiters.sessions(), waiters.newestTold('s')]).toEqual([0, [], undefined])
})

test('a waiter who sees more than the others were told wakes them', async () => {
  const waiters = new Waiters()
  const early = waiters.arm('s')
  early.caughtUpTo(5)
  expect(await isWoken(early)).toBe(false)
  const late = waiters.arm('s')
  late.caughtUpTo(5)
  expect(await isWoken(early)).toBe(false)
  late.caughtUpTo(6)
  expect([await isWoken(early), await isWoken(late)]).toEqual([true, true])
  expect(waiters.newestTold('s')).toBe(6)
})

test('all are woken at once', async () => {
  const waiters = new Waiters()
  const armed = ['a', 'b', 'c'].map((session) => waiters.arm(session))
  waiters.wakeAll()
  expect(await Promise.all(armed.map(isWoken))).toEqual([true, true, true])
})

import { expect, test } from 'bun:test'
import { uuid7 } from '../../src/core/ids.ts'
import { topicOf } from '../../src/log/topics.ts'
import { Waiters, type Waiter } from '../../src/log/waiters.ts'

const isWoken = async (waiter: Waiter) => (await Promise.race([waiter.woken().then(() => true), Bun.sleep(2).then(() => false)])) as boolean

test('a wake reaches the waiters of its topic, and one that unsubscribed is not counted', async () => {
  const waiters = new Waiters()
  const [a, b, c] = [waiters.subscribe('s'), waiters.subscribe('s'), waiters.subscribe('t')]
  expect(waiters.size).toBe(3)
  b.unsubscribe()
  b.unsubscribe()
  waiters.wake('s', 4)
  expect([await isWoken(a), await isWoken(b), await isWoken(c)]).toEqual([true, false, false])
  a.unsubscribe()
  c.unsubscribe()
  expect([waiters.size, waiters.sessions(), waiters.newestWoken('s')]).toEqual([0, [], undefined])
})

test('a waiter that has read more than the others were woken for wakes them', async () => {
  const waiters = new Waiters()
  const early = waiters.subscribe('s')
  early.caughtUpTo(5)
  expect(await isWoken(early)).toBe(false)
  const late = waiters.subscribe('s')
  late.caughtUpTo(5)
  expect(await isWoken(early)).toBe(false)
  late.caughtUpTo(6)
  expect([await isWoken(early), await isWoken(late)]).toEqual([true, true])
  expect(waiters.newestWoken('s')).toBe(6)
})

test('all are woken at once', async () => {
  const waiters = new Waiters()
  const subscribed = ['a', 'b', 'c'].map((topic) => waiters.subscribe(topic))
  waiters.wakeAll()
  expect(await Promise.all(subscribed.map(isWoken))).toEqual([true, true, true])
})

test('the sweep looks after sessions alone', () => {
  const waiters = new Waiters()
  const [session, topic] = [uuid7(), topicOf('demo', '1')]
  const subscribed = [waiters.subscribe(session), waiters.subscribe(topic)]
  expect(waiters.sessions()).toEqual([session])
  for (const waiter of subscribed) waiter.unsubscribe()
})

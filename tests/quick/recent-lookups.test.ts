import { expect, test } from 'bun:test'
import { RecentLookups } from '../../src/log/recent-lookups.ts'

test('a lookup is cached until its session is invalidated, and one that was under way then is not kept', () => {
  const lookups = new RecentLookups<string>()
  const before = lookups.of('s')
  before.set('team', 'found')
  lookups.of('other').set('team', 'elsewhere')
  expect(lookups.of('s').get('team')).toBe('found')
  lookups.invalidate('s')
  before.set('late', 'found before the session moved')
  expect([...lookups.of('s')]).toEqual([])
  expect(lookups.of('other').get('team')).toBe('elsewhere')
  lookups.clear()
  expect([...lookups.of('other')]).toEqual([])
})

test('a lookup is cached for less than a second', async () => {
  const lookups = new RecentLookups<string>()
  lookups.of('s').set('team', 'found')
  await Bun.sleep(700)
  expect([...lookups.of('s')]).toEqual([])
})

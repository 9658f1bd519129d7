import { expect, test } from 'bun:test'
import { Recent } from '../../src/core/recent.ts'

test('what was looked up a moment ago is known until the session moves, and what was being looked up then is not kept', () => {
  const recent = new Recent<string>()
  const before = recent.of('s')
  before.set('team', 'found')
  recent.of('other').set('team', 'elsewhere')
  expect(recent.of('s').get('team')).toBe('found')
  recent.moved('s')
  before.set('late', 'found before it moved')
  expect([...recent.of('s')]).toEqual([])
  expect(recent.of('other').get('team')).toBe('elsewhere')
  recent.clear()
  expect([...recent.of('other')]).toEqual([])
})

test('what was looked up a moment ago is forgotten within a second by itself', async () => {
  const recent = new Recent<string>()
  recent.of('s').set('team', 'found')
  await Bun.sleep(700)
  expect([...recent.of('s')]).toEqual([])
})

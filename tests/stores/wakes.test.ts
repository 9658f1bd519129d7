// Wakes are counted once, however many instances find at the same moment that a team may be woken.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { claimWakes, ensureWakes } from '../../src/stores/wakes.ts'
import { holdLock } from '../support/held-lock.ts'
import { room, say, soon, startParley, viaRest, type Parley } from '../support/parley.ts'

let parley: Parley
beforeAll(async () => {
  parley = await startParley({ engine: 'postgres' })
}, 180_000)
afterAll(() => parley?.close())

test('of two claims of one wake that wait for the same lock, the second sees what the first has counted', async () => {
  const { database } = parley
  const { id, alex, bea } = await room(viaRest(parley))
  const { cursor: through } = await say(alex, 'wake up')
  await ensureWakes(database, id)
  const release = await holdLock(database, `select from wakes where session_id = '${id}' for update`)
  const claim = () => claimWakes(database, id, [{ teamId: bea.handle, through, always: false, free: false }], 3)
  const both = Promise.all([claim(), claim()])
  await soon('both wait for the lock', async () => {
    const [row] = await database.query<{ count: number }>(
      `select count(*)::int as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    )
    return row!.count === 2
  })
  await release()
  const answers = (await both).flat()
  expect(answers.map(({ fresh }) => fresh).toSorted()).toEqual([false, true])
  const [row] = await database.query<{ taken: number }>('select taken from wakes where session_id = $1', [id])
  expect(row!.taken).toBe(1)
})

// The number of things that wait for a person, as the header of every page has it.
import { expect, test } from 'bun:test'
import { createWaiting } from '../../src/pages/approvals/waiting.ts'
import { onOneEngine, viaRest } from '../support/parley.ts'
import { ACTION, recordsScene } from '../support/records-scene.ts'

onOneEngine((parley) => {
  test('a read that a later one has overtaken does not put the older number in place of the newer one', async () => {
    const { services, database } = parley()
    const { alex } = await recordsScene(viaRest(parley()), parley())
    const held = Promise.withResolvers<void>()
    let reads = 0
    const slow: typeof database.query = async (text, params) => {
      const rows = await database.query<any>(text, params)
      if (++reads <= 1) await held.promise
      return rows
    }
    const waiting = createWaiting({ ...services, database: { ...database, query: slow } })
    const overtaken = waiting.read()
    await alex('propose_action_item', ACTION)
    await waiting.read()
    const now = waiting.countFor(undefined)
    expect(now).toBe(1)
    held.resolve()
    await overtaken
    await new Promise((resolve) => setTimeout(resolve, 10))
    expect(waiting.countFor(undefined)).toBe(now)
  })
})

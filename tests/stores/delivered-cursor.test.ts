// A wait without a cursor continues where the last one ended, whichever instance answers it.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { done, refused, room, say, seat, soon, startParley, viaRest, type Parley, type Seat } from '../support/parley.ts'

let parley: Parley
beforeAll(async () => void (parley = await startParley({ engine: 'postgres' })), 180_000)
afterAll(() => parley?.close(), 180_000)

const sequences = ({ messages }: { messages: { sequence: number }[] }) => messages.map(({ sequence }) => sequence)

test('a single instance writes nothing for it', async () => {
  const { alex, bea } = await room(viaRest(parley))
  await soon('nobody has answered its hello', () => !parley.services.mayHavePeers(), 10)
  await say(alex, 'one')
  await done(bea('wait_for_messages', { since_cursor: 1, timeout: 0 })) // who Bea is, is looked up
  await soon('presence is at rest', () => parley.services.presence.drain().length === 0)
  // The background has statements of its own, which may come between.
  await soon('it costs two statements at most', async () => {
    await say(alex, 'more')
    await parley.services.indexer.run()
    const before = parley.database.statements()
    const { messages } = await done(bea('wait_for_messages', { timeout: 0 }))
    expect(messages.length).toBeGreaterThan(0)
    return parley.database.statements() - before <= 2 // who Bea is, and a notification to itself
  })
})

test('two instances: what one has delivered the other does not deliver again right after', async () => {
  const other = await parley.beside({})
  const { id, alex, bea } = await room(viaRest(parley))
  const there = (team: Seat) =>
    seat(viaRest(other), { session_id: id, team_id: team.token, handle: team.handle, team_name: team.team, cursor: 1 })
  const theirs = there(bea)
  await done(bea('wait_for_messages', { timeout: 0 }))
  for (let n = 0; n < 6; n++) {
    const { cursor } = await say(alex, `${n}`)
    const [first, second] = n % 2 ? [bea, theirs] : [theirs, bea]
    const fresh = await done(first('wait_for_messages', { timeout: 20 }))
    expect(sequences(fresh)).toEqual([cursor])
    expect(sequences(await done(second('wait_for_messages', { timeout: 0 })))).toEqual([])
  }
})

test('two instances: the same of what a refused post was handed', async () => {
  const other = await parley.beside({})
  const { id, alex, bea } = await room(viaRest(parley))
  const there = seat(viaRest(other), { session_id: id, team_id: bea.token })
  for (let n = 0; n < 4; n++) {
    const { cursor } = await say(alex, `${n}`)
    const [first, second] = n % 2 ? [bea, there] : [there, bea]
    const { details } = await refused(first('post_message', { content: 'crossed', expected_cursor: cursor - 1 }), 'unread')
    expect(sequences(details)).toEqual([cursor])
    expect(sequences(await done(second('wait_for_messages', { timeout: 0 })))).toEqual([])
  }
  await other.close()
})

test('two instances: the same of wait_for_any, and of messages that are addressed to the team', async () => {
  const other = await parley.beside({})
  const { id, alex, bea } = await room(viaRest(parley))
  const [here, there] = [viaRest(parley), viaRest(other)]
  const any = (call: typeof here) => done(call('wait_for_any', { waits: [{ session_id: id, team_id: bea.token }], timeout: 0 }))
  await any(here)
  expect((await any(there)).results).toEqual([])
  const { cursor } = await say(alex, 'for you', { to: [bea.handle] })
  const addressed = (call: typeof here) =>
    done(call('wait_for_messages', { session_id: id, only: 'addressed', timeout: 0 }, { team: bea.token }))
  expect(sequences(await addressed(there))).toEqual([cursor])
  expect(sequences(await addressed(here))).toEqual([])
  expect(sequences((await any(there)).results[0])).toEqual([cursor]) // it is not read
  expect((await any(here)).results).toEqual([])
})

// Transactions that get in each other's way for longer than they are tried again.
import { expect } from 'bun:test'
import { afterEach, test } from '../support/foreign.ts'
import { done, feedOf, onOneEngine, refused, restRequest, room, throughBothDoors, viaRest, type Parley } from '../support/parley.ts'

const collide = async ({ database: { query } }: Parley, state: '40001' | '40P01' | '23505') => {
  await query(`create function collide() returns trigger language plpgsql as $$
    begin raise exception 'in each other''s way' using errcode = '${state}'; end $$`)
  for (const table of ['events', 'session_doc_history'])
    await query(`create trigger collide before insert on ${table} for each row execute function collide()`)
}
const part = ({ database }: Parley) => database.query('drop function if exists collide() cascade')

throughBothDoors((call, parley) => {
  afterEach(() => part(parley()))

  test.each(['40001', '40P01'] as const)('%s: the caller is told to come back, nothing is written, and a retry is', async (state) => {
    const { alex } = await room(call)
    const before = await feedOf(alex)
    await collide(parley(), state)
    const key = crypto.randomUUID()
    const writes = [
      ['append_to_session_doc', { text: 'a note' }],
      ['post_message', { content: 'a word' }],
      ['leave_session', {}],
    ] as const
    for (const [name, input] of writes) {
      const { message, details } = await refused(alex(name, input, { key: `${name} ${key}` }), 'unavailable')
      expect(message).toContain('Try again in a second')
      expect(details).toEqual({ retry_after: 1 }) // not `outcome: unknown`
    }
    expect(await feedOf(alex)).toEqual(before)
    await part(parley())
    for (const [name, input] of writes) await done(alex(name, input, { key: `${name} ${key}` }))
  })
})

onOneEngine((parley) => {
  afterEach(() => part(parley()))

  test('over REST it says when to come back, and of a transcript that the rest is missing', async () => {
    const { id, alex } = await room(viaRest(parley()))
    await collide(parley(), '40001')
    const { path, sending } = restRequest('append_to_session_doc', { session_id: id, text: 'x' }, { team: alex.token })
    const sent = await parley().send(path, sending)
    expect([sent.status, sent.headers.get('retry-after')]).toEqual([503, '1'])
    const line = { type: 'user', sessionId: crypto.randomUUID(), uuid: 'u', timestamp: '2026-01-01T00:00:00Z' }
    const body = JSON.stringify({ ...line, message: { role: 'user', content: 'hi' } })
    const imported = await parley().send('/api/traces', { body })
    expect([imported.status, ((await imported.json()) as any).error.message]).toEqual([503, expect.stringContaining('Send the file again')])
  })

  test('a broken uniqueness stays a fault of ours', async () => {
    const { id, alex } = await room(viaRest(parley()))
    await collide(parley(), '23505')
    const { path, sending } = restRequest('append_to_session_doc', { session_id: id, text: 'x' }, { team: alex.token })
    expect((await parley().send(path, sending)).status).toBe(500)
  })
})

// The embedded database on a disk that is nearly full: without space for its journal it would block the process forever.
import { expect, test } from 'bun:test'
import { isAway } from '../../db/errors.ts'
import { askOverRest } from '../support/history.ts'
import { done, refused, say, startParley, viaRest } from '../support/parley.ts'
import { embeddedDatabase } from '../support/pglite.ts'
import { DECISION, recordsScene } from '../support/records-scene.ts'

test('nothing is written while there is no space, what was written can be read, and writing goes on when there is space again', async () => {
  let space = true
  const database = await embeddedDatabase(() => space)
  const write = (text: string) => database.query('insert into said values ($1)', [text])
  const read = () => database.query<{ text: string }>('select text from said')
  await database.query('create table said (text text)')
  await write('before')
  space = false
  const refused = [
    write('full'),
    database.transaction(({ query }) => query('insert into said values ($1)', ['full'])),
    database.query(`with new as (insert into said values ('full') returning text) select text from new`),
  ]
  for (const refusal of refused) {
    const error = await refusal.catch((failure: unknown) => failure)
    expect(isAway(error)).toBe(true)
    expect(String(error)).toContain('less than 64 MiB left')
  }
  expect(await read()).toEqual([{ text: 'before' }])
  space = true
  await write('after')
  expect(await read()).toEqual([{ text: 'before' }, { text: 'after' }])
  await database.close()
}, 180_000)

test('every way to read answers on a full disk as before, also where an answer gives out names; writing is refused', async () => {
  let space = true
  const database = await embeddedDatabase(() => space)
  const parley = await startParley({ opened: { database, drop: async () => {} } })
  const call = viaRest(parley)
  const { id, seats, alex, resolve } = await recordsScene(call, parley)
  await done(seats.alex('plan_work', { items: [{ title: 'The lexer' }] }))
  await say(seats.alex, 'The lexer is mine.')
  await done(seats.alex('append_to_session_doc', { text: 'By hand.' }))
  const { id: proposal } = await done(alex('propose_decision', DECISION))
  await done(resolve(proposal))
  space = false
  for (const name of ['get_session', 'list_participants', 'list_work', 'catch_up', 'get_history', 'read_session_doc', 'get_doc_history'])
    await done(seats.bea(name))
  await done(seats.bea('wait_for_messages', { since_cursor: 0, timeout: 0 }))
  for (const name of ['get_meetings', 'get_proposals', 'get_decisions', 'get_action_items']) await done(alex(name))
  await done(alex('get_meeting_details', { meeting_id: id }))
  await done(alex('search_content', { query: 'parser' }))
  const ask = askOverRest(parley)
  expect((await ask('search_sessions', { query: 'lexer' })).error).toBeUndefined()
  expect(
    (await ask('list_sessions', { start_datetime: '2026-01-01T00:00:00Z', end_datetime: '2100-01-01T00:00:00Z' })).error,
  ).toBeUndefined()
  for (const path of ['/', `/sessions/${id}`, `/api/sessions/${id}/handoff.md`, '/records', '/approvals', '/search?q=lexer'])
    expect([path, (await parley.send(path)).status]).toEqual([path, 200])
  await refused(seats.bea('post_message', { content: { text: 'One more.' } }), 'unavailable')
  await refused(alex('propose_decision', { ...DECISION, title: 'Another one' }), 'unavailable')
  space = true
  await say(seats.bea, 'One more.')
  await parley.close()
}, 180_000)

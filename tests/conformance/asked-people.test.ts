// Questions to people: agents may ask whoever has written in their session.
import { describe, expect } from 'bun:test'
import { readAsked } from '../../src/pages/approvals/asked.ts'
import { INBOX } from '../../src/pages/approvals/waiting.ts'
import { test } from '../support/foreign.ts'
import { cookieOf, done, feedOf, onOneEngine, refused, room, say, soon, throughBothDoors, viaRest, type Served } from '../support/parley.ts'
import { forget } from '../support/transcripts.ts'

/** An open inbox. `until`: all that it has been sent, once the text is in it. */
const inboxOf = async (served: Served, name: string) => {
  const response = await served.send('/approvals/live', { headers: { cookie: await cookieOf(served, { name, role: 'person' }) } })
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  let sent = ''
  const until = async (text: string) => {
    while (!sent.includes(text)) sent += (await reader.read()).value
    return sent
  }
  return { until, close: () => reader.cancel() }
}

/** A person who is signed in, as one that calls. */
const personOf = async (served: Served, name: string, id: string) => {
  const person = await cookieOf(served, { name, role: 'person' })
  return (tool: string, input: object = {}) => viaRest(served)(tool, { session_id: id, ...input }, { person })
}

throughBothDoors((call, parley) => {
  describe('a question to a person', () => {
    const withNora = async () => {
      const meeting = await room(call)
      const nora = await personOf(parley(), 'Nora', meeting.id)
      const write = (content: string, more: object = {}) => done(nora('post_message', { content, ...more }))
      await write('I am here.')
      return { ...meeting, write }
    }

    test('has the name beside the handles, in waits, history and export, from memory and from the table', async () => {
      const { id, alex, bea } = await withNora()
      const waiting = bea('wait_for_messages', { since_cursor: 2, timeout: 20 })
      const asked = await say(alex, 'Ship it?', { to: ['nora ', bea.handle, 'Nora'], expects_reply: true })
      const row = (await done(waiting)).messages[0]
      expect(row).toMatchObject({ content: { text: 'Ship it?' }, to: [bea.handle], to_people: ['Nora'], expects_reply: true })
      expect(row.content).toEqual({ text: 'Ship it?' })
      expect((await done(alex('get_history', { message_id: asked.message_id }))).messages[0]).toMatchObject(row)
      const alone = await say(alex, 'And when?', { to: 'Nora', expects_reply: true })
      const [{ to, to_people }] = (await done(bea('get_history', { message_id: alone.message_id }))).messages
      expect([to, to_people]).toEqual([undefined, ['Nora']])
      const lines = (await (await parley().send(`/sessions/${id}/feed.jsonl`)).text()).trimEnd().split('\n')
      expect(lines.map((line) => JSON.parse(line))).toEqual(await feedOf(bea))
    })

    test('is asked and unanswered until that person replies, whoever else does', async () => {
      const { id, alex, bea, write } = await withNora()
      const { message_id } = await say(alex, 'Ship it?', { to: [bea.handle, 'Nora'], expects_reply: true })
      const asked = async () =>
        (await done(alex('catch_up'))).asked.map((row: any) => [row.id, row.unanswered_by, row.unanswered_by_people])
      const handoff = async () => (await parley().send(`/api/sessions/${id}/handoff.md`)).text()
      expect(await asked()).toEqual([[message_id, [bea.handle], ['Nora']]])
      expect(await handoff()).toContain("asked Bea's Team, Nora (a person), #3")
      expect(await handoff()).toContain(", not answered by Bea's Team, Nora (a person)\n")
      await say(bea, 'I would.', { reply_to: message_id })
      const kim = await personOf(parley(), 'Kim', id)
      await done(kim('post_message', { content: 'So would I.', reply_to: message_id }))
      expect(await asked()).toEqual([[message_id, [], ['Nora']]])
      await write('Yes.', { reply_to: message_id })
      expect(await asked()).toEqual([])
      expect(await handoff()).not.toContain('not answered')
    })

    test('is withdrawn by the asker, and concerns no team: it is addressed to none', async () => {
      const { alex, bea } = await withNora()
      const { message_id, cursor } = await say(alex, 'Ship it?', { to: ['Nora'], expects_reply: true })
      expect(await done(bea('peek'))).toMatchObject({ addressed: 0 })
      expect((await done(bea('catch_up'))).unanswered).toEqual([])
      const waited = await done(bea('wait_for_messages', { since_cursor: 0, timeout: 0, only: 'addressed' }))
      expect(waited.messages.filter(({ sequence }: any) => sequence === cursor)).toEqual([])
      await say(alex, 'Never mind.', { reply_to: message_id })
      expect((await done(alex('catch_up'))).asked).toEqual([])
    })

    test('needs the name of a team, or of a person who has opened the session or written in its feed or document', async () => {
      const { id, alex, write } = await withNora()
      const { message, details } = await refused(
        alex('post_message', { content: 'You?', to: ['Kim'], expects_reply: true }),
        'invalid_request',
      )
      expect(details).toEqual({ field: 'to' })
      expect(message).toContain('no person of that name has opened this session or written here')
      const kim = await personOf(parley(), 'Kim', id)
      await done(kim('append_to_session_doc', { text: '- Mine.' }))
      await say(alex, 'You?', { to: ['Kim'], expects_reply: true })
      expect((await done(alex('list_participants'))).people).toEqual(['Kim', 'Nora'])
      await write('I have left no trace in another session.')
      const other = await room(call)
      await refused(other.alex('post_message', { content: 'You?', to: ['Nora'] }), 'invalid_request')
    })

    test('reaches a person who has opened the session and said nothing', async () => {
      const person = await cookieOf(parley(), { name: 'Opener', role: 'person' })
      const { session_id } = await done(viaRest(parley())('control.create_session', { title: 'Opened' }, { person }))
      const team = (await done(call('join_session', { session_id, team_name: 'Bea' }))).team_id
      expect((await done(call('list_participants', { session_id }, { team }))).people).toEqual(['Opener'])
      const { message_id } = await done(
        call('post_message', { session_id, content: 'Ship it?', to: 'opener', expects_reply: true }, { team }),
      )
      const [row] = (await done(call('get_history', { session_id, message_id }, { team }))).messages
      expect([row.to, row.to_people]).toEqual([undefined, ['Opener']])
    })

    test('is not taken by a team of the same name: one that comes later has a number, one that was there first is asked beside the person', async () => {
      const { id, alex } = await withNora()
      const asked = async (to: string[]) => {
        const { message_id, warnings } = await say(alex, 'Which of you?', { to, expects_reply: true })
        const [row] = (await done(alex('get_history', { message_id }))).messages
        return [row.to, row.to_people, warnings]
      }
      const later = await done(call('join_session', { session_id: id, team_name: 'NORA' }))
      expect(later.team_name).toBe('NORA (2)')
      expect(await asked(['Nora'])).toEqual([undefined, ['Nora'], undefined])
      const first = await done(call('join_session', { session_id: id, team_name: 'Kim' }))
      expect([first.team_name, await asked(['kim'])]).toEqual(['Kim', [[first.handle], undefined, undefined]])
      const kim = await personOf(parley(), 'Kim', id)
      await done(kim('post_message', { content: 'I am here, too.' }))
      expect(await asked(['kim'])).toEqual([[first.handle], ['Kim'], undefined])
      expect(await asked([first.handle])).toEqual([[first.handle], undefined, undefined])
      await done(call('leave_session', { session_id: id }, { team: first.team_id }))
      expect(await asked(['Kim'])).toEqual([undefined, ['Kim'], undefined])
    })
  })
})

onOneEngine((parley) => {
  test('people are told of a question, once, and of no other message to them', async () => {
    const { id, alex } = await room(viaRest(parley()))
    const nora = await personOf(parley(), 'Nora', id)
    await done(nora('post_message', { content: 'I am here.' }))
    const kinds = async () => (await parley().database.query('select kind, about from notices where session_id = $1', [id])) as any[]
    await say(alex, 'For you.', { to: ['Nora'] })
    expect(await kinds()).toEqual([])
    const [question, as] = [{ content: 'Ship it?', to: ['Nora'], expects_reply: true }, { key: crypto.randomUUID() }]
    const { message_id } = await done(alex('post_message', question, as))
    await done(alex('post_message', question, as))
    await soon('told', async () => (await kinds()).length > 0)
    expect(await kinds()).toEqual([{ kind: 'question', about: message_id }])
  })

  test('an inbox that is opened again is sent what is asked now, and nothing that was asked when it was open before', async () => {
    const { id, alex } = await room(viaRest(parley()))
    const oda = await personOf(parley(), 'Oda', id)
    await done(oda('post_message', { content: 'I am here.' }))
    const [other, before] = [await inboxOf(parley(), 'Sam'), await inboxOf(parley(), 'Oda')]
    const { message_id } = await say(alex, 'Ship it?', { to: ['Oda'], expects_reply: true })
    await before.until('Ship it?')
    await before.close()
    await done(oda('post_message', { content: 'Yes.', reply_to: message_id }))
    await say(alex, 'And when?', { to: ['Oda'], expects_reply: true })
    const decision = { title: 'We ship it', description: 'On Monday.' }
    const proposed = await done(viaRest(parley())('records.propose_decision', decision, { team: alex.token }))
    await other.until(proposed.id) // what the answer changed was looked at
    const again = await inboxOf(parley(), 'Oda')
    parley().services.publishTopic(INBOX, Date.now()) // else it is looked at within 5 s
    expect(await again.until('And when?')).not.toContain('Ship it?')
    for (const inbox of [other, again]) await inbox.close()
  })

  test('a question that is not answered stays in the inbox, however many newer ones have been', async () => {
    const { id, alex } = await room(viaRest(parley()))
    const ines = await personOf(parley(), 'Ines', id)
    await done(ines('post_message', { content: 'I am here.' }))
    await say(alex, 'Ship it?', { to: ['Ines'], expects_reply: true })
    const { database } = parley()
    await database.query(
      `with asked as (
         insert into events (session_id, sequence, id, turn, ordinal, type, author, author_name, posted_by_team_id, content, size, to_team_ids,
           expects_reply, at)
         select $1, 1000 + n, gen_random_uuid(), 1, 1000 + n, 'chat', 'team', 'Alex', $2, '{"text":"And this?","to_people":["Ines"]}', 50, '{}', true, now()
         from generate_series(1, 2100) n returning id, sequence
       )
       insert into events (session_id, sequence, id, turn, ordinal, type, author, author_name, content, size, reply_to, at)
       select $1, 5000 + sequence, gen_random_uuid(), 1, 5000 + sequence, 'chat', 'person', 'Ines', '{"text":"Yes."}', 20, id, now() from asked`,
      [id, alex.handle],
    )
    const { byPerson, open } = await readAsked(database)
    const again = await readAsked(database, open)
    await database.query(`update sessions set status = 'closed' where id = $1`, [id])
    const concluded = await readAsked(database, open)
    await database.query(`update sessions set status = 'active' where id = $1`, [id])
    await database.query('delete from events where session_id = $1 and sequence > 1000', [id])
    for (const read of [byPerson, again.byPerson]) expect(read.get('ines')?.map(({ text }) => text)).toEqual(['Ship it?'])
    expect(concluded.byPerson.get('ines')).toBeUndefined()
  })

  test('an exported session that is imported still has whom it asks', async () => {
    const { id, alex } = await room(viaRest(parley()))
    const nora = await personOf(parley(), 'Nora', id)
    await done(nora('post_message', { content: 'I am here.' }))
    await say(alex, 'Ship it?', { to: ['Nora'], expects_reply: true })
    const text = await (await parley().send(`/sessions/${id}/feed.jsonl`)).text()
    await forget(parley(), id)
    const imported: any = await (await parley().send('/api/traces', { method: 'POST', body: text })).json()
    const again = (await (await parley().send(`/sessions/${imported.session_id}/feed.jsonl`)).text()).trimEnd().split('\n')
    expect(JSON.parse(again.at(-1)!)).toMatchObject({ to_people: ['Nora'], expects_reply: true, content: { text: 'Ship it?' } })
  })
})

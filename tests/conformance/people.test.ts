import { describe, expect } from 'bun:test'
import { test } from '../support/foreign.ts'
import { cookieOf, done, feedOf, onOneEngine, refused, room, say, seat, viaRest } from '../support/parley.ts'

onOneEngine((parley) => {
  const begin = async () => {
    const call = viaRest(parley())
    const person = await cookieOf(parley(), { name: 'Robin', role: 'person' })
    const { id, alex, bea } = await room(call)
    const robin = (name: string, input: Record<string, unknown> = {}, key?: string) =>
      call(name, { session_id: id, ...input }, { person, key })
    return { id, alex, bea, robin, call, person }
  }

  describe('a signed-in person', () => {
    test('posts as a person, under the name of the cookie', async () => {
      const { bea, robin } = await begin()
      const posted = await done(robin('post_message', { content: { text: 'How far are you?' }, to: [bea.handle] }))
      expect((await feedOf(bea)).at(-1)).toEqual({
        id: posted.message_id,
        sequence: 2,
        type: 'chat',
        author: 'person',
        team: 'Robin',
        posted_by_team_id: null,
        content: { text: 'How far are you?' },
        to: [bea.handle],
        at: posted.at,
      })
    })

    test('reads what a team reads', async () => {
      const { robin, alex } = await begin()
      await say(alex, 'hello')
      for (const name of ['get_session', 'list_participants', 'get_history', 'read_session_doc', 'get_doc_history']) await done(robin(name))
      const { participants } = await done(robin('list_participants'))
      expect(participants.map((row: any) => row.is_self)).toEqual([false, false])
    })

    test('renames, concludes and reopens, and the feed says by whom', async () => {
      const { alex, robin } = await begin()
      await done(robin('update_session_metadata', { title: 'New', reason: 'scope' }))
      await done(robin('conclude_session', { summary_section: 'end' }))
      await done(robin('reopen_session', { reason: 'not yet' }))
      expect((await feedOf(alex)).slice(1)).toMatchObject([
        { event: 'session_metadata_updated', by: 'Robin' },
        { event: 'session_concluded', by: 'Robin' },
        { event: 'session_reopened', by: 'Robin' },
      ])
    })

    test('writes nothing more to a closed session either', async () => {
      const { robin } = await begin()
      await done(robin('conclude_session', { summary_section: 'end' }))
      await refused(robin('post_message', { content: 'late' }), 'session_closed')
      await refused(robin('append_to_session_doc', { text: 'late' }), 'session_closed')
      await refused(robin('release_session'), 'session_closed')
    })

    test('is told apart from a team of the same name by one that catches up', async () => {
      const { id, alex, robin, call } = await begin()
      const namesake = seat(call, await done(call('join_session', { session_id: id, team_name: 'Robin' })))
      await say(namesake, 'from a team')
      await done(robin('post_message', { content: 'from a person' }))
      const { last_messages } = await done(alex('catch_up'))
      expect(last_messages.at(-1)).toMatchObject({ author: 'person', team: 'Robin', text: 'from a person' })
      expect(last_messages.at(-2).author).toBeUndefined()
    })

    test('retries with a key as a team does', async () => {
      const { alex, robin } = await begin()
      const key = crypto.randomUUID()
      const first = await done(robin('post_message', { content: 'once' }, key))
      expect(await done(robin('post_message', { content: 'once' }, key))).toEqual(first)
      const note = crypto.randomUUID()
      expect(await done(robin('append_to_session_doc', { text: 'a' }, note))).toEqual(
        await done(robin('append_to_session_doc', { text: 'a' }, note)),
      )
      expect(await feedOf(alex)).toHaveLength(2)
      expect((await done(alex('read_session_doc'))).version).toBe(1)
    })

    test('who also sends a team’s token acts as that team', async () => {
      const { id, alex, call, person } = await begin()
      await done(call('post_message', { session_id: id, content: 'x' }, { person, team: alex.token }))
      expect((await feedOf(alex)).at(-1)).toMatchObject({ author: 'team', team: "Alex's Team" })
      await refused(call('post_message', { session_id: id, content: 'x' }, { person, team: 'garbage' }), 'unauthorized')
    })

    test('finds that a session is not there', async () => {
      const { call, person } = await begin()
      for (const session_id of ['nonsense', '00000000-0000-4000-8000-000000000000'])
        for (const [name, input] of [
          ['get_session', {}],
          ['get_history', {}],
          ['post_message', { content: 'x' }],
          ['append_to_session_doc', { text: 'x' }],
          ['conclude_session', { summary_section: 'x' }],
        ] as const)
          await refused(call(name, { session_id, ...input }, { person }), 'not_found')
    })

    test('whose cookie was made before the operator key changed is nobody', async () => {
      const { id, call, person } = await begin()
      await parley().services.changeSetting('operator_key_hash', 'f'.repeat(64))
      await refused(call('get_session', { session_id: id }, { person }), 'unauthorized')
    })

    test('whose cookie comes with a request from another site is refused, and nothing is done', async () => {
      const { id, alex, person } = await begin()
      for (const headers of [{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }, { origin: 'null' }]) {
        const response = await parley().send(`/api/sessions/${id}/messages`, {
          method: 'POST',
          body: '{"content":"x"}',
          headers: { cookie: person, ...headers } as Record<string, string>,
        })
        expect(response.status).toBe(403)
      }
      expect(await feedOf(alex)).toHaveLength(1)
    })
  })
})

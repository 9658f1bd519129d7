import { describe, expect } from 'bun:test'
import { test } from '../support/foreign.ts'
import { bearer, keyOf } from '../support/keys.ts'
import {
  chat,
  cookieOf,
  done,
  feedOf,
  leaveTrace,
  refused,
  room,
  say,
  seat,
  throughBothDoors,
  viaRest,
  type Seat,
} from '../support/parley.ts'

const textsOf = (messages: any[]) => messages.filter(({ type }) => type === 'chat').map(({ content }) => content.text)
const waited = (who: Seat, more: Record<string, unknown> = {}) => done(who('wait_for_messages', { timeout: 0, ...more }))
const key = () => ({ key: crypto.randomUUID() })

throughBothDoors((call, parley, transport) => {
  describe('a post with expected_cursor', () => {
    test('is written when nobody else has spoken since, whoever spoke before', async () => {
      const { alex, bea } = await room(call)
      await say(alex, 'one', { expected_cursor: 1 })
      const answer = await say(bea, 'two', { expected_cursor: 2 })
      expect(Object.keys(answer)).toEqual(['message_id', 'cursor', 'at'])
      await say(bea, 'three', { expected_cursor: 2 }) // its own post lies between
      await say(alex, 'four', { expected_cursor: '4' })
      expect(textsOf(await feedOf(alex))).toEqual(['one', 'two', 'three', 'four'])
    })

    test('is refused with what others said since, and nothing is posted', async () => {
      const { alex, bea } = await room(call)
      await say(alex, 'one')
      await say(bea, 'mine')
      await say(alex, 'two')
      const { message, details } = await refused(bea('post_message', { content: 'crossed', expected_cursor: 1 }), 'unread')
      expect(message).toContain('expected_cursor 4')
      expect(Object.keys(details)).toEqual(['unread', 'messages', 'next_cursor', 'has_more'])
      expect(details).toMatchObject({ unread: 2, next_cursor: 4, has_more: false })
      const feed = await feedOf(bea)
      expect(details.messages).toEqual([feed[1], feed[3]])
      expect(textsOf(details.messages)).toEqual(['one', 'two'])
      await say(bea, 'thought over', { expected_cursor: details.next_cursor })
      expect(textsOf(await feedOf(alex))).toEqual(['one', 'mine', 'two', 'thought over'])
    })

    test('is not held up by joins, leaves, the trace, the document or another convener', async () => {
      const { id, alex, bea } = await room(call)
      const cleo = seat(call, await done(call('join_session', { session_id: id, team_name: 'Cleo' })))
      await done(cleo('leave_session'))
      await done(alex('append_to_session_doc', { text: '- a line' }))
      await done(alex('transfer_convener', { to: bea.handle }))
      await leaveTrace(parley(), id, 'tool_call', 'ls')
      await say(bea, 'nobody spoke', { expected_cursor: 1 })
    })

    test('is held up by another title or description, unless the team changed it itself', async () => {
      const { alex, bea } = await room(call)
      await done(alex('update_session_metadata', { title: 'Shipping it all', reason: 'More than the parser.' }))
      await say(alex, 'my own change', { expected_cursor: 1 })
      const { details } = await refused(bea('post_message', { content: 'crossed', expected_cursor: 1 }), 'unread')
      expect(details).toMatchObject({ unread: 2, messages: [{ event: 'session_metadata_updated' }, {}], next_cursor: 3 })
      await done(bea('update_session_metadata', { description: 'All of it.', reason: 'It was not said.' }))
      await refused(alex('post_message', { content: 'crossed', expected_cursor: 3 }), 'unread')
    })

    test('is refused for what was said before a join, also by a team that has spoken since', async () => {
      const { id, alex, bea } = await room(call)
      await say(alex, 'one') // 2
      await done(call('join_session', { session_id: id, team_name: 'Cleo' })) // 3
      await say(bea, 'mine') // 4
      expect((await refused(bea('post_message', { content: 'crossed', expected_cursor: 1 }), 'unread')).details).toMatchObject({
        unread: 1,
      })
      await say(bea, 'mine again', { expected_cursor: 2 })
    })

    test('the page of a refusal is as a wait gives it with max_chars 16,000, and counts as delivered', async () => {
      const { alex, bea } = await room(call)
      for (let n = 0; n < 5; n++) await say(alex, `${n} ${'x'.repeat(6_000)}`)
      const { details } = await refused(bea('post_message', { content: 'crossed', expected_cursor: 1 }), 'unread')
      const { messages, next_cursor, has_more } = await waited(alex, { since_cursor: 1, max_chars: 16_000 })
      expect(details).toEqual({ unread: 5, messages, next_cursor, has_more })
      expect(details).toMatchObject({ next_cursor: 3, has_more: true })
      const rest = await waited(bea) // without a cursor: after what was delivered
      expect(rest.messages.map(({ sequence }: any) => sequence)).toEqual([4, 5, 6])
    })

    test('the page of a refusal shows what others said, however much the team itself said before and after it', async () => {
      const { alex, bea } = await room(call)
      for (const length of [10_000, 9_000]) await say(bea, 'x'.repeat(length), { expected_cursor: 1 }) // 2 and 3
      await say(alex, 'one') // 4
      await say(bea, 'mine') // 5
      const { details } = await refused(bea('post_message', { content: 'crossed', expected_cursor: 1 }), 'unread')
      expect(textsOf(details.messages)).toEqual(['one'])
      expect(details).toMatchObject({ unread: 1, next_cursor: 5, has_more: false })
      await say(bea, 'thought over', { expected_cursor: details.next_cursor })
    })

    test('the page of a refusal marks nothing as delivered that a team passes over which hears what is addressed to it alone', async () => {
      const { alex, bea } = await room(call)
      await waited(bea)
      await say(alex, 'to nobody') // 2
      await say(alex, 'to Bea', { to: [bea.handle] }) // 3
      const { next_cursor } = await waited(bea, { only: 'addressed' })
      await say(alex, 'to nobody again') // 4
      const { details } = await refused(bea('post_message', { content: 'crossed', expected_cursor: next_cursor }), 'unread')
      expect(textsOf(details.messages)).toEqual(['to nobody again'])
      expect(await done(bea('peek'))).toMatchObject({ unread: 3 })
      expect(textsOf((await waited(bea)).messages)).toEqual(['to nobody', 'to Bea', 'to nobody again'])
    })

    test('past the end of the feed is bad input, and writes nothing', async () => {
      const { alex, bea } = await room(call)
      await say(bea, 'one')
      const { message, details } = await refused(alex('post_message', { content: 'early', expected_cursor: 3 }), 'invalid_request')
      expect(details).toEqual({ field: 'expected_cursor', last_sequence: 2 })
      expect(message).toContain('Continue from there')
      for (const bad of [-1, 1.5, 'soon', '1e3'])
        await refused(alex('post_message', { content: 'early', expected_cursor: bad }), 'invalid_request')
      expect(await feedOf(alex)).toHaveLength(2)
    })

    test('of eight at once with one cursor, one is written', async () => {
      const { id, alex, bea } = await room(call)
      const others = await Promise.all(
        ['Cleo', 'Dan', 'Eve', 'Finn', 'Gus', 'Hal'].map(async (team_name) =>
          seat(call, await done(call('join_session', { session_id: id, team_name }))),
        ),
      )
      for (let cursor = 7; cursor < 12; cursor++) {
        const posts = [alex, bea, ...others].map((who) => who('post_message', { content: `by ${who.team}`, expected_cursor: cursor }))
        const answers = await Promise.all(posts)
        expect(answers.filter(({ ok }) => ok)).toHaveLength(1)
        expect(answers.filter(({ body }) => body.code === 'unread')).toHaveLength(7)
      }
      expect(await feedOf(alex)).toHaveLength(12)
    })

    test('a team’s own posts at once hold up none of each other', async () => {
      const { alex } = await room(call)
      await Promise.all(Array.from({ length: 5 }, (_, n) => say(alex, `${n}`, { expected_cursor: 1 })))
      expect(await feedOf(alex)).toHaveLength(6)
    })

    test('a refusal keeps no idempotency key: the same key with a newer cursor posts, and then replays', async () => {
      const { alex, bea } = await room(call)
      await say(alex, 'one')
      const as = key()
      const post = (expected_cursor: number) => bea('post_message', { content: 'once', expected_cursor }, as)
      await refused(post(1), 'unread')
      await refused(post(1), 'unread')
      const posted = await done(post(2))
      expect(await done(post(2))).toEqual(posted)
      await say(alex, 'two')
      expect(await done(post(2))).toEqual(posted) // whose answer got lost
      expect(await done(post(4))).toEqual(posted) // and who has read on since
      await refused(bea('post_message', { content: 'another', expected_cursor: 4 }, as), 'idempotency_mismatch')
      expect(textsOf(await feedOf(alex))).toEqual(['one', 'once', 'two'])
    })

    test('in a closed session, and of a team that has left, is refused as any other', async () => {
      const { alex, bea } = await room(call)
      await say(alex, 'one')
      await done(bea('leave_session'))
      for (const expected_cursor of [1, 3, 99]) await refused(bea('post_message', { content: 'x', expected_cursor }), 'unauthorized')
      await done(alex('conclude_session', { summary_section: 'done' }))
      for (const expected_cursor of [1, 4, 99]) await refused(alex('post_message', { content: 'x', expected_cursor }), 'session_closed')
    })

    if (transport === 'REST')
      test('a person may bring one too, and is told of what teams and other people said', async () => {
        const { id, alex } = await room(call)
        const [robin, sam] = await Promise.all(['Robin', 'Sam'].map((name) => cookieOf(parley(), { name, role: 'person' })))
        const as = (person: string | undefined, expected_cursor: number) =>
          viaRest(parley())('post_message', { session_id: id, content: 'hello', expected_cursor }, { person })
        await done(as(robin, 1))
        await done(as(robin, 1))
        expect((await refused(as(sam, 1), 'unread')).details).toMatchObject({ unread: 2, next_cursor: 3 })
        await say(alex, 'hi')
        expect((await refused(as(robin, 3), 'unread')).details).toMatchObject({ unread: 1, next_cursor: 4 })
        await done(as(sam, 4))
      })

    if (transport === 'REST')
      test('a person is told of what a key of the same name said', async () => {
        const { id, bea } = await room(call)
        const prompt = { session_id: id, prompt: 'Is it ready?', to: bea.handle }
        await done(viaRest(parley())('control.send_prompt', prompt, { headers: bearer(await keyOf(parley(), 'full')) }))
        const person = await cookieOf(parley(), { name: 'a full key', role: 'person' })
        const as = (expected_cursor: number) =>
          viaRest(parley())('post_message', { session_id: id, content: 'hello', expected_cursor }, { person })
        expect((await refused(as(1), 'unread')).details).toMatchObject({ unread: 1, next_cursor: 2 })
        await done(as(2))
      })
  })

  describe('a post without expected_cursor', () => {
    test('is told how much others said that the team was not handed, and nothing when they said nothing', async () => {
      const { alex, bea } = await room(call)
      expect(await say(alex, 'one')).not.toHaveProperty('missed')
      expect(await say(alex, 'two')).not.toHaveProperty('missed') // its own post is no news
      expect(await say(bea, 'three')).toMatchObject({ missed: 2 })
      expect(await say(bea, 'four')).toMatchObject({ missed: 2 })
      expect(await say(alex, 'five')).toMatchObject({ missed: 2 })
      await waited(alex, { since_cursor: 0 })
      expect(await say(alex, 'six')).not.toHaveProperty('missed')
      expect(await say(bea, 'seven')).toMatchObject({ missed: 4 })
      await done(alex('update_session_metadata', { title: 'Shipping it all', reason: 'More than the parser.' }))
      expect(await say(bea, 'eight')).toMatchObject({ missed: 5 })
      expect(await say(alex, 'nine')).toMatchObject({ missed: 2 })
    })

    test('what was handed out by a refusal is not missed, nor what was read under expected_cursor', async () => {
      const { alex, bea } = await room(call)
      await say(alex, 'one')
      await refused(bea('post_message', { content: 'x', expected_cursor: 1 }), 'unread')
      expect(await say(bea, 'two')).not.toHaveProperty('missed')
      await say(alex, 'three', { expected_cursor: 3 })
      await say(alex, 'four', { expected_cursor: 3 })
      expect(await say(bea, 'five')).toMatchObject({ missed: 2 })
      expect(await say(alex, 'six')).toMatchObject({ missed: 2 })
    })

    test('a retry is told the same, whatever the team has read since', async () => {
      const { alex, bea } = await room(call)
      await say(alex, 'one')
      const [post, as] = [{ content: 'two' }, key()]
      const posted = await done(bea('post_message', post, as))
      expect(posted.missed).toBe(1)
      await say(alex, 'three')
      expect(await done(bea('post_message', post, as))).toEqual(posted)
      await waited(bea, { since_cursor: 1 })
      expect(await done(bea('post_message', post, as))).toEqual(posted)
    })

    test('many teams that post at once and never read are each told of the others alone', async () => {
      const { alex, bea } = await room(call)
      const rounds = 40
      for (let n = 0; n < rounds; n++) await Promise.all([say(alex, `a${n}`), say(alex, `b${n}`), say(bea, `c${n}`)])
      expect(await say(alex, 'last')).toMatchObject({ missed: rounds })
      expect(await say(bea, 'last')).toMatchObject({ missed: 2 * rounds + 1 })
    })
  })

  test('a count beyond 1,000 says 1,000', async () => {
    const { id, alex, bea } = await room(call)
    await Promise.all(Array.from({ length: 1_100 }, () => parley().services.groupCommit.post(chat(id, alex.handle, 'again'))))
    expect((await refused(bea('post_message', { content: 'x', expected_cursor: 1 }), 'unread')).details).toMatchObject({
      unread: 1_000,
      has_more: true,
    })
    const joined = seat(call, await done(call('join_session', { session_id: id, team_name: 'Cleo', replay_from: 0 })))
    expect(await say(joined, 'hello')).toMatchObject({ missed: 1_000 })
    expect(await say(joined, 'hello again')).toMatchObject({ missed: 1_000 })
  })
})

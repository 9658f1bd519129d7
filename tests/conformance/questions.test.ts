// Questions: messages that say that they expect a reply.
import { describe, expect } from 'bun:test'
import { test } from '../support/foreign.ts'
import { cookieOf, done, refused, room, say, throughEveryDoor, viaRest } from '../support/parley.ts'

throughEveryDoor((call, parley) => {
  describe('a message that expects a reply', () => {
    test('says so in waits, history and the file of the feed, and other messages say nothing of it', async () => {
      const { id, alex, bea } = await room(call)
      const asked = await say(alex, 'Who takes the printer?', { to: [bea.handle], expects_reply: true })
      await say(alex, 'I take the lexer.', { to: [bea.handle], expects_reply: false })
      await say(bea, 'I do.', { reply_to: asked.message_id })
      const { messages } = await done(bea('wait_for_messages', { since_cursor: 1, timeout: 0 }))
      expect(messages.map(({ expects_reply }: any) => expects_reply)).toEqual([true, undefined, undefined])
      expect(messages.map((row: any) => 'expects_reply' in row)).toEqual([true, false, false])
      expect((await done(bea('get_history', { message_id: asked.message_id }))).messages[0].expects_reply).toBe(true)
      const { messages: pastMemory } = await done(bea('get_history'))
      expect(pastMemory.filter((row: any) => row.expects_reply).map(({ id }: any) => id)).toEqual([asked.message_id])
      const lines = (await (await parley().send(`/sessions/${id}/feed.jsonl`)).text()).trim().split('\n')
      expect(lines.map((line) => JSON.parse(line).expects_reply)).toEqual([undefined, true, undefined, undefined])
    })

    test('is refused without `to`, with the field’s name, and nothing is posted', async () => {
      const { alex } = await room(call)
      const error = await refused(alex('post_message', { content: 'Anybody?', expects_reply: true }), 'invalid_request')
      expect(error.details.field).toBe('expects_reply')
      expect(error.message).toContain('`to`')
      await refused(alex('post_message', { content: 'Anybody?', to: [], expects_reply: true }), 'invalid_request')
      await refused(alex('post_message', { content: 'Anybody?', to: [alex.handle], expects_reply: 'perhaps' }), 'invalid_request')
      expect((await done(alex('get_history'))).messages).toHaveLength(1)
    })

    test('may come from a person, and a retry posts it once', async () => {
      const { id, bea } = await room(call)
      const person = await cookieOf(parley(), { name: 'Robin', role: 'person' })
      const question = { session_id: id, content: 'Is it done?', to: bea.handle, expects_reply: true }
      const as = { person, key: crypto.randomUUID() }
      const posted = await done(viaRest(parley())('post_message', question, as))
      expect(await done(viaRest(parley())('post_message', question, as))).toEqual(posted)
      const { messages } = await done(bea('wait_for_messages', { since_cursor: 1, timeout: 0 }))
      expect(messages).toMatchObject([{ author: 'person', expects_reply: true }])
    })
  })
})

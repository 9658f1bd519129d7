import { describe, expect } from 'bun:test'
import { test } from '../support/foreign.ts'
import { done, feedOf, refused, room, say, throughBothDoors } from '../support/parley.ts'

throughBothDoors((call, parley) => {
  describe('a post that expects a reply', () => {
    test('says so on its row, in waits, history and export alike, and no other row does', async () => {
      const { id, alex, bea } = await room(call)
      const asked = await say(alex, 'Who takes the printer?', { to: [bea.handle], expects_reply: true })
      await say(alex, 'Not a question.', { to: [bea.handle], expects_reply: false })
      await say(bea, 'To all.')
      const feed = await feedOf(bea)
      expect(feed.map(({ expects_reply }) => expects_reply)).toEqual([undefined, true, undefined, undefined])
      expect(Object.keys(feed[1])).toContain('expects_reply')
      expect(feed.slice(2).some((row) => 'expects_reply' in row)).toBe(false)
      const { messages } = await done(bea('get_history', { message_id: asked.message_id }))
      expect(messages[0]).toMatchObject({ to: [bea.handle], expects_reply: true })
      const lines = (await (await parley().send(`/sessions/${id}/feed.jsonl`)).text()).trimEnd().split('\n')
      expect(lines.map((line) => JSON.parse(line))).toEqual(feed)
    })

    test('is one of memory and of the table, and a retry is answered as the first call', async () => {
      const { alex, bea } = await room(call)
      const [question, as] = [{ content: 'Shall I?', to: [bea.handle], expects_reply: true }, { key: crypto.randomUUID() }]
      const waiting = bea('wait_for_messages', { since_cursor: 1, timeout: 20 })
      const posted = await done(alex('post_message', question, as))
      const { messages } = await done(waiting)
      expect(messages[0].expects_reply).toBe(true)
      expect((await done(bea('get_history', { message_id: posted.message_id }))).messages).toMatchObject(messages)
      expect(await done(alex('post_message', question, as))).toEqual(posted)
      await refused(alex('post_message', { ...question, expects_reply: false }, as), 'idempotency_mismatch')
    })

    test('must name whom it asks', async () => {
      const { alex } = await room(call)
      const { details, message } = await refused(alex('post_message', { content: 'Anybody?', expects_reply: true }), 'invalid_request')
      expect(details).toEqual({ field: 'expects_reply' })
      expect(message).toContain('`to`')
      await refused(alex('post_message', { content: 'Anybody?', to: [alex.handle], expects_reply: 'yes' }), 'invalid_request')
      expect(await feedOf(alex)).toHaveLength(1)
    })
  })
})

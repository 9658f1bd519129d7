import { describe, expect, spyOn } from 'bun:test'
import { receiptsOf } from '../../src/rooms/feed/receipts.ts'
import { test } from '../support/foreign.ts'
import { cookieOf, done, leaveTrace, refused, room, say, seat, soon, throughBothDoors, viaRest, type Seat } from '../support/parley.ts'

const texts = (messages: any[]) => messages.map(({ content }) => content.text)
const waited = (who: Seat, more: Record<string, unknown> = {}) => done(who('wait_for_messages', { timeout: 0, ...more }))
const rowOf = async (who: Seat) =>
  (await done(who('list_participants'))).participants.find((row: any) => row.team_id === who.handle) as Record<string, unknown>

throughBothDoors((call, parley) => {
  const three = async () => {
    const { id, alex, bea } = await room(call)
    const cleo = seat(call, await done(call('join_session', { session_id: id, team_name: 'Cleo' })))
    return { id, alex, bea, cleo }
  }
  const held = (count: number) => soon(`${count} held`, () => parley().services.waits.held === count)

  describe('a message to a team that has left', () => {
    test('is posted, and its sender is told who will not read it, in a retry too', async () => {
      const { alex, bea, cleo } = await three()
      await done(cleo('leave_session'))
      const key = crypto.randomUUID()
      const sent = { content: 'Who takes the printer?', to: ['Cleo', bea.handle] }
      const posted = await done(alex('post_message', sent, { key }))
      expect(posted.warnings).toEqual(['Cleo has left this session and will not read the message.'])
      await done(bea('leave_session'))
      expect(await done(alex('post_message', sent, { key }))).toEqual(posted)
      expect((await done(alex('get_history', { message_id: posted.message_id }))).messages[0].to).toEqual([cleo.handle, bea.handle])
    })

    test('goes to the one who came last, when several of that name have left', async () => {
      const { id, alex, cleo } = await three()
      await done(cleo('leave_session'))
      const again = seat(call, await done(call('join_session', { session_id: id, team_name: 'Cleo' })))
      await done(again('leave_session'))
      const posted = await done(alex('post_message', { content: 'Come back.', to: 'cleo' }))
      expect(posted.warnings).toEqual(['Cleo has left this session and will not read the message.'])
      expect((await done(alex('get_history', { message_id: posted.message_id }))).messages[0].to).toEqual([again.handle])
    })

    test('leaving while the message is on its way is warned of in the first answer, as in a retry', async () => {
      const { alex, cleo } = await three()
      const { groupCommit } = parley().services
      const post = spyOn(groupCommit, 'post').mockImplementationOnce(async (draft) => {
        await done(cleo('leave_session'))
        await Bun.sleep(5)
        return groupCommit.post(draft)
      })
      const [sent, as] = [{ content: 'Who takes the printer?', to: 'Cleo' }, { key: crypto.randomUUID() }]
      const posted = await done(alex('post_message', sent, as))
      post.mockRestore()
      expect(posted.warnings).toEqual(['Cleo has left this session and will not read the message.'])
      expect(await done(alex('post_message', sent, as))).toEqual(posted)
    })

    test('leaving within the millisecond of the message is warned of in no answer, in a retry neither', async () => {
      const { alex, cleo } = await three()
      const [sent, as] = [{ content: 'Who takes the printer?', to: 'Cleo' }, { key: crypto.randomUUID() }]
      const posted = await done(alex('post_message', sent, as))
      await done(cleo('leave_session'))
      await parley().database.query('update participants set left_at = $1 where team_id = $2', [posted.at, cleo.handle])
      expect(await done(alex('post_message', sent, as))).toEqual(posted)
    })

    test('goes without a warning to one who is back under the same name', async () => {
      const { id, alex, cleo } = await three()
      await done(cleo('leave_session'))
      const again = seat(call, await done(call('join_session', { session_id: id, team_name: 'Cleo' })))
      const posted = await done(alex('post_message', { content: 'Welcome back.', to: 'cleo' }))
      expect(Object.keys(posted)).toEqual(['message_id', 'cursor', 'at'])
      expect((await done(alex('get_history', { message_id: posted.message_id }))).messages[0].to).toEqual([again.handle])
    })
  })

  describe('a wait for what is addressed', () => {
    test('gives what names the team in `to` or answers it, and nothing of its own', async () => {
      const { alex, bea, cleo } = await three()
      const question = await say(bea, 'Who has the lexer?')
      await say(alex, 'for Cleo', { to: [cleo.handle] })
      await say(alex, 'for Bea', { to: [bea.handle, cleo.handle] })
      await say(alex, 'for all')
      await say(cleo, 'I have', { reply_to: question.message_id })
      await say(bea, 'to myself', { to: [bea.handle], reply_to: question.message_id })
      const page = await waited(bea, { since_cursor: bea.cursor, only: 'addressed' })
      expect(texts(page.messages)).toEqual(['for Bea', 'I have'])
      expect(page).toMatchObject({ next_cursor: page.messages[1].sequence, has_more: false, session_closed: false })
    })

    test('gives a team that left and came back the answer to what it had asked before', async () => {
      const { id, alex, bea } = await three()
      const { message_id: reply_to } = await done(bea('post_message', { content: 'Which port?', to: [alex.handle], expects_reply: true }))
      const asked = await done(bea('post_message', { content: 'Which host?' }))
      await done(bea('leave_session'))
      const again = seat(call, await done(call('join_session', { session_id: id, team_name: "Bea's Team" })))
      const since_cursor = (await waited(again)).next_cursor
      for (const [content, more] of [
        ['8080', { reply_to }],
        ['localhost', { reply_to: asked.message_id, to: 'Cleo' }],
      ] as const)
        await done(alex('post_message', { content, ...more }))
      expect(texts((await waited(again, { only: 'addressed', since_cursor })).messages)).toEqual(['8080', 'localhost'])
      expect(await done(again('peek', { after: since_cursor }))).toMatchObject({ unread: 2, addressed: 2 })
      expect((await done(again('catch_up'))).asked ?? []).toEqual([])
      const own = await done(again('post_message', { content: 'Found it myself.', reply_to }))
      const { messages } = await done(alex('get_history', { limit: 100 }))
      expect(messages.find((message: any) => message.id === own.message_id)).not.toHaveProperty('to')
      await done(alex('post_message', { content: 'Why?', reply_to, to: 'Cleo', expects_reply: true })) // asks nobody else
      expect((await done(again('catch_up'))).unanswered ?? []).toEqual([])
    })

    test('is not ended by what the team itself did, though it names it', async () => {
      const { alex, bea } = await three()
      const proposed = { title: 'The port', description: 'We listen on 8080.', rationale: 'It is free.' }
      const { id: proposal_id } = await done(call('records.propose_decision', proposed, { team: alex.token }))
      const { item_id } = (await done(alex('plan_work', { items: [{ title: 'The lexer' }], claim: true }))).items[0]
      const { next_cursor: since_cursor } = await waited(alex)
      await done(call('records.cancel_proposal', { proposal_id }, { team: alex.token }))
      for (const status of ['done', 'open']) await done(alex('update_work', { item_id, status }))
      const own = async (who: Seat) => {
        const { messages } = await waited(who, { only: 'addressed', since_cursor })
        const { addressed } = await done(who('peek', { after: since_cursor }))
        return [messages.map(({ event }: any) => event), addressed]
      }
      expect(await own(alex)).toEqual([[], 0])
      const { item_id: taken } = (await done(bea('plan_work', { items: [{ title: 'The parser' }], claim: true }))).items[0]
      await done(alex('update_work', { item_id: taken, status: 'open' }))
      expect(await own(bea)).toEqual([['work_released'], 1])
    })

    test('is not ended by a message to others, and is by one to the team or an answer', async () => {
      const { alex, bea, cleo } = await three()
      const question = await say(bea, 'question')
      let since_cursor = question.cursor
      for (const [text, more] of [
        ['named', { to: [bea.handle] }],
        ['answered', { reply_to: question.message_id }],
      ] as const) {
        const waiting = bea('wait_for_messages', { since_cursor, only: 'addressed', timeout: 20 })
        await held(1)
        await say(alex, 'for all')
        await say(alex, 'for Cleo', { to: [cleo.handle] })
        await Bun.sleep(50)
        expect(parley().services.waits.held).toBe(1)
        await say(alex, text, more)
        const page = await done(waiting)
        expect(texts(page.messages)).toEqual([text])
        since_cursor = page.next_cursor
        await held(0)
      }
      expect(parley().services.waiters.size).toBe(0)
    })

    test('answers nothing with the cursor it was given, when only others were meant', async () => {
      const { alex, bea } = await three()
      await say(alex, 'for all')
      expect(await waited(bea, { since_cursor: 1, only: 'addressed', timeout: 0.05 })).toEqual({
        messages: [],
        next_cursor: 1,
        plain_cursor: 1,
        doc_version: 0,
        session_closed: false,
        has_more: false,
      })
    })

    test('ends with the session, and at once when that is closed', async () => {
      const { alex, bea } = await three()
      const waiting = bea('wait_for_messages', { since_cursor: 2, only: 'addressed', timeout: 20 })
      await held(1)
      await done(alex('conclude_session', { summary_section: 'done' }))
      expect(await done(waiting)).toMatchObject({ messages: [], session_closed: true })
      expect(await waited(bea, { since_cursor: 2, only: 'addressed', timeout: 20 })).toMatchObject({ messages: [], session_closed: true })
    })

    test('loses nothing: what it left out comes with the next plain wait, also for the team itself', async () => {
      const { alex, bea, cleo } = await three()
      await say(alex, 'one')
      await say(alex, 'two', { to: [bea.handle] })
      await say(alex, 'three')
      await say(alex, 'four', { to: [bea.handle] })
      expect(texts((await waited(bea, { only: 'addressed' })).messages)).toEqual(['two', 'four'])
      expect(texts((await waited(bea, { only: 'addressed' })).messages)).toEqual([])
      for (const who of [bea, cleo]) {
        const { messages } = await waited(who)
        expect(texts(messages.filter(({ type }: any) => type === 'chat'))).toEqual(['one', 'two', 'three', 'four'])
      }
    })

    test('that passes its cursor leaves what it left out unread', async () => {
      const { alex, bea } = await three()
      await say(alex, 'one')
      await say(alex, 'two', { to: [bea.handle] })
      const { next_cursor } = await waited(bea, { only: 'addressed' })
      await waited(bea, { since_cursor: next_cursor, only: 'addressed' })
      const { messages } = await waited(bea)
      expect(texts(messages.filter(({ type }: any) => type === 'chat'))).toEqual(['one', 'two'])
    })

    test('says from where a wait for everything goes on, so that it misses nothing either', async () => {
      const { alex, bea } = await three()
      await waited(bea, { since_cursor: bea.cursor })
      await say(alex, 'one')
      await say(alex, 'two', { to: [bea.handle] })
      await say(alex, 'three')
      const page = await waited(bea, { since_cursor: bea.cursor, only: 'addressed' })
      expect(texts(page.messages)).toEqual(['two'])
      const { messages, plain_cursor } = await waited(bea, { since_cursor: page.plain_cursor })
      expect(texts(messages.filter(({ type }: any) => type === 'chat'))).toEqual(['one', 'two', 'three'])
      expect(plain_cursor).toBeUndefined()
    })

    test('only takes "addressed" or "others"', async () => {
      const { bea } = await room(call)
      await refused(bea('wait_for_messages', { only: 'mine' }), 'invalid_request')
    })
  })

  describe('what was delivered and acknowledged', () => {
    test('is known of each team, also before it is written down', async () => {
      const { id, alex, bea } = await three()
      const { cursor } = await say(alex, 'one')
      const receipt = async () => (await receiptsOf(parley().services, id)).find(({ teamId }) => teamId === bea.handle)
      expect(await receipt()).toEqual({ teamId: bea.handle, delivered: bea.cursor, addressed: 0, acknowledged: 0 })
      await waited(bea, { since_cursor: bea.cursor })
      expect(await receipt()).toEqual({ teamId: bea.handle, delivered: cursor, addressed: 0, acknowledged: 0 })
      await done(bea('ack_messages', { cursor }))
      expect(await receipt()).toEqual({ teamId: bea.handle, delivered: cursor, addressed: 0, acknowledged: cursor })
    })

    test('is on the rows of history for those a message names, whichever way they wait', async () => {
      const { alex, bea, cleo } = await three()
      await say(alex, 'for all')
      await say(alex, 'for two', { to: [bea.handle, cleo.handle] })
      const delivered = async () => (await done(alex('get_history'))).messages.slice(-2).map((row: any) => row.delivered_to)
      expect(await delivered()).toEqual([undefined, []])
      await waited(bea, { only: 'addressed' })
      expect(await delivered()).toEqual([undefined, [bea.handle]])
      await waited(cleo)
      expect(await delivered()).toEqual([undefined, [bea.handle, cleo.handle]])
    })

    test('is written down, so that another instance knows it', async () => {
      const { id, alex, bea } = await three()
      const { cursor } = await say(alex, 'for Bea', { to: [bea.handle] })
      await waited(bea, { only: 'addressed' })
      await soon('it is written', async () => {
        const [row] = await parley().database.query<{ addressed_cursor: number }>(
          'select addressed_cursor from participants where session_id = $1 and team_id = $2',
          [id, bea.handle],
        )
        return row!.addressed_cursor === cursor
      })
    })
  })

  describe('peek', () => {
    test('counts what others said since it was delivered, and what is addressed, and consumes nothing', async () => {
      const { alex, bea } = await three()
      const last = async () => (await done(alex('get_session'))).last_sequence
      await waited(bea)
      const nothing = { unread: 0, addressed: 0, last_cursor: await last(), doc_version: 0, wake: false }
      expect(await done(bea('peek'))).toEqual(nothing)
      await say(bea, 'my own')
      expect(await done(bea('peek'))).toEqual({ ...nothing, last_cursor: await last() })
      await say(alex, 'for all')
      await say(alex, 'for Bea', { to: [bea.handle] })
      const two = { unread: 2, addressed: 1, last_cursor: await last(), doc_version: 0, wake: true }
      for (let n = 0; n < 3; n++) expect(await done(bea('peek'))).toEqual(two)
      expect(texts((await waited(bea)).messages)).toEqual(['my own', 'for all', 'for Bea'])
      expect(await done(bea('peek'))).toEqual({ ...nothing, last_cursor: await last() })
    })

    test('what an addressed wait handed out is addressed no more, and still unread', async () => {
      const { alex, bea } = await three()
      await waited(bea)
      await say(alex, 'for Bea', { to: [bea.handle] })
      await waited(bea, { only: 'addressed' })
      expect(await done(bea('peek'))).toMatchObject({ unread: 1, addressed: 0 })
    })

    test('does not count as being seen', async () => {
      const { bea } = await three()
      const before = await rowOf(bea)
      await Bun.sleep(20)
      await done(bea('peek'))
      expect(await rowOf(bea)).toEqual(before)
    })

    test('the trace is not unread', async () => {
      const { alex, bea, id } = await three()
      await waited(bea)
      await leaveTrace(parley(), id, 'tool_call', 'rg parser')
      expect(await done(bea('peek'))).toMatchObject({ unread: 0 })
      await say(alex, 'x')
      expect(await done(bea('peek'))).toMatchObject({ unread: 1 })
    })
  })
})

throughBothDoors((call, parley, transport) => {
  if (transport === 'MCP') return
  describe('GET /:id/unread', () => {
    const asked = async (who: Seat, id: string, headers: Record<string, string> = {}) =>
      parley().send(`/api/sessions/${id}/unread`, { headers: { 'x-team-id': who.token, ...headers } })

    test('has an ETag, answers 304 to it until something lands, and takes few bytes', async () => {
      const { id, alex, bea } = await room(call)
      await waited(bea)
      const first = await asked(bea, id)
      const etag = first.headers.get('etag')!
      expect((await first.text()).length).toBeLessThanOrEqual(200)
      const again = await asked(bea, id, { 'if-none-match': etag })
      expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag])
      await say(alex, 'news')
      const news = await asked(bea, id, { 'if-none-match': etag })
      expect([news.status, (await news.json()).unread]).toEqual([200, 1])
      expect(news.headers.get('etag')).not.toBe(etag)
    })

    test('an ETag opens nothing to whoever has no credential', async () => {
      const { id, bea } = await room(call)
      const etag = (await asked(bea, id)).headers.get('etag')!
      const stranger = await parley().send(`/api/sessions/${id}/unread`, { headers: { 'if-none-match': etag } })
      expect([stranger.status, stranger.headers.get('etag')]).toEqual([401, null])
      const person = await cookieOf(parley(), { name: 'Robin', role: 'person' })
      await refused(viaRest(parley())('peek', { session_id: id }, { person }), 'unauthorized')
    })
  })
})

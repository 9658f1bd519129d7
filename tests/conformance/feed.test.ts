import { describe, expect } from 'bun:test'
import { test } from '../support/foreign.ts'
import { done, feedOf, leaveTrace, refused, room, say, seat, soon, throughEveryDoor } from '../support/parley.ts'

const KIB = 1024
const sequences = (messages: any[]) => messages.map(({ sequence }) => sequence)
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => from + n)

throughEveryDoor((call, parley) => {
  describe('post_message', () => {
    test('[A75 A78] a post is answered with its id, cursor and time, and reads the same for everybody', async () => {
      const { alex, bea } = await room(call)
      const posted = await say(alex, 'Shall we **ship**?')
      expect(posted.cursor).toBe(2)
      const [mine, theirs] = await Promise.all([feedOf(alex), feedOf(bea)])
      expect(mine).toEqual(theirs)
      expect(mine[1]).toEqual({
        id: posted.message_id,
        sequence: 2,
        type: 'chat',
        author: 'team',
        team: "Alex's Team",
        posted_by_team_id: alex.handle,
        content: { text: 'Shall we **ship**?' },
        at: posted.at,
      })
    })

    test('a bare string is the text', async () => {
      const { alex } = await room(call)
      await done(alex('post_message', { content: 'just words' }))
      expect((await feedOf(alex))[1].content).toEqual({ text: 'just words' })
    })

    test('[A76] any type but chat is refused', async () => {
      const { alex } = await room(call)
      for (const type of ['system', 'team_joined', 'user_input', 'tool_call', 'Chat', '', 7])
        await refused(alex('post_message', { content: { text: 'x' }, type }), 'invalid_request')
      await done(alex('post_message', { content: { text: 'x' }, type: 'chat' }))
      expect(sequences(await feedOf(alex))).toEqual([1, 2])
    })

    test('content of another shape is refused', async () => {
      const { alex } = await room(call)
      for (const content of [undefined, {}, { text: '' }, '', { text: 'a', more: 1 }, { text: 7 }, ['a'], 7, null])
        await refused(alex('post_message', { content }), 'invalid_request')
      expect(await feedOf(alex)).toHaveLength(1)
    })

    test('an answer names its message, and only one of this session', async () => {
      const { alex, bea } = await room(call)
      const other = await room(call)
      const { message_id } = await say(alex, 'question')
      await say(bea, 'answer', { reply_to: message_id })
      expect((await feedOf(alex))[2].reply_to).toBe(message_id)
      const { message_id: foreign } = await say(other.alex, 'elsewhere')
      for (const reply_to of [foreign, 'nonsense', '00000000-0000-4000-8000-000000000000'])
        await refused(bea('post_message', { content: 'x', reply_to }), 'not_found')
    })

    test('refuses in this order: replayed idempotency key, then left team, then closed session, then bad arguments', async () => {
      const { alex, bea } = await room(call)
      const key = crypto.randomUUID()
      const first = await done(bea('post_message', { content: 'hello' }, { key }))
      const wrong = [{ reply_to: '00000000-0000-4000-8000-000000000000' }, { to: ['Nobody'] }]
      for (const more of wrong) await refused(bea('post_message', { content: 'other', ...more }, { key }), 'idempotency_mismatch')
      await done(bea('leave_session'))
      for (const more of wrong) await refused(bea('post_message', { content: 'x', ...more }), 'unauthorized')
      expect(await done(bea('post_message', { content: 'hello' }, { key }))).toEqual(first)
      await refused(alex('post_message', { content: 'x', ...wrong[0] }), 'not_found')
      await done(alex('conclude_session', { summary_section: 'done' }))
      for (const more of wrong) await refused(alex('post_message', { content: 'x', ...more }), 'session_closed')
    })

    test('a message can be meant for teams by handle or by name, and all see it', async () => {
      const { alex, bea, id } = await room(call)
      const cleo = seat(call, await done(call('join_session', { session_id: id, team_name: 'Cleo' })))
      await say(alex, 'for two', { to: [bea.handle, 'cleo', "BEA'S TEAM"] })
      const [message] = (await feedOf(cleo)).slice(-1)
      expect(message.to).toEqual([bea.handle, cleo.handle])
      expect((await refused(alex('post_message', { content: 'x', to: ['Nobody'] }), 'invalid_request')).details.field).toBe('to')
    })

    test('20 posts at once get 20 numbers without a gap, and times that never run against them', async () => {
      const { alex, bea } = await room(call)
      const posted = await Promise.all(range(1, 20).map((n) => say(n % 2 ? alex : bea, `post ${n}`)))
      expect(posted.map(({ cursor }) => cursor).toSorted((a, b) => a - b)).toEqual(range(2, 21))
      const feed = await feedOf(alex)
      expect(sequences(feed)).toEqual(range(1, 21))
      expect(feed.map(({ at }) => at)).toEqual(feed.map(({ at }) => at).toSorted())
    })
  })

  describe('wait_for_messages', () => {
    test('[A12 A13 A16] what is newer than the cursor comes at once, ascending, and nothing older', async () => {
      const { alex, bea } = await room(call)
      for (const text of ['one', 'two', 'three']) await say(alex, text)
      const began = performance.now()
      const page = await done(bea('wait_for_messages', { since_cursor: 2 }))
      expect(performance.now() - began).toBeLessThan(15_000) // held, it takes 25
      expect(Object.keys(page).toSorted()).toEqual(['doc_version', 'has_more', 'messages', 'next_cursor', 'session_closed'])
      expect(sequences(page.messages)).toEqual([3, 4])
      expect(page).toMatchObject({ next_cursor: 4, has_more: false, session_closed: false })
    })

    test('[A14] a held wait wakes with the post', async () => {
      const { alex, bea } = await room(call)
      const waiting = bea('wait_for_messages', { since_cursor: 1, timeout: 20 })
      await soon('the wait is held', () => parley().services.waits.held > 0)
      const { cursor } = await say(alex, 'news')
      const began = performance.now()
      const page = await done(waiting)
      expect(performance.now() - began).toBeLessThan(15_000) // asleep, it takes 20
      expect(sequences(page.messages)).toEqual([cursor])
    })

    test('[A15] an empty wait returns the same cursor', async () => {
      const { bea } = await room(call)
      const page = await done(bea('wait_for_messages', { since_cursor: 1, timeout: 0.05 }))
      expect(page).toEqual({ messages: [], next_cursor: 1, doc_version: 0, session_closed: false, has_more: false })
    })

    test('20 teams that wait are woken by one post, and nobody stays armed', async () => {
      const { alex, id } = await room(call)
      const teams = await Promise.all(
        range(1, 20).map(async (n) => seat(call, await done(call('join_session', { session_id: id, team_name: `Team ${n}` })))),
      )
      const waits = teams.map((team) => team('wait_for_messages', { since_cursor: 21, timeout: 20 }))
      await soon('all are held', () => parley().services.waits.held === 20)
      await say(alex, 'all of you')
      for (const page of await Promise.all(waits.map(done))) expect(sequences(page.messages)).toEqual([22])
      await soon('nobody is armed', () => parley().services.waiters.size === 0)
      expect(parley().services.waits.held).toBe(0)
    })

    test('a reader that goes from cursor to cursor while others post misses nothing and sees nothing twice', async () => {
      const { alex, bea, id } = await room(call)
      const cleo = seat(call, await done(call('join_session', { session_id: id, team_name: 'Cleo' })))
      const seen: number[] = []
      const read = async () => {
        for (let cursor = 0; cursor < 62;) {
          const page = await done(cleo('wait_for_messages', { since_cursor: cursor, timeout: 5 }))
          seen.push(...sequences(page.messages))
          cursor = page.next_cursor
        }
      }
      const write = async (who: typeof alex) => {
        for (const n of range(1, 30)) await say(who, `${n}`)
      }
      await Promise.all([read(), write(alex), write(bea)])
      expect(seen).toEqual(range(1, 62))
    })

    test('[A18] the cursor that a team passes is kept for that team alone, and only ever forward', async () => {
      const { alex, bea } = await room(call)
      for (const n of range(1, 5)) await say(alex, `${n}`)
      await done(bea('wait_for_messages', { since_cursor: 4, timeout: 0 }))
      await done(bea('wait_for_messages', { since_cursor: 2, timeout: 0 }))
      const { participants } = await done(alex('list_participants'))
      expect(participants.map((row: any) => row.last_seen_cursor)).toEqual([0, 4])
    })

    test('without a cursor the server goes on after what it last delivered to this team', async () => {
      const { alex, bea } = await room(call)
      await say(alex, 'one')
      expect(sequences((await done(bea('wait_for_messages', { timeout: 0 }))).messages)).toEqual([2])
      await say(alex, 'two')
      expect(sequences((await done(bea('wait_for_messages', { timeout: 0 }))).messages)).toEqual([3])
      expect((await done(bea('wait_for_messages', { timeout: 0 }))).messages).toEqual([])
      expect(sequences((await done(alex('wait_for_messages', { timeout: 0 }))).messages)).toEqual([1, 2, 3])
    })

    test('what was delivered survives the process that delivered it', async () => {
      const { alex, bea } = await room(call)
      await say(alex, 'one')
      await done(bea('wait_for_messages', { timeout: 0 }))
      await soon('presence is written', async () => {
        const [row] = await parley().database.query<{ n: number }>('select delivered_cursor as n from participants where team_id = $1', [
          bea.handle,
        ])
        return row!.n === 2
      })
    })

    test('a cursor beyond the end is refused and told where the end is', async () => {
      const { bea } = await room(call)
      const error = await refused(bea('wait_for_messages', { since_cursor: 2, timeout: 0 }), 'invalid_request')
      expect(error.details).toMatchObject({ field: 'since_cursor', last_sequence: 1 })
    })

    test('[A17] a cursor may be digits, and nothing else that is not a whole number', async () => {
      const { bea } = await room(call)
      expect(sequences((await done(bea('wait_for_messages', { since_cursor: '0', timeout: 0 }))).messages)).toEqual([1])
      expect((await done(bea('wait_for_messages', { since_cursor: '1', timeout: 0 }))).next_cursor).toBe(1)
      for (const since_cursor of ['', 'abc', '1.5', '-1', -1, 1.5, '1e3', '9'.repeat(30), ' 1'])
        await refused(bea('wait_for_messages', { since_cursor, timeout: 0 }), 'invalid_request')
    })

    test('[A11] a timeout outside 0 to 30 s is clamped, not refused', async () => {
      const { alex, bea } = await room(call)
      expect((await done(bea('wait_for_messages', { since_cursor: 1, timeout: -5 }))).messages).toEqual([])
      const waiting = bea('wait_for_messages', { since_cursor: 1, timeout: 86_400 })
      await soon('the wait is held', () => parley().services.waits.held > 0)
      const seen = parley().services.presence.of(bea.handle)!
      expect(seen.pollingUntilMs! - seen.lastSeenMs).toBeLessThanOrEqual(30_001)
      await say(alex, 'end')
      await done(waiting)
      await refused(bea('wait_for_messages', { since_cursor: 1, timeout: 'long' }), 'invalid_request')
    })

    test('a page ends at 500 events and says that there is more', async () => {
      const { alex, bea } = await room(call)
      for (const _ of range(1, 6)) await Promise.all(range(1, 100).map((n) => say(alex, `${n}`)))
      const first = await done(bea('wait_for_messages', { since_cursor: 0, timeout: 0 }))
      expect(first.messages).toHaveLength(500)
      expect(first).toMatchObject({ next_cursor: 500, has_more: true })
      const second = await done(bea('wait_for_messages', { since_cursor: 500, timeout: 0 }))
      expect(sequences(second.messages)).toEqual(range(501, 601))
      expect(second.has_more).toBe(false)
    })

    test('a page ends at 256 KiB of text, and session_closed comes with the last page', async () => {
      const { alex, bea } = await room(call)
      const text = 'é'.repeat(15 * KIB) // 30 KiB in UTF-8
      for (const _ of range(1, 20)) await say(alex, text)
      await done(alex('conclude_session', { summary_section: 'done' }))
      const seen: number[] = []
      let pages = 0
      for (let cursor = 0; ;) {
        const page = await done(bea('wait_for_messages', { since_cursor: cursor }))
        const bytes = page.messages.reduce((sum: number, message: any) => sum + Buffer.byteLength(message.content?.text ?? ''), 0)
        expect(bytes).toBeLessThanOrEqual((256 + 32) * KIB)
        seen.push(...sequences(page.messages))
        pages++
        cursor = page.next_cursor
        expect(page.session_closed).toBe(!page.has_more)
        if (!page.has_more) break
      }
      expect(pages).toBeGreaterThan(1)
      expect(seen).toEqual(range(1, 22))
    })

    test('[A20] a conclusion ends every held wait with session_closed, and every later one at once', async () => {
      const { alex, bea } = await room(call)
      const waits = [alex, bea].map((who) => who('wait_for_messages', { since_cursor: 1, timeout: 20 }))
      await soon('both are held', () => parley().services.waits.held === 2)
      await done(alex('conclude_session', { summary_section: 'done' }))
      for (const page of await Promise.all(waits.map(done))) {
        expect(page.messages).toMatchObject([{ type: 'system', event: 'session_concluded' }])
        expect(page.session_closed).toBe(true)
      }
      const later = await done(bea('wait_for_messages', { since_cursor: 2 }))
      expect(later).toEqual({ messages: [], next_cursor: 2, doc_version: 1, session_closed: true, has_more: false })
    })

    test('more than 32 waits of one team are refused', async () => {
      const { alex, bea } = await room(call)
      const waits = range(1, 32).map(() => bea('wait_for_messages', { since_cursor: 1, timeout: 20 }))
      await soon('32 are held', () => parley().services.waits.held === 32)
      const error = await refused(bea('wait_for_messages', { since_cursor: 1, timeout: 20 }), 'rate_limited')
      expect(error.details.retry_after).toBeGreaterThan(0)
      await say(alex, 'enough')
      await Promise.all(waits.map(done))
    })

    test('the trace is hidden and wakes nobody, unless it was asked for', async () => {
      const { alex, bea, id } = await room(call)
      const plain = alex('wait_for_messages', { since_cursor: 1, timeout: 20 })
      const traced = bea('wait_for_messages', { since_cursor: 1, timeout: 20, include_trace: true })
      await soon('both are held', () => parley().services.waits.held === 2)
      const sequence = await leaveTrace(parley(), id, 'tool_call', 'rg parser')
      expect((await done(traced)).messages).toMatchObject([{ sequence, type: 'tool_call' }])
      await soon('one is still held', () => parley().services.waits.held === 1)
      const { cursor } = await say(bea, 'found it')
      expect(sequences((await done(plain)).messages)).toEqual([cursor])
      expect(sequences(await feedOf(alex))).toEqual([1, 3])
      expect(sequences(await feedOf(alex, { include_trace: true }))).toEqual([1, 2, 3])
      const history = await done(alex('get_history'))
      expect(sequences(history.messages)).toEqual([1, 3])
      expect(sequences((await done(alex('get_history', { include_trace: true }))).messages)).toEqual([1, 2, 3])
    })

    test('a wait whose conversation is quiet behind a trace keeps its cursor', async () => {
      const { bea, id } = await room(call)
      await leaveTrace(parley(), id, 'reasoning', 'hm')
      const page = await done(bea('wait_for_messages', { since_cursor: 1, timeout: 0.05 }))
      expect(page).toEqual({ messages: [], next_cursor: 1, doc_version: 0, session_closed: false, has_more: false })
    })
  })

  describe('get_history', () => {
    test.each([1, 3, 7, 100])('[A80] walked in pages of %d it gives every message once', async (limit) => {
      const { alex, bea } = await room(call)
      for (const n of range(1, 20)) await say(n % 3 ? alex : bea, `${n}`)
      let seen: number[] = []
      for (let before: number | undefined; ;) {
        const page = await done(alex('get_history', { limit, before_cursor: before }))
        expect(page.messages.length).toBeLessThanOrEqual(limit)
        seen = [...sequences(page.messages), ...seen]
        if (!page.has_more) {
          expect(page.next_cursor).toBeNull()
          break
        }
        before = page.next_cursor
      }
      expect(seen).toEqual(range(1, 21))
    })

    test('[A79] the newest page comes first, ascending, with 100 unless asked, and what is out of bounds becomes 100', async () => {
      const { alex } = await room(call)
      await Promise.all(range(1, 149).map((n) => say(alex, `${n}`)))
      expect(sequences((await done(alex('get_history'))).messages)).toEqual(range(51, 150))
      for (const limit of [0, -1, 501, 1_000_000_000])
        expect((await done(alex('get_history', { limit }))).messages, `limit ${limit}`).toHaveLength(100)
      expect((await done(alex('get_history', { limit: 500 }))).messages).toHaveLength(150)
      await refused(alex('get_history', { limit: 1.5 }), 'invalid_request')
      await refused(alex('get_history', { limit: 'many' }), 'invalid_request')
    })

    test('a page of history keeps within 256 KiB too', async () => {
      const { alex } = await room(call)
      for (const _ of range(1, 12)) await say(alex, 'x'.repeat(31 * KIB))
      const page = await done(alex('get_history'))
      expect(page.has_more).toBe(true)
      expect(page.messages.at(-1).sequence).toBe(13)
      const before = await done(alex('get_history', { before_cursor: page.next_cursor }))
      expect([...sequences(before.messages), ...sequences(page.messages)]).toEqual(range(1, 13))
    })

    test('a page before what is beyond the end is refused and told where the end is', async () => {
      const { alex } = await room(call)
      await say(alex, 'one')
      expect((await done(alex('get_history', { before_cursor: 3 }))).messages).toHaveLength(2)
      expect((await refused(alex('get_history', { before_cursor: 4 }), 'invalid_request')).details.last_sequence).toBe(2)
    })

    test('one message is read whole by its id, and only one of this session', async () => {
      const { alex } = await room(call)
      const other = await room(call)
      const { message_id } = await say(alex, 'this one')
      const page = await done(alex('get_history', { message_id }))
      expect(page).toMatchObject({ messages: [{ id: message_id, content: { text: 'this one' } }], has_more: false, next_cursor: null })
      await refused(other.alex('get_history', { message_id }), 'not_found')
      await refused(alex('get_history', { message_id: 'nonsense' }), 'not_found')
    })
  })

  describe('ack_messages', () => {
    test('[A24] what a team acknowledged shows on the rows of history, posts nothing and wakes nobody', async () => {
      const { alex, bea } = await room(call)
      await say(alex, 'one')
      await say(alex, 'two')
      const waiting = alex('wait_for_messages', { since_cursor: 3, timeout: 0.3 })
      expect(await done(bea('ack_messages', { cursor: 2 }))).toMatchObject({ cursor: 2 })
      const { messages } = await done(alex('get_history'))
      expect(messages.map((message: any) => message.acknowledged_by)).toEqual([[bea.handle], [bea.handle], []])
      expect((await done(waiting)).messages).toEqual([])
    })

    test('an acknowledgement never goes back, takes digits, and stops at the end of the feed', async () => {
      const { alex, bea } = await room(call)
      await say(alex, 'one')
      await done(bea('ack_messages', { cursor: '2' }))
      expect((await done(bea('ack_messages', { cursor: 1 }))).cursor).toBe(2)
      expect((await refused(bea('ack_messages', { cursor: 3 }), 'invalid_request')).details.last_sequence).toBe(2)
    })
  })
})

import { describe, expect, spyOn } from 'bun:test'
import { test } from '../support/foreign.ts'
import { controlScene } from '../support/control-scene.ts'
import { bearer } from '../support/keys.ts'
import { done, feedOf, refused, room, say, soon, throughBothDoors } from '../support/parley.ts'

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => from + n)
const LARGEST = 1024 * 1024 + 2_000 // what stands around the messages
const NOBODY = `00000000-0000-4000-8000-000000000000.${'A'.repeat(32)}`

throughBothDoors((call, parley, transport) => {
  type Room = Awaited<ReturnType<typeof room>>
  const entry = ({ id, bea }: Room, since_cursor = 1) => ({ session_id: id, team_id: bea.token, since_cursor })
  const any = (waits: object[], timeout = 0) => call('wait_for_any', { waits, timeout })
  const rooms = (count: number) => Promise.all(range(1, count).map(() => room(call)))
  const held = (count: number) => soon(`${count} held`, () => parley().services.waits.held === count)

  describe('wait_for_any', () => {
    test('gives the sessions that moved, each as wait_for_messages would, and no others', async () => {
      const [one, two, three] = (await rooms(3)) as [Room, Room, Room]
      await say(one.alex, 'in one')
      await say(three.alex, 'in three')
      const { results } = await done(any([one, two, three].map((room) => entry(room))))
      expect(results.map(({ session_id }: any) => session_id)).toEqual([one.id, three.id])
      for (const [n, { id, bea }] of [one, three].entries()) {
        const alone = await done(bea('wait_for_messages', { since_cursor: 1, timeout: 0 }))
        expect(results[n]).toEqual({ session_id: id, ...alone })
      }
    })

    test('is held until one of 32 moves, and then nobody stays armed', async () => {
      const all = await rooms(32)
      const waiting = any(
        all.map((room) => entry(room)),
        20,
      )
      await held(32)
      const moved = all[20]!
      const { cursor } = await say(moved.alex, 'here')
      const began = performance.now()
      const { results } = await done(waiting)
      expect(performance.now() - began).toBeLessThan(15_000) // asleep, it takes 20
      expect(results).toMatchObject([{ session_id: moved.id, next_cursor: cursor, messages: [{ content: { text: 'here' } }] }])
      expect([parley().services.waits.held, parley().services.waiters.size]).toEqual([0, 0])
    })

    test('a call that fails has delivered nothing: who keeps no cursor misses nothing', async () => {
      const [one, two] = (await rooms(2)) as [Room, Room]
      for (const { alex } of [one, two]) await say(alex, 'here')
      const asked = [one, two].map(({ id, bea }) => ({ session_id: id, team_id: bea.token }))
      const { services } = parley()
      const { eventsAfter } = services
      const reading = spyOn(services, 'eventsAfter').mockImplementation((id, ...more) => {
        if (id === two.id) throw Object.assign(new Error('It is stopping.'), { code: '57P01' })
        return eventsAfter(id, ...more)
      })
      await refused(any(asked), 'unavailable')
      reading.mockRestore()
      const { results } = await done(any(asked))
      expect(results.map(({ messages }: any) => messages[0].content.text)).toEqual(['here', 'here'])
    })

    test('takes a credential that the header has as well', async () => {
      const one = await room(call)
      const as = transport === 'REST' ? { team: one.bea.token } : { headers: { 'x-team-id': one.bea.token } }
      const { results } = await done(call('wait_for_any', { waits: [entry(one, 0)], timeout: 0 }, as))
      expect(results).toMatchObject([{ session_id: one.id, next_cursor: 1 }])
    })

    test('takes an entry without a team_id as the team of the key’s seat in that session', async () => {
      const { key, session, session_id } = await controlScene(parley())
      await done(call('post_message', { session_id, content: 'here' }, { team: session.team_id }))
      const other = await room(call)
      const ask = (as = {}) =>
        done(call('wait_for_any', { waits: [{ session_id, since_cursor: 0 }, { session_id: other.id }], timeout: 0 }, as))
      const { results } = await ask({ headers: bearer(key) })
      expect(results[0]).toMatchObject({ session_id, messages: [{ content: { text: 'here' } }] })
      expect(results.map(({ error }: any) => error?.code)).toEqual([undefined, 'unauthorized'])
      expect((await ask()).results.map(({ error }: any) => error?.code)).toEqual(['unauthorized', 'unauthorized'])
    })

    test('takes an entry without a team_id as the team of the header, in its session alone', async () => {
      const [one, other] = (await rooms(2)) as [Room, Room]
      await say(one.alex, 'here')
      const as = transport === 'REST' ? { team: one.bea.token } : { headers: { 'x-team-id': one.bea.token } }
      const ask = (waits: object[]) => call('wait_for_any', { waits, timeout: 0 }, as)
      const without = { session_id: one.id, since_cursor: 1 }
      const { results } = await done(ask([without, { session_id: other.id }, { ...without, team_id: 'garbage' }]))
      expect(results[0]).toMatchObject({ session_id: one.id, messages: [{ content: { text: 'here' } }] })
      expect(results.map(({ error }: any) => error?.code)).toEqual([undefined, 'unauthorized', 'unauthorized'])
      expect((await refused(ask([without, entry(one)]), 'invalid_request')).details.field).toBe('waits.1')
    })

    test('answers without results when the time is up', async () => {
      const [one, two] = (await rooms(2)) as [Room, Room]
      expect(await done(any([entry(one), entry(two)], 0.05))).toEqual({ results: [] })
    })

    test('a bad entry has its error, opens nothing, and holds up none of the others', async () => {
      const [good, other] = (await rooms(2)) as [Room, Room]
      const left = await room(call)
      await done(left.bea('leave_session'))
      const bad = [
        { session_id: good.id, team_id: NOBODY },
        { session_id: good.id, team_id: 'garbage' },
        { session_id: good.id, team_id: other.bea.token },
        { session_id: 'no-such-session', team_id: good.bea.token },
        entry(left),
        { ...entry(other), since_cursor: 99 },
      ]
      const { results: refusals } = await done(any(bad, 20)) // nothing to wait for: at once
      expect(refusals.map(({ error }: any) => error.code)).toEqual([...Array(5).fill('unauthorized'), 'invalid_request'])
      expect(refusals[5].error.details.last_sequence).toBe(1)
      expect(refusals.every((result: any) => !('messages' in result))).toBe(true)

      const waiting = any([...bad, entry(good)], 20)
      await held(1)
      await Bun.sleep(50)
      expect(parley().services.waits.held).toBe(1)
      await say(good.alex, 'news')
      const { results } = await done(waiting)
      expect(results.slice(0, 6)).toEqual(refusals)
      expect(results.slice(6)).toMatchObject([{ session_id: good.id, messages: [{ content: { text: 'news' } }] }])
    })

    test('a busy session does not keep a quiet one from being heard', async () => {
      const [busy, quiet] = (await rooms(2)) as [Room, Room]
      await say(quiet.alex, 'once')
      let cursor = 1
      for (let n = 0; n < 3; n++) {
        await say(busy.alex, `${n}`)
        const { results } = await done(any([entry(busy, cursor), entry(quiet)], 20))
        expect(results.map(({ session_id }: any) => session_id)).toEqual([busy.id, quiet.id])
        cursor = results[0].next_cursor
      }
    })

    test('a conclusion ends it, and a closed session answers at once', async () => {
      const [one, two] = (await rooms(2)) as [Room, Room]
      const waiting = any([entry(one), entry(two)], 20)
      await held(2)
      await done(two.alex('conclude_session', { summary_section: 'done' }))
      expect((await done(waiting)).results).toMatchObject([{ session_id: two.id, session_closed: true, has_more: false }])
      expect((await done(any([entry(one), entry(two, 2)], 20))).results).toMatchObject([{ session_id: two.id, messages: [] }])
    })

    test('nothing is missed and nothing comes twice while three sessions are written to', async () => {
      const all = await rooms(3)
      const cursors = new Map(all.map(({ id }) => [id, 1]))
      const seen = new Map(all.map(({ id }) => [id, [] as number[]]))
      const writing = Promise.all(
        all.map(async ({ alex }, n) => {
          for (const i of range(1, 15)) {
            await say(alex, `${i}`)
            await Bun.sleep(n * 3)
          }
        }),
      )
      while ([...seen.values()].some((sequences) => sequences.length < 15)) {
        const { results } = await done(
          any(
            all.map((room) => entry(room, cursors.get(room.id))),
            5,
          ),
        )
        for (const { session_id, messages, next_cursor } of results) {
          seen.get(session_id)!.push(...messages.map(({ sequence }: any) => sequence))
          cursors.set(session_id, next_cursor)
        }
        expect(results.length).toBeGreaterThan(0)
      }
      await writing
      for (const { id } of all) expect(seen.get(id)).toEqual(range(2, 16))
    })

    test('max_chars is shared by those that moved, 1,000 for each at least, and the pages together miss nothing', async () => {
      const all = await rooms(4)
      const [closed, ...talking] = all as [Room, Room, Room, Room]
      await done(closed.alex('conclude_session', { summary_section: 'done' }))
      for (const { alex } of talking) for (const n of range(1, 12)) await say(alex, `${n} ${'"é😀'.repeat(60)}`)
      const bad = { session_id: closed.id, team_id: NOBODY }
      for (const [max_chars, longest] of [
        [8_000, 8_000],
        [1_000, 4_000 + 300], // what is refused comes in any case
      ] as const) {
        const cursors = new Map(all.map(({ id }) => [id, 0]))
        const seen = new Map(all.map(({ id }) => [id, [] as number[]]))
        const open = new Set(all)
        while (open.size > 0) {
          const waits = [bad, ...[...open].map((room) => entry(room, cursors.get(room.id)))]
          const answer = await done(call('wait_for_any', { waits, timeout: 0, max_chars }))
          expect(JSON.stringify(answer).length).toBeLessThanOrEqual(longest)
          expect(answer.results).toHaveLength(1 + open.size)
          for (const { session_id, messages, next_cursor, has_more } of answer.results.slice(1)) {
            seen.get(session_id)!.push(...messages.map(({ sequence }: any) => sequence))
            cursors.set(session_id, next_cursor)
            if (!has_more) open.delete(all.find(({ id }) => id === session_id)!)
          }
        }
        expect(seen.get(closed.id)).toEqual([1, 2])
        for (const { id } of talking) expect(seen.get(id)).toEqual(range(1, 13))
      }
      expect((await refused(call('wait_for_any', { waits: [bad], timeout: 0, max_chars: 999 }), 'invalid_request')).details.field).toBe(
        'max_chars',
      )
    })

    test('without max_chars the answer has a limit too, which is shared fairly, and the pages together miss nothing', async () => {
      const [quiet, closed, ...busy] = (await rooms(8)) as [Room, Room, ...Room[]]
      await say(quiet.alex, 'one word')
      for (const { alex } of [closed, ...busy]) await Promise.all(range(1, 18).map((n) => say(alex, `${n} ${'é'.repeat(7_500)}`)))
      await done(closed.alex('conclude_session', { summary_section: 'done' }))
      const all = [quiet, closed, ...busy]
      const last = new Map(all.map(({ id }) => [id, 19]))
      last.set(quiet.id, 2).set(closed.id, 20)
      const cursors = new Map(all.map(({ id }) => [id, 1]))
      const seen = new Map(all.map(({ id }) => [id, [] as number[]]))
      for (let open = all; open.length > 0;) {
        const answer = await done(any(open.map((room) => entry(room, cursors.get(room.id)))))
        expect(Buffer.byteLength(JSON.stringify(answer))).toBeLessThan(LARGEST)
        expect(answer.results.map(({ session_id }: any) => session_id)).toEqual(open.map(({ id }) => id)) // something for each
        for (const { session_id, messages, next_cursor, has_more, session_closed } of answer.results) {
          expect(messages.length).toBeGreaterThan(0)
          seen.get(session_id)!.push(...messages.map(({ sequence }: any) => sequence))
          cursors.set(session_id, next_cursor)
          expect([has_more, session_closed]).toEqual([next_cursor < last.get(session_id)!, session_id === closed.id && !has_more])
          if (!has_more) open = open.filter(({ id }) => id !== session_id)
        }
        expect(open).not.toContain(quiet) // the large ones leave it its own
      }
      for (const { id } of all) expect(seen.get(id)).toEqual(range(2, last.get(id)!))
    })

    test('what did not fit was not delivered', async () => {
      const all = await rooms(6)
      for (const { alex } of all) await Promise.all(range(1, 9).map(() => say(alex, 'x'.repeat(32_000))))
      const { results } = await done(any(all.map(({ id, bea }) => ({ session_id: id, team_id: bea.token })))) // without a cursor
      for (const [n, { bea }] of all.entries()) {
        expect(results[n].has_more).toBe(true)
        expect((await done(bea('wait_for_messages', { timeout: 0 }))).messages[0].sequence).toBe(results[n].next_cursor + 1)
      }
    })

    test('refuses the same session and team twice, and tells which: it would be answered twice, or from two places', async () => {
      const [one, two] = (await rooms(2)) as [Room, Room]
      await say(one.alex, 'here')
      for (const again of [entry(one), entry(one, 0), { session_id: one.id, team_id: one.bea.token }]) {
        const { message, details } = await refused(any([entry(one), entry(two), again], 20), 'invalid_request')
        expect(details.field).toBe('waits.2')
        expect(message).toBe('waits.2: the same session and team as waits.0. Name it once, with the last next_cursor you have from there.')
      }
      expect((await done(one.bea('peek'))).unread).toBe(1) // nothing was delivered
      expect([parley().services.waits.held, parley().services.waiters.size]).toEqual([0, 0])
      const teams = [entry(one), { session_id: one.id, team_id: one.alex.token, since_cursor: 1 }]
      expect((await done(any(teams))).results).toHaveLength(2) // two teams of one session are two
    })

    test('what it hands out counts as delivered, and what it is given as read', async () => {
      const one = await room(call)
      await say(one.alex, 'x')
      await done(any([entry(one)]))
      const rows = (await done(one.alex('list_participants'))).participants
      expect(rows.find(({ team_id }: any) => team_id === one.bea.handle).last_seen_cursor).toBe(1)
      expect((await done(one.bea('peek'))).unread).toBe(0)
    })

    test('takes 1 to 32 entries, each with a session and a credential, and tells nobody’s secret', async () => {
      const one = await room(call)
      await refused(any([]), 'invalid_request')
      await refused(any(range(1, 33).map(() => entry(one))), 'invalid_request')
      for (const wrong of [{ team_id: one.bea.token }, { ...entry(one), more: 1 }]) await refused(any([wrong]), 'invalid_request')
      expect(await feedOf(one.alex)).toHaveLength(1)
      expect(parley().logged.join('\n')).not.toContain(one.bea.token.split('.')[1]!)
    })

    // Over MCP a client says so by a notification, which the door drops; that a closed connection ends a call is tests/faults' subject.
    if (transport === 'REST')
      test('a caller that goes away ends all its waits', async () => {
        const all = await rooms(3)
        const gone = new AbortController()
        const waits = all.map((room) => entry(room))
        const waiting = call('wait_for_any', { waits, timeout: 20 }, { signal: gone.signal }).catch(() => undefined)
        await held(3)
        gone.abort()
        await held(0)
        await waiting
        expect(parley().services.waiters.size).toBe(0)
        for (const { alex, bea } of all) {
          await say(alex, 'x')
          expect((await done(bea('peek'))).unread).toBe(1)
        }
      })
  })
})

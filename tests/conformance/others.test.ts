import { describe, expect, spyOn } from 'bun:test'
import { test } from '../support/foreign.ts'
import {
  chat,
  done,
  leaveTrace,
  onOneEngine,
  refused,
  room,
  say,
  seat,
  soon,
  throughBothDoors,
  viaRest,
  type Seat,
} from '../support/parley.ts'

const sequencesOf = (messages: any[]) => messages.map(({ sequence }) => sequence)
const others = (who: Seat, more: Record<string, unknown> = {}) => done(who('wait_for_messages', { only: 'others', timeout: 0, ...more }))

throughBothDoors((call, parley) => {
  const held = (count: number) => soon(`${count} held`, () => parley().services.waits.held === count)

  describe('a wait for what others did', () => {
    test('leaves out what the team said and did itself, and passes its cursor over that', async () => {
      const { alex, bea } = await room(call) // 1: Bea's Team joined
      await say(bea, 'mine') // 2
      await say(alex, 'one') // 3
      await done(bea('update_session_metadata', { title: 'Shipping it all', reason: 'More than the parser.' })) // 4
      await done(alex('update_session_metadata', { description: 'All of it.', reason: 'It was not said.' })) // 5
      await say(bea, 'mine again') // 6
      const page = await others(bea, { since_cursor: 0 })
      expect(sequencesOf(page.messages)).toEqual([3, 5])
      expect(page).toMatchObject({ next_cursor: 6, has_more: false, session_closed: false })
      expect(page).not.toHaveProperty('plain_cursor')
      expect(sequencesOf((await others(alex, { since_cursor: 0 })).messages)).toEqual([1, 2, 4, 6])
    })

    test('ends with the team that leaves, as one for what is addressed to it and a held peek do', async () => {
      for (const only of ['others', 'addressed', undefined]) {
        const { alex, bea } = await room(call)
        const after = (await others(bea)).next_cursor
        const holding = only ? bea('wait_for_messages', { only, since_cursor: after, timeout: 20 }) : bea('peek', { after, timeout: 20 })
        await soon('it is held', () => parley().services.waits.held + parley().services.peeks.held === 1)
        await done(bea('leave_session'))
        await say(alex, 'Not for Bea any more.')
        await refused(holding, 'unauthorized')
      }
    })

    test('is not woken by the team itself, and answers with a cursor behind its own posts', async () => {
      const { alex, bea } = await room(call)
      const waiting = others(bea, { since_cursor: 1, timeout: 20 })
      await held(1)
      await say(bea, 'mine')
      await say(bea, 'mine again')
      await Bun.sleep(50)
      expect(parley().services.waits.held).toBe(1)
      const empty = await others(bea, { since_cursor: 1 })
      expect(empty).toEqual({ messages: [], next_cursor: 3, doc_version: 0, session_closed: false, has_more: false })
      await say(alex, 'one')
      const page = await waiting
      expect(sequencesOf(page.messages)).toEqual([4])
      expect(page.next_cursor).toBe(4)
      await held(0)
      expect(parley().services.waiters.size).toBe(0)
    })

    test('goes on after what was delivered when it brings no cursor, and what it passed over is delivered too', async () => {
      const { alex, bea } = await room(call)
      await say(bea, 'mine')
      expect(await others(bea)).toMatchObject({ messages: [], next_cursor: 2 })
      await say(alex, 'one')
      await say(bea, 'mine again')
      expect(sequencesOf((await others(bea)).messages)).toEqual([3])
      expect(await done(bea('wait_for_messages', { timeout: 0 }))).toMatchObject({ messages: [], next_cursor: 4 })
    })

    test('ends with the session, also when the team ends it itself, whose word it leaves out', async () => {
      for (const who of ['alex', 'bea'] as const) {
        const seats = await room(call)
        const waiting = others(seats.bea, { since_cursor: 1, timeout: 20 })
        await held(1)
        await done(seats[who]('conclude_session', { summary_section: 'done' }))
        const page = await waiting
        expect(page).toMatchObject({ next_cursor: 2, session_closed: true, has_more: false, doc_version: 1 })
        expect(page.messages).toHaveLength(who === 'bea' ? 0 : 1)
        const later = await others(seats.bea, { since_cursor: 1, timeout: 20 })
        expect(later).toEqual(page)
        await done(seats.alex('reopen_session', { reason: 'There is more.' }))
        await say(seats.bea, 'mine')
        expect(await others(seats.bea, { since_cursor: 2 })).toMatchObject({
          messages: [{ event: 'session_reopened' }],
          session_closed: false,
        })
      }
    })

    test('does not end with a session that the team itself has reopened', async () => {
      const { id, alex, bea } = await room(call)
      await done(bea('conclude_session', { summary_section: 'done' })) // 2
      await done(alex('reopen_session', { reason: 'There is more.' })) // 3
      const open = { messages: [{ event: 'session_concluded' }], next_cursor: 3, session_closed: false }
      expect(await others(alex, { since_cursor: 1 })).toMatchObject(open)
      const waits = [{ session_id: id, team_id: alex.token, since_cursor: 1, only: 'others' }]
      expect((await done(call('wait_for_any', { waits, timeout: 0 }))).results).toMatchObject([open])
    })

    test('reads on behind 1,100 posts of its own, and is cut to a page of what others said', async () => {
      const { id, alex, bea } = await room(call)
      const post = (who: Seat, text: string) => parley().services.groupCommit.post(chat(id, who.handle, text))
      await Promise.all(Array.from({ length: 1_100 }, (_, n) => post(bea, `${n}`)))
      await say(alex, `one ${'x'.repeat(900)}`)
      await say(bea, 'mine')
      await say(alex, 'two')
      await say(bea, 'mine')
      const page = await others(bea, { since_cursor: 1 })
      expect(sequencesOf(page.messages)).toEqual([1_102, 1_104])
      expect(page).toMatchObject({ next_cursor: 1_105, has_more: false })
      const cut = await others(bea, { since_cursor: 1, max_chars: 1_000 })
      expect(cut).toMatchObject({ messages: [{ sequence: 1_102 }], next_cursor: 1_102, has_more: true })
      expect(await others(bea, { since_cursor: cut.next_cursor })).toMatchObject({ messages: [{ sequence: 1_104 }], next_cursor: 1_105 })
    })

    test('with the trace, it has what others’ agents did', async () => {
      const { id, bea } = await room(call)
      await say(bea, 'mine')
      await leaveTrace(parley(), id, 'tool_call', 'ls')
      expect(sequencesOf((await others(bea, { since_cursor: 1, include_trace: true })).messages)).toEqual([3])
      expect(await others(bea, { since_cursor: 1 })).toMatchObject({ messages: [], next_cursor: 2 })
    })
  })

  describe('wait_for_any', () => {
    const any = (who: Seat, id: string, more: Record<string, unknown> = {}) =>
      done(call('wait_for_any', { waits: [{ session_id: id, team_id: who.token, since_cursor: 1, ...more }], timeout: 0.2 }))

    test('takes `only` for each session', async () => {
      const { id, alex, bea } = await room(call)
      await say(bea, 'mine')
      expect(await any(bea, id, { only: 'others' })).toEqual({ results: [] })
      await say(alex, 'to all')
      expect(await any(bea, id, { only: 'addressed' })).toEqual({ results: [] })
      expect((await any(bea, id, { only: 'others' })).results).toMatchObject([{ messages: [{ sequence: 3 }], next_cursor: 3 }])
      await refused(call('wait_for_any', { waits: [{ session_id: id, team_id: bea.token, only: 'mine' }] }), 'invalid_request')
    })

    test('says the version of each document', async () => {
      const { id, alex, bea } = await room(call)
      await done(alex('append_to_session_doc', { text: '- a line' }))
      expect((await any(bea, id, { since_cursor: 0 })).results).toMatchObject([{ doc_version: 1 }])
    })
  })

  describe('doc_version of a wait', () => {
    test('is that of every write that was answered before, whoever wrote and however', async () => {
      const { alex, bea } = await room(call)
      let version = 0
      const isSaid = async () => expect(await others(bea, { since_cursor: 1 })).toMatchObject({ doc_version: version })
      for (let n = 0; n < 3; n++) {
        version = (await done(alex('append_to_session_doc', { text: '- a line' }))).version
        await isSaid()
        version = (await done(bea('update_session_doc', { content: '- mine', expected_version: version }))).version
        await isSaid()
      }
      version = (await done(alex('conclude_session', { summary_section: 'done' }))).doc_version
      await isSaid()
      expect(version).toBe(7)
    })

    test('is that of the moment when a held wait answers, and a write wakes nobody', async () => {
      const { alex, bea } = await room(call)
      await done(alex('append_to_session_doc', { text: '- one' }))
      const waiting = others(bea, { since_cursor: 1, timeout: 20 })
      await held(1)
      await done(alex('append_to_session_doc', { text: '- two' }))
      await done(alex('append_to_session_doc', { text: '- three' }))
      await Bun.sleep(50)
      expect(parley().services.waits.held).toBe(1)
      await say(alex, 'look')
      expect(await waiting).toMatchObject({ messages: [{}], doc_version: 3 })
    })

    test('is the version that a session resumed from another begins with', async () => {
      const { id, alex } = await room(call)
      await done(alex('conclude_session', { summary_section: 'done' }))
      const next = await done(call('create_session', { title: 'On', description: '', creator_team_name: 'Cleo', resume_from: id }))
      expect(await others(seat(call, next), { since_cursor: 0 })).toMatchObject({ doc_version: 1 })
    })
  })
})

onOneEngine((parley, engine) => {
  test('the team’s own posts cost a wait for others no read of the log', async () => {
    const { alex, bea } = await room(viaRest(parley()))
    await say(bea, 'mine')
    const waiting = others(bea, { since_cursor: 2, timeout: 20 })
    await soon('held', () => parley().services.waits.held === 1)
    const query = spyOn(parley().database, 'query')
    for (let n = 0; n < 20; n++) await say(bea, `${n}`)
    // The index and the loop guard read the log too, in the background.
    const ofLog = (text: string) => /from events/.test(text) && !/insert into|session_index|loops/.test(text)
    const reads = query.mock.calls.filter(([text]) => ofLog(String(text)))
    query.mockRestore()
    expect(reads.map(([text]) => text)).toEqual([])
    await say(alex, 'one')
    expect(await waiting).toMatchObject({ messages: [{ sequence: 23 }], next_cursor: 23 })
  })

  if (engine === 'postgres')
    test('another instance hears of a document’s version within moments, also while it holds a wait', async () => {
      const other = await parley().beside({})
      const { id, alex, bea } = await room(viaRest(parley()))
      const there = seat(viaRest(other), { session_id: id, team_id: bea.token })
      await done(alex('append_to_session_doc', { text: '- one' }))
      expect(await others(there, { since_cursor: 1 })).toMatchObject({ doc_version: 1 }) // looked up
      const waiting = others(there, { since_cursor: 1, timeout: 20 })
      await soon('held', () => other.services.waits.held === 1)
      await done(alex('append_to_session_doc', { text: '- two' }))
      await soon('heard', () => other.services.docVersion(id, 0) === 2)
      await say(alex, 'look')
      expect(await waiting).toMatchObject({ messages: [{}], doc_version: 2 })
      await other.close()
    })
})

import { describe, expect } from 'bun:test'
import { test } from '../support/foreign.ts'
import { done, feedOf, refused, room, say, seat, throughEveryDoor, TITLE } from '../support/parley.ts'

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

throughEveryDoor((call, parley) => {
  describe('create_session', () => {
    test('[A54 A66 A74] a new session needs no credential, is empty, and has its convener on the roster', async () => {
      const made = await done(
        call('create_session', { title: TITLE, description: 'Decide what goes out.', creator_team_name: "Alex's Team" }),
      )
      expect(made).toMatchObject({ cursor: 0, title: TITLE, description: 'Decide what goes out.', team_name: "Alex's Team" })
      const alex = seat(call, made)
      expect(await feedOf(alex)).toEqual([])
      const { participants, expected_teams, waiting_for } = await done(alex('list_participants'))
      expect(participants).toMatchObject([
        { team_id: made.handle, team_name: "Alex's Team", is_self: true, is_convener: true, left_at: null, status: 'active' },
      ])
      expect({ expected_teams, waiting_for }).toEqual({ expected_teams: 2, waiting_for: 1 })
    })

    test('[A69] the token is its handle and 128 random bits or more, and no two are alike', async () => {
      const tokens = await Promise.all(
        Array.from(
          { length: 20 },
          async () => (await done(call('create_session', { title: 'T', creator_team_name: 'A', description: '' }))).team_id,
        ),
      )
      expect(new Set(tokens).size).toBe(20)
      for (const token of tokens) {
        const [handle, secret] = token.split('.')
        expect(handle).toMatch(UUID)
        expect(Buffer.from(secret, 'base64url').length).toBeGreaterThanOrEqual(16)
      }
    })

    test('of a token only a hash is stored', async () => {
      const { alex, bea, id } = await room(call)
      const rows = await parley().database.query<{ token_hash: string }>('select * from participants where session_id = $1', [id])
      expect(rows).toHaveLength(2)
      for (const { token } of [alex, bea]) expect(JSON.stringify(rows)).not.toContain(token.split('.')[1]!)
      for (const row of rows) expect(row.token_hash).toMatch(/^[0-9a-f]{64}$/)
    })

    test('unknown fields are refused and named', async () => {
      const error = await refused(
        call('create_session', { title: 'T', description: '', creator_team_name: 'A', colour: 'green' }),
        'invalid_request',
      )
      expect(error.details.field).toBe('colour')
    })

    test.each(['title', 'description', 'creator_team_name'])('[A82] without %s nothing is made, and the field is named', async (field) => {
      const input: Record<string, unknown> = { title: 'T', description: '', creator_team_name: 'A' }
      delete input[field]
      expect((await refused(call('create_session', input), 'invalid_request')).details.field).toBe(field)
      const wrong = { title: 'T', description: '', creator_team_name: 'A', [field]: 7 }
      expect((await refused(call('create_session', wrong), 'invalid_request')).details.field).toBe(field)
    })
  })

  describe('join_session', () => {
    test('of teams that join at once, the list has the same order as the log', async () => {
      const { id, alex } = await room(call)
      await Promise.all(Array.from({ length: 24 }, (_, n) => done(call('join_session', { session_id: id, team_name: `Team ${n}` }))))
      const joined = (await feedOf(alex)).filter(({ event }) => event === 'team_joined').map(({ team }) => team)
      const { participants } = await done(alex('list_participants'))
      expect(participants.slice(1).map(({ team_name }: { team_name: string }) => team_name)).toEqual(joined)
    })

    test('a name that looks like one that is taken gets a number, and none keeps blanks around it', async () => {
      const { id } = await room(call, { creator_team_name: 'Alex' })
      const names = ['Al\u00adex', 'Alex\u200b', '\u2800Alex', ' alex ', 'A\u2060lex\ufe0f']
      const joined = await Promise.all(
        names.map((team_name) => call('join_session', { session_id: id, team_name }).then(({ body }) => body.team_name)),
      )
      for (const name of joined) expect(name).toMatch(/ \(\d\)$/)
      expect((await done(call('join_session', { session_id: id, team_name: '  Cleo ' }))).team_name).toBe('Cleo')
      expect((await refused(call('join_session', { session_id: id, team_name: '   ' }), 'invalid_request')).message).toBe(
        'team_name: must not be blank',
      )
    })

    test('a session that a thousand teams have joined takes no other, and one that is meant is still found among them', async () => {
      const { id, alex } = await room(call)
      await parley().database.query(
        `insert into participants (session_id, team_id, token_hash, team_name, hue, last_seen_cursor, delivered_cursor)
         select $1, gen_random_uuid(), 'x', 'Team ' || n, 0, 1, 1 from generate_series(3, 1000) n`,
        [id],
      )
      expect((await refused(call('join_session', { session_id: id, team_name: 'One more' }), 'conflict')).message).toContain('resume_from')
      await done(alex('post_message', { content: 'x', to: ['team 1000', "Bea's Team"] }))
    })

    test('[A28 A29 A30 A34] a team joins without a credential at the end of the feed, and the roster has everybody', async () => {
      const { alex, id } = await room(call)
      await say(alex, 'before Cleo')
      const joined = await done(call('join_session', { session_id: id, team_name: "Cleo's Team" }))
      expect(joined).toMatchObject({ session_id: id, team_name: "Cleo's Team", cursor: 3, session_closed: false })
      expect(joined.participants.map((row: any) => row.team_name)).toEqual(["Alex's Team", "Bea's Team", "Cleo's Team"])
      expect(joined.participants.map((row: any) => row.is_self)).toEqual([false, false, true])
      const cleo = seat(call, joined)
      const first = await done(cleo('wait_for_messages', { timeout: 0 }))
      expect(first).toEqual({ messages: [], next_cursor: 3, doc_version: 0, session_closed: false, has_more: false })
    })

    test('[A34 A35] joining and leaving are system events with a top-level event, and reach everybody', async () => {
      const { alex, bea } = await room(call)
      await done(bea('leave_session'))
      const feed = await feedOf(alex)
      expect(feed).toMatchObject([
        { sequence: 1, type: 'system', event: 'team_joined', team: "Bea's Team", team_id: bea.handle },
        { sequence: 2, type: 'system', event: 'team_left', team: "Bea's Team", team_id: bea.handle },
      ])
      for (const event of feed) expect(event.at).toMatch(TIME)
    })

    test('[A31] replay_from lets a team follow from where it wishes, and not beyond the end', async () => {
      const { alex, id } = await room(call)
      await say(alex, 'one')
      const joined = await done(call('join_session', { session_id: id, team_name: 'Cleo', replay_from: 0 }))
      expect(joined.cursor).toBe(0)
      const { messages } = await done(seat(call, joined)('wait_for_messages', { timeout: 0 }))
      expect(messages.map((message: any) => message.sequence)).toEqual([1, 2, 3])
      const beyond = await refused(call('join_session', { session_id: id, team_name: 'Dan', replay_from: 9 }), 'invalid_request')
      expect(beyond.details).toMatchObject({ field: 'replay_from', last_sequence: 3 })
    })

    test('a team that joins again with its token comes back, and nobody joins twice', async () => {
      const { bea, id, alex } = await room(call)
      const again = await done(bea('join_session', { team_name: "Bea's Team" }))
      expect(again).toMatchObject({ session_id: id, team_id: bea.token, handle: bea.handle, team_name: "Bea's Team" })
      expect(again.participants).toHaveLength(2)
      expect(await feedOf(alex)).toHaveLength(1)
    })

    test('a team that joins again goes on where it was, with cursors of its own or without', async () => {
      const { alex, bea } = await room(call)
      const again = async (more: object = {}) => (await done(bea('join_session', { team_name: "Bea's Team", ...more }))).cursor
      const waited = (more: object = {}) => done(bea('wait_for_messages', { timeout: 0, ...more }))
      for (const text of ['one', 'two', 'three']) await say(alex, text)
      expect((await waited()).messages).toHaveLength(3)
      expect(await again()).toBe(1) // that answer may have been lost
      expect((await waited()).messages).toEqual([])
      expect(await again()).toBe(4)
      await say(alex, 'four')
      await say(alex, 'five')
      expect((await waited({ since_cursor: 5 })).messages).toHaveLength(1)
      expect(await again()).toBe(5)
      expect(await again({ replay_from: 2 })).toBe(2)
      await waited({ only: 'addressed' })
      expect(await again()).toBe(5) // it was not handed what is addressed to nobody
    })

    test('20 teams of one session that come back with their tokens at once all come back', async () => {
      const { id, alex } = await room(call)
      const names = Array.from({ length: 20 }, (_, n) => `Team ${n}`)
      const seats = await Promise.all(
        names.map(async (team_name) => seat(call, await done(call('join_session', { session_id: id, team_name })))),
      )
      const again = await Promise.all(seats.map((team) => done(team('join_session', { team_name: team.team }))))
      expect(again.map(({ team_id }) => team_id)).toEqual(seats.map(({ token }) => token))
      expect((await done(alex('list_participants'))).participants).toHaveLength(22)
    })

    test('[A36] another session, with a token of the first, makes a second and independent team', async () => {
      const first = await room(call)
      const second = await room(call)
      const joined = await done(call('join_session', { session_id: second.id, team_name: "Bea's Team (2)" }, { team: first.bea.token }))
      expect(joined.handle).not.toBe(first.bea.handle)
      await refused(call('get_session', { session_id: second.id }, { team: first.bea.token }), 'unauthorized')
      await done(first.bea('leave_session'))
      await done(seat(call, joined)('get_session'))
    })

    test('a team that left joins again under its old name', async () => {
      const { bea, id } = await room(call)
      await done(bea('leave_session'))
      const joined = await done(bea('join_session', { team_name: "Bea's Team" }))
      expect(joined.handle).not.toBe(bea.handle)
      expect(joined.team_name).toBe("Bea's Team")
      expect(joined.participants).toHaveLength(3)
      expect(joined.session_id).toBe(id)
    })

    test.each(["Alex's Team", "ALEX'S TEAM", " alex's team ", "Ａlex's Team"])(
      'a name that is present already, as %j, gets a number and the answer says so',
      async (name) => {
        const { id } = await room(call)
        const joined = await done(call('join_session', { session_id: id, team_name: name }))
        expect(joined.team_name).toBe(`${name.trim()} (2)`)
        const third = await done(call('join_session', { session_id: id, team_name: name }))
        expect(third.team_name).toBe(`${name.trim()} (3)`)
      },
    )

    test('20 teams of one name that join at once get 20 names', async () => {
      const { id, alex } = await room(call)
      const names = await Promise.all(
        Array.from({ length: 20 }, async () => (await done(call('join_session', { session_id: id, team_name: 'Bea' }))).team_name),
      )
      expect(names.toSorted()).toEqual(['Bea', ...Array.from({ length: 19 }, (_, n) => `Bea (${n + 2})`)].toSorted())
      expect((await feedOf(alex)).map(({ sequence }) => sequence)).toEqual(Array.from({ length: 21 }, (_, n) => n + 1))
    })

    test.each(['00000000-0000-4000-8000-000000000000', 'no-such-session', 'x'.repeat(64)])(
      'joining %s, which is no session, is not_found',
      async (session_id) => {
        await refused(call('join_session', { session_id, team_name: 'Bea' }), 'not_found')
      },
    )
  })

  describe('leave_session', () => {
    test('[A32] who left stays on the roster as disconnected, and its token is over', async () => {
      const { alex, bea } = await room(call)
      const { left_at } = await done(bea('leave_session'))
      expect(left_at).toMatch(TIME)
      const { participants, waiting_for } = await done(alex('list_participants'))
      expect(participants[1]).toMatchObject({ team_id: bea.handle, left_at, status: 'disconnected' })
      expect(waiting_for).toBe(1)
      await refused(bea('get_session'), 'unauthorized')
      await refused(bea('leave_session'), 'unauthorized')
    })

    test('20 calls to leave at once make one event', async () => {
      const { alex, bea } = await room(call)
      const answers = await Promise.all(Array.from({ length: 20 }, () => bea('leave_session')))
      expect(answers.filter(({ ok }) => ok)).toHaveLength(1)
      expect((await feedOf(alex)).filter(({ event }) => event === 'team_left')).toHaveLength(1)
    })
  })

  describe('get_session', () => {
    test('[A73] a member reads the session, its status, its convener and its genealogy', async () => {
      const { id, alex, bea } = await room(call)
      expect(await done(bea('get_session'))).toMatchObject({
        session_id: id,
        title: TITLE,
        description: 'Decide what goes out.',
        status: 'active',
        closed_at: null,
        session_doc_version: 0,
        last_sequence: 1,
        convener: { team_id: alex.handle, team_name: "Alex's Team", left: false },
        genealogy: { parent_session_id: null, forked_from_session_id: null, resumed_from_session_id: null, series_id: id },
      })
      await done(alex('leave_session'))
      expect((await done(bea('get_session'))).convener.left).toBe(true)
    })
  })

  describe('list_participants', () => {
    test('[A25 A33] a row has exactly the promised fields', async () => {
      const { alex, bea } = await room(call)
      const { participants } = await done(bea('list_participants'))
      expect(Object.keys(participants[0]).toSorted()).toEqual(
        [
          'team_id',
          'team_name',
          'joined_at',
          'last_seen_at',
          'left_at',
          'status',
          'is_self',
          'is_convener',
          'last_seen_cursor',
          'holds',
        ].toSorted(),
      )
      expect(participants.map((row: any) => [row.team_id, row.is_self, row.is_convener])).toEqual([
        [alex.handle, false, true],
        [bea.handle, true, false],
      ])
    })

    test('[A22 A26 A27] a team is active while it polls and for IDLE_AFTER, then idle, then disconnected', async () => {
      const { id, alex, bea } = await room(call)
      const statusOf = async () => (await done(alex('list_participants'))).participants[1].status
      const silentFor = (seconds: number) =>
        parley().database.query(
          `update participants set last_seen_at = now() - $2::float8 * interval '1 second', polling_until = null where session_id = $1 and team_id = $3`,
          [id, seconds, bea.handle],
        )
      expect(await statusOf()).toBe('active')
      await silentFor(11)
      expect(await statusOf()).toBe('idle')
      await silentFor(61)
      expect(await statusOf()).toBe('disconnected')
      const polling = bea('wait_for_messages', { since_cursor: 1, timeout: 5 })
      while ((await statusOf()) !== 'active') await Bun.sleep(5)
      await say(alex, 'wake up')
      await done(polling)
      expect(await statusOf()).toBe('active')
    })

    test('a poll that began 25 s ago on another instance still counts as active', async () => {
      const { id, alex, bea } = await room(call)
      await parley().database.query(
        `update participants set last_seen_at = now() - interval '25 s', polling_until = now() + interval '5 s' where session_id = $1 and team_id = $2`,
        [id, bea.handle],
      )
      expect((await done(alex('list_participants'))).participants[1].status).toBe('active')
    })

    test('the number of teams still awaited follows expected_teams and is never below zero', async () => {
      const { alex, id } = await room(call, { expected_teams: 3 })
      expect(await done(alex('list_participants'))).toMatchObject({ expected_teams: 3, waiting_for: 1 })
      for (const name of ['Cleo', 'Dan']) await done(call('join_session', { session_id: id, team_name: name }))
      expect((await done(alex('list_participants'))).waiting_for).toBe(0)
    })
  })
})

import { describe, expect } from 'bun:test'
import { test } from '../support/foreign.ts'
import {
  cookieOf,
  done,
  feedOf,
  onOneEngine,
  refused,
  room,
  say,
  seat,
  throughBothDoors,
  viaRest,
  type Call,
  type Seat,
  type Served,
} from '../support/parley.ts'

const convenersOf = async (who: Seat) =>
  (await done(who('list_participants'))).participants.filter((row: any) => row.is_convener).map((row: any) => row.team_name)
const joined = async (call: Call, id: string, name: string) =>
  seat(call, await done(call('join_session', { session_id: id, team_name: name })))

/** Makes the team look as if it had not polled for so long. */
const silence = ({ database, services }: Served, id: string, who: Seat, seconds: number) => {
  services.presence.drain()
  services.presence.drain() // what is at rest is forgotten
  return database.query(
    `update participants set polling_until = null, last_seen_at = now() - make_interval(secs => $3) where session_id = $1 and team_id = $2`,
    [id, who.handle, seconds],
  )
}

/** Opens a session as Robin does on the page. */
const openedByRobin = async (parley: Served): Promise<{ id: string; robin: Call }> => {
  const person = await cookieOf(parley, { name: 'Robin', role: 'person' })
  const body = new URLSearchParams({ title: 'Shipping the parser', description: '', expected_teams: '2' })
  const answer = await parley.send('/sessions/new', { method: 'POST', body, headers: { cookie: person, accept: 'text/html' } })
  const id = answer.headers.get('location')!.split('=')[1]!
  return { id, robin: (name, input) => viaRest(parley)(name, { session_id: id, ...input }, { person }) }
}

throughBothDoors((call, parley) => {
  describe('a session that a person opened', () => {
    test('is convened by the first team that joins, as its answer, the roster and the session say', async () => {
      const { id, robin } = await openedByRobin(parley())
      expect((await done(robin('get_session'))).convener).toBeNull()
      const first = await done(call('join_session', { session_id: id, team_name: "Bea's Team" }))
      expect(first.is_convener).toBe(true)
      expect(first.participants).toMatchObject([{ team_name: "Bea's Team", is_self: true, is_convener: true }])
      const second = await done(call('join_session', { session_id: id, team_name: 'Cleo' }))
      expect(second.is_convener).toBe(false)
      expect(second.participants).toMatchObject([{ is_convener: true }, { is_self: true, is_convener: false }])
      const bea = seat(call, first)
      expect((await done(bea('get_session'))).convener).toEqual({ team_id: first.handle, team_name: "Bea's Team", left: false })
      expect((await done(bea('catch_up'))).you.is_convener).toBe(true)
      expect((await feedOf(bea)).map(({ event }) => event)).toEqual(['team_joined', 'team_joined'])
    })

    test('of 20 teams that join at once, through two instances, one convenes it', async () => {
      const { id } = await openedByRobin(parley())
      const beside = viaRest(await parley().beside({}))
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, n) => done((n % 2 ? beside : call)('join_session', { session_id: id, team_name: `Team ${n}` }))),
      )
      expect(answers.filter((answer) => answer.is_convener)).toHaveLength(1)
      expect(await convenersOf(seat(call, answers[0]))).toEqual(
        answers.filter((answer) => answer.is_convener).map((answer) => answer.team_name),
      )
    })

    test('a team that joins again with its token stays what it is, and a retry is told the same', async () => {
      const { id } = await openedByRobin(parley())
      const key = crypto.randomUUID()
      const first = await done(call('join_session', { session_id: id, team_name: 'Bea' }, { key }))
      const cleo = await joined(call, id, 'Cleo')
      const join = (team: string) => done(call('join_session', { session_id: id, team_name: 'Whoever' }, { team }))
      expect(await join(first.team_id)).toMatchObject({ handle: first.handle, is_convener: true })
      expect(await join(cleo.token)).toMatchObject({ handle: cleo.handle, is_convener: false })
      expect(await done(call('join_session', { session_id: id, team_name: 'Bea' }, { key }))).toEqual(first)
    })

    test('stays with it until a person names another, and is then the other’s', async () => {
      const { id, robin } = await openedByRobin(parley())
      const bea = await joined(call, id, 'Bea')
      const cleo = await joined(call, id, 'Cleo')
      await refused(cleo('transfer_convener', { to: cleo.handle }), 'forbidden')
      await done(robin('transfer_convener', { to: cleo.handle }))
      expect(await convenersOf(bea)).toEqual(['Cleo'])
      await joined(call, id, 'Dan')
      expect(await convenersOf(bea)).toEqual(['Cleo'])
    })

    test('whose convener has left is taken over by no newcomer, but by whoever says so', async () => {
      const { id } = await openedByRobin(parley())
      const bea = await joined(call, id, 'Bea')
      await done(bea('leave_session'))
      const cleo = await joined(call, id, 'Cleo')
      expect((await done(cleo('get_session'))).convener).toEqual({ team_id: bea.handle, team_name: 'Bea', left: true })
      await done(cleo('transfer_convener', { to: cleo.handle }))
      expect(await convenersOf(cleo)).toEqual(['Cleo'])
    })

    test('has no convener in a team that joined it closed, to read: the next one is, or whoever says so', async () => {
      const { id, robin } = await openedByRobin(parley())
      await done(robin('conclude_session', { summary_section: 'end' }))
      const reader = await done(call('join_session', { session_id: id, team_name: 'Bea' }))
      expect(reader).toMatchObject({ is_convener: false, session_closed: true })
      expect((await done(robin('get_session'))).convener).toBeNull()
      await done(robin('reopen_session', { reason: 'more' }))
      const again = await done(call('join_session', { session_id: id, team_name: 'Bea' }, { team: reader.team_id }))
      expect(again.is_convener).toBe(false)
      const bea = seat(call, reader)
      await done(bea('transfer_convener', { to: bea.handle }))
      expect(await convenersOf(bea)).toEqual(['Bea'])
    })

    test('a team’s own session is convened by that team, whoever joins', async () => {
      const { id, bea } = await room(call)
      expect(await done(call('join_session', { session_id: id, team_name: 'Cleo' }))).toMatchObject({ is_convener: false })
      expect(await convenersOf(bea)).toEqual(["Alex's Team"])
    })
  })

  describe('transfer_convener', () => {
    test('the convener hands over: roster, session and feed say so, to all alike', async () => {
      const { alex, bea } = await room(call)
      const { convener, at } = await done(alex('transfer_convener', { to: bea.handle }))
      expect(convener).toEqual({ team_id: bea.handle, team_name: "Bea's Team" })
      expect(await convenersOf(alex)).toEqual(["Bea's Team"])
      expect((await done(bea('get_session'))).convener).toEqual({ team_id: bea.handle, team_name: "Bea's Team", left: false })
      const last = (await feedOf(alex)).at(-1)
      expect(last).toEqual({
        id: expect.any(String),
        sequence: 2,
        type: 'system',
        event: 'convener_changed',
        team: "Bea's Team",
        team_id: bea.handle,
        by: "Alex's Team",
        at,
      })
      expect((await feedOf(bea)).at(-1)).toEqual(last)
    })

    test('who handed over is convener no more, and the new one may hand over again', async () => {
      const { alex, bea } = await room(call)
      await done(alex('transfer_convener', { to: bea.handle }))
      await refused(alex('transfer_convener', { to: alex.handle }), 'forbidden')
      for (const to of [bea.handle, "Bea's Team"])
        expect((await refused(alex('transfer_convener', { to }), 'conflict')).message).toContain('is already the convener')
      await done(bea('transfer_convener', { to: alex.handle }))
      expect(await convenersOf(bea)).toEqual(["Alex's Team"])
    })

    test('another team may not while the convener is here, even when it is silent for some minutes', async () => {
      const { id, alex, bea } = await room(call)
      const here = await refused(bea('transfer_convener', { to: bea.handle }), 'forbidden')
      expect(here.message).toContain('is still here')
      await silence(parley(), id, alex, 300)
      const away = await refused(bea('transfer_convener', { to: bea.handle }), 'forbidden')
      const { participants } = await done(bea('list_participants'))
      expect(participants[0]).toMatchObject({ team_name: "Alex's Team", status: 'disconnected' })
      for (const word of [`last polled at ${participants[0].last_seen_at}`, 'for 600 s']) expect(away.message).toContain(word)
      expect(await convenersOf(bea)).toEqual(["Alex's Team"])
    })

    test('any team may once the convener has left, or has not been seen for ten minutes', async () => {
      const gone = await room(call)
      await done(gone.alex('leave_session'))
      await done(gone.bea('transfer_convener', { to: gone.bea.handle }))
      expect(await convenersOf(gone.bea)).toEqual(["Bea's Team"])
      const silent = await room(call)
      await silence(parley(), silent.id, silent.alex, 601)
      await done(silent.bea('transfer_convener', { to: silent.bea.handle }))
      expect(await convenersOf(silent.bea)).toEqual(["Bea's Team"])
    })

    test('no team may while the convener says something now and then, though it does not poll', async () => {
      const { id, alex, bea } = await room(call)
      await say(alex, 'I am at work.')
      await silence(parley(), id, alex, 601)
      await refused(bea('transfer_convener', { to: bea.handle }), 'forbidden')
    })

    test('of 20 takeovers at once one wins, and the feed tells of one', async () => {
      const { id, alex, bea } = await room(call)
      const teams = [bea, ...(await Promise.all(Array.from({ length: 9 }, (_, i) => joined(call, id, `Team ${i}`))))]
      await done(alex('leave_session'))
      const answers = await Promise.all([...teams, ...teams].map((team) => team('transfer_convener', { to: team.handle })))
      const won = answers.filter(({ ok }) => ok)
      expect(won).toHaveLength(1)
      // The winner's second call names the convener itself; all other calls are refused because the new convener is present.
      expect(new Set(answers.filter(({ ok }) => !ok).map(({ body }) => body.code))).toEqual(new Set(['forbidden', 'conflict']))
      expect((await feedOf(bea)).filter(({ event }) => event === 'convener_changed')).toHaveLength(1)
      expect(await convenersOf(bea)).toEqual([won[0]!.body.convener.team_name])
    })

    test('only to a team that is present in this session, and not to the convener itself', async () => {
      const { id, alex } = await room(call)
      const other = await room(call)
      const cleo = await joined(call, id, 'Cleo')
      await done(cleo('leave_session'))
      for (const to of [cleo.handle, 'Cleo', other.bea.handle, 'nobody']) await refused(alex('transfer_convener', { to }), 'not_found')
      await refused(alex('transfer_convener', { to: alex.handle }), 'conflict')
      expect(await convenersOf(alex)).toEqual(["Alex's Team"])
    })

    test('not in a session that is concluded', async () => {
      const { alex, bea } = await room(call)
      await done(alex('conclude_session', { summary_section: 'end' }))
      await refused(alex('transfer_convener', { to: bea.handle }), 'session_closed')
    })
  })
})

onOneEngine((parley) => {
  test('CONVENER_ONLY cannot lock a room whose convener has left', async () => {
    const strict = await parley().beside({ CONVENER_ONLY: 'both' })
    const { alex, bea } = await room(viaRest(strict))
    await done(alex('leave_session'))
    await refused(bea('conclude_session', { summary_section: 'x' }), 'forbidden')
    await done(bea('transfer_convener', { to: bea.handle }))
    await done(bea('conclude_session', { summary_section: 'x' }))
    await done(bea('reopen_session', { reason: 'the new convener may' }))
  })

  test('a person names the convener at any time', async () => {
    const call = viaRest(parley())
    const person = await cookieOf(parley(), { name: 'Robin', role: 'person' })
    const { alex, bea, id } = await room(call)
    await done(call('transfer_convener', { session_id: id, to: bea.handle }, { person }))
    expect((await feedOf(alex)).at(-1)).toMatchObject({ event: 'convener_changed', team: "Bea's Team", by: 'Robin' })
  })
})

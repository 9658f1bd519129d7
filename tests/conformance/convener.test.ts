import { describe, expect } from 'bun:test'
import { test } from '../support/foreign.ts'
import {
  cookieOf,
  done,
  feedOf,
  onEveryEngine,
  refused,
  room,
  say,
  seat,
  throughEveryDoor,
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

throughEveryDoor((call, parley) => {
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
      await done(bea('transfer_convener', { to: alex.handle }))
      expect(await convenersOf(bea)).toEqual(["Alex's Team"])
    })

    test('another team may not while the convener is here, even when it is silent for some minutes', async () => {
      const { id, alex, bea } = await room(call)
      await refused(bea('transfer_convener', { to: bea.handle }), 'forbidden')
      await silence(parley(), id, alex, 300)
      await refused(bea('transfer_convener', { to: bea.handle }), 'forbidden')
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

onEveryEngine((parley) => {
  test('CONVENER_ONLY cannot lock a room whose convener has left', async () => {
    const strict = await parley().beside({ CONVENER_ONLY: 'both' })
    const { alex, bea } = await room(viaRest(strict))
    await done(alex('leave_session'))
    await refused(bea('conclude_session', { summary_section: 'x' }), 'forbidden')
    await done(bea('transfer_convener', { to: bea.handle }))
    await done(bea('conclude_session', { summary_section: 'x' }))
    await done(bea('reopen_session', { reason: 'the new convener may' }))
  })

  test('a person names the convener at any time, and of a session that a person opened only a person', async () => {
    const call = viaRest(parley())
    const person = await cookieOf(parley(), { name: 'Robin', role: 'person' })
    const { alex, bea, id } = await room(call)
    await done(call('transfer_convener', { session_id: id, to: bea.handle }, { person }))
    expect((await feedOf(alex)).at(-1)).toMatchObject({ event: 'convener_changed', team: "Bea's Team", by: 'Robin' })
    const { id: opened } = await room(call)
    await parley().database.query('update sessions set created_by_team_id = null, convener_team_id = null where id = $1', [opened])
    const cleo = await joined(call, opened, 'Cleo')
    expect((await done(cleo('get_session'))).convener).toBeNull()
    await refused(cleo('transfer_convener', { to: cleo.handle }), 'forbidden')
    await done(call('transfer_convener', { session_id: opened, to: cleo.handle }, { person }))
    expect((await done(cleo('get_session'))).convener).toMatchObject({ team_name: 'Cleo', left: false })
  })
})

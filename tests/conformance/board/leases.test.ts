// How long a claim holds: as long as its team is at work, and to the same moment for every reader. And how long what a team owns is left to it.
import { describe, expect, test } from 'bun:test'
import { lapsedJob } from '../../../src/board/leases.ts'
import { board } from '../../../src/board/toolset.ts'
import { claim, itemOf, plan, silentFor, threeTeams, update, workEvents } from '../../support/board-scene.ts'
import { personAt } from '../../support/records-scene.ts'
import { controlScene } from '../../support/control-scene.ts'
import { bearer, keyOf } from '../../support/keys.ts'
import { done, NEVER_MS, onOneEngine, refused, room, say, seat, soon, viaRest, type Seat } from '../../support/parley.ts'
import { renewClaims } from '../../../src/stores/records/leases.ts'

const LEASE_S = 1_800
const released = (events: Record<string, any>[]) => events.filter(({ event }) => event === 'work_released')

// Nothing writes down that a lease is over, unless somebody calls.
onOneEngine(
  (parley) => {
    const scene = async () => {
      const call = viaRest(parley())
      const teams = await threeTeams(call)
      const [item] = await plan(teams.alex, ['Write the lexer'])
      await claim(teams.bea, item)
      const ago = (seconds: number) => silentFor(parley(), teams.id, teams.bea, seconds)
      return { ...teams, item, ago, expiry: async () => Date.parse((await itemOf(teams.alex, item)).claim_expires_at) }
    }

    test('a claim ends LEASE after its team was last seen, for every reader, written down or not', async () => {
      const { id, alex, bea, item, ago } = await scene()
      expect(await itemOf(alex, item)).toMatchObject({ status: 'claimed', ready: false })
      await ago(LEASE_S - 60)
      expect(await itemOf(alex, item)).toMatchObject({ status: 'claimed' })
      await ago(LEASE_S)
      const open = { status: 'open', ready: true, claimed_by: null, claim_expires_at: null }
      const { items, counts } = await done(alex('list_work'))
      expect([items[0], await itemOf(alex, item)]).toMatchObject([open, open])
      expect(counts).toEqual({ open: 1, ready: 1, claimed: 0, done: 0, dropped: 0 })
      expect((await done(alex('list_participants'))).participants.flatMap(({ holds }: any) => holds)).toEqual([])
      expect((await done(alex('catch_up'))).work).toMatchObject({ mine: [], ready: [{ item_id: item.item_id }] })
      expect(released(await workEvents(parley(), id))).toEqual([])
      expect(bea.handle).toBeString()
    })

    test('whoever claims next has it, the session is told once, and the former holder learns who has it now', async () => {
      const { id, alex, bea, item, ago } = await scene()
      await ago(LEASE_S + 1)
      const nobody = await refused(bea('update_work', { item_id: item.item_id, status: 'done' }), 'conflict')
      expect(nobody.details).toMatchObject({ status: 'open', claimed_by: null })
      await claim(alex, item)
      const now = await refused(bea('update_work', { item_id: item.item_id, status: 'done' }), 'conflict')
      expect(now.details).toMatchObject({ status: 'claimed', claimed_by: { team_id: alex.handle, team_name: alex.team } })
      expect((await workEvents(parley(), id)).map(({ event, reason }) => [event, reason])).toEqual([
        ['work_planned', undefined],
        ['work_claimed', undefined],
        ['work_released', 'lease_expired'],
        ['work_claimed', undefined],
      ])
      expect(released(await workEvents(parley(), id))[0]).toMatchObject({ team: bea.team, team_id: bea.handle, by: null, note: null })
    })

    test('who held it hears of it too where its own call is the first that finds it over', async () => {
      const { bea, item, ago } = await scene()
      const { next_cursor: since_cursor } = await done(bea('wait_for_messages', { timeout: 0 }))
      await ago(LEASE_S + 1)
      await claim(bea, item)
      const { messages } = await done(bea('wait_for_messages', { since_cursor, timeout: 0, only: 'others' }))
      expect(messages).toMatchObject([{ event: 'work_released', reason: 'lease_expired' }])
    })

    test('the claim of an agent holds for as long as its task runs, whether it calls or not', async () => {
      const { runner, session_id, key, start } = await controlScene(parley())
      const agent = { headers: bearer(await keyOf(parley(), 'agent', session_id)) }
      const call = viaRest(parley())
      const { items } = await done(call('plan_work', { session_id, items: [{ title: 'Write the lexer' }], claim: true }, agent))
      const { team_id } = items[0].claimed_by
      const expiry = async () => {
        const { items: now } = await done(call('list_work', { session_id }, { headers: bearer(key) }))
        return Date.parse(now[0].claim_expires_at)
      }
      const renewed = async () => {
        await silentFor(parley(), session_id, { handle: team_id } as Seat, LEASE_S - 60)
        const before = await expiry()
        await renewClaims(parley().database, '{}', LEASE_S)
        return (await expiry()) - before > 60_000
      }
      expect(await renewed()).toBe(false)
      const { task_id } = await start()
      await runner.takeOne()
      expect(await renewed()).toBe(true)
      await runner.finish(task_id, 'Done.')
      expect(await renewed()).toBe(false)
    })

    test('what is over stays over: being seen again does not bring it back', async () => {
      const { alex, bea, item, ago } = await scene()
      await ago(LEASE_S + 1)
      await done(bea('wait_for_messages', { timeout: 0 }))
      await soon('presence is written', () => parley().services.presence.of(bea.handle) === undefined)
      await done(bea('get_session'))
      await soon('claims are renewed', () => parley().services.calledTeams.size === 0)
      expect(await itemOf(alex, item)).toMatchObject({ status: 'open', claimed_by: null })
      expect(await claim(bea, item)).toMatchObject({ status: 'claimed' })
    })

    test('a wait is a sign of work, and so is any other call; a held peek is none', async () => {
      const { bea, item, ago, expiry } = await scene()
      await ago(1_000)
      const before = await expiry()
      await done(bea('peek', { timeout: 1 }))
      await soon('the peek is written', () => parley().services.presence.of(bea.handle) === undefined)
      expect(await expiry()).toBe(before)
      await done(bea('get_session'))
      await soon('the call renews it', async () => (await expiry()) > before + 900_000)
      await ago(60)
      const lately = await expiry()
      await done(bea('get_session'))
      await soon('a call soon after it renews it too', async () => (await expiry()) > lately + 50_000)
      await ago(1_000)
      const again = await expiry()
      await done(bea('wait_for_messages', { timeout: 0 }))
      await soon('the wait renews it', async () => (await expiry()) > again + 900_000)
      expect(item.item_id).toBeString()
    })

    test('nothing is written for a poll beyond what presence writes', async () => {
      const { bea, item } = await scene()
      const [before] = await parley().database.query('select claim_renewed_at, updated_at from items where id = $1', [item.item_id])
      for (let n = 0; n < 5; n++) await done(bea('wait_for_messages', { timeout: 0 }))
      await soon('presence is written', () => parley().services.presence.of(bea.handle) === undefined)
      expect(await parley().database.query('select claim_renewed_at, updated_at from items where id = $1', [item.item_id])).toEqual([
        before,
      ])
    })

    test('a team that leaves gives all back at once', async () => {
      const { id, alex, bea, item } = await scene()
      const [more] = await plan(bea, ['Another item'], { claim: true })
      await done(bea('leave_session'))
      expect(await itemOf(alex, item)).toMatchObject({ status: 'open', ready: true })
      const events = released(await workEvents(parley(), id))
      expect(events.map(({ item_id, reason, by }) => [item_id, reason, by]).toSorted()).toEqual(
        [item, more].map(({ item_id }) => [item_id, 'left', bea.team]).toSorted(),
      )
      expect(await update(alex, item, { status: 'done' })).toMatchObject({ status: 'done' })
    })

    describe('what a team owns is left to it', () => {
      const longAgo = (id: string) => parley().database.query(`update events set at = at - interval '1 hour' where session_id = $1`, [id])

      /** Bea's Team owns an item, and was neither seen nor heard for longer than a lease. `got`: what Cleo's Team is given. */
      const owned = async () => {
        const teams = await threeTeams(viaRest(parley()))
        await plan(teams.alex, [{ title: 'Of Bea', owner: teams.bea.handle }])
        await silentFor(parley(), teams.id, teams.bea, LEASE_S + 1)
        await longAgo(teams.id)
        return { ...teams, got: async () => (await claim(teams.cleo))?.title }
      }

      test('while it is asleep, and for a lease after that', async () => {
        const { id, bea, got } = await owned()
        await done(bea('peek', { timeout: 1 }))
        await soon('the peek is written', () => parley().services.presence.of(bea.handle) === undefined)
        expect(await got()).toBeUndefined()
        const past = `slept_at - ${LEASE_S + 1} * interval '1 second'`
        await parley().database.query(`update participants set slept_at = ${past}, sleeping_until = null where session_id = $1`, [id])
        expect(await got()).toBe('Of Bea')
      })

      test('while it writes, and while its calls renew a claim, though it never waits', async () => {
        const { id, bea, got } = await owned()
        await say(bea, 'I am at it.')
        expect(await got()).toBeUndefined()
        const [other] = await plan(bea, ['Another item'], { claim: true })
        await longAgo(id)
        expect(await got()).toBeUndefined()
        await update(bea, other, { status: 'open' })
        await longAgo(id)
        expect(await got()).toBe('Of Bea')
      })

      test('while a task of the agent runs, and while its runner is there', async () => {
        const { runner, session_id, start } = await controlScene(parley())
        const call = viaRest(parley())
        const cleo = seat(call, await done(call('join_session', { session_id, team_name: "Cleo's Team" })))
        await plan(cleo, [{ title: 'Of the agent', owner: 'Claude Code' }])
        const { database } = parley()
        const [agent] = await database.query<{ team_id: string }>('select team_id from agents where session_id = $1', [session_id])
        const silent = async () => {
          await silentFor(parley(), session_id, { handle: agent!.team_id } as Seat, LEASE_S + 1)
          await longAgo(session_id)
        }
        const runnerGone = () => database.query(`update runners set seen_at = seen_at - interval '1 hour' where id = $1`, [runner.id])
        await silent()
        expect(await claim(cleo)).toBeNull()
        const { task_id } = await start()
        await runner.takeOne()
        await silent()
        await runnerGone()
        expect(await claim(cleo)).toBeNull()
        await runner.finish(task_id, 'Done.')
        await silent()
        await runnerGone()
        expect(await claim(cleo)).toMatchObject({ title: 'Of the agent' })
      })
    })

    test('what a team gives back by leaving a concluded session is told once, when that is open again', async () => {
      const { id, alex, bea, item } = await scene()
      const [more] = await plan(bea, ['Another item'], { claim: true })
      const conclude = () => done(alex('conclude_session', { summary_section: 'Enough.' }))
      const reopen = () => done(alex('reopen_session', { reason: 'There is more.' }))
      await conclude()
      await done(bea('leave_session'))
      expect(await itemOf(alex, item)).toMatchObject({ status: 'open', claimed_by: null })
      expect(released(await workEvents(parley(), id))).toEqual([])
      const nora = await personAt(parley())
      await done(nora('control.manage_session', { session_id: id, action: 'delete' }))
      await done(nora('control.manage_session', { session_id: id, action: 'start' }))
      expect(released(await workEvents(parley(), id))).toEqual([]) // it is concluded still
      await reopen()
      const events = released(await workEvents(parley(), id))
      expect(events.map(({ item_id, reason, by, team_id }) => [item_id, reason, by, team_id])).toEqual(
        [item, more].map(({ item_id }) => [item_id, 'left', bea.team, bea.handle]),
      )
      await conclude()
      await reopen()
      expect(released(await workEvents(parley(), id))).toHaveLength(2)
    })
  },
  {},
  { jobs: board.jobs!, intervals: { 'claim-leases': NEVER_MS, presence: 50, 'claim-renewals': 50 } },
)

describe('silence in which nobody could call ends no claim', () => {
  onOneEngine(
    (parley) => {
      test('after a start, as after a pause; one in a concluded session stays over', async () => {
        const call = viaRest(parley())
        const { id, alex, bea } = await room(call)
        const closed = await room(call)
        const [item] = await plan(alex, ['Write the lexer'])
        const [left] = await plan(closed.alex, ['Never finished'])
        await claim(bea, item)
        await claim(closed.bea, left)
        await done(closed.alex('conclude_session', { summary_section: 'Enough.' }))
        const asleep = async () => {
          await silentFor(parley(), id, bea, LEASE_S + 1)
          await silentFor(parley(), closed.id, closed.bea, LEASE_S + 1)
          await done(bea('wait_for_messages', { timeout: 0 })) // it is back before the server has looked
          await soon('presence is written', () => parley().services.presence.of(bea.handle) === undefined)
        }
        const look = lapsedJob(parley().services)
        await soon('it is alone', () => !parley().services.mayHavePeers())
        await asleep()
        await look.run()
        const { claim_expires_at, ...rest } = await itemOf(alex, item)
        expect(rest).toMatchObject({ status: 'claimed', claimed_by: { team_id: bea.handle } })
        expect(Date.parse(claim_expires_at)).toBeGreaterThan(Date.now() + (LEASE_S - 60) * 1_000)
        expect(await itemOf(closed.alex, left)).toMatchObject({ status: 'open' })
        await asleep()
        await look.run()
        expect(await itemOf(alex, item)).toMatchObject({ status: 'open' })
        expect(released(await workEvents(parley(), id))).toHaveLength(1)
      })
    },
    {},
    { jobs: board.jobs!, intervals: { 'claim-leases': NEVER_MS, presence: 50, 'claim-renewals': NEVER_MS } },
  )
})

describe('the session is told by itself', () => {
  onOneEngine(
    (parley) => {
      test('once, within 5 s, whichever instance comes first; in a concluded session nothing is written', async () => {
        const call = viaRest(parley())
        const { id, alex, bea } = await room(call)
        const closed = await room(call)
        const other = await parley().beside({})
        await using _ = { [Symbol.asyncDispose]: other.close }
        const [item] = await plan(alex, ['Write the lexer'])
        const [left] = await plan(closed.alex, ['Never finished'])
        await claim(bea, item)
        await claim(closed.bea, left)
        await done(closed.alex('conclude_session', { summary_section: 'Enough.' }))
        await silentFor(parley(), closed.id, closed.bea, LEASE_S + 1)
        await silentFor(parley(), id, bea, LEASE_S + 1)
        await soon('it is told', async () => released(await workEvents(parley(), id)).length > 0)
        for (const { services } of [parley(), other]) await lapsedJob(services).run() // each looks once more
        expect(lapsedJob(parley().services).everyMs).toBeLessThan(5_000)
        expect(released(await workEvents(parley(), id))).toMatchObject([{ type: 'system', reason: 'lease_expired', item_id: item.item_id }])
        expect(released(await workEvents(parley(), closed.id))).toEqual([])
        expect(await itemOf(closed.alex, left)).toMatchObject({ status: 'open' })
        await done(closed.alex('reopen_session', { reason: 'There is more.' }))
        const event = { type: 'system', reason: 'lease_expired', item_id: left.item_id, by: null, team: closed.bea.team }
        expect(released(await workEvents(parley(), closed.id))).toMatchObject([event])
      })
    },
    {},
    { jobs: board.jobs!, intervals: { 'claim-leases': 100 } },
  )
})

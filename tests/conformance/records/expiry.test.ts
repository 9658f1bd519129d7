// A proposal that nobody decided in time: expired by the database's clock, for everybody at once, whether or not that is written down.
import { describe, expect, test } from 'bun:test'
import { expiryJob } from '../../../src/records/expiry.ts'
import { done, onOneEngine, refused, soon, viaRest, type Parley } from '../../support/parley.ts'
import { ACTION, DECISION, recordsScene } from '../../support/records-scene.ts'

const sceneAt = async (parley: Parley) => {
  const scene = await recordsScene(viaRest(parley), parley)
  const { id: proposal_id } = await done(scene.alex('propose_action_item', ACTION))
  /** As if its time had run out by now. */
  const overdue = async (id: string = proposal_id) =>
    void (await parley.database.query(`update proposals set expires_at = clock_timestamp() - interval '1 second' where id = $1`, [id]))
  const kinds = async () => (await scene.told()).map(({ event }) => event)
  return { ...scene, proposal_id: proposal_id as string, overdue, kinds }
}

// No sweep runs here.
onOneEngine((parley) => {
  const scene = () => sceneAt(parley())

  describe('overdue, and not written down yet', () => {
    test('it is expired for every reader, and waits nowhere [E18]', async () => {
      const { id: meeting_id, alex, nora, proposal, proposal_id, overdue, kinds, seats } = await scene()
      await overdue()
      const row = await proposal(proposal_id)
      expect(row).toMatchObject({ status: 'expired', resolved_by: null, resolved_at: row.expires_at })
      const ids = async (status?: string) =>
        (await done(nora('records.list_approvals', { meeting_id, status }))).proposals.map(({ id }: { id: string }) => id)
      expect([await ids(), await ids('pending'), await ids('expired')]).toEqual([[], [], [proposal_id]])
      expect((await done(alex('get_proposals', { proposal_id }))).proposals).toMatchObject([{ status: 'expired' }])
      expect((await done(seats.alex('catch_up'))).proposals).toMatchObject([
        { id: proposal_id, status: 'expired', resolved_at: row.expires_at },
      ])
      expect(await kinds()).toEqual(['proposal_made'])
    })

    test('it can be neither approved, rejected nor cancelled [E18]', async () => {
      const { alex, nora, proposal, proposal_id, overdue, resolve, kinds } = await scene()
      await overdue()
      const { expires_at } = await proposal(proposal_id)
      const late = [resolve(proposal_id), resolve(proposal_id, { action: 'reject' }), nora('records.cancel_approval', { proposal_id })]
      for (const pending of [...late, alex('cancel_proposal', { proposal_id })]) {
        const { message, details } = await refused(pending, 'conflict')
        expect(details).toEqual({ status: 'expired', resolved_by: null, resolved_at: expires_at })
        expect(message).toContain('nobody decided in time')
      }
      expect(await kinds()).toEqual(['proposal_made'])
    })

    test('the next proposal of its session writes that down first, and may have its title [E18]', async () => {
      const { bea, proposal, proposal_id, overdue, told, seats } = await scene()
      await overdue()
      await done(bea('propose_action_item', ACTION))
      const [, expired, made] = await told()
      expect(expired).toMatchObject({ event: 'proposal_expired', proposal_id, title: ACTION.title, to: [seats.alex.handle] })
      expect(made).toMatchObject({ event: 'proposal_made' })
      expect(await proposal(proposal_id)).toMatchObject({ status: 'expired', resolved_at: expired.expires_at })
    })

    test('and its own team, which makes that next proposal, hears of it as of any outcome [E18]', async () => {
      const { alex, proposal_id, overdue, seats } = await scene()
      const { next_cursor: since_cursor } = await done(seats.alex('wait_for_messages', { timeout: 0 }))
      await overdue()
      await done(alex('propose_action_item', { title: 'Another one' }))
      const { messages } = await done(seats.alex('wait_for_messages', { since_cursor, timeout: 0, only: 'addressed' }))
      expect(messages).toMatchObject([{ event: 'proposal_expired', proposal_id }])
      expect(await done(seats.alex('peek', { after: since_cursor }))).toMatchObject({ addressed: 1 })
    })

    test('a decision on another one of its session does so too [E18]', async () => {
      const { alex, overdue, resolve, kinds } = await scene()
      const other = (await done(alex('propose_decision', DECISION))).id
      await overdue()
      await done(resolve(other))
      expect(await kinds()).toEqual(['proposal_made', 'proposal_made', 'proposal_expired', 'proposal_approved'])
    })

    test('to replace it cancels nothing [E18]', async () => {
      const { alex, proposal, proposal_id, overdue, kinds } = await scene()
      await overdue()
      await done(alex('propose_action_item', { ...ACTION, replaces: proposal_id }))
      expect(await proposal(proposal_id)).toMatchObject({ status: 'expired' })
      expect(await kinds()).toEqual(['proposal_made', 'proposal_expired', 'proposal_made'])
    })
  })

  describe('brought back by a person [E18]', () => {
    test('it waits for the full time again, under the same id, and can be approved', async () => {
      const { id, proposal_id, proposal, nora, overdue, resolve, told, seats } = await scene()
      await overdue()
      const { proposal: row } = await done(nora('records.renew_approval', { proposal_id }))
      expect(row).toEqual(await proposal(proposal_id))
      expect(row).toMatchObject({ id: proposal_id, status: 'pending', resolved_at: null })
      const [{ left }] = await parley().database.query<any>(
        'select extract(epoch from expires_at - clock_timestamp())::int as left from proposals where session_id = $1',
        [id],
      )
      expect(left).toBeWithin(86_300, 86_401)
      expect((await told()).slice(1)).toMatchObject([
        { event: 'proposal_expired', to: [seats.alex.handle] },
        { event: 'proposal_renewed', by: 'Nora', expires_at: row.expires_at, to: [seats.alex.handle] },
      ])
      await done(resolve(proposal_id))
    })

    test('in a closed session too', async () => {
      const { proposal_id, nora, overdue, resolve, seats, kinds } = await scene()
      await done(seats.alex('conclude_session', { summary_section: 'Done.' }))
      await overdue()
      await done(nora('records.renew_approval', { proposal_id }))
      await done(resolve(proposal_id))
      expect(await kinds()).toEqual(['proposal_made', 'proposal_expired', 'proposal_renewed', 'proposal_approved'])
    })

    test('not beside another one of its title', async () => {
      const { proposal_id, alex, nora, overdue } = await scene()
      await overdue()
      const again = (await done(alex('propose_action_item', ACTION))).id
      const { details } = await refused(nora('records.renew_approval', { proposal_id }), 'conflict')
      expect(details).toEqual({ proposal_id: again })
    })

    test('not while it waits', async () => {
      const { proposal_id, nora } = await scene()
      const { message, details } = await refused(nora('records.renew_approval', { proposal_id }), 'conflict')
      expect(details).toEqual({ status: 'pending', resolved_by: null, resolved_at: null })
      expect(message).toContain('still waits')
    })
  })
})

// Two instances sweep.
onOneEngine(
  (parley) => {
    test('the event comes within 5 s, once, to whoever proposed, in a closed session too [E18]', async () => {
      const other = await parley().beside({})
      const open = await sceneAt(parley())
      const closed = await sceneAt(parley())
      await done(closed.seats.bea('conclude_session', { summary_section: 'Done.' }))
      const waiting = open.seats.alex('wait_for_messages', { since_cursor: 2, timeout: 20, only: 'addressed' })
      await Promise.all([open.overdue(), closed.overdue()])
      expect((await done(waiting)).messages).toMatchObject([{ event: 'proposal_expired', proposal_id: open.proposal_id }])
      await soon('the closed session has it', async () => (await closed.kinds()).includes('proposal_expired'))
      for (const job of [expiryJob(parley().services), expiryJob(other.services)]) await job.run()
      for (const { kinds } of [open, closed])
        expect((await kinds()).filter((kind) => kind === 'proposal_expired')).toEqual(['proposal_expired'])
      expect(expiryJob(parley().services).everyMs).toBeLessThan(5_000)
    })

    test('a proposal that just runs out is refused from that moment on [E18]', async () => {
      const brief = await parley().beside({ PROPOSAL_EXPIRES_AFTER: '1' })
      const { alex, resolve, proposal } = await recordsScene(viaRest(brief), brief as Parley)
      const { id } = await done(alex('propose_action_item', ACTION))
      await soon('it is expired', async () => (await proposal(id)).status === 'expired')
      const { details } = await refused(resolve(id), 'conflict')
      expect(details.status).toBe('expired')
      const { created_at, expires_at } = await proposal(id)
      expect(Date.parse(expires_at) - Date.parse(created_at)).toBe(1_000)
    })
  },
  {},
  { jobs: (services) => [expiryJob(services)], intervals: { 'proposals-expiry': 100, sweep: 50 } }, // which alone lets instances on the embedded database hear each other
)

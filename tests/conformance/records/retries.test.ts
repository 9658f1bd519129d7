// Writes of records with an idempotency key: applied once, however often they are sent.
import { describe, expect } from 'bun:test'
import { test } from '../../support/foreign.ts'
import { done, operations, refused, throughBothDoors, viaRest, type As } from '../../support/parley.ts'
import { ACTION, DECISION, personAt, recordsScene } from '../../support/records-scene.ts'

type Input = Record<string, unknown>

/** Ids of a session's pending, expired and approved proposals. */
interface Place {
  pending: string
  expired: string
  record: string
}

interface Sample {
  input(place: Place): Input
  /** What another body for the same operation has; without it, another operation about the same proposal is what the key is sent with. */
  other?: Input
  person?: boolean
}

const SAMPLES: Record<string, Sample> = {
  propose_action_item: { input: () => ({ ...ACTION }), other: { title: 'Another title' } },
  propose_decision: { input: () => ({ ...DECISION }), other: { rationale: 'Because.' } },
  cancel_proposal: { input: ({ pending }) => ({ proposal_id: pending }) },
  cancel_approval: { person: true, input: ({ pending }) => ({ proposal_id: pending }) },
  resolve_approval: { person: true, input: ({ pending }) => ({ proposal_id: pending, action: 'approve' }), other: { action: 'reject' } },
  renew_approval: { person: true, input: ({ expired }) => ({ proposal_id: expired }) },
  withdraw_record: { person: true, input: ({ record }) => ({ record_id: record, reason: 'No.' }), other: { reason: 'Never.' } },
}
const WRITING = operations.filter(({ effect, toolset }) => effect !== 'read' && toolset === 'records')

test('every operation of records that writes stands in this table', () => {
  expect(WRITING.map(({ name }) => name).filter((name) => !(name in SAMPLES))).toEqual([])
})

throughBothDoors((call, parley, transport) => {
  const begin = async (name: string) => {
    const { id, alex, resolve, seats } = await recordsScene(call, parley())
    const proposed = async (title: string) => (await done(alex('propose_decision', { ...DECISION, title }))).id as string
    const expired = await proposed('Nobody came')
    await parley().database.query(`update proposals set status = 'expired', expires_at = now(), resolved_at = now() where id = $1`, [
      expired,
    ])
    const approved = await done(resolve(await proposed('Approved before')))
    const { input, other, person } = SAMPLES[name]!
    const given = input({ pending: await proposed('It waits'), expired, record: approved.proposal.record_id })
    const key = crypto.randomUUID()
    const nora = await personAt(parley())
    const as: As = { key }
    const send = (more: Input = {}, operation = name) =>
      person ? nora(`records.${operation}`, { ...given, ...more }, as) : alex(operation, { ...given, ...more }, as)
    const counts = () =>
      parley().database.query(
        `select (select count(*) from events where session_id = $1) as e, (select count(*) from proposals where session_id = $1) as p,
          (select count(*) from decisions where session_id = $1) as d, (select count(*) from items where session_id = $1) as i,
          (select version from session_docs where session_id = $1) as v`,
        [id],
      )
    return { send, other, counts, seats }
  }
  const reachable = WRITING.filter(({ restOnly }) => transport === 'REST' || !restOnly).map(({ name }) => name)

  describe.each(reachable)('%s', (name) => {
    test('sent again, it gives the same answer and does nothing, also after its session is concluded and its team has left', async () => {
      const { send, counts, seats } = await begin(name)
      const [before] = (await counts()) as any[]
      const [first, ...others] = await Promise.all([send(), send(), send()])
      expect(first!.ok, JSON.stringify(first!.body)).toBe(true)
      for (const other of others) expect(other.body).toEqual(first!.body)
      const [after] = (await counts()) as any[]
      expect(Number(after.e) - Number(before.e)).toBe(1)
      await done(seats.alex('conclude_session', { summary_section: 'Done.' }))
      await done(seats.alex('leave_session'))
      const ended = await counts()
      expect(JSON.stringify((await send()).body)).toBe(JSON.stringify(first!.body)) // its fields in the same order, too
      expect(await counts()).toEqual(ended)
    })

    test('with another body it is refused, and nothing is done', async () => {
      const { send, other, counts } = await begin(name)
      await done(send())
      const before = await counts()
      if (other) await refused(send(other), 'idempotency_mismatch')
      else if (name !== 'cancel_proposal') await refused(send({ action: 'approve' }, 'resolve_approval'), 'idempotency_mismatch')
      else if (transport === 'REST') await refused(send({}, 'cancel_approval'), 'idempotency_mismatch')
      expect(await counts()).toEqual(before)
    })

    test('a refusal is not kept: the same key may try again', async () => {
      const { send } = await begin(name)
      await refused(send({ unheard_of: 1 }), 'invalid_request')
      await done(send())
    })
  })

  if (transport === 'REST')
    test('one key of two people means two things', async () => {
      const { alex, told } = await recordsScene(call, parley())
      const { id } = await done(alex('propose_action_item', ACTION))
      const [nora, omar] = [await personAt(parley()), await personAt(parley(), 'Omar')]
      const approve = { proposal_id: id, action: 'approve' }
      await done(nora('records.resolve_approval', approve, { key: 'mine' }))
      await refused(omar('records.resolve_approval', approve, { key: 'mine' }), 'conflict')
      expect(await told()).toHaveLength(2)
      expect((await viaRest(parley())('records.resolve_approval', approve, { key: 'mine' })).body.code).toBe('unauthorized')
    })
})

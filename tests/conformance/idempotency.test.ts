import { describe, expect } from 'bun:test'
import { test } from '../support/foreign.ts'
import { FULL } from '../support/full.ts'
import {
  cookieOf,
  done,
  feedOf,
  onEveryEngine,
  operationNamed,
  operations,
  refused,
  restRequest,
  room,
  say,
  seat,
  throughEveryDoor,
  viaRest,
  type Answer,
} from '../support/parley.ts'

interface Sample {
  input: Record<string, unknown>
  other?: Record<string, unknown> // another body for the same operation
  closedFirst?: boolean
  person?: boolean // only a signed-in person may
}

const AT_ONCE = FULL ? 50 : 20 // equal requests

// A busy machine may not answer all of them in time: a client sends such a call again, with the same key.
const untilAvailable = async (send: () => Promise<Answer>): Promise<Answer> => {
  for (let tried = 1; ; tried++) {
    const answer = await send()
    if (answer.ok || answer.body.code !== 'unavailable' || tried === 5) return answer
  }
}

const BEA = "the handle of Bea's Team"
const INVITATION = 'an invitation to the session'
const ITEM = 'an item of its board'

const samples: Record<string, Sample> = {
  create_session: {
    input: { title: 'Kept', description: 'd', creator_team_name: 'Cleo' },
    other: { title: 'Other', description: 'd', creator_team_name: 'Cleo' },
  },
  join_session: { input: { team_name: 'Cleo', replay_from: 0 }, other: { team_name: 'Dan' } },
  leave_session: { input: {} },
  post_message: { input: { content: { text: 'once' }, to: ['Gone', "Bea's Team"] }, other: { content: { text: 'twice' } } },
  update_session_doc: { input: { content: 'a', expected_version: 0 }, other: { content: 'b', expected_version: 1 } },
  append_to_session_doc: { input: { text: 'a' }, other: { text: 'b' } },
  update_session_metadata: { input: { title: 'New', description: 'Both.', reason: 'r' }, other: { title: 'Newer', reason: 'r' } },
  conclude_session: { input: { summary_section: 'a' }, other: { summary_section: 'b' } },
  ack_messages: { input: { cursor: 1 }, other: { cursor: 0 } },
  reopen_session: { input: { reason: 'a' }, other: { reason: 'b' }, closedFirst: true },
  release_session: { input: {}, person: true },
  share_session: { input: {}, person: true },
  unshare_session: { input: {}, person: true },
  create_invitation: { input: { joins: 3, days: 1 }, other: { joins: 4 }, person: true },
  revoke_invitation: { input: { invitation_id: INVITATION }, person: true },
  transfer_convener: { input: { to: BEA }, other: { to: 'nobody' } },
  plan_work: { input: { items: [{ title: 'Build the lexer' }] }, other: { items: [{ title: 'Build the parser' }] } },
  claim_work: { input: { item_id: ITEM }, other: {} },
  update_work: { input: { item_id: ITEM, status: 'dropped' }, other: { item_id: 'x', status: 'done' } },
}
// control/retries.test.ts and records/retries.test.ts have those of control and records.
const writing = operations.filter(({ effect, toolset }) => effect !== 'read' && toolset !== 'control' && toolset !== 'records')
const sampleOf = (name: string): Sample => samples[name]!
const newKey = () => crypto.randomUUID()

test('every operation that writes stands in this table', () => {
  expect(Object.keys(samples)).toEqual(expect.arrayContaining(writing.map(({ fullName }) => fullName)))
})

throughEveryDoor((call, parley, transport) => {
  const reachable = writing.filter(({ restOnly }) => transport === 'REST' || !restOnly).map(({ fullName }) => fullName)

  /** Everything that a write of this session could have doubled. */
  const stateOf = async (id: string, made: string[] = []) =>
    parley().database.query(
      `select s.title, s.status, s.last_sequence, s.updated_at, s.closed_at, d.version,
        (select count(*) from events where session_id = s.id) as events,
        (select count(*) from participants where session_id = s.id) as teams,
        (select count(*) from session_doc_history where session_id = s.id) as versions,
        (select jsonb_agg(a.cursor || '/' || a.at) from acks a where a.session_id = s.id) as acks,
        (select jsonb_agg(i.status || '/' || i.updated_at order by i.place) from items i where i.session_id = s.id) as items,
        (select count(*) from sessions where title in ('Kept', 'Other')) as made
       from sessions s join session_docs d on d.session_id = s.id where s.id = $1 or s.id = any($2::uuid[]) order by s.id`,
      [id, `{${made.join(',')}}`],
    )

  const begin = async (name: string) => {
    const { issues } = operationNamed(name)
    const { id, alex, bea } = await room(call)
    const { other, closedFirst, person, ...sample } = sampleOf(name)
    const robin = person && (await cookieOf(parley(), { name: 'Robin', role: 'person' }))
    const filledIn = async (value: unknown) => {
      if (value === BEA) return bea.handle
      if (value === ITEM) return (await done(alex('plan_work', { items: [{ title: 'Test the lexer' }] }))).items[0].item_id
      if (value !== INVITATION) return value
      return (await done(call('create_invitation', { session_id: id }, { person: robin || undefined }))).invitation_id
    }
    const input: Record<string, unknown> = {}
    for (const [field, value] of Object.entries(sample.input)) input[field] = await filledIn(value)
    if (name === 'post_message')
      await done(seat(call, await done(call('join_session', { session_id: id, team_name: 'Gone' })))('leave_session')) // it warns
    if (closedFirst) await done(alex('conclude_session', { summary_section: 'end' }))
    const filled = name === 'create_session' ? input : { session_id: id, ...input }
    const otherFilled = other && (name === 'create_session' ? other : { session_id: id, ...other })
    const as = (key: string) => ({ key, ...(robin ? { person: robin } : !issues && { team: alex.token }) })
    return { id, alex, bea, filled, otherFilled, as, issues }
  }

  describe.each(reachable)('%s', (name) => {
    test('the same key and body gets the same answer and does nothing again', async () => {
      const { id, filled, as } = await begin(name)
      const key = newKey()
      const first = await call(name, filled, as(key))
      expect(first.ok, JSON.stringify(first.body)).toBe(true)
      const before = await stateOf(id)
      for (let n = 0; n < 3; n++) {
        const again = await call(name, filled, as(key))
        expect(JSON.stringify(again.body)).toBe(JSON.stringify(first.body)) // its fields in the same order, too
        if (name === 'post_message') expect(again.body.warnings).toHaveLength(1)
        if (again.replayed !== undefined) expect([first.replayed, again.replayed]).toEqual([false, true])
      }
      expect(await stateOf(id)).toEqual(before)
    })

    test('another body under the same key is idempotency_mismatch and does nothing', async () => {
      const { id, filled, otherFilled, as } = await begin(name)
      const key = newKey()
      await done(call(name, filled, as(key)))
      const before = await stateOf(id)
      if (otherFilled) await refused(call(name, otherFilled, as(key)), 'idempotency_mismatch')
      else await refused(call('append_to_session_doc', { session_id: id, text: 'x' }, as(key)), 'idempotency_mismatch')
      expect(await stateOf(id)).toEqual(before)
    })

    test('equal requests at once have one effect and one answer', async () => {
      const { id, filled, as } = await begin(name)
      const events = async () => (await stateOf(id)) as any[]
      const [before] = await events()
      const key = newKey()
      const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => untilAvailable(() => call(name, filled, as(key)))))
      for (const { ok, body } of answers) {
        expect(ok, JSON.stringify(body)).toBe(true)
        expect(body).toEqual(answers[0]!.body)
      }
      const [after] = await events()
      expect(Number(after.events) - Number(before.events)).toBeLessThanOrEqual(1)
      expect(Number(after.versions) - Number(before.versions)).toBeLessThanOrEqual(1)
      expect(Number(after.teams) - Number(before.teams)).toBe(name === 'join_session' ? 1 : 0)
      expect(Number(after.made) - Number(before.made)).toBe(name === 'create_session' ? 1 : 0)
    })

    test('it is replayed after the team has left, and after the session is concluded', async () => {
      const { id, alex, bea, filled, as } = await begin(name)
      const key = newKey()
      const first = await done(call(name, filled, as(key)))
      await done(bea('conclude_session', { summary_section: 'the end' }))
      expect(await done(call(name, filled, as(key)))).toEqual(first)
      await alex('leave_session')
      const before = await stateOf(id)
      expect(await done(call(name, filled, as(key)))).toEqual(first)
      expect(await stateOf(id)).toEqual(before)
    })

    test('a refusal is not kept: the same key may try again', async () => {
      const { filled, as, issues } = await begin(name)
      const key = newKey()
      if (!issues) await refused(call(name, filled, { key, team: `${crypto.randomUUID()}.${'A'.repeat(32)}` }), 'unauthorized')
      else await refused(call(name, { ...filled, unheard_of: 1 }, as(key)), 'invalid_request')
      await done(call(name, filled, as(key)))
    })
  })

  test.each(['create_session', 'join_session'])('%s takes no key shorter than 22 characters', async (name) => {
    const { id, filled } = await begin(name)
    const before = await stateOf(id)
    const error = await refused(call(name, filled, { key: 'k'.repeat(21) }), 'invalid_request')
    expect(error.details.field).toBe('idempotency_key')
    expect(await stateOf(id)).toEqual(before)
    await done(call(name, filled, { key: newKey().slice(0, 22) }))
  })

  test.each(['create_session', 'join_session'])('the token that %s replays is the same and opens the room', async (name) => {
    const { filled } = await begin(name)
    const key = newKey()
    const first = await done(call(name, filled, { key }))
    const again = await done(call(name, filled, { key }))
    expect(again.team_id).toBe(first.team_id)
    await done(call('get_session', { session_id: first.session_id }, { team: again.team_id }))
    const kept = await parley().database.query('select * from idempotency')
    expect(JSON.stringify(kept)).not.toContain(first.team_id.split('.')[1])
    expect(JSON.stringify(kept)).not.toContain(key)
  })

  test('a replay answers with the token that was made, not with one that comes along', async () => {
    const { id } = await room(call)
    const key = newKey()
    const input = { session_id: id, team_name: 'Cleo' }
    const first = await done(call('join_session', input, { key }))
    const bogus = `${first.handle}.${'A'.repeat(32)}`
    expect((await done(call('join_session', input, { key, team: bogus }))).team_id).toBe(first.team_id)
  })

  test('a team that came back under a key is never answered with a token that opens nothing', async () => {
    const { id, bea } = await room(call)
    const key = newKey()
    const input = { session_id: id, team_name: "Bea's Team" }
    const first = await done(call('join_session', input, { key, team: bea.token }))
    expect(first.team_id).toBe(bea.token)
    const { ok, body } = await call('join_session', input, { key })
    if (ok) await done(call('get_session', { session_id: id }, { team: body.team_id }))
  })

  test('one key of two teams means two things', async () => {
    const { alex, bea } = await room(call)
    const key = newKey()
    const [a, b] = await Promise.all([alex, bea].map((who) => done(who('post_message', { content: 'mine' }, { key }))))
    expect(a.message_id).not.toBe(b.message_id)
    expect(await feedOf(alex)).toHaveLength(3)
  })

  test('one key in two sessions means two things', async () => {
    const [first, second] = [await room(call), await room(call)]
    const key = newKey()
    for (const { alex } of [first, second]) await done(alex('post_message', { content: 'here' }, { key }))
    expect(await feedOf(second.alex)).toHaveLength(2)
  })

  test('a key used for one operation is a mismatch for another', async () => {
    const { alex } = await room(call)
    const key = newKey()
    await done(alex('post_message', { content: 'x' }, { key }))
    await refused(alex('append_to_session_doc', { text: 'x' }, { key }), 'idempotency_mismatch')
    const second = newKey()
    await done(alex('append_to_session_doc', { text: 'x' }, { key: second }))
    await refused(alex('post_message', { content: 'x' }, { key: second }), 'idempotency_mismatch')
  })

  test('the order of a body’s fields is not another body', async () => {
    const { alex } = await room(call)
    const key = newKey()
    const first = await done(alex('update_session_doc', { content: 'x', expected_version: 0 }, { key }))
    expect(await done(alex('update_session_doc', { expected_version: 0, content: 'x' }, { key }))).toEqual(first)
    const other = newKey()
    const said = await done(alex('post_message', { content: { text: 'same' } }, { key: other }))
    expect(await done(alex('post_message', { content: 'same' }, { key: other }))).toEqual(said)
  })

  test('posts with 20 keys, each sent three times at once, make 20 events', async () => {
    const { alex } = await room(call)
    const keys = Array.from({ length: 20 }, newKey)
    const posted = await Promise.all(
      [...keys, ...keys, ...keys].map((key) => done(alex('post_message', { content: `for ${key}` }, { key }))),
    )
    expect(new Set(posted.map(({ message_id }) => message_id)).size).toBe(20)
    expect(await feedOf(alex)).toHaveLength(21)
  })

  test('a key of more than 200 characters is refused', async () => {
    const { alex } = await room(call)
    await refused(alex('post_message', { content: 'x' }, { key: 'k'.repeat(201) }), 'invalid_request')
    await done(alex('post_message', { content: 'x' }, { key: 'k'.repeat(200) }))
  })

  test('a read pays no heed to a key', async () => {
    const { alex } = await room(call)
    await say(alex, 'x')
    const { token } = alex
    const { ok, body } = await alex('get_session', {}, { headers: { 'idempotency-key': newKey() }, team: token })
    expect(ok, JSON.stringify(body)).toBe(true)
  })
})

onEveryEngine((parley) => {
  test('over REST the argument wins over the header, and either replays the other', async () => {
    const call = viaRest(parley())
    const { alex } = await room(call)
    const key = newKey()
    const first = await done(alex('post_message', { content: 'x' }, { key }))
    expect(await done(alex('post_message', { content: 'x', idempotency_key: key }))).toEqual(first)
    expect(await done(alex('post_message', { content: 'x', idempotency_key: key }, { key: newKey() }))).toEqual(first)
    expect(await feedOf(alex)).toHaveLength(2)
  })

  test('only a replay carries Idempotency-Replayed', async () => {
    const { id, alex } = await room(viaRest(parley()))
    const { path, sending } = restRequest('append_to_session_doc', { session_id: id, text: 'x' }, { team: alex.token, key: newKey() })
    expect((await parley().send(path, sending)).headers.get('idempotency-replayed')).toBeNull()
    expect((await parley().send(path, sending)).headers.get('idempotency-replayed')).toBe('true')
  })
})

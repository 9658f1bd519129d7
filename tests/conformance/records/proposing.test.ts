// Agents propose action items and decisions, and a person is asked.
import { describe, expect, test } from 'bun:test'
import { bearer, keyOf, verifiedCookie } from '../../support/keys.ts'
import { cookieOf, done, refused, room, say, throughBothDoors, viaRest } from '../../support/parley.ts'
import { ACTION, DECISION, personAt, recordsOf, recordsScene } from '../../support/records-scene.ts'

const UNKNOWN = '01a20fc1-a197-70e6-81ba-1f3b4a3f3131'

throughBothDoors((call, parley, transport) => {
  const scene = () => recordsScene(call, parley())

  describe('a proposal', () => {
    test('is found at the address by which its proposer reaches the server', async () => {
      const { alex } = await scene()
      const { url } = await done(alex('propose_action_item', ACTION, { headers: { host: 'localhost:7423' } }))
      expect(url).toStartWith('http://localhost:7423/approvals/')
    })

    test('of an action item says all that it was given, waits a day, is told, and makes nothing else [E7] [E10]', async () => {
      const { id: session_id, alex, bea, proposal, told, doc, seats } = await scene()
      const said = await say(seats.alex, 'We need\n  a guide for\tmigrating.')
      const given = {
        ...ACTION,
        description: 'For users of version 1.',
        owner_name: "ALEX'S  TEAM",
        due_date: '2026-03-01T09:00:00+02:00',
        priority: 'high',
        source_quote: 'a guide  for migrating',
        source_event_id: said.message_id,
      }
      const { id, expires_at, url, ...made } = await done(bea('propose_action_item', given))
      const data = {
        title: ACTION.title,
        description: given.description,
        owner: { person_id: expect.any(String), name: "Alex's Team", kind: 'team', verified: false },
        due_date: '2026-03-01T07:00:00.000Z',
        priority: 'high',
      }
      expect(made).toEqual({ type: 'action', data, status: 'pending' })
      expect(url).toEndWith(`/approvals/${id}`)
      const row = await proposal(id)
      expect(row).toEqual({
        id,
        type: 'action',
        data,
        status: 'pending',
        meeting: { meeting_id: session_id, title: 'Shipping the parser', date: expect.any(String) },
        proposed_by: { person_id: expect.any(String), name: "Bea's Team", kind: 'team', verified: false },
        team_id: seats.bea.handle,
        created_at: expect.any(String),
        expires_at,
        resolved_at: null,
        resolved_by: null,
        feedback: null,
        edited: [],
        record_id: null,
        replaces: null,
        source: { quote: 'a guide  for migrating', event_id: said.message_id, sequence: said.cursor, found: true },
        url,
      })
      expect(Date.parse(expires_at) - Date.parse(row.created_at)).toBe(86_400_000)
      expect(await told()).toEqual([
        expect.objectContaining({
          event: 'proposal_made',
          proposal_id: id,
          proposal_type: 'action',
          title: ACTION.title,
          by: "Bea's Team",
          expires_at,
        }),
      ])
      expect((await doc()).version).toBe(0)
      const { database } = parley()
      for (const table of ['items', 'decisions'])
        expect(await database.query(`select from ${table} where session_id = $1`, [session_id])).toEqual([])
      expect((await done(alex('get_proposals', { meeting_id: session_id }))).proposals).toEqual([row])
    })

    test('of a decision says why, and who decided [E8]', async () => {
      const { alex, nora, proposal } = await scene()
      const { proposals } = await done(nora('records.list_approvals', { limit: 1 })) // whatever stands there: ids are given out
      expect(proposals).toBeDefined()
      const own = (await done(alex('propose_action_item', ACTION))).id
      const { proposed_by } = await proposal(own)
      const given = { ...DECISION, rationale: 'Errors.', decided_by_id: proposed_by.person_id }
      const { id, data } = await done(alex('propose_decision', given))
      expect(data).toEqual({ ...DECISION, rationale: 'Errors.', decided_by: proposed_by })
      expect((await proposal(id)).data).toEqual(data)
    })

    test('leaves out what may be left out [E7] [E8]', async () => {
      const { alex } = await scene()
      const { data } = await done(alex('propose_action_item', { ...ACTION, description: '  ', source_quote: ' ' }))
      expect(data).toEqual({ title: ACTION.title, description: null, owner: null, due_date: null, priority: 'medium' })
      expect((await done(alex('propose_decision', DECISION))).data).toEqual({ ...DECISION, rationale: null, decided_by: null })
    })

    test('with a key sent again is the same proposal, also once it is decided [E10]', async () => {
      const { alex, resolve, told } = await scene()
      const first = await done(alex('propose_decision', DECISION, { key: 'one' }))
      expect(await done(alex('propose_decision', DECISION, { key: 'one' }))).toEqual(first)
      await done(resolve(first.id))
      expect(await done(alex('propose_decision', DECISION, { key: 'one' }))).toEqual(first)
      await refused(alex('propose_decision', { ...DECISION, rationale: 'Another.' }, { key: 'one' }), 'idempotency_mismatch')
      expect((await told()).map(({ event }) => event)).toEqual(['proposal_made', 'proposal_approved'])
    })

    test('tells people once [E10]', async () => {
      const { id, alex } = await scene()
      const made = await done(alex('propose_action_item', ACTION))
      expect(await parley().database.query('select kind, about from notices where session_id = $1', [id])).toEqual([
        { kind: 'proposal', about: made.id },
      ])
    })
  })

  describe('an owner', () => {
    test('that nobody in the session is called stays a name [E7]', async () => {
      const { alex } = await scene()
      const { data } = await done(alex('propose_action_item', { ...ACTION, owner_name: ' Cleo ' }))
      expect(data.owner).toEqual({ person_id: null, name: 'Cleo', kind: null, verified: false })
    })

    test('is a team of the longest name, which was taken, and has a number after it', async () => {
      const { id, alex, nora, resolve } = await scene()
      const join = () => call('join_session', { session_id: id, team_name: '🦜'.repeat(100) })
      await done(join())
      const owner_name = (await done(join())).team_name as string
      expect(owner_name).toEndWith(' (2)')
      const made = await done(alex('propose_action_item', { ...ACTION, owner_name }))
      expect(made.data.owner).toMatchObject({ name: owner_name, kind: 'team', person_id: expect.any(String) })
      const { record } = await done(resolve(made.id, { action: 'approve', edits: { owner_name: owner_name.toUpperCase() } }))
      expect(record.owner).toEqual(made.data.owner)
      const item = await done(nora('update_work', { session_id: id, item_id: record.item_id, owner: owner_name, note: 'Theirs.' }))
      expect(item.item.owner).toEqual(made.data.owner)
    })

    test('is a person who wrote in the session, known as such by a link bound to the name [E7]', async () => {
      const { id, alex, nora } = await scene()
      const name = `Omar ${id.slice(0, 8)}`
      const omar = { person: await verifiedCookie(parley(), name) }
      await done(viaRest(parley())('post_message', { session_id: id, content: 'Mine.' }, omar))
      await done(nora('post_message', { session_id: id, content: 'Not mine.' }))
      const owner = async (owner_name: string) =>
        (await done(alex('propose_action_item', { title: `For ${owner_name}`, owner_name }))).data.owner
      expect(await owner(name.toUpperCase())).toEqual({ person_id: expect.any(String), name, kind: 'person', verified: true })
      expect(await owner('nora')).toEqual({ person_id: expect.any(String), name: 'Nora', kind: 'person', verified: false })
    })

    test('is named by an id that was given out, in another session too [E9]', async () => {
      const { alex } = await scene()
      const { data } = await done(alex('propose_action_item', { ...ACTION, owner_name: "Bea's Team" }))
      const other = recordsOf(call, (await room(call)).alex)
      const again = await done(other('propose_action_item', { ...ACTION, owner_id: data.owner.person_id }))
      expect(again.data.owner).toEqual(data.owner)
    })

    test('that nobody knows is refused [E9]', async () => {
      const { alex, told } = await scene()
      for (const owner_id of [UNKNOWN, 'nobody']) {
        const { message, details } = await refused(alex('propose_action_item', { ...ACTION, owner_id }), 'invalid_request')
        expect(message).toStartWith('Owner not found')
        expect(details.field).toBe('owner_id')
      }
      const decider = await refused(alex('propose_decision', { ...DECISION, decided_by_id: UNKNOWN }), 'invalid_request')
      expect(decider.message).toStartWith('Owner not found')
      expect(decider.details.field).toBe('decided_by_id')
      expect(await told()).toEqual([])
    })

    test('by id and by name is refused [E7]', async () => {
      const { alex } = await scene()
      const { data } = await done(alex('propose_action_item', { ...ACTION, owner_name: "Bea's Team" }))
      const both = { title: 'Another title', owner_id: data.owner.person_id, owner_name: "Bea's Team" }
      const { details } = await refused(alex('propose_action_item', both), 'invalid_request')
      expect(details.field).toBe('owner_id')
    })
  })

  describe('refused with what to send instead [E7] [E8]', () => {
    const action = (more: object) => ['propose_action_item', { ...ACTION, ...more }] as const
    const decision = (more: object) => ['propose_decision', { ...DECISION, ...more }] as const
    const long = (characters: number) => '🦜'.repeat(characters)
    let shared: ReturnType<typeof scene> | undefined
    test.each<[string, readonly [string, object], string, string]>([
      ['a blank title', action({ title: '         ' }), 'title', 'at least 5'],
      ['a title that shows nothing', action({ title: '\u2060\u200b\u200b\u200b\u200b' }), 'title', 'at least 5'],
      ['a title of 4 characters', action({ title: ' abcd ' }), 'title', 'at least 5'],
      ['a title of 201 characters', decision({ title: long(201) }), 'title', 'at most 200'],
      ['a title of two lines', decision({ title: 'One line\nand another' }), 'title', 'one line'],
      ['no title', ['propose_action_item', {}], 'title', 'required'],
      ['a decision without a description', ['propose_decision', { title: 'By hand' }], 'description', 'required'],
      ['a decision with a blank description', decision({ description: ' \n' }), 'description', 'at least 1'],
      ['a description of 1,001 characters', action({ description: long(1_001) }), 'description', 'at most 1000'],
      ['a description of 2,001 characters', decision({ description: long(2_001) }), 'description', 'at most 2000'],
      ['a rationale of 1,001 characters', decision({ rationale: long(1_001) }), 'rationale', 'at most 1000'],
      ['a quote of 501 characters', decision({ source_quote: long(501) }), 'source_quote', 'at most 500'],
      ['an owner’s name of 121 characters', action({ owner_name: long(121) }), 'owner_name', 'at most 120'],
      ['an owner’s name that turns round', action({ owner_name: 'Nora\u202earoN' }), 'owner_name', 'direction'],
      ['a blank owner’s name', action({ owner_name: ' ' }), 'owner_name', 'not be blank'],
      ['a date without a zone', action({ due_date: '2026-03-01T09:00:00' }), 'due_date', 'zone'],
      ['a day without a time', action({ due_date: '2026-03-01' }), 'due_date', 'zone'],
      ['a date that is none', action({ due_date: '2026-02-30T09:00:00Z' }), 'due_date', 'zone'],
      ['a year that the database has no text for', action({ due_date: '0000-01-01T00:00:00Z' }), 'due_date', 'years'],
      ['a priority that is none', action({ priority: 'urgent' }), 'priority', '"high"'],
      ['an unknown field', action({ rationale: 'Because.' }), 'rationale', 'unknown argument'],
      ['a source event that is none', action({ source_event_id: UNKNOWN }), 'source_event_id', 'no such event'],
      ['a sequence as a source event', action({ source_event_id: '1' }), 'source_event_id', 'not by its sequence'],
      ['to replace what is not there', action({ replaces: UNKNOWN }), 'replaces', 'no proposal of yours'],
      ['to replace a word', action({ replaces: 'that one' }), 'replaces', 'no proposal of yours'],
    ])('%s', async (_, [name, input], field, says) => {
      const { alex, told } = await (shared ??= scene())
      const { message, details } = await refused(alex(name, { ...input }), 'invalid_request')
      expect(details.field).toBe(field)
      expect(message).toContain(says)
      expect(await told()).toEqual([])
    })

    test('200 characters, whatever their number of units, are a title', async () => {
      const { alex, proposal } = await scene()
      for (const title of [long(200), '\ufdfa'.repeat(200)]) {
        const { id } = await done(alex('propose_action_item', { title }))
        expect((await proposal(id)).data.title).toBe(title)
      }
    })

    test('a source event of another session', async () => {
      const { alex } = await scene()
      const other = await room(call)
      const { message_id } = await say(other.alex, 'Elsewhere.')
      const { details } = await refused(alex('propose_action_item', { ...ACTION, source_event_id: message_id }), 'invalid_request')
      expect(details.field).toBe('source_event_id')
    })

    test('a title that is a token, and a description with a key', async () => {
      const { alex, seats, told } = await scene()
      await refused(alex('propose_action_item', { title: seats.alex.token }), 'secret_in_text')
      await refused(alex('propose_action_item', { title: seats.bea.token }), 'secret_in_text')
      const key = await keyOf(parley(), 'read')
      await refused(alex('propose_decision', { ...DECISION, description: `Use ${key}.` }), 'secret_in_text')
      expect(await told()).toEqual([])
    })

    test('a quote that is not in its event is no mistake: it is marked', async () => {
      const { alex, seats, proposal } = await scene()
      const { message_id, cursor } = await say(seats.bea, 'By hand.')
      const quoted = { source_quote: 'with a generator', source_event_id: message_id }
      const { id } = await done(alex('propose_decision', { ...DECISION, ...quoted }))
      expect((await proposal(id)).source).toEqual({ quote: 'with a generator', event_id: message_id, sequence: cursor, found: false })
      const { id: loose } = await done(alex('propose_action_item', { ...ACTION, source_quote: 'said on the phone' }))
      expect((await proposal(loose)).source).toEqual({ quote: 'said on the phone', event_id: null, sequence: null, found: false })
      const { id: whole } = await done(alex('propose_action_item', { title: 'By the event', source_event_id: message_id }))
      expect((await proposal(whole)).source).toEqual({ quote: null, event_id: message_id, sequence: cursor, found: false })
    })
  })

  describe('one card for each title [E10]', () => {
    test('whoever proposed it, whatever its case and blanks', async () => {
      const { alex, bea, told } = await scene()
      const { id } = await done(alex('propose_action_item', ACTION))
      const again = { title: ' WRITE  the\u00a0migration ｇｕｉｄｅ' }
      const { details } = await refused(bea('propose_action_item', again), 'conflict')
      expect(details).toEqual({ proposal_id: id })
      await done(alex('propose_decision', { ...DECISION, ...ACTION })) // of the other type
      expect(await told()).toHaveLength(2)
    })

    test('until it is decided', async () => {
      const { alex, resolve } = await scene()
      const { id } = await done(alex('propose_action_item', ACTION))
      await done(resolve(id, { action: 'reject' }))
      await done(alex('propose_action_item', ACTION))
    })

    test('of six at once one is made', async () => {
      const { alex, bea, told } = await scene()
      const all = await Promise.all([alex, bea, alex, bea, alex, bea].map((who) => who('propose_action_item', ACTION)))
      const made = all.filter(({ ok }) => ok)
      expect(made).toHaveLength(1)
      for (const { ok, body } of all) if (!ok) expect(body).toMatchObject({ code: 'conflict', details: { proposal_id: made[0]!.body.id } })
      expect(await told()).toHaveLength(1)
    })

    test('and at most 100 in a session', async () => {
      const { id, alex, seats } = await scene()
      await parley().database.query(
        `insert into proposals (id, session_id, type, data, title_key, proposed_by, team_id, created_at, expires_at)
         select gen_random_uuid(), $1, 'action', '{"title":"Filler"}', 'filler ' || n, '{"name":"x"}', $2, now(), now() + interval '1 day'
         from generate_series(1, 99) n`,
        [id, seats.alex.handle],
      )
      await done(alex('propose_action_item', ACTION))
      const { details } = await refused(alex('propose_action_item', { title: 'One too many' }), 'conflict')
      expect(details).toEqual({ pending: 100 })
    })
  })

  describe('replacing', () => {
    test('a rejected one keeps both, a pending one is cancelled, under the same title too [E10] [E17]', async () => {
      const { alex, resolve, proposal, told } = await scene()
      const first = (await done(alex('propose_decision', DECISION))).id
      await done(resolve(first, { action: 'reject', feedback: 'Shorter.' }))
      const second = (await done(alex('propose_decision', { ...DECISION, replaces: first }))).id
      const third = (await done(alex('propose_decision', { ...DECISION, replaces: second }))).id
      expect(await proposal(first)).toMatchObject({ status: 'rejected', feedback: 'Shorter.', replaces: null })
      expect(await proposal(second)).toMatchObject({ status: 'cancelled', replaces: first, resolved_by: { name: "Alex's Team" } })
      expect(await proposal(third)).toMatchObject({ status: 'pending', replaces: second })
      expect((await told()).map(({ event }) => event)).toEqual([
        'proposal_made',
        'proposal_rejected',
        'proposal_made',
        'proposal_cancelled',
        'proposal_made',
      ])
    })

    test('somebody else’s, or one of another session, is refused [E10]', async () => {
      const { alex, bea, proposal } = await scene()
      const { id } = await done(alex('propose_action_item', ACTION))
      const { details } = await refused(bea('propose_action_item', { title: 'Mine instead', replaces: id }), 'invalid_request')
      expect(details.field).toBe('replaces')
      const other = recordsOf(call, (await room(call)).alex)
      await refused(other('propose_action_item', { title: 'Mine instead', replaces: id }), 'invalid_request')
      expect(await proposal(id)).toMatchObject({ status: 'pending' })
    })

    test('an approved one is refused with what it is [E10]', async () => {
      const { alex, resolve } = await scene()
      const { id } = await done(alex('propose_action_item', ACTION))
      await done(resolve(id))
      const { details } = await refused(alex('propose_action_item', { title: 'Something else', replaces: id }), 'conflict')
      expect(details).toMatchObject({ field: 'replaces', status: 'approved', resolved_by: { name: 'Nora' } })
    })
  })

  describe('who proposes [E11]', () => {
    test('teams action items, the convener decisions', async () => {
      const { alex, bea } = await scene()
      await done(bea('propose_action_item', ACTION))
      const { message } = await refused(bea('propose_decision', DECISION), 'forbidden')
      expect(message).toStartWith('Insufficient permissions')
      await done(alex('propose_decision', DECISION))
    })

    test('a key of the scope full, for the session that it names, in its own name', async () => {
      const { id: meeting_id, proposal } = await scene()
      const headers = bearer(await keyOf(parley(), 'full'))
      const nowhere = await refused(call('records.propose_decision', DECISION, { headers }), 'invalid_request')
      expect(nowhere.details.field).toBe('meeting_id')
      await refused(call('records.propose_decision', { ...DECISION, meeting_id: UNKNOWN }, { headers }), 'not_found')
      const { id } = await done(call('records.propose_decision', { ...DECISION, meeting_id }, { headers }))
      expect(await proposal(id)).toMatchObject({ proposed_by: { name: 'a full key', kind: 'key', verified: true }, team_id: null })
      await done(call('records.cancel_proposal', { proposal_id: id }, { headers }))
    })

    test('nobody who only reads', async () => {
      const { id: meeting_id } = await scene()
      for (const scope of ['read', 'run', 'sess'] as const) {
        const headers = bearer(await keyOf(parley(), scope, meeting_id))
        const { message } = await refused(call('records.propose_action_item', { ...ACTION, meeting_id }, { headers }), 'forbidden')
        expect(message).toStartWith('Insufficient permissions')
      }
      const { message } = await refused(call('records.propose_action_item', { ...ACTION, meeting_id }), 'unauthorized')
      expect(message).toStartWith('Not authenticated')
    })

    test('a team of its own session alone', async () => {
      const { alex } = await scene()
      const other = await room(call)
      await refused(alex('propose_action_item', { ...ACTION, meeting_id: other.id }), 'unauthorized')
    })

    test('a person, who is no AI', async () => {
      const { id: meeting_id, resolve } = await scene()
      const nora = await personAt(parley())
      const { id } = await done(nora('records.propose_decision', { ...DECISION, meeting_id }))
      expect((await done(resolve(id))).record).toMatchObject({ ai_assisted: false, proposed_by: { name: 'Nora', kind: 'person' } })
    })

    test('nobody in a session that is concluded or archived', async () => {
      const { id, alex, seats } = await scene()
      await done(seats.alex('conclude_session', { summary_section: 'Done.' }))
      await refused(alex('propose_action_item', ACTION), 'session_closed')
      const open = await recordsScene(call, parley())
      const person = await cookieOf(parley(), { role: 'person', name: 'Nora' })
      await done(viaRest(parley())('control.manage_session', { session_id: open.id, action: 'delete' }, { person }))
      await refused(open.alex('propose_action_item', ACTION), 'session_closed')
      expect(id).not.toBe(open.id)
    })
  })

  describe('taking back [E17]', () => {
    test('one’s own ends it, and no title is held', async () => {
      const { alex, proposal, told } = await scene()
      const { id } = await done(alex('propose_action_item', ACTION))
      expect(await done(alex('cancel_proposal', { proposal_id: id }))).toEqual({ id, status: 'cancelled' })
      expect(await proposal(id)).toMatchObject({
        status: 'cancelled',
        resolved_by: { name: "Alex's Team" },
        resolved_at: expect.any(String),
      })
      expect((await told()).at(-1)).toMatchObject({ event: 'proposal_cancelled', by: "Alex's Team", proposal_id: id })
      const { details } = await refused(alex('cancel_proposal', { proposal_id: id }), 'conflict')
      expect(details).toMatchObject({ status: 'cancelled', resolved_by: { name: "Alex's Team" }, resolved_at: expect.any(String) })
      await done(alex('propose_action_item', ACTION))
    })

    test('somebody else’s is for people', async () => {
      const { alex, bea, nora } = await scene()
      const { id } = await done(alex('propose_action_item', ACTION))
      const { message } = await refused(bea('cancel_proposal', { proposal_id: id }), 'forbidden')
      expect(message).toStartWith('Insufficient permissions')
      const headers = bearer(await keyOf(parley(), 'full'))
      await refused(call('records.cancel_proposal', { proposal_id: id }, { headers }), 'forbidden')
      expect(await done(nora('records.cancel_approval', { proposal_id: id }))).toEqual({ id, status: 'cancelled' })
    })
  })

  if (transport === 'REST')
    test('what waits is listed for people, and each is found by its id [E13]', async () => {
      const { id: meeting_id, alex, nora, resolve } = await scene()
      const first = (await done(alex('propose_action_item', ACTION))).id
      const second = (await done(alex('propose_decision', DECISION))).id
      const third = (await done(alex('propose_action_item', { title: 'Another item' }))).id
      await done(resolve(third, { action: 'reject' }))
      const ids = async (more: object) =>
        (await done(nora('records.list_approvals', { meeting_id, ...more }))).proposals.map(({ id }: { id: string }) => id)
      expect(await ids({})).toEqual([first, second])
      expect(await ids({ type: 'decision' })).toEqual([second])
      expect(await ids({ status: 'rejected' })).toEqual([third])
      const page = await done(nora('records.list_approvals', { meeting_id, limit: 1 }))
      expect(await ids({ limit: 1, cursor: page.next_cursor })).toEqual([second])
      expect((await done(nora('records.get_approval', { proposal_id: third }))).proposal).toMatchObject({ id: third, status: 'rejected' })
      const { message } = await refused(nora('records.get_approval', { proposal_id: UNKNOWN }), 'not_found')
      expect(message).toStartWith('Approval not found')
    })
})

// Finding again: meetings, what came of them, and who was there.
import { describe, expect } from 'bun:test'
import { personIdOf } from '../../../src/stores/records/persons.ts'
import { test } from '../../support/foreign.ts'
import { controlScene } from '../../support/control-scene.ts'
import { bearer, keyOf, verifiedCookie } from '../../support/keys.ts'
import { cookieOf, done, refused, seat, throughBothDoors, viaRest } from '../../support/parley.ts'
import { ACTION, DECISION, personAt, recordsScene } from '../../support/records-scene.ts'

const UNKNOWN = '0190a0a0-0000-7000-8000-000000000000'
const LISTS = { get_meetings: 'meetings', get_action_items: 'action_items', get_decisions: 'decisions' } as const
type List = keyof typeof LISTS

throughBothDoors((call, parley) => {
  const scene = () => recordsScene(call, parley())
  const reader = async () => {
    const as = { headers: bearer(await keyOf(parley(), 'read')) }
    return (name: string, input: Record<string, unknown> = {}) => call(`records.${name}`, input, as)
  }
  const keyed = async () => ({ headers: bearer(await keyOf(parley(), 'full')) })
  type Scene = Awaited<ReturnType<typeof scene>>
  const decided = async (at: Scene, fields: object = {}) => {
    const { id } = await done(at.alex('propose_decision', { ...DECISION, ...fields }))
    return (await done(at.resolve(id))).record
  }
  const agreed = async (at: Scene, fields: object = {}) => {
    const { id } = await done(at.bea('propose_action_item', { ...ACTION, ...fields }))
    return (await done(at.resolve(id))).record
  }

  describe('get_meetings', () => {
    test('has who attended, the place in the series, and what came of it [E1]', async () => {
      const [at, read] = [await scene(), await reader()]
      await done(at.nora('post_message', { session_id: at.id, content: 'Go on.' }))
      await agreed(at)
      await decided(at)
      await done(at.alex('propose_action_item', { title: 'Pending still' }))
      const resumed = await done(
        call('create_session', { title: 'The second', description: '', creator_team_name: 'Cleo', resume_from: at.id }),
      )
      const { meetings } = await done(read('get_meetings', { series_id: at.id }))
      expect(meetings.map(({ meeting_id, series }: any) => [meeting_id, series])).toEqual([
        [resumed.session_id, { series_id: at.id, position: 2, count: 2 }],
        [at.id, { series_id: at.id, position: 1, count: 2 }],
      ])
      expect(meetings[1]).toMatchObject({
        title: 'Shipping the parser',
        ended_at: null,
        status: 'active',
        counts: { action_items: 1, open_action_items: 1, decisions: 1, pending: 1 },
      })
      expect(meetings[1].attendees.map(({ name, kind, verified }: any) => [name, kind, verified])).toEqual([
        ["Alex's Team", 'team', false],
        ["Bea's Team", 'team', false],
        ['Nora', 'person', false],
      ])
    })

    test('knows whose name is theirs: a person by a link, a team that joined with a key [E1]', async () => {
      const [at, read] = [await scene(), await reader()]
      const name = `Vera ${crypto.randomUUID().slice(0, 8)}`
      const person = await verifiedCookie(parley(), name)
      const rest = viaRest(parley())
      await done(rest('post_message', { session_id: at.id, content: 'Here.' }, { person }))
      const opened = await done(call('create_session', { title: 'Keyed', description: '', creator_team_name: 'Keyed Team' }, await keyed()))
      const of = async (id: string) => (await done(read('get_meeting_details', { meeting_id: id }))).meeting.attendees
      expect((await of(at.id)).at(-1)).toEqual({ person_id: personIdOf('person', name), name, kind: 'person', verified: true })
      expect(await of(opened.session_id)).toMatchObject([{ name: 'Keyed Team', kind: 'team', verified: true }])
    })

    test('knows the team of a driven agent, which has a key for each task, whoever opened its session [E1]', async () => {
      const [nora, { runner }, read] = [await personAt(parley()), await controlScene(parley()), await reader()]
      const opened = await done(nora('control.create_session', { title: 'Parser', worktree_id: runner.worktree }))
      const { meeting } = await done(read('get_meeting_details', { meeting_id: opened.session_id }))
      expect(meeting.attendees).toMatchObject([{ name: 'Claude Code', kind: 'team', verified: true }])
    })

    test('a team is verified by what it joined with, wherever it is named and whatever it calls with later [E1] [E6]', async () => {
      const [at, key, read] = [await scene(), await keyed(), await reader()]
      const [withKey, without] = ['Vouched', 'Unknown'].map((name) => `${name} ${crypto.randomUUID().slice(0, 8)}`) as [string, string]
      const join = async (session_id: string, team_name: string, as = {}) => done(call('join_session', { session_id, team_name }, as))
      const teams = [await join(at.id, withKey, key), await join(at.id, without)]
      for (const [n, name] of [withKey, without].entries()) {
        const team = { name, kind: 'team', verified: n === 0 }
        for (const as of [{}, key]) {
          const rejoined = await done(call('join_session', { session_id: at.id, team_name: name }, { team: teams[n].team_id, ...as }))
          expect(rejoined.handle).toBe(teams[n].handle)
          const title = `With the header${as === key ? ' and a key' : ''} of ${name}`
          const given = { title, owner_name: name, meeting_id: at.id }
          const { id, data } = await done(call('records.propose_action_item', given, { team: teams[n].team_id, ...as }))
          expect([data.owner, (await at.proposal(id)).proposed_by]).toMatchObject([team, team])
          const byId = { title: `${title}, by id`, owner_id: data.owner.person_id }
          expect((await done(at.bea('propose_action_item', byId))).data.owner).toMatchObject(team)
        }
        const items = [{ title: `Work of ${name}`, owner: name }]
        expect((await done(at.seats.alex('plan_work', { items }))).items[0].owner).toMatchObject(team)
        const { meeting } = await done(read('get_meeting_details', { meeting_id: at.id }))
        expect(meeting.attendees).toContainEqual(expect.objectContaining(team))
        const { person } = await done(read('get_person_context', { person_id: personIdOf('team', name) }))
        expect(person).toMatchObject(team)
      }
    })

    test('a name that a team without a key bears too is not verified, in that session and across sessions [E1] [E6]', async () => {
      const [at, other, key, read] = [await scene(), await scene(), await keyed(), await reader()]
      const name = `Vouched ${crypto.randomUUID().slice(0, 8)}`
      const first = await done(call('join_session', { session_id: at.id, team_name: name }, key))
      const verified = async () => {
        const { meeting } = await done(read('get_meeting_details', { meeting_id: at.id }))
        const { person } = await done(read('get_person_context', { person_id: personIdOf('team', name) }))
        return [meeting.attendees.find((one: any) => one.name === name).verified, person.verified]
      }
      expect(await verified()).toEqual([true, true])
      await done(call('join_session', { session_id: other.id, team_name: name }))
      expect(await verified()).toEqual([true, false])
      await done(seat(call, first)('leave_session'))
      expect((await done(call('join_session', { session_id: at.id, team_name: name }))).team_name).toBe(name)
      expect(await verified()).toEqual([false, false])
    })

    test('an attendee filters: a team, or a person of the same name [E1]', async () => {
      const [at, other, read] = [await scene(), await scene(), await reader()]
      const name = `Twin ${crypto.randomUUID().slice(0, 8)}`
      const joined = await done(call('join_session', { session_id: at.id, team_name: name }))
      const person = await cookieOf(parley(), { role: 'person', name })
      await done(viaRest(parley())('post_message', { session_id: other.id, content: 'Hello.' }, { person }))
      const ids = async (attendee_id: string) =>
        (await done(read('get_meetings', { attendee_id }))).meetings.map(({ meeting_id }: any) => meeting_id)
      for (const { id } of [at, other]) await done(read('get_meeting_details', { meeting_id: id })) // gives out who was there
      expect(await ids(personIdOf('team', name))).toEqual([at.id])
      expect(await ids(personIdOf('person', name))).toEqual([other.id])
      expect(await ids(UNKNOWN)).toEqual([])
      await done(seat(call, joined)('leave_session'))
      expect(await ids(personIdOf('team', name))).toEqual([at.id])
    })

    test('both ends of a time count [E1]', async () => {
      const [at, read] = [await scene(), await reader()]
      const { meeting } = await done(read('get_meeting_details', { meeting_id: at.id }))
      const within = async (start_date?: string, end_date?: string) => {
        const { meetings } = await done(read('get_meetings', { start_date, end_date, series_id: at.id }))
        return meetings.length
      }
      const offset = (ms: number) => new Date(Date.parse(meeting.date) + ms).toISOString()
      expect(await within(meeting.date, meeting.date)).toBe(1)
      expect([await within(offset(1)), await within(undefined, offset(-1))]).toEqual([0, 0])
      expect(await within(offset(-1).replace('Z', '+00:00'), offset(1))).toBe(1)
    })
  })

  describe('get_meeting_details', () => {
    test('has the document, action items and decisions [E2]', async () => {
      const at = await scene()
      await done(at.seats.alex('append_to_session_doc', { text: 'Read this.' }))
      const [item, decision] = [await agreed(at), await decided(at)]
      const details = await done(at.alex('get_meeting_details', { meeting_id: at.id }))
      expect(details).toMatchObject({
        meeting: { meeting_id: at.id },
        description: 'Decide what goes out.',
        action_items: [{ item_id: item.item_id, proposed_by: { name: "Bea's Team" }, approved_by: { name: 'Nora', kind: 'person' } }],
        decisions: [{ decision_id: decision.decision_id, status: 'in_force', description: DECISION.description }],
      })
      expect(details.notes).toContain('Read this.')
      expect([details.truncated, details.omitted]).toEqual([undefined, undefined])
    })

    test('within max_chars says what was cut and what was left out [E2]', async () => {
      const at = await scene()
      for (let n = 0; n < 8; n++) await decided(at, { title: `Decision number ${n}`, description: 'x'.repeat(1_500) })
      await done(at.seats.alex('append_to_session_doc', { text: '\u0001"é'.repeat(12_000) }))
      for (const max_chars of [1_000, 4_000, 20_000]) {
        const details = await done(at.alex('get_meeting_details', { meeting_id: at.id, max_chars }))
        expect(JSON.stringify(details).length).toBeLessThanOrEqual(max_chars)
        const { content } = await at.doc()
        expect(details.truncated?.notes).toBe(content.length)
        expect(details.decisions.length + (details.omitted?.decisions ?? 0)).toBe(8)
      }
    })

    test('is 404 for a session that is unknown [E2]', async () => {
      const read = await reader()
      for (const meeting_id of [UNKNOWN, 'nonsense']) await refused(read('get_meeting_details', { meeting_id }), 'not_found')
    })
  })

  describe('get_action_items', () => {
    test('has owner, meeting and where it came from, by owner and by due date [E3]', async () => {
      const [at, read] = [await scene(), await reader()]
      const due_date = '2026-03-01T09:00:00.000Z'
      await agreed(at, { owner_name: "bea's team", due_date, source_quote: 'We need it.' })
      await agreed(at, { title: 'Somebody else does this', owner_name: 'A stranger' })
      const [stranger, beas] = (await done(read('get_action_items', { meeting_id: at.id }))).action_items
      expect(stranger.owner).toEqual({ person_id: null, name: 'A stranger', kind: null, verified: false })
      expect(beas).toMatchObject({
        title: ACTION.title,
        status: 'open',
        priority: 'medium',
        owner: { name: "Bea's Team", kind: 'team' },
        due_date,
        meeting: { meeting_id: at.id, title: 'Shipping the parser' },
        claimed_by: null,
        result: null,
        ai_assisted: true,
        proposed_by: { name: "Bea's Team" },
        approved_by: { name: 'Nora' },
        edited: [],
        source: { quote: 'We need it.', found: false },
      })
      const count = async (more: object) => (await done(read('get_action_items', { meeting_id: at.id, ...more }))).action_items.length
      expect(await count({ owner_id: beas.owner.person_id })).toBe(1)
      expect(await count({ owner_id: UNKNOWN })).toBe(0)
      expect(await count({ due_date_range: { from: due_date, to: due_date } })).toBe(1)
      expect(await count({ due_date_range: { from: '2026-03-01T09:00:00.001Z' } })).toBe(0)
      expect(await count({ due_date_range: { to: '2026-03-01T10:00:00+01:00' } })).toBe(1)
    })

    test('has the status that the board shows: a claim that is over is open [E3]', async () => {
      const [at, read] = [await scene(), await reader()]
      const { item_id } = await agreed(at)
      const inStatus = async () => {
        const found = []
        for (const status of ['open', 'claimed', 'done', 'dropped'])
          for (const row of (await done(read('get_action_items', { meeting_id: at.id, status }))).action_items) found.push([status, row])
        expect(found).toHaveLength(1)
        const [[status, row]] = found as [[string, any]]
        expect(row.status).toBe(status)
        return [status, row.claimed_by?.team_name]
      }
      expect(await inStatus()).toEqual(['open', undefined])
      await done(at.seats.bea('claim_work', { item_id }))
      expect(await inStatus()).toEqual(['claimed', "Bea's Team"])
      await parley().database.query(`update items set claim_renewed_at = claim_renewed_at - interval '2 days' where id = $1`, [item_id])
      await parley().database.query(`update participants set last_seen_at = last_seen_at - interval '2 days' where team_id = $1`, [
        at.seats.bea.handle,
      ])
      expect(await inStatus()).toEqual(['open', undefined])
      await done(at.seats.alex('claim_work', { item_id }))
      await done(at.seats.alex('update_work', { item_id, status: 'done', result: 'It is written.' }))
      expect(await inStatus()).toEqual(['done', "Alex's Team"])
    })
  })

  describe('get_decisions', () => {
    test('has who decided and the meeting, by words, person and time, withdrawn ones too [E4]', async () => {
      const [at, read] = [await scene(), await reader()]
      const { record_id } = await at.proposal((await decided(at, { title: 'Errors name their line' })).proposal_id)
      const team = personIdOf('team', "Bea's Team")
      await done(read('get_meeting_details', { meeting_id: at.id }))
      const second = await decided(at, { title: 'Errors are one line each', decided_by_id: team, rationale: 'People read logs.' })
      const found = async (more: object) =>
        (await done(read('get_decisions', { meeting_id: at.id, ...more }))).decisions.map(({ decision_id }: any) => decision_id)
      expect(await found({})).toEqual([second.decision_id, record_id])
      expect(await found({ search: 'errors NAME' })).toEqual([record_id])
      expect(await found({ search: 'line' })).toEqual([second.decision_id, record_id])
      expect(await found({ search: '100%_' })).toEqual([])
      expect(await found({ decided_by_id: team })).toEqual([second.decision_id])
      expect(await found({ date_range: { from: second.date, to: second.date } })).toContain(second.decision_id)
      await done(at.nora('records.withdraw_record', { record_id, reason: 'It was hasty.' }))
      const { decisions } = await done(read('get_decisions', { meeting_id: at.id }))
      expect(decisions.map(({ status }: any) => status)).toEqual(['in_force', 'withdrawn'])
      expect(decisions[0]).toMatchObject({
        title: 'Errors are one line each',
        rationale: 'People read logs.',
        decided_by: { person_id: team, name: "Bea's Team" },
        meeting: { meeting_id: at.id },
      })
    })
  })

  describe('search_content', () => {
    test('finds meetings, action items and decisions, the likest first [E5]', async () => {
      const [at, read] = [await scene(), await reader()]
      const word = `Zq${crypto.randomUUID().replaceAll('-', '').slice(0, 12)}`
      const item = await agreed(at, { title: `Feed the ${word}`, description: 'Twice a day.' })
      const decision = await decided(at, {
        title: 'Who comes to the zoo',
        description: `${'Nothing of it here. '.repeat(60)}We keep one ${word} and no more. ${'Nor here. '.repeat(20)}`,
      })
      const opened = await done(call('create_session', { title: `About the ${word}`, description: '', creator_team_name: 'Zoo' }))
      const find = async (query: string, more: object = {}) => (await done(read('search_content', { query, ...more }))).results
      const results = await find(word)
      expect(results.map(({ id }: any) => id).toSorted()).toEqual([item.item_id, decision.decision_id, opened.session_id].toSorted())
      expect(results.at(-1)).toMatchObject({ id: decision.decision_id, type: 'decision', score: 0.9, meeting_id: at.id })
      expect(results.at(-1).excerpt).toContain(`one ${word} and`)
      for (const { excerpt, score } of results) {
        expect(excerpt.length).toBeLessThanOrEqual(300)
        expect(score).toBeGreaterThan(0)
        expect(score).toBeLessThanOrEqual(1)
      }
      expect(results.map(({ score }: any) => score)).toEqual(
        results.map(({ score }: any) => score).toSorted((a: number, b: number) => b - a),
      )
      expect((await find(word, { content_types: ['action'] })).map(({ id }: any) => id)).toEqual([item.item_id])
      expect((await find(`Fede the ${word.slice(0, 5)}${word.slice(6)}`)).slice(0, 2).map(({ id }: any) => id)).toContain(item.item_id)
      expect((await find(`we keep one ${word} and`, { limit: 1 }))[0].id).toBe(decision.decision_id)
    })

    test.each([
      'a',
      'ab',
      '++',
      '->',
      '"',
      '%',
      '_',
      '\\',
      '漢字',
      'Привет мир',
      '👩‍🚀',
      '1',
      '. . .',
      'a b c d e f g',
      "it's",
      'x'.repeat(200),
    ])('answers %p cleanly [E5]', async (query) => {
      const { results } = await done((await reader())('search_content', { query }))
      expect(Array.isArray(results)).toBe(true)
    })

    test('says of what was withdrawn that it was, and has it after what is as alike [E5]', async () => {
      const [at, read] = [await scene(), await reader()]
      const title = `Keep the Zq${crypto.randomUUID().replaceAll('-', '').slice(0, 12)}`
      const [holds, decision, item] = [await decided(at, { title }), await decided(at, { title }), await agreed(at, { title })]
      for (const record_id of [decision.decision_id, item.item_id])
        await done(at.nora('records.withdraw_record', { record_id, reason: 'It was hasty.' }))
      const results = (await done(read('search_content', { query: title }))).results.slice(0, 3)
      expect(results.map(({ excerpt }: any) => excerpt.startsWith('withdrawn: '))).toEqual([false, true, true])
      expect(results[0]).toMatchObject({ id: holds.decision_id, excerpt: DECISION.description })
      const [first] = (await done(read('search_content', { query: title, limit: 1 }))).results
      expect(first.id).toBe(holds.decision_id) // however many newer ones were withdrawn
      expect(
        results
          .slice(1)
          .map(({ id }: any) => id)
          .toSorted(),
      ).toEqual([decision.decision_id, item.item_id].toSorted())
    })

    test('finds what is written in other scripts, and signs, as they are [E5]', async () => {
      const [at, read] = [await scene(), await reader()]
      const { decision_id } = await decided(at, { title: 'Привет мир 漢字 ->>', description: 'So it is written.' })
      for (const query of ['Привет', '漢字', '->>'])
        expect((await done(read('search_content', { query }))).results.map(({ id }: any) => id)).toContain(decision_id)
    })
  })

  describe('get_person_context', () => {
    test('has what somebody owns, decided and attended [E6]', async () => {
      const [at, read] = [await scene(), await reader()]
      const name = `Nell ${crypto.randomUUID().slice(0, 8)}`
      await done(call('join_session', { session_id: at.id, team_name: name }))
      const item = await agreed(at, { owner_name: name })
      const person_id = item.owner.person_id
      const decision = await decided(at, { decided_by_id: person_id })
      expect(await done(read('get_person_context', { person_id: `  ${person_id.toUpperCase()} ` }))).toMatchObject({
        person: { person_id, name, kind: 'team', verified: false },
        action_items: [{ item_id: item.item_id }],
        decisions: [{ decision_id: decision.decision_id }],
        meetings: [{ meeting_id: at.id }],
      })
    })

    test('has the newest ten, and is 404 for an id that nobody was given [E6]', async () => {
      const [at, read] = [await scene(), await reader()]
      const name = `Busy ${crypto.randomUUID().slice(0, 8)}`
      await done(call('join_session', { session_id: at.id, team_name: name }))
      for (let n = 0; n < 11; n++) await agreed(at, { title: `Number ${n} of eleven`, owner_name: name })
      const { action_items } = await done(read('get_person_context', { person_id: personIdOf('team', name) }))
      expect(action_items.map(({ title }: any) => title)).toEqual(Array.from({ length: 10 }, (_, n) => `Number ${10 - n} of eleven`))
      for (const person_id of [UNKNOWN, 'Nora', personIdOf('person', `nobody ${name}`)])
        expect((await refused(read('get_person_context', { person_id }), 'not_found')).message).toStartWith('There is no such person')
    })
  })

  describe('lists', () => {
    /** A session with five records of each kind, and the input that lists them. */
    const five = async () => {
      const at = await scene()
      for (let n = 0; n < 5; n++)
        await Promise.all([agreed(at, { title: `Action number ${n}` }), decided(at, { title: `Decision number ${n}` })])
      let last = at.id
      for (let n = 0; n < 4; n++) {
        const made = await done(
          call('create_session', { title: `Again ${n}`, description: '', creator_team_name: 'Cleo', resume_from: last }),
        )
        last = made.session_id
      }
      return { at, last, input: (list: List) => (list === 'get_meetings' ? { series_id: at.id } : { meeting_id: at.id }) }
    }
    const idOf = (row: any) => row.item_id ?? row.decision_id ?? row.meeting_id

    test('go on from a cursor, none twice, while rows are added [E19]', async () => {
      const [{ at, last, input }, read] = [await five(), await reader()]
      for (const [list, field] of Object.entries(LISTS) as [List, string][]) {
        const all = (await done(read(list, { ...input(list), limit: 50 })))[field].map(idOf)
        expect(all).toHaveLength(5)
        const seen: string[] = []
        for (let cursor: string | undefined, n = 0; ; n++) {
          const page = await done(read(list, { ...input(list), limit: 2, ...(cursor && { cursor }) }))
          seen.push(...page[field].map(idOf))
          expect(page.has_more).toBe(page.next_cursor !== null)
          if (!page.has_more) break
          cursor = page.next_cursor
          if (list === 'get_action_items') await agreed(at, { title: `Added meanwhile ${n}` })
          if (list === 'get_decisions') await decided(at, { title: `Added meanwhile ${n}` })
          if (list === 'get_meetings')
            await done(call('create_session', { title: 'Added', description: '', creator_team_name: 'Cleo', resume_from: last }))
        }
        expect(seen).toEqual(all)
      }
    })

    test('refuse the cursor of another list, and bad input, with what to do [E19]', async () => {
      const [{ at, input }, read] = [await five(), await reader()]
      for (const [list, field] of Object.entries(LISTS) as [List, string][]) {
        const { next_cursor } = await done(read(list, { ...input(list), limit: 1 }))
        const [, ...rest] = JSON.parse(Buffer.from(next_cursor, 'base64url').toString())
        const forged = Buffer.from(JSON.stringify(['0000-01-01T00:00:00.000Z', ...rest])).toString('base64url')
        for (const wrong of [
          { cursor: next_cursor, limit: 1 },
          { ...input(list), cursor: 'x' },
          { ...input(list), cursor: forged },
        ]) {
          const { details } = await refused(read(list, wrong), 'invalid_request')
          expect(details.field).toBe('cursor')
        }
        expect((await done(read(list, { ...input(list), limit: 2, cursor: next_cursor })))[field]).toHaveLength(2)
        for (const limit of [0, 51, 1.5]) expect((await refused(read(list, { limit }), 'invalid_request')).details.field).toBe('limit')
      }
      // Zones and fractions that the database would not take.
      for (const from of ['2026-01-01T00:00:00+18:00', '2026-01-01T00:00:00-23:59', `2026-01-01T00:00:00.${'1'.repeat(200)}Z`]) {
        await done(read('get_decisions', { date_range: { from } }))
        await done(read('get_meetings', { start_date: from }))
        await done(read('get_action_items', { due_date_range: { from } }))
      }
      const late = { from: '2026-02-02T00:00:00Z', to: '2026-02-01T00:00:00Z' }
      const bad: [string, object, string][] = [
        ['get_meetings', { start_date: '2026-02-02' }, 'start_date'],
        ['get_meetings', { start_date: '2026-02-02T00:00:00' }, 'start_date'],
        ['get_meetings', { start_date: late.from, end_date: late.to }, 'start_date'],
        ['get_meetings', { attendee_id: 'Nora' }, 'attendee_id'],
        ['get_meetings', { series_id: 'x' }, 'series_id'],
        ['get_action_items', { status: 'pending' }, 'status'],
        ['get_action_items', { owner_id: 'Nora' }, 'owner_id'],
        ['get_action_items', { due_date_range: late }, 'due_date_range'],
        ['get_action_items', { due_date_range: { since: late.to } }, 'due_date_range.since'],
        ['get_decisions', { date_range: late }, 'date_range'],
        ['get_decisions', { search: ' ' }, 'search'],
        ['get_decisions', { search: 'x'.repeat(201) }, 'search'],
        ['search_content', { query: '' }, 'query'],
        ['search_content', { query: 'x'.repeat(201) }, 'query'],
        ['search_content', { query: 'x', content_types: ['event'] }, 'content_types.0'],
        ['search_content', { query: 'x', limit: 51 }, 'limit'],
        ['get_meeting_details', { meeting_id: at.id, max_chars: 10 }, 'max_chars'],
      ]
      for (const [name, wrong, field] of bad)
        expect([name, wrong, (await refused(read(name, { ...wrong }), 'invalid_request')).details.field]).toEqual([name, wrong, field])
      for (const name of ['get_action_items', 'get_decisions']) await refused(read(name, { meeting_id: UNKNOWN }), 'not_found')
    })
  })
})

throughBothDoors(
  (call, parley) => {
    test('where pages are closed a team reads its own session, and nothing else is there for it', async () => {
      const [at, other] = [await recordsScene(call, parley()), await recordsScene(call, parley())]
      for (const { alex, resolve } of [at, other]) await done(resolve((await done(alex('propose_decision', DECISION))).id))
      await done(other.nora('post_message', { session_id: other.id, content: 'Hi.' }))
      const person_id = personIdOf('team', `Stranger ${other.id}`)
      await done(call('join_session', { session_id: other.id, team_name: `Stranger ${other.id}` }))
      const full = { headers: bearer(await keyOf(parley(), 'full')) }
      await done(call('records.get_meeting_details', { meeting_id: other.id }, full)) // gives the id out
      await done(call('records.get_person_context', { person_id }, full))
      const mine = await done(at.alex('get_meetings'))
      expect(mine.meetings.map(({ meeting_id }: any) => meeting_id)).toEqual([at.id])
      expect((await done(at.alex('get_decisions'))).decisions.map(({ meeting }: any) => meeting.meeting_id)).toEqual([at.id])
      expect((await done(at.alex('search_content', { query: DECISION.title }))).results.map(({ meeting_id }: any) => meeting_id)).toEqual([
        at.id,
      ])
      const { message } = await refused(at.alex('get_person_context', { person_id }), 'not_found')
      expect((await refused(at.alex('get_person_context', { person_id: UNKNOWN }), 'not_found')).message).toBe(message)
      expect((await done(at.alex('get_person_context', { person_id: personIdOf('person', 'Nora') }))).person.name).toBe('Nora')
      for (const name of ['get_meeting_details', 'get_decisions', 'get_action_items'])
        await refused(at.alex(name, { meeting_id: other.id }), 'unauthorized')
    })
  },
  { VIEWER_PASSWORD: 'a password for viewers' },
)

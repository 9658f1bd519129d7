// People decide what was proposed, and whoever proposed it hears of it.
import { describe, expect, test } from 'bun:test'
import { countWaiting, waitingProposals } from '../../../src/stores/records/waiting.ts'
import { bearer, keyOf } from '../../support/keys.ts'
import { BASE, cookieOf, done, onOneEngine, refused, room, say, throughBothDoors, viaRest } from '../../support/parley.ts'
import { ACTION, DECISION, personAt, recordsOf, recordsScene } from '../../support/records-scene.ts'

const UNKNOWN = '01a20fc1-a197-70e6-81ba-1f3b4a3f3131'
const NORA = { person_id: expect.any(String), name: 'Nora', kind: 'person', verified: false }
const FULL_DOC_BYTES = 512 * 1024

onOneEngine((parley) => {
  const scene = () => recordsScene(viaRest(parley()), parley())
  const proposed = async (type: 'action' | 'decision', more: object = {}) => {
    const made = await scene()
    const { id } = await done(
      type === 'action'
        ? made.alex('propose_action_item', { ...ACTION, ...more })
        : made.alex('propose_decision', { ...DECISION, ...more }),
    )
    return { ...made, proposal_id: id as string }
  }

  describe('approved', () => {
    test('an action item is an item of the board, with where it came from [E12] [E15]', async () => {
      const { id, bea, proposal, resolve, told, seats } = await scene()
      const { message_id } = await say(seats.bea, 'A guide.')
      const given = { ...ACTION, description: 'Soon.', owner_name: "Alex's Team", due_date: '2026-03-01T09:00:00Z', priority: 'low' }
      const made = await done(bea('propose_action_item', { ...given, source_quote: 'A guide', source_event_id: message_id }))
      const answer = await done(resolve(made.id, { action: 'approve', feedback: 'Go on.' }))
      const row = await proposal(made.id)
      expect(answer).toEqual({ success: true, proposal: row, record: expect.anything() })
      expect(row).toMatchObject({ status: 'approved', resolved_by: NORA, feedback: 'Go on.', edited: [], record_id: answer.record.item_id })
      expect(answer.record).toEqual({
        item_id: row.record_id,
        title: ACTION.title,
        description: 'Soon.',
        status: 'open',
        priority: 'low',
        owner: made.data.owner,
        due_date: '2026-03-01T09:00:00.000Z',
        meeting: row.meeting,
        claimed_by: null,
        result: null,
        ai_assisted: true,
        proposed_by: row.proposed_by,
        approved_by: row.resolved_by,
        approved_at: row.resolved_at,
        edited: [],
        proposal_id: made.id,
        source: row.source,
      })
      const [item] = await parley().database.query(
        'select kind, status, paths, depends_on, planned_by, planned_by_team_id, place, owner_id, proposal_id from items where session_id = $1',
        [id],
      )
      expect(item).toEqual({
        kind: 'action',
        status: 'open',
        paths: [],
        depends_on: [],
        planned_by: row.proposed_by,
        planned_by_team_id: seats.bea.handle,
        place: 1,
        owner_id: made.data.owner.person_id,
        proposal_id: made.id,
      })
      expect((await told()).at(-1)).toMatchObject({
        event: 'proposal_approved',
        proposal_id: made.id,
        proposal_type: 'action',
        title: ACTION.title,
        by: 'Nora',
        record_id: row.record_id,
        edited: [],
        feedback: 'Go on.',
        to: [seats.bea.handle],
      })
      const second = await done(bea('propose_action_item', { title: 'A second item' }))
      await done(resolve(second.id))
      expect(await parley().database.query('select place from items where session_id = $1 order by place', [id])).toEqual([
        { place: 1 },
        { place: 2 },
      ])
    })

    test('its owner claims it as other work, and withdrawn it is nobody’s to finish [E15]', async () => {
      const { alex, nora, resolve, seats } = await scene()
      await done(seats.alex('plan_work', { items: [{ title: 'Planned before' }] }))
      const made = await done(alex('propose_action_item', { ...ACTION, owner_name: "Bea's Team", priority: 'low' }))
      const { item_id } = (await done(resolve(made.id))).record
      const { items, counts } = await done(seats.alex('list_work'))
      expect(items.map(({ kind, title }: any) => [kind, title])).toEqual([
        ['work', 'Planned before'],
        ['action', ACTION.title],
      ])
      expect(counts).toMatchObject({ open: 2, ready: 2 })
      const { item } = await done(seats.bea('claim_work'))
      expect(item).toMatchObject({ item_id, kind: 'action', status: 'claimed', planned_by: { name: "Alex's Team" } })
      await done(nora('records.withdraw_record', { record_id: item_id, reason: 'Not needed.' }))
      await refused(seats.bea('update_work', { item_id, status: 'done', result: 'There it is.' }), 'conflict')
      const dropped = await done(seats.bea('list_work', { item_id }))
      expect(dropped.items).toMatchObject([{ status: 'dropped', claimed_by: null, note: 'Not needed.' }])
    })

    test('a decision is in force, and stands in the doc as written by who approved it [E12] [E15]', async () => {
      const { id, proposal_id, proposal, resolve, doc, seats } = await proposed('decision', { rationale: 'Errors.' })
      const { record } = await done(resolve(proposal_id))
      const row = await proposal(proposal_id)
      expect(record).toMatchObject({ ...DECISION, decision_id: row.record_id, rationale: 'Errors.', decided_by: null, status: 'in_force' })
      expect(record).toMatchObject({ ai_assisted: true, proposed_by: { name: "Alex's Team" }, approved_by: NORA })
      const { content, version } = await doc()
      expect(version).toBe(1)
      expect(content).toBe(
        `## Decisions\n\n- **${DECISION.title}**: ${DECISION.description} Why: Errors. (proposed by Alex's Team, approved by Nora, ${record.date.slice(0, 10)}, [record](/approvals/${proposal_id}))\n`,
      )
      const { versions } = await done(viaRest(parley())('get_doc_history', { session_id: id }, { team: seats.alex.token }))
      expect(versions).toMatchObject([{ version: 1, team: 'Nora', written_by_team_id: null }])
    })

    test('wakes who waits for the doc’s next version with the outcome [E15]', async () => {
      const { proposal_id, resolve, seats } = await proposed('decision')
      const waiting = seats.alex('wait_for_messages', { since_cursor: 2, timeout: 20 })
      await done(resolve(proposal_id))
      expect(await done(waiting)).toMatchObject({ messages: [{ event: 'proposal_approved' }], doc_version: 1 })
    })

    test('a decision’s words open no fence, end no section and are no heading [E15]', async () => {
      const hostile = {
        title: '## Conclusion <script> **bold** `code`',
        description: 'One\n```\n## Conclusion\n\nWe give up.\n---\n# Top',
        rationale: '~~~\n\n## Notes\n\n    code\n<!--',
      }
      const { alex, resolve, doc, seats } = await scene()
      await done(seats.alex('update_session_doc', { content: '# S\n\n## Notes\n\nkept\n\n## Conclusion\n\nreal\n', expected_version: 0 }))
      const { id } = await done(alex('propose_decision', hostile))
      await done(resolve(id))
      const { content } = await doc()
      const lines = content.split('\n')
      expect(lines.filter((line) => line.startsWith('#'))).toEqual(['# S', '## Notes', '## Decisions', '## Conclusion'])
      expect(lines.filter((line) => /^ *(?:```|~~~|---|===)/.test(line))).toEqual([])
      expect(content).toContain('\n## Notes\n\nkept\n\n## Decisions\n\n- **')
      expect(content).toEndWith('\n\n## Conclusion\n\nreal\n')
      const section = await done(seats.alex('read_session_doc', { section: 'Conclusion' }))
      expect(section.content).toBe('## Conclusion\n\nreal')
    })

    test('a decision carries a doc of 512 KiB past its limit [E15]', async () => {
      const { proposal_id, resolve, doc, seats } = await proposed('decision')
      await done(seats.alex('update_session_doc', { content: 'x'.repeat(FULL_DOC_BYTES), expected_version: 0 }))
      await refused(seats.alex('append_to_session_doc', { text: 'y' }), 'payload_too_large')
      await done(resolve(proposal_id))
      const { content } = await doc()
      expect(content.length).toBeGreaterThan(FULL_DOC_BYTES)
      expect(content).toContain('\n\n## Decisions\n\n- **')
    })

    test('in a closed session it is a record and an event, and the doc stays as it ended [E14]', async () => {
      const { proposal_id, resolve, doc, told, seats } = await proposed('decision')
      await done(seats.alex('conclude_session', { summary_section: 'Done.' }))
      const before = await doc()
      const { record } = await done(resolve(proposal_id))
      expect(record.status).toBe('in_force')
      expect(await doc()).toEqual(before)
      expect((await told()).at(-1)).toMatchObject({ event: 'proposal_approved' })
    })
  })

  describe('approved with changes [E12] [E15]', () => {
    test('only what changes is named; null empties, and what was proposed is kept', async () => {
      const more = { description: 'Soon.', owner_name: "Bea's Team", due_date: '2026-03-01T09:00:00Z', priority: 'high' }
      const { proposal_id, proposal, resolve, told, seats } = await proposed('action', more)
      const before = (await proposal(proposal_id)).data
      const edits = { title: ' The guide for migrating ', due_date: null, priority: 'high', owner_name: "ALEX'S TEAM" }
      const { record, proposal: row } = await done(resolve(proposal_id, { action: 'approve', edits }))
      const data = {
        title: 'The guide for migrating',
        description: 'Soon.',
        owner: expect.objectContaining({ name: "Alex's Team" }),
        due_date: null,
        priority: 'high',
      }
      expect(row.data).toEqual(data)
      expect(row.edited).toEqual(['title', 'owner', 'due_date'])
      expect(record).toMatchObject({ ...data, edited: row.edited })
      expect((await told()).at(-1)).toMatchObject({ edited: row.edited, title: 'The guide for migrating', to: [seats.alex.handle] })
      const [kept] = await parley().database.query<any>('select proposed from proposals where id = $1', [proposal_id])
      expect(kept.proposed).toEqual(before)
    })

    test('edits that change nothing are none', async () => {
      const { proposal_id, resolve } = await proposed('decision', { rationale: 'Errors.' })
      const { proposal: row } = await done(resolve(proposal_id, { action: 'approve', edits: { ...DECISION, rationale: 'Errors.' } }))
      expect(row.edited).toEqual([])
    })

    test('line breaks of another kind are no change, on the form neither', async () => {
      const [text, sent] = ['one\r\ntwo', 'one\ntwo']
      const called = await proposed('action', { description: text })
      const edits = { title: 'Shorter', description: sent }
      const row = (await done(called.resolve(called.proposal_id, { action: 'approve', edits }))).proposal
      expect([row.edited, row.data.description]).toEqual([['title'], text])
      const { proposal_id, proposal } = await proposed('decision', { description: text, rationale: text })
      const headers = { cookie: await cookieOf(parley(), { role: 'person', name: 'Robin' }) }
      const body = new URLSearchParams({ act: 'edit', title: 'Shorter', description: text, rationale: text, decided_by: '' })
      expect((await parley().send(`/approvals/${proposal_id}`, { method: 'POST', headers, body })).status).toBe(303)
      const { edited, data } = await proposal(proposal_id)
      expect([edited, data.description, data.rationale]).toEqual([['title'], text, text])
    })

    test('an owner is emptied by either name, and a priority falls back', async () => {
      for (const edits of [{ owner_id: null }, { owner_name: null }]) {
        const { proposal_id, resolve } = await proposed('action', { owner_name: 'Cleo', priority: 'high' })
        const { record } = await done(resolve(proposal_id, { action: 'approve', edits: { ...edits, priority: null } }))
        expect(record).toMatchObject({ owner: null, priority: 'medium', edited: ['owner', 'priority'] })
      }
    })

    let shared: ReturnType<typeof proposed> | undefined
    let sharedDecision: ReturnType<typeof proposed> | undefined
    test.each<[string, 'action' | 'decision', object, string, string]>([
      ['an unknown field', 'action', { titel: 'Typo' }, 'edits.titel', 'unknown argument'],
      ['a field of the other type', 'action', { rationale: 'Because.' }, 'edits.rationale', 'no such field'],
      ['a field of the other type', 'decision', { priority: 'low' }, 'edits.priority', 'no such field'],
      ['null for a title', 'action', { title: null }, 'edits.title', 'cannot be emptied'],
      ['null for a decision’s description', 'decision', { description: null }, 'edits.description', 'cannot be emptied'],
      ['a short title', 'decision', { title: 'No' }, 'edits.title', 'at least 5'],
      ['a long description', 'action', { description: 'x'.repeat(1_001) }, 'edits.description', 'at most 1000'],
      ['a date without a zone', 'action', { due_date: '2026-03-01T09:00:00' }, 'edits.due_date', 'zone'],
      ['a priority that is none', 'action', { priority: 'urgent' }, 'edits.priority', '"high"'],
      ['an unknown owner', 'action', { owner_id: UNKNOWN }, 'edits.owner_id', 'Owner not found'],
      ['an owner by id and by name', 'action', { owner_id: UNKNOWN, owner_name: 'Cleo' }, 'edits.owner_id', 'not both'],
      ['an unknown decider', 'decision', { decided_by_id: UNKNOWN }, 'edits.decided_by_id', 'Owner not found'],
      ['a number for a title', 'action', { title: 7 }, 'edits.title', 'must be text'],
    ])('%s in an edited %s is refused, and it stays pending', async (_, type, edits, field, says) => {
      const { proposal_id, proposal, resolve, told, doc } = await (type === 'action'
        ? (shared ??= proposed(type))
        : (sharedDecision ??= proposed(type)))
      const { message, details } = await refused(resolve(proposal_id, { action: 'approve', edits }), 'invalid_request')
      expect(details.field).toBe(field)
      expect(message).toContain(says)
      expect(await proposal(proposal_id)).toMatchObject({ status: 'pending', edited: [] })
      expect(await told()).toHaveLength(1)
      expect((await doc()).version).toBe(0)
    })

    test('a token in an edit is refused', async () => {
      const { proposal_id, resolve, seats } = await proposed('action')
      await refused(resolve(proposal_id, { action: 'approve', edits: { title: seats.bea.token } }), 'secret_in_text')
    })
  })

  describe('rejected', () => {
    test('it says why, and nothing is made [E16]', async () => {
      const { id, proposal_id, proposal, resolve, told, doc, seats } = await proposed('decision')
      const answer = await done(resolve(proposal_id, { action: 'reject', feedback: 'Too early.' }))
      const row = await proposal(proposal_id)
      expect(answer).toEqual({ success: true, proposal: row, record: null })
      expect(row).toMatchObject({
        status: 'rejected',
        resolved_by: NORA,
        resolved_at: expect.any(String),
        feedback: 'Too early.',
        record_id: null,
      })
      expect((await told()).at(-1)).toMatchObject({
        event: 'proposal_rejected',
        by: 'Nora',
        feedback: 'Too early.',
        to: [seats.alex.handle],
      })
      expect((await doc()).version).toBe(0)
      expect(await parley().database.query('select from decisions where session_id = $1', [id])).toEqual([])
    })

    test('edits with it are refused, and it stays pending [E14]', async () => {
      const { proposal_id, proposal, resolve } = await proposed('action')
      for (const edits of [{ title: 'Another title' }, {}]) {
        const { details } = await refused(resolve(proposal_id, { action: 'reject', edits }), 'invalid_request')
        expect(details.field).toBe('edits')
      }
      expect(await proposal(proposal_id)).toMatchObject({ status: 'pending' })
    })
  })

  describe('what comes too late hears what it has become [E14]', () => {
    test.each(['approve', 'reject', 'cancel'])('after %s', async (how) => {
      const { proposal_id, proposal, resolve, nora, alex, told } = await proposed('action')
      await done(how === 'cancel' ? nora('records.cancel_approval', { proposal_id }) : resolve(proposal_id, { action: how }))
      const { status, resolved_by, resolved_at } = await proposal(proposal_id)
      const late = [
        resolve(proposal_id),
        resolve(proposal_id, { action: 'reject' }),
        nora('records.cancel_approval', { proposal_id }),
        nora('records.renew_approval', { proposal_id }),
        alex('cancel_proposal', { proposal_id }),
      ]
      for (const pending of late) {
        const { message, details } = await refused(pending, 'conflict')
        expect(details).toEqual({ status, resolved_by, resolved_at })
        expect(message).toContain('by Nora')
      }
      expect(await told()).toHaveLength(2)
    })

    test('and on the form, what of it was not applied: the other decision, and the words that were written', async () => {
      const { proposal_id, resolve } = await proposed('action')
      await done(resolve(proposal_id))
      const headers = { cookie: await cookieOf(parley(), { role: 'person', name: 'Robin' }), 'hx-request': 'true' }
      const send = async (fields: Record<string, string>) => {
        const body = new URLSearchParams({ key: crypto.randomUUID(), ...fields })
        const response = await parley().send(`/approvals/${proposal_id}`, { method: 'POST', headers, body })
        const card = await response.text()
        expect(card).toContain('data-card="done"')
        return [response.status, /role="alert"[^>]*>(It was [^<]*)/.exec(card)?.[1]]
      }
      const said = 'It was decided before, and what you sent was not applied.'
      expect(await send({ act: 'approve' })).toEqual([200, undefined])
      expect(await send({ act: 'edit', title: ACTION.title, description: '', priority: 'high' })).toEqual([409, said])
      expect(await send({ act: 'reject', feedback: '' })).toEqual([409, said])
      expect(await send({ act: 'reject', feedback: 'Not yet.' })).toEqual([409, `${said} You had sent: Not yet.`])
      const edited = { act: 'edit', title: 'The guide', description: '', feedback: 'Shorter.' }
      expect(await send(edited)).toEqual([409, `${said} You had sent: The guide · Shorter.`])
    })

    test('a repeated key replays', async () => {
      const { proposal_id, resolve, told, doc } = await proposed('decision')
      const first = await done(resolve(proposal_id, { action: 'approve' }, { key: 'once' }))
      const again = await resolve(proposal_id, { action: 'approve' }, { key: 'once' })
      expect(again).toMatchObject({ ok: true, replayed: true })
      expect(again.body).toEqual(first)
      expect(await told()).toHaveLength(2)
      expect((await doc()).version).toBe(1)
    })

    test('an action that is none, and too long a word, are refused', async () => {
      const { proposal_id, resolve } = await proposed('action')
      expect((await refused(resolve(proposal_id, { action: 'maybe' }), 'invalid_request')).details.field).toBe('action')
      const long = { action: 'approve', feedback: 'x'.repeat(2_001) }
      expect((await refused(resolve(proposal_id, long), 'invalid_request')).details.field).toBe('feedback')
    })
  })

  describe('who decides [E11]', () => {
    const acts = (proposal_id: string) =>
      [
        ['resolve_approval', { proposal_id, action: 'approve' }],
        ['renew_approval', { proposal_id }],
        ['withdraw_record', { record_id: proposal_id, reason: 'No.' }],
      ] as const

    test('no team, its own either, and no key', async () => {
      const { proposal_id, proposal, alex, bea } = await proposed('decision')
      const headers = bearer(await keyOf(parley(), 'full'))
      for (const [name, input] of acts(proposal_id).slice(0, 2))
        for (const answer of [alex(name, input), bea(name, input), viaRest(parley())(`records.${name}`, { ...input }, { headers })]) {
          const { message } = await refused(answer, 'forbidden')
          expect(message).toStartWith('Insufficient permissions. A person decides')
        }
      const reads = bearer(await keyOf(parley(), 'read'))
      await refused(viaRest(parley())('records.resolve_approval', { proposal_id, action: 'approve' }, { headers: reads }), 'forbidden')
      await refused(viaRest(parley())('records.resolve_approval', { proposal_id, action: 'approve' }), 'unauthorized')
      expect(await proposal(proposal_id)).toMatchObject({ status: 'pending' })
    })

    test('an unknown proposal or record is not found', async () => {
      const { nora } = await scene()
      for (const id of [UNKNOWN, 'that one'])
        for (const [name, input] of acts(id)) {
          const { message } = await refused(nora(`records.${name}`, { ...input }), 'not_found')
          expect(message).toStartWith(name === 'withdraw_record' ? 'There is no such record' : 'Approval not found')
        }
    })

    test('nobody in an archived session, until it is brought back', async () => {
      const { id, proposal_id, proposal, nora, resolve } = await proposed('action')
      const waits = async () => {
        const { proposals } = await done(nora('records.get_proposals', { meeting_id: id }))
        const page = await (await parley().send('/approvals', { headers: { cookie: await cookieOf(parley(), { role: 'person', name: 'Nora' }) } })).text() // prettier-ignore
        const { database } = parley()
        const live = (await waitingProposals(database, 200)).some((one) => one.id === proposal_id)
        const [meeting] = (await done(nora('records.get_meetings', {}))).meetings.filter((one: any) => one.meeting_id === id)
        return [proposals.length, page.includes(`p${proposal_id}`), live, meeting.counts.pending]
      }
      const before = await countWaiting(parley().database, 120)
      expect(await waits()).toEqual([1, true, true, 1])
      await done(nora('control.manage_session', { session_id: id, action: 'delete' }))
      await refused(resolve(proposal_id), 'session_closed')
      expect(await waits()).toEqual([0, false, false, 0])
      expect(await countWaiting(parley().database, 120)).toBe(before - 1)
      expect(await proposal(proposal_id)).toMatchObject({ status: 'pending' })
      await done(nora('control.manage_session', { session_id: id, action: 'start' }))
      expect(await waits()).toEqual([1, true, true, 1])
      await done(resolve(proposal_id))
    })
  })

  describe('withdrawing', () => {
    test('a decision is kept, and holds no more [E15]', async () => {
      const { id, proposal_id, nora, resolve, told, doc, seats } = await proposed('decision')
      const record_id = (await done(resolve(proposal_id))).record.decision_id
      const withdraw = () => nora('records.withdraw_record', { record_id, reason: 'It was wrong.' })
      expect(await done(withdraw())).toEqual({ record_id, type: 'decision', status: 'withdrawn', at: expect.any(String) })
      expect((await told()).at(-1)).toMatchObject({
        event: 'record_withdrawn',
        by: 'Nora',
        record_id,
        reason: 'It was wrong.',
        to: [seats.alex.handle],
      })
      const { content, version } = await doc()
      expect(version).toBe(2)
      expect(content).toContain(`- ~~**${DECISION.title}**: ${DECISION.description}~~ Withdrawn: It was wrong. (by Nora, `)
      const { details } = await refused(withdraw(), 'conflict')
      expect(details).toEqual({ status: 'withdrawn', resolved_by: NORA, resolved_at: expect.any(String) })
      const rows = await parley().database.query('select withdrawn_reason from decisions where session_id = $1', [id])
      expect(rows).toEqual([{ withdrawn_reason: 'It was wrong.' }])
      expect(await told()).toHaveLength(3)
    })

    test('what people decide about a concluded session is in its document once it is concluded anew or reopened, and what somebody deleted is not [E15]', async () => {
      const { alex, nora, resolve, doc, seats } = await scene()
      const titles = ['Early', 'Deleted', 'Meanwhile', 'Of no use']
      const proposals = await Promise.all(titles.map((title) => done(alex('propose_decision', { ...DECISION, title }))))
      const approve = async (title: string): Promise<string> =>
        (await done(resolve(proposals[titles.indexOf(title)].id))).record.decision_id
      const withdraw = (record_id: string) => done(nora('records.withdraw_record', { record_id, reason: 'It was wrong.' }))
      const conclude = () => done(seats.alex('conclude_session', { summary_section: 'Done.' }))
      const reopen = () => done(seats.alex('reopen_session', { reason: 'A bug came back.' }))
      const entries = async () => (await doc()).content.match(/^- (~~)?\*\*[^*]+/gm)
      const early = await approve('Early')
      await approve('Deleted')
      const { content, version } = await doc()
      await done(seats.alex('update_session_doc', { content: content.replace(/^- \*\*Deleted.*\n/m, ''), expected_version: version }))
      await conclude()
      await approve('Meanwhile')
      await withdraw(early)
      expect(await entries()).toEqual(['- **Early'])
      await conclude()
      expect(await entries()).toEqual(['- ~~**Early', '- **Meanwhile'])
      await withdraw(await approve('Of no use'))
      await reopen()
      expect(await entries()).toEqual(['- ~~**Early', '- **Meanwhile', '- ~~**Of no use'])
      expect((await doc()).content).toMatch(/Of no use.*\n\n## Conclusion\n\nDone\.\n$/)
      const { version: last } = await doc()
      await conclude()
      await reopen()
      expect((await doc()).version).toBe(last + 1) // of the conclusion alone
    })

    test('an action item is dropped, in a closed session too [E15]', async () => {
      const { id, proposal_id, nora, resolve, told, seats } = await proposed('action')
      const record_id = (await done(resolve(proposal_id))).record.item_id
      await done(seats.alex('conclude_session', { summary_section: 'Done.' }))
      const withdraw = () => nora('records.withdraw_record', { record_id, reason: 'Not needed.' })
      expect(await done(withdraw())).toMatchObject({ type: 'action', status: 'dropped' })
      expect((await refused(withdraw(), 'conflict')).details.status).toBe('dropped')
      const rows = await parley().database.query('select status, note from items where session_id = $1', [id])
      expect(rows).toEqual([{ status: 'dropped', note: 'Not needed.' }])
      expect((await told()).at(-1)).toMatchObject({ event: 'record_withdrawn', record_id })
    })

    test('an action item: whoever holds it hears of it, and all hear what can begin by it [E15]', async () => {
      const { id, alex, bea, nora, resolve, seats, told } = await scene()
      const approved = async (title: string) =>
        (await done(resolve((await done(alex('propose_action_item', { title }))).id))).record.item_id
      const item_id = await approved('Write the guide')
      const planned = await done(seats.alex('plan_work', { items: [{ title: 'Print the guide', depends_on: [item_id] }] }))
      const next = { item_id: planned.items[0].item_id, title: 'Print the guide' }
      await done(seats.bea('claim_work', { item_id }))
      const { cursor } = await done(seats.bea('post_message', { content: 'At it.' }))
      const waiting = seats.bea('wait_for_messages', { since_cursor: cursor, timeout: 20, only: 'addressed' })
      await done(nora('records.withdraw_record', { record_id: item_id, reason: 'Not needed.' }))
      const to = [seats.alex.handle, seats.bea.handle]
      expect((await done(waiting)).messages).toMatchObject([{ event: 'record_withdrawn', record_id: item_id, to, ready: [next] }])
      const page = await (await parley().send(`/sessions/${id}.md`)).text()
      expect(page).toContain('withdrew “Write the guide”: “Print the guide” can begin')
      const mine = await done(bea('propose_action_item', { title: 'Bind the guide' }))
      const own = (await done(resolve(mine.id))).record.item_id
      await done(seats.bea('claim_work', { item_id: own }))
      await done(nora('records.withdraw_record', { record_id: own, reason: 'Not needed.' }))
      expect((await told()).at(-1)).toMatchObject({ record_id: own, to: [seats.bea.handle], ready: [] })
      const late = await approved('Send the guide')
      await done(seats.alex('plan_work', { items: [{ title: 'Ask who has read it', depends_on: [late] }] }))
      await done(seats.alex('conclude_session', { summary_section: 'Done.' }))
      await done(nora('records.withdraw_record', { record_id: late, reason: 'Not needed.' }))
      expect((await told()).at(-1)).toMatchObject({ record_id: late, to: [seats.alex.handle], ready: [] })
      expect((await done(nora('list_work', { session_id: id, item_id: own }))).items).toMatchObject([{ claimed_by: null }])
    })

    test('an action item that is done keeps who did it, who is not asked to stop [E15]', async () => {
      const { alex, nora, resolve, seats, told } = await scene()
      const made = await done(alex('propose_action_item', ACTION))
      const item_id = (await done(resolve(made.id))).record.item_id
      await done(seats.bea('claim_work', { item_id }))
      await done(seats.bea('update_work', { item_id, status: 'done', result: 'In docs.' }))
      await done(nora('records.withdraw_record', { record_id: item_id, reason: 'Not needed.' }))
      const claimed_by = { team_id: seats.bea.handle, team_name: seats.bea.team }
      const { items } = await done(seats.bea('list_work', { item_id }))
      expect(items).toMatchObject([{ status: 'dropped', claimed_by, result: 'In docs.' }])
      expect((await told()).at(-1)).toMatchObject({ event: 'record_withdrawn', to: [seats.alex.handle], ready: [] })
    })

    test('an action item that a team dropped before is withdrawn all the same, and no team brings it back [E15]', async () => {
      const { alex, nora, resolve, seats, told } = await scene()
      const item_id = (await done(resolve((await done(alex('propose_action_item', ACTION))).id))).record.item_id
      await done(seats.bea('claim_work', { item_id }))
      await done(seats.bea('update_work', { item_id, status: 'dropped', note: 'Too much.' }))
      await done(nora('records.withdraw_record', { record_id: item_id, reason: 'Not needed.' }))
      expect((await told()).at(-1)).toMatchObject({ event: 'record_withdrawn', record_id: item_id, ready: [] })
      await refused(seats.alex('update_work', { item_id, status: 'open' }), 'forbidden')
      await refused(nora('records.withdraw_record', { record_id: item_id, reason: 'Again.' }), 'conflict')
    })

    test('an action item that was brought back is withdrawn again from its card, which calls none withdrawn that a team dropped', async () => {
      const { id, alex, nora, resolve, seats } = await scene()
      const made = await done(alex('propose_action_item', ACTION))
      const item_id = (await done(resolve(made.id))).record.item_id as string
      const headers = { cookie: await cookieOf(parley(), { role: 'person', name: 'Nora' }), accept: 'text/html' }
      const card = async () => (await parley().send(`/approvals/${made.id}`, { headers })).text()
      const withdraw = async (reason: string, again = false) => {
        const key = /name="key" value="(withdraw\.[^"]+)"/.exec(await card())![1]!
        const body = new URLSearchParams({ proposal: made.id, key, reason })
        for (const _ of again ? [1, 2] : [1])
          expect((await parley().send(`/records/${item_id}/withdraw`, { method: 'POST', headers, body })).status).toBe(303)
        return (await done(seats.bea('list_work', { item_id }))).items[0]
      }
      await done(seats.alex('update_work', { item_id, status: 'dropped', note: 'Too much.' }))
      expect(await card()).not.toContain('withdrawn since')
      expect(await withdraw('Not needed.', true)).toMatchObject({ status: 'dropped', note: 'Not needed.' })
      expect(await card()).toContain('withdrawn since')
      for (const reason of ['Not needed.', 'Still not needed.']) {
        await done(nora('update_work', { session_id: id, item_id, status: 'open', note: '' }))
        expect(await withdraw(reason)).toMatchObject({ status: 'dropped', note: reason })
      }
    })

    test('of an action item is a person’s to undo: no team and no key brings it back, finishes, claims or edits it [E15]', async () => {
      const { id, alex, nora, resolve, seats } = await scene()
      const made = await done(alex('propose_action_item', ACTION))
      const item_id = (await done(resolve(made.id))).record.item_id as string
      await done(nora('records.withdraw_record', { record_id: item_id, reason: 'Not needed.' }))
      const headers = bearer(await keyOf(parley(), 'full'))
      const withKey = (input: object) => viaRest(parley())('update_work', { session_id: id, item_id, ...input }, { headers })
      const asConvener = (input: object) => seats.alex('update_work', { item_id, ...input })
      for (const update of [withKey, asConvener])
        for (const input of [{ status: 'open' }, { status: 'done' }, { note: 'Still wanted.' }, { status: 'dropped', paths: ['src'] }]) {
          const { message } = await refused(update(input), 'forbidden')
          expect(message).toContain('A person withdrew this item, and only a person brings it back')
        }
      await refused(seats.bea('claim_work', { item_id }), 'conflict')
      const { message } = await refused(seats.bea('update_work', { item_id, status: 'done' }), 'conflict')
      expect(message).toStartWith('A person withdrew it')
      expect((await done(asConvener({ status: 'dropped' }))).item).toMatchObject({ status: 'dropped', note: 'Not needed.' })
      const byNora = (input: object) => nora('update_work', { session_id: id, item_id, ...input })
      expect((await done(byNora({ status: 'open', note: '' }))).item).toMatchObject({ status: 'open', note: null })
      await done(asConvener({ status: 'dropped' }))
      expect((await done(asConvener({ status: 'open' }))).item.status).toBe('open') // the convener’s own is not the person’s
    })

    test('before the database kept it is found in the log [E15]', async () => {
      const { id, proposal_id, alex, nora, resolve, seats } = await proposed('action')
      const record_id = (await done(resolve(proposal_id))).record.item_id
      const other = (await done(resolve((await done(alex('propose_action_item', { title: 'Another one' }))).id))).record.item_id
      await done(nora('records.withdraw_record', { record_id, reason: 'Not needed.' }))
      await done(seats.alex('update_work', { item_id: other, status: 'dropped', note: 'Not needed.' }))
      const { query } = parley().database
      await query('update items set withdrawn_at = null where session_id = $1', [id])
      const migration = await Bun.file('db/migrations/0020_withdrawn_items.sql').text()
      await query(migration.split('--> statement-breakpoint')[1]!)
      const rows = await query('select id, withdrawn_at is not null as withdrawn from items where session_id = $1 order by place', [id])
      expect(rows).toEqual([
        { id: record_id, withdrawn: true },
        { id: other, withdrawn: false },
      ])
    })

    test('without a reason it is refused', async () => {
      const { proposal_id, nora, resolve } = await proposed('action')
      const record_id = (await done(resolve(proposal_id))).record.item_id
      expect((await refused(nora('records.withdraw_record', { record_id, reason: ' ' }), 'invalid_request')).details.field).toBe('reason')
    })
  })

  describe('in the texts that outlive a session', () => {
    test('handoff and export have each decision in force once, and none that was withdrawn [E15]', async () => {
      const { id, alex, nora, resolve, seats } = await scene()
      await done(seats.alex('append_to_session_doc', { text: '## Decisions\n\nBy agreement: tabs.\n' }))
      const decide = async (title: string) => {
        const made = await done(alex('propose_decision', { ...DECISION, title }))
        return (await done(resolve(made.id))).record.decision_id
      }
      await decide('Spaces win')
      const gone = await decide('Semicolons win')
      await done(nora('records.withdraw_record', { record_id: gone, reason: 'No.' }))
      const text = async (path: string) => (await parley().send(path)).text()
      const handoff = await text(`/api/sessions/${id}/handoff.md`)
      const part = (name: string) => handoff.split(/^## /m).find((one) => one.startsWith(`${name}\n`)) ?? ''
      expect(part('Decisions in force')).toContain('Spaces win')
      expect(part('Decisions')).toContain('By agreement: tabs.')
      const conversation = handoff.split('## Last messages')[0]!
      expect(conversation.match(/Spaces win/g)).toHaveLength(1)
      expect(conversation).not.toContain('Semicolons win')
      const exported = await text(`/sessions/${id}.md`)
      const end = exported.split('\n## Decisions in force\n')[1]!
      expect(end).toContain(`(${'proposed by Alex'}`)
      expect(end).toContain(`[record](${BASE}/approvals/`)
      expect(end.match(/^- /gm)).toHaveLength(1)
    })
  })
})

throughBothDoors((call, parley) => {
  const scene = () => recordsScene(call, parley())

  describe('the outcome reaches who proposed', () => {
    test.each([undefined, 'addressed', 'others'] as const)('in its held wait (only: %p) [E14]', async (only) => {
      const { bea, resolve, seats } = await scene()
      const { id } = await done(bea('propose_action_item', ACTION))
      const waiting = seats.bea('wait_for_messages', { since_cursor: 2, timeout: 20, ...(only && { only }) })
      const { proposal } = await done(resolve(id, { action: 'approve', edits: { title: 'The guide, in short' } }))
      const { messages } = await done(waiting)
      expect(messages).toEqual([
        expect.objectContaining({
          event: 'proposal_approved',
          proposal_id: id,
          edited: ['title'],
          title: 'The guide, in short',
          record_id: proposal.record_id,
        }),
      ])
    })

    test('and nobody else’s that waits for what is addressed to it [E14]', async () => {
      const { bea, resolve, seats } = await scene()
      const { id } = await done(bea('propose_action_item', ACTION))
      await done(resolve(id))
      const { messages } = await done(seats.alex('wait_for_messages', { since_cursor: 2, timeout: 0, only: 'addressed' }))
      expect(messages).toEqual([])
      const { unanswered, asked } = await done(seats.bea('catch_up'))
      expect([unanswered, asked]).toEqual([[], []]) // nobody owes it an answer
    })

    test('in catch_up: what waits, and what came of the rest since its cursor [E14]', async () => {
      const { alex, bea, resolve, seats } = await scene()
      const first = (await done(bea('propose_action_item', ACTION))).id
      await done(alex('propose_action_item', { title: 'Another team’s' }))
      const second = (await done(bea('propose_action_item', { title: 'Also wanted' }))).id
      const mine = async () => (await done(seats.bea('catch_up'))).proposals
      expect(await mine()).toEqual([
        { id: second, type: 'action', title: 'Also wanted', status: 'pending', expires_at: expect.any(String) },
        { id: first, type: 'action', title: ACTION.title, status: 'pending', expires_at: expect.any(String) },
      ])
      await done(resolve(first, { action: 'reject', feedback: 'Not now.' }))
      expect((await mine())[1]).toEqual({
        id: first,
        type: 'action',
        title: ACTION.title,
        status: 'rejected',
        resolved_at: expect.any(String),
        resolved_by: 'Nora',
        feedback: 'Not now.',
      })
      const { next_cursor } = await done(seats.bea('wait_for_messages', { since_cursor: 1, timeout: 0 }))
      await done(seats.bea('wait_for_messages', { since_cursor: next_cursor, timeout: 0 }))
      expect((await mine()).map(({ id }: { id: string }) => id)).toEqual([second])
    })

    test('in get_proposals, by its id [E13] [E14]', async () => {
      const { bea, resolve } = await scene()
      const { id } = await done(bea('propose_action_item', ACTION))
      await done(resolve(id, { action: 'reject', feedback: 'Not now.' }))
      const { proposals } = await done(bea('get_proposals', { proposal_id: id }))
      expect(proposals).toMatchObject([{ id, status: 'rejected', feedback: 'Not now.', resolved_by: NORA }])
    })

    test('in get_proposals, which is empty once it has another status than asked for, or is of another type or session [E13] [E14]', async () => {
      const { bea, resolve } = await scene()
      const { id } = await done(bea('propose_action_item', ACTION))
      const asPending = async () => (await done(bea('get_proposals', { proposal_id: id, status: 'pending' }))).proposals.length
      expect(await asPending()).toBe(1)
      await done(resolve(id))
      expect(await asPending()).toBe(0)
      const none = { proposals: [], next_cursor: null, has_more: false }
      for (const filter of [{ type: 'decision' }, { meeting_id: (await scene()).id }])
        expect(await done(bea('get_proposals', { proposal_id: id, ...filter }))).toEqual(none)
      await refused(bea('get_proposals', { proposal_id: UNKNOWN, status: 'pending' }), 'not_found')
    })
  })
})

onOneEngine(
  (parley) => {
    test('where pages are closed, another session’s proposal is answered as an unknown one [E11]', async () => {
      const call = viaRest(parley())
      const { alex, proposal } = await recordsScene(call, parley())
      const { id } = await done(alex('propose_action_item', ACTION))
      const stranger = recordsOf(call, (await room(call)).alex)
      for (const name of ['get_proposals', 'get_approval', 'cancel_proposal', 'cancel_approval', 'resolve_approval']) {
        const action = name === 'resolve_approval' ? { action: 'approve' } : {}
        const real = await refused(stranger(name, { proposal_id: id, ...action }), 'not_found')
        const unknown = await refused(stranger(name, { proposal_id: UNKNOWN, ...action }), 'not_found')
        expect({ ...real, details: {} }).toEqual({ ...unknown, details: {} })
      }
      await refused(stranger('get_proposals', { proposal_id: id, status: 'approved' }), 'not_found')
      expect((await done(stranger('get_proposals'))).proposals).toEqual([])
      expect(await proposal(id)).toMatchObject({ status: 'pending' })
      await done((await personAt(parley(), 'Omar'))('records.cancel_approval', { proposal_id: id }))
    })
  },
  { VIEWER_PASSWORD: 'a password for viewers' },
)

import { describe, expect } from 'bun:test'
import { test } from '../support/foreign.ts'
import { bearer, keyOf } from '../support/keys.ts'
import {
  cookieOf,
  done,
  feedOf,
  leaveTrace,
  onOneEngine,
  operations,
  refused,
  room,
  say,
  seat,
  throughBothDoors,
  TITLE,
  viaRest,
} from '../support/parley.ts'

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

throughBothDoors((call, parley) => {
  describe('update_session_metadata', () => {
    test('[A55 A57 A58 A61] any team changes the title with a reason, and the event tells the changed fields alone', async () => {
      const { alex, bea } = await room(call)
      const answer = await done(bea('update_session_metadata', { title: 'Shipping the lexer', reason: 'The parser is out.' }))
      expect(answer).toEqual({ title: 'Shipping the lexer', description: 'Decide what goes out.', updated_at: expect.stringMatching(TIME) })
      const [event] = (await feedOf(alex)).slice(-1)
      expect(event).toEqual({
        id: expect.any(String),
        sequence: 2,
        type: 'system',
        event: 'session_metadata_updated',
        by: "Bea's Team",
        changes: { title: { from: TITLE, to: 'Shipping the lexer' } },
        reason: 'The parser is out.',
        at: expect.stringMatching(TIME),
      })
    })

    test('[A58] both fields at once make one event with both changes', async () => {
      const { alex } = await room(call)
      await done(alex('update_session_metadata', { title: 'A', description: 'B', reason: 'scope' }))
      const feed = await feedOf(alex)
      expect(feed).toHaveLength(2)
      expect(feed[1].changes).toEqual({
        title: { from: TITLE, to: 'A' },
        description: { from: 'Decide what goes out.', to: 'B' },
      })
      expect(await done(alex('get_session'))).toMatchObject({ title: 'A', description: 'B' })
    })

    test('[A56] without a reason, or with a blank one, or with nothing that changes, it is refused and nothing is told', async () => {
      const { alex } = await room(call)
      for (const input of [
        { title: 'New' },
        { title: 'New', reason: '' },
        { title: 'New', reason: ' \n\t ' },
        { reason: 'nothing new' },
        { title: TITLE, reason: 'the same' },
        { title: ' ', reason: 'blank title' },
      ])
        await refused(alex('update_session_metadata', input), 'invalid_request')
      expect(await feedOf(alex)).toHaveLength(1)
    })

    test('[A59] of 20 changes at once all succeed and each tells what it changed from', async () => {
      const { alex, bea } = await room(call)
      await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          done((n % 2 ? alex : bea)('update_session_metadata', { title: `Title ${n}`, reason: 'race' })),
        ),
      )
      const changes = (await feedOf(alex)).slice(1).map((event) => event.changes.title)
      expect(changes).toHaveLength(20)
      expect(changes.map(({ from }) => from)).toEqual([TITLE, ...changes.slice(0, -1).map(({ to }) => to)])
    })
  })

  describe('conclude_session', () => {
    test('[A44 A45 A48] any team concludes: the doc has the section, the feed the event, the session its end', async () => {
      const { id, alex, bea } = await room(call)
      await done(alex('update_session_doc', { content: '# Session\n\n## Decisions\n\n- ship\n', expected_version: 0 }))
      const concluded = await done(bea('conclude_session', { summary_section: 'We ship on Monday.' }))
      expect(concluded).toEqual({ session_id: id, status: 'closed', closed_at: expect.stringMatching(TIME), doc_version: 2 })
      expect((await done(alex('read_session_doc'))).content).toBe(
        '# Session\n\n## Decisions\n\n- ship\n\n## Conclusion\n\nWe ship on Monday.\n',
      )
      expect((await feedOf(alex)).at(-1)).toMatchObject({
        type: 'system',
        event: 'session_concluded',
        by: "Bea's Team",
        doc_version: 2,
      })
      expect(await done(alex('get_session'))).toMatchObject({ status: 'closed', closed_at: concluded.closed_at, last_sequence: 2 })
    })

    test('[A46] a summary that brings the heading gives one heading, and what follows the section stays', async () => {
      const { alex } = await room(call)
      const doc = '# S\n\n## Conclusion\n\nold\n\n## After\n\nkept\n\n```\n## Conclusion\n```\n'
      await done(alex('update_session_doc', { content: doc, expected_version: 0 }))
      await done(alex('conclude_session', { summary_section: '## Conclusion\n\nnew' }))
      const { content } = await done(alex('read_session_doc'))
      expect(content).toBe('# S\n\n## Conclusion\n\nnew\n\n## After\n\nkept\n\n```\n## Conclusion\n```\n')
    })

    test('a Conclusion right below a list item that ends in HTML is revised, not doubled', async () => {
      const { alex } = await room(call)
      await done(alex('update_session_doc', { content: '- Lexer\n  <details>\n## Conclusion\n\nold\n', expected_version: 0 }))
      await done(alex('conclude_session', { summary_section: 'new' }))
      expect((await done(alex('read_session_doc'))).content).toBe('- Lexer\n  <details>\n## Conclusion\n\nnew\n')
    })

    test('[A47] concluding again replaces the section and tells everybody again', async () => {
      const { alex, bea } = await room(call)
      await done(alex('conclude_session', { summary_section: 'first' }))
      expect((await done(bea('conclude_session', { summary_section: 'second' }))).doc_version).toBe(2)
      const { content } = await done(alex('read_session_doc'))
      expect(content).toBe('## Conclusion\n\nsecond\n')
      expect((await feedOf(alex)).filter(({ event }) => event === 'session_concluded')).toHaveLength(2)
    })

    test('what is appended after a reopening stands before the conclusion, which the next one replaces', async () => {
      const { alex, bea } = await room(call)
      await done(alex('conclude_session', { summary_section: 'first' }))
      await done(alex('reopen_session', { reason: 'One thing more.' }))
      await done(bea('append_to_session_doc', { text: '- found late' }))
      expect((await done(alex('read_session_doc'))).content).toBe('- found late\n\n## Conclusion\n\nfirst\n')
      await done(alex('conclude_session', { summary_section: 'second' }))
      expect((await done(alex('read_session_doc'))).content).toBe('- found late\n\n## Conclusion\n\nsecond\n')
    })

    test('10 conclusions at once leave one section, ten events and a closed session', async () => {
      const { alex, bea } = await room(call)
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_, n) => done((n % 2 ? alex : bea)('conclude_session', { summary_section: `number ${n}` }))),
      )
      expect(answers.map(({ doc_version }) => doc_version).toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
      const { content } = await done(alex('read_session_doc'))
      expect(content.match(/## Conclusion/g)).toHaveLength(1)
      expect((await feedOf(alex)).map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
    })

    test('no post of 20 that race with the conclusion stands behind it', async () => {
      const { alex, bea } = await room(call)
      const posts = Array.from({ length: 20 }, (_, n) => bea('post_message', { content: `late ${n}` }))
      const [, ...answers] = await Promise.all([alex('conclude_session', { summary_section: 'end' }), ...posts])
      for (const { ok, body } of answers) if (!ok) expect(body.code).toBe('session_closed')
      const feed = await feedOf(alex)
      expect(feed.at(-1).event).toBe('session_concluded')
      expect(feed.filter(({ type }) => type === 'chat')).toHaveLength(answers.filter(({ ok }) => ok).length)
    })

    test('a blank conclusion ends nothing', async () => {
      const { alex } = await room(call)
      for (const summary_section of ['', ' \n\t'])
        expect((await refused(alex('conclude_session', { summary_section }), 'invalid_request')).details.field).toBe('summary_section')
      expect((await done(alex('get_session'))).status).toBe('active')
    })

    test('the section may carry the doc past its limit', async () => {
      const { alex } = await room(call)
      const content = `${'x'.repeat(512 * 1024 - 1)}\n`
      await done(alex('update_session_doc', { content, expected_version: 0 }))
      await refused(alex('append_to_session_doc', { text: 'one more' }), 'payload_too_large')
      await done(alex('conclude_session', { summary_section: 'y'.repeat(60_000) }))
      expect((await done(alex('read_session_doc'))).content.length).toBeGreaterThan(512 * 1024 + 59_000)
    })
  })

  describe('a closed session', () => {
    test('[A51 A60 A70] refuses what would go on with it, and nothing is written', async () => {
      const { alex, bea } = await room(call)
      await done(alex('conclude_session', { summary_section: 'end' }))
      for (const who of [alex, bea]) {
        await refused(who('post_message', { content: 'late' }), 'session_closed')
        await refused(who('update_session_doc', { content: 'late', expected_version: 1 }), 'session_closed')
        await refused(who('append_to_session_doc', { text: 'late' }), 'session_closed')
        await refused(who('update_session_metadata', { title: 'late', reason: 'late' }), 'session_closed')
      }
      expect(await feedOf(alex)).toHaveLength(2)
      expect((await done(alex('read_session_doc'))).version).toBe(1)
    })

    test('[A7 A51 A70] still lets its teams read, acknowledge, conclude and leave', async () => {
      const { alex, bea } = await room(call)
      await done(alex('conclude_session', { summary_section: 'end' }))
      for (const name of ['read_session_doc', 'get_history', 'list_participants', 'get_session']) await done(bea(name))
      await done(bea('wait_for_messages', { since_cursor: 0 }))
      await done(bea('ack_messages', { cursor: 2 }))
      await done(bea('conclude_session', { summary_section: 'better' }))
      await done(bea('leave_session'))
    })

    test('can be joined to read, which leaves no event, and neither does leaving', async () => {
      const { alex, id } = await room(call)
      await done(alex('conclude_session', { summary_section: 'end' }))
      const joined = await done(call('join_session', { session_id: id, team_name: 'Cleo' }))
      expect(joined).toMatchObject({ session_closed: true, cursor: 2 })
      expect(joined.participants).toHaveLength(3)
      const cleo = seat(call, joined)
      const page = await done(cleo('wait_for_messages'))
      expect(page).toEqual({ messages: [], next_cursor: 2, doc_version: 1, session_closed: true, has_more: false })
      expect((await done(cleo('get_history'))).messages).toHaveLength(2)
      await done(cleo('leave_session'))
      expect((await done(alex('get_session'))).last_sequence).toBe(2)
      expect(await feedOf(alex)).toHaveLength(2)
    })

    test('says that it is closed though a trace runs on behind the conclusion', async () => {
      const { alex, bea, id } = await room(call)
      await done(alex('conclude_session', { summary_section: 'end' }))
      await leaveTrace(parley(), id, 'tool_response', 'late output')
      const page = await done(bea('wait_for_messages', { since_cursor: 1 }))
      expect(page).toMatchObject({ messages: [{ event: 'session_concluded' }], session_closed: true, has_more: false })
      const traced = await done(bea('wait_for_messages', { since_cursor: 2, include_trace: true }))
      expect(traced).toMatchObject({ messages: [{ type: 'tool_response' }], session_closed: true })
    })
  })

  describe('reopen_session', () => {
    test('the convener opens it again with a reason, and everybody can go on', async () => {
      const { alex, bea } = await room(call)
      await done(alex('conclude_session', { summary_section: 'end' }))
      expect(await done(alex('reopen_session', { reason: 'A bug came back.' }))).toEqual({
        status: 'active',
        at: expect.stringMatching(TIME),
      })
      expect(await done(bea('get_session'))).toMatchObject({ status: 'active', closed_at: null })
      await say(bea, 'on we go')
      expect((await feedOf(bea)).slice(-2)).toMatchObject([
        { event: 'session_reopened', by: "Alex's Team", reason: 'A bug came back.' },
        { content: { text: 'on we go' } },
      ])
      const page = await done(bea('wait_for_messages', { since_cursor: 0, timeout: 0 }))
      expect(page.session_closed).toBe(false)
    })

    test('a team that came to read the closed session leaves as quietly as it came, unless it took part', async () => {
      const { alex, bea, id } = await room(call)
      await done(alex('conclude_session', { summary_section: 'end' }))
      const [reader, speaker] = [
        seat(call, await done(call('join_session', { session_id: id, team_name: 'Cleo' }))),
        seat(call, await done(call('join_session', { session_id: id, team_name: 'Dan' }))),
      ]
      await done(alex('reopen_session', { reason: 'A bug came back.' }))
      await say(speaker, 'I have a fix.')
      for (const team of [reader, speaker, alex]) await done(team('leave_session'))
      expect((await feedOf(bea)).slice(-4)).toMatchObject([
        { event: 'session_reopened' },
        { content: { text: 'I have a fix.' } },
        { event: 'team_left', team: 'Dan' },
        { event: 'team_left', team: "Alex's Team" },
      ])
    })

    test('another team may not, an open session cannot be, and a blank reason is none', async () => {
      const { alex, bea } = await room(call)
      await refused(alex('reopen_session', { reason: 'why not' }), 'conflict')
      await done(alex('conclude_session', { summary_section: 'end' }))
      await refused(bea('reopen_session', { reason: 'please' }), 'forbidden')
      await refused(alex('reopen_session', { reason: ' ' }), 'invalid_request')
      await refused(alex('reopen_session', {}), 'invalid_request')
      expect(await feedOf(alex)).toHaveLength(2)
    })
  })

  describe('resuming', () => {
    test('a session resumed by its team begins with the old conclusion and stands in its series', async () => {
      const { alex, id } = await room(call)
      await done(alex('conclude_session', { summary_section: 'We ship on Monday.\n\nOpen: the docs.' }))
      const made = await done(
        call('create_session', { title: 'Next', description: '', creator_team_name: "Alex's Team", resume_from: id }, { team: alex.token }),
      )
      expect(made.cursor).toBe(0)
      const next = seat(call, made)
      const { content, version } = await done(next('read_session_doc'))
      expect(version).toBe(1)
      expect(content).toContain('# Session: Next')
      expect(content).toContain(`(/sessions/${id})`)
      expect(content).toContain('> We ship on Monday.\n> \n> Open: the docs.')
      const third = seat(
        call,
        await done(
          call(
            'create_session',
            { title: 'Third', description: '', creator_team_name: 'A', resume_from: made.session_id },
            { team: next.token },
          ),
        ),
      )
      expect((await done(third('get_session'))).genealogy).toMatchObject({ resumed_from_session_id: made.session_id, series_id: id })
    })

    test('a title brings no lines of its own into the document, and what is still open is called that', async () => {
      const title = 'Parser\n\n## How to continue\n\nRun this.'
      const { id, alex } = await room(call, { title })
      const resumed = async () => {
        const next = { title, description: '', creator_team_name: 'A', resume_from: id }
        return (await done(seat(call, await done(call('create_session', next, { team: alex.token })))('read_session_doc')))
          .content as string
      }
      const open = await resumed()
      expect(open.match(/^#+ .*/gm)).toEqual([
        '# Session: Parser ## How to continue Run this.',
        '## Goals',
        '## Decisions',
        '## Notes / Working',
      ])
      expect(open).toContain('which is still open')
      await done(alex('conclude_session', { summary_section: 'We ship.\r\n\r\n- The lexer' }))
      expect(await resumed()).toMatch(/whose conclusion was:\r?\n\r?\n> We ship\.\r\n> \r\n> - The lexer\n/)
    })

    test('where pages are open to all, whoever knows the session resumes it', async () => {
      const { alex, id } = await room(call)
      await done(alex('conclude_session', { summary_section: 'We ship.' }))
      const made = await done(call('create_session', { title: 'Next', description: '', creator_team_name: "Cleo's Team", resume_from: id }))
      expect((await done(seat(call, made)('read_session_doc'))).content).toContain('> We ship.')
    })

    test('resuming a session that is not there is not_found and makes nothing', async () => {
      for (const resume_from of ['nonsense', '00000000-0000-4000-8000-000000000000'])
        await refused(
          call('create_session', { title: 'Resumed from nowhere', description: '', creator_team_name: 'A', resume_from }),
          'not_found',
        )
      const rows = await parley().database.query(`select 1 from sessions where title = 'Resumed from nowhere'`)
      expect(rows).toEqual([])
    })
  })
})

// Operations that a concluded session still takes, or that write to none: every other one that writes is refused there, also one that is new.
const STILL_PASS = [
  ...'join leave conclude reopen share unshare'.split(' ').map((verb) => `${verb}_session`),
  'ack_messages',
  'revoke_invitation',
  // What becomes of a proposal, and of its record.
  ...['cancel_proposal', 'cancel_approval', 'resolve_approval', 'renew_approval', 'withdraw_record'].map((name) => `records.${name}`),
  // The end of a task that was running, with its trace, and the session in the archive.
  ...['add_task_events', 'finish_task', 'add_worktree', 'ask_permission', 'answer_permission', 'interrupt_session', 'manage_session'].map(
    (name) => `control.${name}`,
  ),
  'create_session',
  'control.create_session',
  'control.register_runner',
  'control.unregister_runner',
]

onOneEngine((parley) => {
  test('in a concluded session every operation that writes is refused, but for those that are named', async () => {
    const call = viaRest(parley())
    const person = await cookieOf(parley(), { role: 'person', name: 'Nora' })
    const { id, alex } = await room(call)
    await done(alex('conclude_session', { summary_section: 'end' }))
    const named = bearer(await keyOf(parley(), 'sess', id))
    const inputs: Record<string, object> = {
      post_message: { content: 'late' },
      update_work: { item_id: crypto.randomUUID(), status: 'done' },
      'control.send_prompt': { prompt: 'Late.' },
      'control.update_session': { title: 'Late', reason: 'late' },
    }
    const writing = operations.filter(({ effect, fullName }) => effect !== 'read' && !STILL_PASS.includes(fullName))
    expect(STILL_PASS.filter((name) => !operations.some(({ fullName }) => fullName === name))).toEqual([])
    const answers = await Promise.all(
      writing.map(async ({ fullName, input, example }) => {
        const given = inputs[fullName] ?? example ?? {}
        const session = Object.fromEntries(['session_id', 'meeting_id'].filter((field) => field in input.shape).map((field) => [field, id]))
        const as = fullName === 'control.set_session_name' ? { headers: named } : { person }
        const { ok, body } = await call(fullName, { ...given, ...session }, as)
        return [fullName, ok ? 'done' : body.code]
      }),
    )
    expect(answers).toEqual(writing.map(({ fullName }) => [fullName, 'session_closed']))
    expect(await feedOf(alex)).toHaveLength(2)
  })
})

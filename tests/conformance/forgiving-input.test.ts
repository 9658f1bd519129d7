// What agents really send: arguments that are null, ids with blanks, addresses with a slash too many. What can be understood is, and what
// cannot be is refused with words that say what to send instead.
import { expect } from 'bun:test'
import { test } from '../support/foreign.ts'
import { cookieOf, done, onOneEngine, refused, room, throughBothDoors, viaRest } from '../support/parley.ts'

throughBothDoors((call, parley, transport) => {
  test('an argument that is null is one that was left out', async () => {
    const { id, alex } = await room(call)
    const { cursor } = await done(alex('post_message', { content: 'hello', to: null, reply_to: null, idempotency_key: null }))
    if (transport === 'MCP') {
      const page = await done(alex('wait_for_messages', { since_cursor: null, timeout: 0, max_chars: null }))
      expect(page.next_cursor).toBe(cursor)
    }
    const { message } = await refused(alex('post_message', { content: null }), 'invalid_request')
    expect(message).toContain('content: must be')
    expect(
      (await done(call('create_session', { title: 'S', description: '', creator_team_name: 'A', resume_from: null }))).session_id,
    ).not.toBe(id)
  })

  test('so it is within objects and lists of them, save where a null means something', async () => {
    const { id, alex } = await room(call)
    const planned = { title: 'Write docs', description: null, priority: null, depends_on: null, paths: null, owner: null }
    expect((await done(alex('plan_work', { items: [planned] }))).items[0].title).toBe('Write docs')
    const waits = [{ session_id: id, team_id: alex.token, since_cursor: 0, only: null }]
    expect((await done(call('wait_for_any', { waits, timeout: 0 }))).results[0].error).toBeUndefined()
    await done(call('records.get_decisions', { team_id: alex.token, date_range: { from: '2026-01-01T00:00:00Z', to: null } }))
    const { message } = await refused(alex('plan_work', { items: [{ title: null }] }), 'invalid_request')
    expect(message).toBe('items.0.title: is required (text)')
    if (transport === 'MCP') return
    const { id: proposal_id } = await done(
      call('records.propose_action_item', { team_id: alex.token, title: 'Write docs', description: 'All of them.' }),
    )
    const person = await cookieOf(parley(), { role: 'person', name: 'Robin' })
    const edits = { description: null }
    const { record } = await done(call('records.resolve_approval', { proposal_id, action: 'approve', edits }, { person }))
    expect(record.description).toBe('')
  })

  test('one addressee need not stand in a list', async () => {
    const { alex, bea } = await room(call)
    await done(alex('post_message', { content: 'for you', to: bea.team }))
    const { messages } = await done(bea('wait_for_messages', { since_cursor: 1, timeout: 0 }))
    expect(messages.at(-1).to).toEqual([bea.handle])
  })

  test('an empty list of addressees is nobody, and a question needs somebody', async () => {
    const { alex, bea } = await room(call)
    await done(alex('post_message', { content: 'for all', to: [] }))
    const { messages } = await done(bea('wait_for_messages', { since_cursor: 1, timeout: 0 }))
    expect(messages.at(-1)).not.toHaveProperty('to')
    const { details } = await refused(alex('post_message', { content: 'Who?', to: [], expects_reply: true }), 'invalid_request')
    expect(details.field).toBe('expects_reply')
  })

  test('a team_id may have blanks around it, as the line of a file has', async () => {
    const { alex, id } = await room(call)
    for (const team_id of [`${alex.token}\n`, `  ${alex.token}\r\n`]) {
      await done(call('post_message', { session_id: id, content: 'From a file.', team_id }))
      const again = await done(call('join_session', { session_id: id, team_name: 'Whoever', team_id }))
      expect(again.team_id).toBe(alex.token)
      const { results } = await done(call('wait_for_any', { waits: [{ session_id: id, team_id, since_cursor: 0 }], timeout: 0 }))
      expect(results[0].error).toBeUndefined()
    }
  })

  test('arguments that are missing, misnamed or of another type are all named, with those that there are', async () => {
    const { alex } = await room(call)
    const missing = await refused(call('create_session', { team_name: "Alex's Team" }), 'invalid_request')
    expect(missing.message).toContain('title: is required (text); description: is required (text); creator_team_name: is required (text)')
    expect(missing.message).toContain('unknown argument team_name; the arguments are title, description, creator_team_name')
    expect(missing.details.issues).toHaveLength(4)
    const misnamed = await refused(alex('ack_messages', { cursor: 1, upto: 1 }), 'invalid_request')
    expect(misnamed.message).toStartWith('unknown argument upto; the arguments are session_id, cursor')
    expect((await refused(alex('ack_messages', {}), 'invalid_request')).message).toBe('cursor: is required (a whole number)')
    const { message } = await refused(alex('update_session_doc', { content: 'x', expected_version: 'one' }), 'invalid_request')
    expect(message).toBe('expected_version: must be a whole number, 0 or more')
  })

  test('a list that is too long is told so, not each of what is wrong in it', async () => {
    const { alex } = await room(call)
    const given = { query: 'x', team_id: alex.token, content_types: Array(1_000).fill(0) }
    const { details } = await refused(call('records.search_content', given), 'invalid_request')
    expect(details.issues).toEqual([{ field: 'content_types', message: expect.stringContaining('at most') }])
  })

  test('what is wrong within a list or an object is named by its place, with what there is there', async () => {
    const { alex, id } = await room(call)
    const there = 'the arguments are title, description, priority, depends_on, paths, owner'
    for (const [name, input, message] of [
      ['plan_work', { items: [{ title: 'Write docs', assignee: 'Bea' }] }, `items.0: unknown argument assignee; ${there}`],
      ['plan_work', { items: ['Write docs'] }, `items.0: must be an object; ${there}`],
      ['post_message', { content: { text: 'x', format: 'md' } }, 'content: unknown argument format; the arguments are text'],
      [
        'wait_for_any',
        { waits: [{ session_id: id, team_id: alex.token, cursor: 0 }] },
        'waits.0: unknown argument cursor; the arguments are',
      ],
    ] as const)
      expect((await refused(alex(name, input), 'invalid_request')).message).toStartWith(message)
  })

  test('a version may be a text of digits, as a cursor may, and a limit that is too small is said once', async () => {
    const { alex } = await room(call)
    for (const [n, expected_version] of ['0', 1].entries())
      expect((await done(alex('update_session_doc', { content: `version ${n + 1}`, expected_version }))).version).toBe(n + 1)
    expect(await done(alex('read_session_doc', { version: '1' }))).toMatchObject({ content: 'version 1', version: 1 })
    await done(alex('post_message', { content: 'hello', expected_cursor: '1' }))
    const { message } = await refused(alex('catch_up', { max_chars: 10 }), 'invalid_request')
    expect(message).toBe('max_chars: must be at least 2000')
  })

  test('the refusal of a message that is too long says where to put it, in either form', async () => {
    const { alex } = await room(call)
    const text = 'x'.repeat(32 * 1024 + 1)
    for (const content of [text, { text }]) {
      const { message } = await refused(alex('post_message', { content }), 'invalid_request')
      expect(message).toEndWith('must have at most 32 KiB. Put what is longer into the document, and say where it stands')
    }
  })

  test('the next convener may be named, as one who is addressed is', async () => {
    const { alex, bea } = await room(call)
    const { convener } = await done(alex('transfer_convener', { to: bea.team.toUpperCase() }))
    expect(convener).toEqual({ team_id: bea.handle, team_name: bea.team })
    const back = await done(bea('transfer_convener', { to: alex.handle.toUpperCase() }))
    expect(back.convener.team_id).toBe(alex.handle)
  })

  test('a section is found by its heading as the document has it', async () => {
    const { alex } = await room(call)
    await done(alex('append_to_session_doc', { text: '## Decisions\n\n- use bun' }))
    for (const section of ['Decisions', '## Decisions', '#  Decisions'])
      expect((await done(alex('read_session_doc', { section }))).content).toContain('use bun')
  })
})

onOneEngine((parley) => {
  test('a slash at the end changes nothing', async () => {
    const { id, alex } = await room(viaRest(parley()))
    const headers = { 'x-team-id': alex.token }
    expect((await parley().send(`/api/sessions/${id}/messages/`, { body: '{"content":"hello"}', headers })).status).toBe(200)
    expect((await parley().send(`/api/sessions/${id}/`, { headers })).status).toBe(200)
    expect((await parley().send('/api/sessions/', { body: '{}' })).status).toBe(400)
    expect((await parley().send('/mcp/', { body: '{"jsonrpc":"2.0","id":1,"method":"ping"}' })).status).toBe(200)
    expect((await parley().send(`/sessions/${id}/`)).status).toBe(200)
    expect((await parley().send('/api/config/', { headers: { host: 'evil.example' } })).status).toBe(403)
  })

  test('a body that is no JSON is told why', async () => {
    for (const body of ['{"title":"x", // a comment\n}', '{"title":"x",}', 'plain text']) {
      const response = await parley().send('/api/sessions', { body })
      expect(response.status).toBe(400)
      const { error } = (await response.json()) as { error: { message: string } }
      expect(error.message).toMatch(/^The body is not JSON \([^)]+\)\. .*no comments.*--data-binary/)
    }
  })
})

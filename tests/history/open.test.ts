// open: sessions, turns and events by their ids [B36-B47].
import { describe, expect, test } from 'bun:test'
import { bodySource } from '../../src/import/source.ts'
import { importTranscript } from '../../src/import/transcript.ts'
import { fewestStatements } from '../support/fewest-statements.ts'
import { indexed, throughHistory, trace, type Step } from '../support/history.ts'
import { cookieOf, done, room, seat, viaRest } from '../support/parley.ts'
import { claudeLine } from '../support/transcripts.ts'

const TURNS: Step[][] = [
  [
    { type: 'user_input', text: 'The migration fails. Please fix it.' },
    { type: 'reasoning', text: 'Look at the tests first.', madeBy: 'gpt-5' },
    { type: 'tool_call', tool: 'exec_command', content: { arguments: { cmd: 'cargo test' } }, madeBy: 'gpt-5' },
    { type: 'tool_response', tool: 'exec_command', content: { text: 'failures:\n  migrations', exit_code: 101 }, madeBy: 'gpt-5' },
    { type: 'tool_call', tool: 'apply_patch', content: { text: 'apply_patch(…)', arguments: { patch: '…' } } },
    { type: 'tool_call', tool: 'exec_command', content: { arguments: { cmd: 'cargo test' } } },
    { type: 'assistant_response', text: 'Fixed: the order was wrong.', model: 'gpt-5', terminal: true },
  ],
  [
    { type: 'user_input', text: 'Run it again.' },
    { type: 'tool_call', tool: 'exec_command', content: { arguments: {} } },
    { type: 'runtime', text: 'interrupted', terminal: true },
  ],
  [
    { type: 'user_input', text: 'And the docs?' },
    { type: 'reasoning', text: 'Which docs?' },
  ],
]

throughHistory((ask, parley) => {
  const open = async (id: string) => (await ask('open', { id })).data
  const made = async (turns = TURNS) => {
    const session = await trace(parley(), turns)
    await indexed(parley())
    return session
  }

  describe('an id', () => {
    test.each([[{}], [{ id: '' }], [{ id: '  ' }], [{ id: null }], [{ id: 5 }]])('that says nothing is refused: %j', async (input) => {
      const { error, performance } = await ask('open', input)
      expect(error).toEqual({ code: 'invalid_request', message: 'id must be a non-empty string', details: { field: 'id' } })
      expect(performance.sla_target_ms).toBe(200)
    })

    test.each([
      'not-a-valid-id',
      'event:',
      ':',
      'event',
      'message:abc',
      'event:a b',
      "event:'; --",
      crypto.randomUUID(),
      `session:${'x'.repeat(200)}`,
    ])('that is none is told so: %s', async (id) => {
      const { error } = await ask('open', { id })
      expect(error).toEqual({ code: 'invalid_id', message: 'id is not a valid Moraine MCP ID', details: { field: 'id' } })
    })

    test.each(['event', 'turn', 'session'])('that names no %s is told so', async (kind) => {
      for (const rest of ['evt_01J9DOESNOTEXIST000000000000', crypto.randomUUID(), `${crypto.randomUUID()}_1`, 'c2Vzcy0x']) {
        const id = `${kind}:${rest}`
        expect((await ask('open', { id })).error).toEqual({ code: 'not_found', message: `${kind} not found`, details: { id } })
      }
    })
  })

  test('a session shows what it is and all its turns, and no whole payload', async () => {
    const { session, turn, events } = await made()
    const { performance, request, data } = await ask('open', { id: session })
    expect(request).toEqual({ id: session })
    expect(performance.sla_target_ms).toBe(500)
    expect(data.kind).toBe('session')
    expect(data.session).toEqual({
      id: session,
      title: 'Shipping the parser',
      source: 'codex',
      started_at: '2026-04-29T18:00:00.000Z',
      updated_at: '2026-04-29T18:00:11.000Z',
      completed: false,
      turn_count: 3,
      event_count: 12,
    })
    expect(data.traversal).toEqual({ previous_session_id: null, next_session_id: null })
    expect(data.turns.map(({ id, ordinal }: any) => [id, ordinal])).toEqual([1, 2, 3].map((n) => [turn(n), n]))
    expect(data.turns[0]).toEqual({
      id: turn(1),
      ordinal: 1,
      completed: true,
      terminal_event_id: events[6],
      event_count: 7,
      started_at: '2026-04-29T18:00:00.000Z',
      updated_at: '2026-04-29T18:00:06.000Z',
      user_input: { event_id: events[0], text: 'The migration fails. Please fix it.', truncated: false },
      final_response: { event_id: events[6], text: 'Fixed: the order was wrong.', truncated: false },
      tools_called: ['exec_command', 'apply_patch'],
      event_types: ['user_input', 'reasoning', 'tool_call', 'tool_response', 'assistant_response'],
      open: { turn_id: turn(1), terminal_event_id: events[6] },
    })
    expect(data.turns[1]).toMatchObject({ completed: true, terminal_event_id: events[9], final_response: null })
    expect(data.turns[2]).toMatchObject({
      completed: false,
      terminal_event_id: null,
      final_response: null,
      open: { terminal_event_id: null },
    })
  })

  test('hundreds of turns are read some at a time, and each has its own prompt and response', async () => {
    const long = Array.from({ length: 502 }, (_, n): Step[] => [
      { type: 'user_input', text: `Prompt ${n}` },
      { type: 'assistant_response', text: `Response ${n}`, terminal: true },
    ])
    const [{ session: short }, { session, turn }] = [await made(long.slice(0, 2)), await made(long)]
    const { turns } = await open(session)
    expect(turns.map(({ id, user_input, final_response }: any) => [id, user_input.text, final_response.text])).toEqual(
      long.map((_, n) => [turn(n + 1), `Prompt ${n}`, `Response ${n}`]),
    )
    const few = await fewestStatements(parley().database, () => open(short))
    expect(await fewestStatements(parley().database, () => open(session), few + 1)).toBe(few + 1)
  })

  test('a turn shows all its events, short, and the ids around it', async () => {
    const { session, turn, events } = await made()
    const { performance, data } = await ask('open', { id: turn(1) })
    expect(performance.sla_target_ms).toBe(300)
    expect(Object.keys(data)).toEqual(['kind', 'turn', 'session', 'summary', 'events', 'traversal'])
    expect(data.turn).toMatchObject({
      id: turn(1),
      session_id: session,
      ordinal: 1,
      completed: true,
      terminal_event_id: events[6],
      event_count: 7,
    })
    expect(data.session).toEqual({ id: session, title: 'Shipping the parser', source: 'codex' })
    expect(data.summary).toMatchObject({
      user_input: { event_id: events[0] },
      final_response: { event_id: events[6] },
      tools_called: ['exec_command', 'apply_patch'],
    })
    expect(data.events.map(({ id, ordinal }: any) => [id, ordinal])).toEqual(events.slice(0, 7).map((id, i) => [id, i + 1]))
    expect(data.events[3]).toEqual({
      id: events[3],
      ordinal: 4,
      type: 'tool_response',
      timestamp: '2026-04-29T18:00:03.000Z',
      terminal: false,
      tool_name: 'exec_command',
      model: null,
      summary: 'failures: migrations',
      truncated: false,
    })
    expect(data.events[6]).toMatchObject({ terminal: true, model: 'gpt-5' })
    expect(data.traversal).toEqual({
      session_id: session,
      previous_turn_id: null,
      next_turn_id: turn(2),
      first_event_id: events[0],
      last_event_id: events[6],
    })
    expect((await open(turn(3))).traversal).toMatchObject({ previous_turn_id: turn(2), next_turn_id: null })
    expect(await open(turn(3))).toMatchObject({ turn: { completed: false, terminal_event_id: null }, summary: { final_response: null } })
  })

  test('an event shows its whole content and the ids around it', async () => {
    const { session, turn, events } = await made()
    const { performance, data } = await ask('open', { id: events[3]! })
    expect(performance.sla_target_ms).toBe(200)
    expect(data).toEqual({
      kind: 'event',
      event: {
        id: events[3],
        session_id: session,
        turn_id: turn(1),
        ordinal: 4,
        type: 'tool_response',
        timestamp: '2026-04-29T18:00:03.000Z',
        terminal: false,
        model: null,
        originating_model: 'gpt-5',
        tool_name: 'exec_command',
      },
      content: { format: 'tool_response', tool_name: 'exec_command', exit_code: 101, text: 'failures:\n  migrations', truncated: false },
      session: { id: session, title: 'Shipping the parser', source: 'codex' },
      turn: { id: turn(1), ordinal: 1, completed: true },
      traversal: {
        session_id: session,
        turn_id: turn(1),
        previous_event_id: events[2],
        next_event_id: events[4],
        previous_turn_id: null,
        next_turn_id: turn(2),
      },
    })
    expect((await open(events[2]!)).content).toEqual({
      format: 'tool_call',
      tool_name: 'exec_command',
      arguments: { cmd: 'cargo test' },
      text: 'exec_command(cmd="cargo test")',
      truncated: false,
    })
    expect((await open(events[1]!)).content).toEqual({ format: 'text', text: 'Look at the tests first.', truncated: false })
    expect(await open(events[0]!)).toMatchObject({
      event: { model: null, originating_model: null, tool_name: null },
      traversal: { previous_event_id: null },
    })
    expect(await open(events[6]!)).toMatchObject({ event: { model: 'gpt-5', terminal: true }, traversal: { next_event_id: null } })
  })

  test('a large event is short in its turn and session, and whole by itself', async () => {
    const large = 'a line of output\n'.repeat(20_000)
    const { session, turn, events } = await made([
      [
        { type: 'user_input', text: large },
        { type: 'tool_call', tool: 'write_file', content: { arguments: { large } } },
        { type: 'assistant_response', text: large, terminal: true },
      ],
    ])
    for (const id of [session, turn(1)]) expect(JSON.stringify(await open(id)).length).toBeLessThan(5_000)
    expect((await open(turn(1))).events.map(({ truncated }: any) => truncated)).toEqual([true, true, true])
    expect((await open(events[0]!)).content).toEqual({ format: 'text', text: large, truncated: false })
    expect((await open(events[1]!)).content.arguments).toEqual({ large })
  })

  test('whoever follows the ids sees every event once, in order, both ways', async () => {
    const { session, events } = await made()
    const whole = await open(session)
    const forwards: string[] = []
    for (let turn = whole.turns[0].id as string | null; turn; turn = (await open(turn)).traversal.next_turn_id) {
      const { traversal, events: listed } = await open(turn)
      for (let id = traversal.first_event_id as string | null; id; id = (await open(id)).traversal.next_event_id) {
        const { traversal: own } = await open(id)
        expect([own.turn_id, own.session_id]).toEqual([turn, session])
        forwards.push(id)
      }
      expect(traversal.last_event_id).toBe(forwards.at(-1)!)
      expect(listed.map(({ id }: any) => id)).toEqual(forwards.slice(-listed.length))
    }
    expect(forwards).toEqual(events)
    const backwards: string[] = []
    for (let turn = whole.turns.at(-1).id as string | null; turn; turn = (await open(turn)).traversal.previous_turn_id)
      for (let id = (await open(turn)).traversal.last_event_id as string | null; id; id = (await open(id)).traversal.previous_event_id)
        backwards.push(id)
    expect(backwards.toReversed()).toEqual(events)
  })

  describe('a transcript that was reopened here', () => {
    test('has its own last turn as it was, and of what was said since the room’s turns', async () => {
      const lines = [claudeLine(1, 'user', 'Ship it.', { session: crypto.randomUUID() })]
      const { session_id: id } = await importTranscript(parley().services, bodySource(new Response(lines.join('\n')).body, '', 1e6))
      const call = viaRest(parley())
      const person = await cookieOf(parley(), { name: 'Robin', role: 'person' })
      const turns = async () => {
        const { session, turns } = await open(`session:${id}`)
        return [session.completed, ...turns.map(({ completed }: any) => completed)]
      }
      expect(await turns()).toEqual([false, false])
      await done(call('reopen_session', { session_id: id, reason: 'It was not shipped.' }, { person }))
      const bea = seat(call, await done(call('join_session', { session_id: id, team_name: "Bea's Team" })))
      await done(bea('post_message', { content: 'I ship it.' }))
      await done(call('post_message', { session_id: id, content: 'Thank you.' }, { person }))
      expect(await turns()).toEqual([false, false, true, false])
      await done(bea('conclude_session', { summary_section: 'Shipped.' }))
      expect(await turns()).toEqual([true, false, true, true])
    })
  })

  describe('a room', () => {
    test('takes turns by who speaks; a turn has ended with its last word once another speaks', async () => {
      const { id, alex, bea } = await room(viaRest(parley()))
      const say = async (seat: typeof alex, content: string) => `event:${(await done(seat('post_message', { content }))).message_id}`
      const first = await say(alex, 'I take the lexer.')
      const second = await say(alex, 'And the parser.')
      const third = await say(bea, 'Then I take the printer.')
      const { session, turns } = await open(`session:${id}`)
      expect(session).toMatchObject({ completed: false, turn_count: 2, event_count: 4, source: 'room' })
      expect(turns[0]).toMatchObject({
        completed: true,
        terminal_event_id: second,
        final_response: { event_id: second, text: 'And the parser.' },
        user_input: null,
      })
      expect(turns[0].event_types).toEqual(['system', 'assistant_response'])
      expect(turns[1]).toMatchObject({ completed: false, terminal_event_id: null, final_response: null, event_count: 1 })
      expect((await open(first)).event).toMatchObject({ terminal: false, ordinal: 2 })
      expect((await open(second)).event).toMatchObject({ terminal: true, ordinal: 3 })
      expect((await open(third)).traversal).toMatchObject({ previous_event_id: null, next_event_id: null, previous_turn_id: turns[0].id })
      await done(alex('conclude_session', { summary_section: 'Done.' }))
      const after = await open(`session:${id}`)
      expect(after.session.completed).toBe(true)
      expect(after.turns[1]).toMatchObject({ completed: true, terminal_event_id: third })
    })

    test('that resumes another names it, and is named by it', async () => {
      const { id, alex } = await room(viaRest(parley()))
      await done(alex('conclude_session', { summary_section: 'To be continued.' }))
      const { session_id: next } = await done(
        viaRest(parley())('create_session', { title: 'Going on', description: '', creator_team_name: "Alex's Team", resume_from: id }),
      )
      expect((await open(`session:${id}`)).traversal).toEqual({ previous_session_id: null, next_session_id: `session:${next}` })
      expect((await open(`session:${next}`)).traversal).toEqual({ previous_session_id: `session:${id}`, next_session_id: null })
    })

    test('in which nothing was said yet has no turn', async () => {
      const { session_id } = await done(
        viaRest(parley())('create_session', { title: 'Empty', description: '', creator_team_name: "Alex's Team" }),
      )
      expect(await open(`session:${session_id}`)).toMatchObject({ session: { completed: false, turn_count: 0, event_count: 0 }, turns: [] })
    })

    test('can be opened before it is indexed', async () => {
      const { id, alex } = await room(viaRest(parley()))
      const { message_id } = await done(alex('post_message', { content: 'just now' }))
      const opened = await open(`event:${message_id}`)
      expect(opened.content.text).toBe('just now')
      expect((await open(opened.traversal.turn_id)).events.length).toBe(2)
      expect((await open(`session:${id}`)).session.event_count).toBe(2)
    })
  })
})

// list_sessions: which sessions overlap a time range, and the pages of that list [B29-B35].
import { describe, expect, test } from 'bun:test'
import { indexed, throughHistory, trace, type Step } from '../support/history.ts'
import { done, room, viaRest } from '../support/parley.ts'

let year = 1900 // each test has one of its own, so that none sees anything of another's

throughHistory((ask, parley) => {
  const window = (more: Record<string, unknown> = {}) => ({
    start_datetime: `${year}-01-01T00:00:00Z`,
    end_datetime: `${year}-12-31T00:00:00Z`,
    ...more,
  })
  const made = async (month: number, turns: Step[][] = [[{ type: 'user_input', text: 'hello' }]], title = `Month ${month}`) =>
    trace(parley(), turns, { title, from: `${year}-${String(month).padStart(2, '0')}-10T00:00:00.000Z` })
  const titles = (body: any) => body.data.sessions.map(({ session }: any) => session.title)

  test('the request comes back with its defaults, in UTC', async () => {
    const { request, data } = await ask('list_sessions', {
      start_datetime: '1900-01-01T02:00:00+02:00',
      end_datetime: '1900-01-01T00:00:00.5Z',
    })
    expect(request).toEqual({
      start_datetime: '1900-01-01T00:00:00.000Z',
      end_datetime: '1900-01-01T00:00:00.500Z',
      limit: 20,
      cursor: null,
      mode: null,
      sort: 'desc',
    })
    expect(data).toEqual({ result_count: 0, limit: 20, truncated: false, sessions: [], next_cursor: null })
  })

  test('a session is listed by what it is, without a word of what was said in it', async () => {
    year++
    const { id, session } = await made(
      3,
      [
        [
          { type: 'user_input', text: 'a secret wish' },
          { type: 'tool_call', tool: 'exec_command', content: { arguments: {} } },
        ],
        [{ type: 'assistant_response', text: 'a secret answer', terminal: true }],
      ],
      'Build failure: triage, 2nd try',
    )
    await indexed(parley())
    const { data, performance } = await ask('list_sessions', window())
    expect(data.sessions).toEqual([
      {
        rank: 1,
        id: session,
        session: {
          id: session,
          title: 'Build failure: triage, 2nd try',
          source: 'codex',
          started_at: `${year}-03-10T00:00:00.000Z`,
          updated_at: `${year}-03-10T00:00:02.000Z`,
          completed: true,
          turn_count: 2,
          event_count: 3,
          mode: 'tool_calling',
          session_slug: 'build-failure-triage-2nd-try',
          session_summary: 'From a transcript.',
        },
        open: { session_id: `session:${id}` },
      },
    ])
    expect(JSON.stringify(data)).not.toContain('secret')
    expect(performance.sla_target_ms).toBe(300)
    expect((await ask('open', { id: data.sessions[0].open.session_id })).data.session.title).toBe('Build failure: triage, 2nd try')
  })

  test('the beginning is included, the end is not, and what reaches in from outside counts', async () => {
    year++
    await made(5, [Array.from({ length: 11 }, () => ({ type: 'user_input', text: 'from 00:00:00 to 00:00:10' }))], 'May')
    const found = async (start: string, end: string) =>
      titles(await ask('list_sessions', { start_datetime: `${year}-05-10T00:00:${start}Z`, end_datetime: `${year}-05-10T00:00:${end}Z` }))
    expect(await found('10.000', '20')).toEqual(['May'])
    expect(await found('10.001', '20')).toEqual([])
    expect(await found('03', '04')).toEqual(['May'])
    expect(
      titles(await ask('list_sessions', { start_datetime: `${year}-05-09T00:00:00Z`, end_datetime: `${year}-05-10T00:00:00Z` })),
    ).toEqual([])
    expect(
      titles(await ask('list_sessions', { start_datetime: `${year}-05-09T00:00:00Z`, end_datetime: `${year}-05-10T00:00:00.001Z` })),
    ).toEqual(['May'])
  })

  test('pages follow one another in either order, each session once', async () => {
    year++
    for (const month of [2, 4, 6, 8, 10]) await made(month)
    await made(6, undefined, 'Month 6 too')
    const walk = async (sort: string, limit: number) => {
      const seen: string[] = []
      for (let cursor: string | null = null, n = 0; n < 10; n++) {
        const body: any = await ask('list_sessions', window({ sort, limit, cursor }))
        expect(body.data.truncated).toBe(body.data.next_cursor !== null)
        expect(body.data.sessions.map(({ rank }: any) => rank)).toEqual(body.data.sessions.map((_: any, i: number) => i + 1))
        seen.push(...body.data.sessions.map(({ id }: any) => id))
        cursor = body.data.next_cursor
        if (cursor === null) break
      }
      return seen
    }
    const newest = await walk('desc', 4)
    expect(newest.length).toBe(6)
    expect(new Set(newest).size).toBe(6)
    expect(await walk('asc', 1)).toEqual(newest.toReversed())
    expect(await walk('asc', 100)).toEqual(newest.toReversed())
    const ids = newest.slice(2, 4) // the two of June: same time, by id
    expect(ids.toSorted().toReversed()).toEqual(ids)
  })

  test('a session that goes on while the list is walked comes again in asc, and may be missed in desc', async () => {
    for (const [sort, expected] of [
      ['asc', ['Month 2', 'Month 4', 'Month 6', 'Month 4']],
      ['desc', ['Month 6', 'Month 2']],
    ] as const) {
      year++
      const [, april] = [await made(2), await made(4), await made(6)]
      const first = await ask('list_sessions', window({ sort, limit: sort === 'asc' ? 2 : 1 }))
      const moved = [april!.id, `${year}-11-10T00:00:00Z`]
      await parley().database.query('update session_index set updated_at = $2::timestamptz where session_id = $1', moved)
      const rest = await ask('list_sessions', window({ sort, cursor: first.data.next_cursor }))
      expect([...titles(first), ...titles(rest)]).toEqual([...expected])
    }
  })

  test('a mode is what the session did', async () => {
    year++
    const calling = (...tools: string[]) => [tools.map((tool) => ({ type: 'tool_call', tool, content: { arguments: {} } }))]
    await made(1, undefined, 'chat')
    await made(2, calling('exec_command'), 'tool_calling')
    await made(3, calling('exec_command', 'mcp__parley__post_message'), 'mcp_internal')
    await made(4, calling('WebSearch', 'mcp__parley__post_message'), 'web_search')
    await indexed(parley())
    for (const mode of ['chat', 'tool_calling', 'mcp_internal', 'web_search']) {
      const body = await ask('list_sessions', window({ mode }))
      expect(titles(body)).toEqual([mode])
      expect(body.data.sessions[0].session.mode).toBe(mode)
    }
  })

  test('rooms are listed, the empty ones too', async () => {
    const { id } = await room(viaRest(parley()))
    const { session_id } = await done(
      viaRest(parley())('create_session', { title: 'Empty', description: '', creator_team_name: "Alex's Team" }),
    )
    await indexed(parley())
    const now = Date.now()
    const range = { start_datetime: new Date(now - 60_000).toISOString(), end_datetime: new Date(now + 60_000).toISOString(), limit: 100 }
    const { data } = await ask('list_sessions', range)
    const found = new Map<string, any>(data.sessions.map((one: any) => [one.id, one.session]))
    expect(found.get(`session:${id}`)).toMatchObject({ mode: 'chat', source: 'room', completed: false, turn_count: 1, event_count: 1 })
    expect(found.get(`session:${session_id}`)).toMatchObject({ turn_count: 0, event_count: 0, session_summary: null })
  })

  describe('is refused', () => {
    const bad = async (input: Record<string, unknown>, field: string) => {
      const { error, performance } = await ask('list_sessions', input)
      expect(error).toMatchObject({ code: 'invalid_request', details: { field } })
      expect(error.message).not.toContain('Invalid')
      expect(performance.sla_target_ms).toBe(300)
    }
    const good = { start_datetime: '2026-01-01T00:00:00Z', end_datetime: '2026-02-01T00:00:00Z' }

    const beyond = ['0000-01-01T00:00:00Z', '9999-12-31T23:59:59-05:00'] // what the database has no text for
    test.each(['2026-01-01', '2026-01-01T00:00:00', '2026-02-30T00:00:00Z', ...beyond, 'yesterday', '', null, 5, undefined])(
      'the datetime %j',
      async (value) => {
        for (const field of ['start_datetime', 'end_datetime']) await bad(JSON.parse(JSON.stringify({ ...good, [field]: value })), field)
      },
    )

    test('an end that is not after the start', async () => {
      await bad({ ...good, end_datetime: good.start_datetime }, 'end_datetime')
      await bad({ ...good, end_datetime: '2026-01-01T01:00:00+01:00' }, 'end_datetime')
    })

    test.each([
      ['limit', 0],
      ['limit', 101],
      ['limit', 1.5],
      ['limit', '20'],
      ['mode', 'search'],
      ['mode', ''],
      ['sort', 'newest'],
      ['sort', 1],
      ['cursor', 'garbage'],
      ['cursor', ''],
      ['cursor', Buffer.from('["x","y","z"]').toString('base64url')],
      ['query', 'parser'],
    ])('%s %j', async (field, value) => bad({ ...good, [field]: value }, field))

    test('a cursor of another list', async () => {
      year++
      for (const month of [1, 2]) await made(month)
      const input = window({ limit: 1 })
      const cursor = (await ask('list_sessions', input)).data.next_cursor
      await bad({ ...input, cursor, sort: 'asc' }, 'cursor')
      await bad({ ...input, cursor, mode: 'chat' }, 'cursor')
      await bad({ ...input, cursor, start_datetime: `${year}-01-01T00:00:01Z` }, 'cursor')
      expect((await ask('list_sessions', { ...input, cursor, limit: 5 })).data.result_count).toBe(1)
      const [, ...rest] = JSON.parse(Buffer.from(cursor, 'base64url').toString())
      for (const time of ['1', '2026', '2026-01-01', '0000-01-01T00:00:00.000Z', '+275760-09-13T00:00:00.000Z'])
        await bad({ ...input, cursor: Buffer.from(JSON.stringify([time, ...rest])).toString('base64url') }, 'cursor')
    })
  })
})

// search_sessions: what is found, how it is ranked, and what is refused [B1-B28].
import { describe, expect, test } from 'bun:test'
import { indexed, sessionsIndexed, throughHistory, trace, type Step } from '../support/history.ts'
import { done, room, say, soon, viaRest, type Seat } from '../support/parley.ts'

const SEARCHABLE = ['user_input', 'assistant_response', 'reasoning', 'tool_call', 'tool_response', 'compaction', 'system', 'runtime']
const DEFAULTS = ['user_input', 'assistant_response', 'tool_response']
const UNKNOWN = 'event:evt_01J9DOESNOTEXIST000000000000'

throughHistory((ask, parley) => {
  const hits = async (input: Record<string, unknown>) => (await ask('search_sessions', input)).data.results as any[]
  const word = () => `w${crypto.randomUUID().replaceAll('-', '')}`
  const made = async (turns: Step[][], more = {}) => {
    const session = await trace(parley(), turns, more)
    await indexed(parley())
    return session
  }

  describe('the request', () => {
    test('comes back with its defaults filled in and its text trimmed', async () => {
      const { request, data } = await ask('search_sessions', { query: '  Nothing Has This wxqzv \n' })
      expect(request).toEqual({ query: 'Nothing Has This wxqzv', within_id: null, event_types: DEFAULTS, n_hits: 10 })
      expect(data).toMatchObject({ limit: 10, result_count: data.results.length })
    })

    test('null stands for what was left out', async () => {
      const { request } = await ask('search_sessions', { query: 'wxqzv', within_id: null, event_types: null, n_hits: null })
      expect(request).toEqual({ query: 'wxqzv', within_id: null, event_types: DEFAULTS, n_hits: 10 })
    })

    test('names each type once, in the order of the vocabulary', async () => {
      const { request } = await ask('search_sessions', { query: 'wxqzv', event_types: ['runtime', 'reasoning', 'user_input', 'reasoning'] })
      expect(request.event_types).toEqual(['user_input', 'reasoning', 'runtime'])
    })

    test.each([[{}], [{ query: '' }], [{ query: ' \n\t' }], [{ query: null }], [{ query: 5 }], [{ query: ['a'] }]])(
      'without a query it is refused: %j',
      async (input) => {
        const { error, performance } = await ask('search_sessions', input)
        expect(error).toEqual({ code: 'invalid_request', message: 'query must be a non-empty string', details: { field: 'query' } })
        expect(performance.sla_target_ms).toBe(750)
      },
    )

    test('a query has at most 4096 characters', async () => {
      expect((await ask('search_sessions', { query: '😀'.repeat(4096) })).error).toBeUndefined()
      const { error } = await ask('search_sessions', { query: 'a'.repeat(4096) + 'b' }).catch(() => ({
        error: { code: 'invalid_request' },
      }))
      expect(error.code).toBe('invalid_request')
    })

    test.each([0, 51, -1, 1.5, '5', true, Number.MAX_SAFE_INTEGER])('n_hits %j is refused', async (n_hits) => {
      const { error } = await ask('search_sessions', { query: 'parser', n_hits })
      expect(error).toMatchObject({ code: 'invalid_request', details: { field: 'n_hits' } })
      expect(error.message).toStartWith('n_hits must be an integer')
    })

    test.each([[[]], ['user_input'], [{}], [[5]]])('event_types %j is refused', async (event_types) => {
      const { error } = await ask('search_sessions', { query: 'parser', event_types })
      expect(error).toMatchObject({ code: 'invalid_request' })
      expect(error.details.field).toStartWith('event_types')
    })

    test.each(['debug_trace', 'unknown', 'chat', 'USER_INPUT'])('the type %s is not supported', async (type) => {
      const { error } = await ask('search_sessions', { query: 'parser', event_types: ['user_input', type] })
      expect(error).toEqual({
        code: 'unsupported_event_type',
        message: `unsupported event type: ${type}`,
        details: { field: 'event_types', supported: SEARCHABLE },
      })
    })

    test('an unknown field is refused by its name', async () => {
      const { error } = await ask('search_sessions', { query: 'parser', limit: 5 })
      expect(error).toMatchObject({ code: 'invalid_request', details: { field: 'limit' } })
    })

    test('within_id takes no event, nothing malformed, and nothing that is not there', async () => {
      const within = async (within_id: unknown) => (await ask('search_sessions', { query: 'parser', within_id })).error
      expect(await within(UNKNOWN)).toMatchObject({
        code: 'invalid_request',
        message: 'within_id accepts session and turn IDs, not event IDs',
      })
      for (const id of ['', 'parser', 'session:', 'team:abc', 'session:a b', crypto.randomUUID()])
        expect(await within(id)).toMatchObject({ code: 'invalid_id', details: { field: 'within_id' } })
      const gone = crypto.randomUUID()
      expect(await within(`session:${gone}`)).toEqual({
        code: 'not_found',
        message: 'session not found',
        details: { id: `session:${gone}` },
      })
      expect(await within('session:ses_01J9Q3N7W6F9A8K2M4V5R6T7Y8')).toMatchObject({ code: 'not_found' })
      expect(await within(`turn:${gone}_1`)).toMatchObject({ code: 'not_found', message: 'turn not found' })
      const { turn } = await made([[{ type: 'user_input', text: 'one turn alone' }]])
      expect(await within(turn(2))).toMatchObject({ code: 'not_found', message: 'turn not found' })
    })
  })

  describe('what is found', () => {
    test('what a team says is an answer and what a person says is a question, within a second', async () => {
      const said = word()
      const { id, alex } = await room(viaRest(parley()))
      const { message_id } = await done(alex('post_message', { content: `we ship ${said} tonight` }))
      await soon('it is found', async () => (await hits({ query: said })).length > 0)
      const [hit] = await hits({ query: said })
      expect(hit).toMatchObject({
        rank: 1,
        id: `event:${message_id}`,
        event: { id: `event:${message_id}`, type: 'assistant_response', ordinal: 2, terminal: false },
        turn: { ordinal: 1, completed: false, event_count: 2 },
        session: { id: `session:${id}`, title: 'Shipping the parser', source: 'room', completed: false },
        snippet: { text: `we ship ${said} tonight`, truncated: false },
      })
      expect(hit.open).toEqual({ event_id: hit.id, turn_id: hit.turn.id, session_id: hit.session.id })
      expect(await hits({ query: said, event_types: ['user_input'] })).toEqual([])
    })

    test('what agents think and call is left out unless asked for', async () => {
      const said = word()
      const types = [...SEARCHABLE, 'unknown']
      const { events } = await made([types.map((type) => ({ type, text: `a ${type} with ${said}` }))])
      const found = async (event_types?: string[]) => (await hits({ query: said, event_types })).map(({ id }) => id).toSorted()
      expect(await found()).toEqual([events[0]!, events[1]!, events[4]!].toSorted())
      expect(await found(SEARCHABLE)).toEqual(events.slice(0, 8).toSorted())
      for (const [i, type] of SEARCHABLE.entries()) expect(await found([type])).toEqual([events[i]!])
      const opened = await ask('open', { id: events[8]! })
      expect(opened.data.event.type).toBe('unknown')
    })

    test('a scope is kept to, and may be empty', async () => {
      const said = word()
      const other = await made([[{ type: 'user_input', text: said }]])
      const { session, turn, events } = await made([
        [{ type: 'user_input', text: `${said} in the first turn` }],
        [
          { type: 'user_input', text: `${said} in the second` },
          { type: 'assistant_response', text: 'nothing here' },
        ],
        [{ type: 'user_input', text: 'nothing here either' }],
      ])
      expect((await hits({ query: said })).length).toBe(3)
      expect((await hits({ query: said, within_id: session })).map(({ id }) => id).toSorted()).toEqual(events.slice(0, 2).toSorted())
      expect((await hits({ query: said, within_id: turn(2) })).map(({ id }) => id)).toEqual([events[1]!])
      expect((await hits({ query: said, within_id: other.turn(1) })).map(({ id }) => id)).toEqual([other.events[0]!])
      const none = await ask('search_sessions', { query: said, within_id: turn(3) })
      expect(none.data).toEqual({ result_count: 0, limit: 10, truncated: false, results: [] })
      expect(none.performance.sla_target_ms).toBe(300)
      expect((await ask('search_sessions', { query: said, within_id: session })).performance.sla_target_ms).toBe(500)
    })

    test('as many as asked for, and whether there are more', async () => {
      const said = word()
      await made([Array.from({ length: 12 }, (_, i) => ({ type: 'tool_response', text: `${said} number ${i}` }))])
      for (const [n_hits, count, truncated] of [
        [undefined, 10, true],
        [1, 1, true],
        [11, 11, true],
        [12, 12, false],
        [50, 12, false],
      ] as const) {
        const { data } = await ask('search_sessions', { query: said, ...(n_hits && { n_hits }) })
        expect({ count: data.results.length, truncated: data.truncated }).toEqual({ count, truncated })
        expect(data.result_count).toBe(count)
      }
    })

    test('the best first; of the equally good, the newest, then by id', async () => {
      const said = word()
      const old = await made([Array.from({ length: 3 }, () => ({ type: 'user_input', text: `${said} said once` }))], {
        from: '2026-01-01T00:00:00Z',
      })
      const { events } = await made([
        [
          { type: 'user_input', text: `${said} ${said} ${said}` },
          { type: 'user_input', text: `${said} said once` },
        ],
      ])
      const found = await hits({ query: said })
      expect(found.map(({ id }) => id)).toEqual([...events, ...old.events.toReversed()])
      expect(found.map(({ rank }) => rank)).toEqual([1, 2, 3, 4, 5])
      for (const [i, { score }] of found.entries()) {
        expect(score).toBeWithin(0, 1.000001)
        expect(score).toBeLessThanOrEqual(found[i - 1]?.score ?? 1)
      }
      expect(await hits({ query: said })).toEqual(found)
    })

    test('a rare word counts for more than a common one', async () => {
      const [rare, common] = [word(), word()]
      await made([Array.from({ length: 30 }, () => ({ type: 'user_input', text: `${common} again` }))])
      const { events } = await made([
        [{ type: 'user_input', text: `this has ${rare} in it and a good deal of other things to say beside` }],
      ])
      expect((await hits({ query: `${common} ${rare}` }))[0].id).toBe(events[0])
    })

    test.each([
      [
        'src/quartz/latticeKernel417.ts',
        ['quartz', 'latticeKernel417.ts', 'lattice kernel417', 'src/quartz', 'src/quarz/latticeKernel417.ts'],
      ],
      ['ERR_GRANITE_9141', ['err_granite_9141', 'granite 9141', 'ERR_GRANITE_9414', 'ERR_GRANIET_9141']],
      ['BasaltServer::reticulateSplines', ['basaltserver', 'reticulate splines', 'reticulateSplines', 'retciulateSplines']],
    ])('%s is found whole, by its parts and with a typo', async (needle, forms) => {
      const { session, events } = await made([
        [
          { type: 'tool_response', text: `at ${needle}:12 it fails with a long story around it` },
          ...Array.from({ length: 20 }, (_, i) => ({ type: 'tool_response', text: `src module server error kernel story ${i}` })),
        ],
      ])
      for (const query of [needle, ...forms])
        expect([query, (await hits({ query, within_id: session }))[0]?.id]).toEqual([query, events[0]])
    })

    test('a Korean noun is found whatever particle follows it, the form that was asked for first', async () => {
      const { session, events } = await made([
        ['서버가 느리다', '서버를 다시 켰다', '웹서버에서 데이터베이스로', '다른 이야기'].map((text) => ({ type: 'user_input', text })),
      ])
      const found = async (query: string) => (await hits({ query, within_id: session })).map(({ id }) => id)
      expect((await found('서버')).toSorted()).toEqual(events.slice(0, 3).toSorted())
      expect((await found('서버를'))[0]).toBe(events[1])
      expect((await found('데이터베이스'))[0]).toBe(events[2])
    })

    test('a word that nobody wrote is taken for one a typo away, and the answer says so', async () => {
      const said = word()
      const { events } = await made([[{ type: 'user_input', text: said }]])
      const typo = `${said.slice(0, 9)}${said[10]}${said[9]}${said.slice(11)}`
      const missing = `${said.slice(0, 8)}${said.slice(9)}`
      for (const query of typo === said ? [missing] : [typo, missing]) {
        const { data, warnings } = await ask('search_sessions', { query })
        expect(data.results.map(({ id }: any) => id)).toEqual([events[0]])
        expect(warnings).toEqual([`No event has "${query}"; searched for "${said}".`])
      }
    })

    test.each([
      'the of to and',
      '!!! ??? …',
      "it's 'quoted' \"text\" & (more) | :* <-> \\",
      "'; drop table events; --",
      '%_%',
      '{a,b}',
      '日本語テキスト',
      '\u202e',
    ])('a query of anything at all has an answer: %j', async (query) => {
      expect((await ask('search_sessions', { query })).data.results).toBeArray()
    })

    test('a query without a word that is searched for is told as such', async () => {
      await made([[{ type: 'user_input', text: 'Off it goes 🚀 && done' }]])
      for (const query of ['🚀', '&&', 'x'.repeat(101)]) {
        const { data, warnings } = await ask('search_sessions', { query })
        expect([data.results, warnings]).toEqual([[], [expect.stringContaining('no word that is searched for')]])
      }
    })

    test('a snippet is short, shows the word, and is never a large event', async () => {
      const said = word()
      await made([[{ type: 'tool_response', text: `${'line of output\n'.repeat(2_000)}${said}\n${'line of output\n'.repeat(2_000)}` }]])
      const [{ snippet }] = (await hits({ query: said })) as [any]
      expect(snippet.text).toContain(said)
      expect(snippet.text.length).toBeLessThan(300)
      expect(snippet.truncated).toBe(true)
    })

    test('a snippet shows what stands at the very end of a long output', async () => {
      const said = word()
      await made([[{ type: 'tool_response', text: `${'line of output\n'.repeat(12_000)}error: ${said}` }]])
      const [{ snippet }] = (await hits({ query: said })) as [any]
      expect(snippet.text).toEndWith(`output error: ${said}`)
      expect(snippet.truncated).toBe(true)
    })

    test('the parts of a system event and the arguments of a call are found', async () => {
      const said = word()
      const { events } = await made([
        [
          { type: 'tool_call', tool: 'exec_command', content: { arguments: { cmd: `cargo test\n${said} --all` } } },
          { type: 'system', content: { event: 'note', said } },
        ],
      ])
      const found = await hits({ query: said, event_types: ['tool_call', 'system'] })
      expect(found.map(({ id }) => id).toSorted()).toEqual(events.toSorted())
    })
  })

  describe('a session', () => {
    const settled = () => sessionsIndexed(parley())
    const first = async (seat: Seat, content = 'I take the lexer.') => `event:${(await done(seat('post_message', { content }))).message_id}`

    test('is found by its title, with the first that was said in it', async () => {
      const said = word()
      const { id, alex } = await room(viaRest(parley()), { title: `About ${said}` })
      const opening = await first(alex)
      await first(alex, 'And the parser.')
      const passing = await made([[{ type: 'user_input', text: `one ${said} by the way, in a long text about something else` }]])
      await settled()
      const { data, warnings } = await ask('search_sessions', { query: said })
      expect(data.results.map((hit: any) => [hit.id, hit.open.session_id])).toEqual([
        [opening, `session:${id}`],
        [passing.events[0], passing.session],
      ])
      expect(data.results[0].snippet.text).toBe('I take the lexer.')
      expect(warnings).toEqual([])
      expect((await ask('open', { id: data.results[0].id })).data.session.title).toBe(`About ${said}`)
    })

    test('is found by a sentence of its document, which the answer quotes with the way to it', async () => {
      const said = word()
      const { id, alex } = await room(viaRest(parley()), { title: 'Planning' })
      const opening = await first(alex)
      await done(alex('conclude_session', { summary_section: `Settled.\n\nWe take **${said}** from now on.` }))
      await settled()
      const { data, warnings } = await ask('search_sessions', { query: `we take ${said}` })
      expect(data.results[0]).toMatchObject({ rank: 1, id: opening, open: { session_id: `session:${id}` } })
      expect(warnings).toHaveLength(1)
      expect(warnings[0]).toStartWith(`Found in the document of session:${id} ("Planning"): `)
      expect(warnings[0]).toContain(`We take ${said} from now on.`)
      expect(warnings[0]).toEndWith(`GET /api/sessions/${id}/handoff.md.`)
    })

    test('is told by the text that has the words, in whatever form they are written there', async () => {
      const said = word()
      const wide = [...said].map((letter) => String.fromCodePoint(letter.codePointAt(0)! + 0xfee0)).join('')
      const { id, alex } = await room(viaRest(parley()), { title: 'Planning', description: 'What comes next.' })
      await first(alex)
      await done(alex('append_to_session_doc', { text: `${'Something else. '.repeat(60)}We take ${wide} from now on.` }))
      await settled()
      const { warnings } = await ask('search_sessions', { query: said })
      expect(warnings).toHaveLength(1)
      expect(warnings[0]).toStartWith(`Found in the document of session:${id} ("Planning"): `)
      expect(warnings[0]).toContain(`We take ${wide} from now on.`)
    })

    test('whose board alone has it is found once its events are asked for, which an empty answer says', async () => {
      const said = word()
      const { alex } = await room(viaRest(parley()))
      await done(alex('plan_work', { items: [{ title: `Build ${said}` }] }))
      await settled()
      const { data, warnings } = await ask('search_sessions', { query: said })
      expect([data.results, warnings]).toEqual([[], [expect.stringContaining('event_types ["system"]')]])
      const asked = await ask('search_sessions', { query: said, event_types: ['system'] })
      expect([asked.data.result_count, asked.warnings]).toEqual([1, []])
    })

    test('in which nothing was said is told of, with its id', async () => {
      const said = word()
      const { id } = await room(viaRest(parley()), { title: `About ${said}` })
      await settled()
      const { data, warnings } = await ask('search_sessions', { query: said })
      expect([data.results, warnings]).toEqual([[], [`Found in the title of session:${id} ("About ${said}").`]])
    })

    test('that also has the word in a message is one hit, with that message', async () => {
      const said = word()
      const { alex } = await room(viaRest(parley()), { title: `About ${said}` })
      await first(alex)
      const meant = await first(alex, `We take ${said}.`)
      await indexed(parley())
      await settled()
      expect((await hits({ query: said })).map(({ id }) => id)).toEqual([meant])
    })

    test('takes at most half of the places, and none of another kind than was asked for', async () => {
      const said = word()
      for (let n = 0; n < 4; n++) await first((await room(viaRest(parley()), { title: `About ${said}` })).alex)
      const { events, session } = await made([
        [
          { type: 'tool_response', text: said },
          { type: 'tool_response', text: 'nothing' },
        ],
      ])
      await settled()
      expect(await hits({ query: said, n_hits: 3 })).toHaveLength(3)
      expect((await hits({ query: said, n_hits: 3 }))[2].id).toBe(events[0])
      expect((await hits({ query: said, event_types: ['tool_response'] })).map(({ id }) => id)).toEqual(events.slice(0, 1))
      expect(await hits({ query: said, event_types: ['user_input'] })).toEqual([])
      expect(await hits({ query: 'shipping parser', within_id: session })).toEqual([])
    })
  })

  describe('sessions found by their titles', () => {
    const titled = async (count: number, title: string) => {
      for (let n = 0; n < count; n++) await say((await room(viaRest(parley()), { title })).alex, 'We begin.')
      await parley().services.indexer.run()
    }

    test('fill the places that events leave', async () => {
      const said = word()
      await titled(8, `About ${said}`)
      const all = (await ask('search_sessions', { query: said })).data
      expect([all.results.length, all.truncated]).toEqual([8, false])
    })

    test('are said to be more than were told', async () => {
      const said = word()
      await titled(4, `About ${said}`)
      const some = (await ask('search_sessions', { query: said, n_hits: 3 })).data
      expect([some.results.length, some.truncated]).toEqual([3, true])
      const all = (await ask('search_sessions', { query: said, n_hits: 4 })).data
      expect([all.results.length, all.truncated]).toEqual([4, false])
      const { events } = await made([[{ type: 'user_input', text: said }]])
      await indexed(parley())
      const mixed = (await ask('search_sessions', { query: said, n_hits: 4 })).data
      expect([mixed.results.length, mixed.truncated, mixed.results.some(({ id }: any) => id === events[0])]).toEqual([4, true, true])
    })
  })

  test('a credential in a query is refused, and does not come back', async () => {
    const { alex } = await room(viaRest(parley()))
    const body = await ask('search_sessions', { query: `who has ${alex.token}?` })
    expect(body.error.code).toBe('secret_in_text')
    expect(JSON.stringify(body)).not.toContain(alex.token.split('.')[1]!)
  })
})

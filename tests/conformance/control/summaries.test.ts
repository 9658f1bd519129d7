// get_messages with summarize: true, without a model and with one of any kind.
import { describe, expect } from 'bun:test'
import { afterEach, test } from '../../support/foreign.ts'
import { FULL } from '../../support/full.ts'
import { bearer, keyOf } from '../../support/keys.ts'
import { done, onOneEngine, room, say, throughBothDoors, viaRest, type Call, type Served } from '../../support/parley.ts'
import { called, gave, runnerAt, said, type Told } from '../../support/played-runner.ts'

const MANY = FULL ? 100_000 : 10_000 // events

const KEY = 'sk-ant-a-secret-of-the-operator'
const UNKNOWN = '0190a0a0-0000-4000-8000-000000000000'

const STORY: Told[] = [
  said('Plan: first the lexer, then the parser.'),
  called('TodoWrite', { title: 'lexer, parser' }),
  called('Bash', { command: 'npm test' }),
  { type: 'tool_response', content: { text: 'AssertionError: 3 of 4', exit_code: 1, is_error: true } },
  called('Bash', { command: 'npm test' }),
  gave('all passed'),
  said('It is at https://example.org/pull/7. Shall I merge it?'),
]

const opened = async (call: Call, served: Served) => {
  const as = { headers: bearer(await keyOf(served, 'full')) }
  const runner = await runnerAt(served)
  const made = await done(call('control.create_session', { title: 'T', worktree_id: runner.worktree }, as))
  const id = made.session_id as string
  const prompted = async (prompt: string) => (await done(call('control.send_prompt', { session_id: id, prompt }, as))).task_id as string
  const summarized = (more: object = {}) => done(call('control.get_messages', { session_id: id, summarize: true, ...more }, as))
  const resolves = async (cited: string[]) => {
    for (const message_id of cited)
      expect((await done(call('control.get_message', { message_id }, as))).message).toMatchObject({ id: message_id, session_id: id })
  }
  return { as, runner, id, prompted, summarized, resolves }
}

throughBothDoors((call, parley) => {
  describe('without a model', () => {
    test('tells what was asked and done, plans, questions, links, errors, and the latest answer in full [D11]', async () => {
      const { runner, prompted, summarized, resolves } = await opened(call, parley())
      await prompted('Write the parser.')
      const answer = `It is at https://example.org/pull/7. Shall I merge it?\n${'More of it. '.repeat(200)}`
      await runner.work(answer, STORY)
      const { messages, summary, summary_source, cited } = await summarized()
      expect(summary_source).toBe('extract')
      for (const part of [
        'State: idle',
        'Write the parser.',
        'Bash 2',
        'Bash: npm test',
        'Plan: first the lexer',
        'AssertionError',
        'https://example.org/pull/7',
        'Shall I merge it?',
      ])
        expect(summary).toContain(part)
      expect(summary).toEndWith(answer)
      expect(cited.length).toBeGreaterThan(5)
      expect(cited).toContain(messages[0].message_id)
      for (const id of cited) expect(summary).toContain(id)
      await resolves(cited)
    })

    test('tells the state: idle, working, waiting, failed', async () => {
      const { runner, prompted, summarized } = await opened(call, parley())
      const state = async () => /State: (\w+)/.exec((await summarized()).summary)![1]
      expect(await state()).toBe('idle')
      await prompted('Go.')
      expect(await state()).toBe('waiting') // for its runner
      const { task_id } = await runner.takeOne()
      expect(await state()).toBe('working')
      await runner.print(task_id, [{ key: 'ask', ...called('AskUserQuestion', { question: 'Which?' }) }])
      await runner.finish(task_id, undefined, { status: 'interrupted', interrupted_by: 'ask' })
      expect(await state()).toBe('waiting')
      await prompted('The first.')
      const again = await runner.takeOne()
      await runner.finish(again.task_id, undefined, { status: 'failed', error: { code: 'agent_failed', message: 'Out of memory.' } })
      expect((await summarized()).summary).toContain('State: failed (Out of memory.)')
    })

    test('works for a meeting, and for a log with nothing in it', async () => {
      const { id, alex } = await room(call)
      const as = { headers: bearer(await keyOf(parley(), 'read')) }
      const { message_id } = await say(alex, 'Who takes the lexer?')
      const meeting = await done(call('control.get_messages', { session_id: id, summarize: true }, as))
      expect(meeting.cited).toEqual([message_id])
      const { summarized } = await opened(call, parley())
      expect(await summarized()).toMatchObject({ messages: [], summary_source: 'extract', cited: [] })
    })

    test('an id in the log that is no message of it is not cited', async () => {
      const { runner, prompted, summarized, resolves } = await opened(call, parley())
      await prompted(`See ${UNKNOWN}.`)
      await runner.work('Done.', [called('Bash', { command: `cat ${UNKNOWN}` })])
      const { summary, cited } = await summarized()
      expect(summary).toContain(`See ${UNKNOWN}.`)
      expect(cited).not.toContain(UNKNOWN)
      await resolves(cited)
    })
  })
})

onOneEngine((parley) => {
  /** A stand-in for the model. It answers with what `reply` makes of the request's body, or not at all. */
  const standIns: { stop(closeAll: boolean): Promise<void> }[] = []
  const model = async (reply: (body: any) => unknown | Promise<unknown>) => {
    const asked: any[] = []
    const server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      async fetch(request) {
        const body = (await request.json()) as any
        asked.push({ path: new URL(request.url).pathname, key: request.headers.get('x-api-key'), ...body })
        const answer = await reply(body)
        return answer instanceof Response ? answer : Response.json(answer)
      },
    })
    standIns.push(server)
    const env = { ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: `http://127.0.0.1:${server.port}/`, SUMMARY_MODEL: 'a-model' }
    const served = await parley().beside(env)
    return { asked, served, call: viaRest(served), env }
  }
  afterEach(async () => {
    for (const server of standIns.splice(0)) await server.stop(true)
  })
  const saying = (text: string) => ({ content: [{ type: 'text', text }], stop_reason: 'end_turn' })
  const idsIn = (body: any): string[] => [...JSON.stringify(body.messages).matchAll(/\[([0-9a-f-]{36})\]/g)].map(([, id]) => id!)

  describe('with a model', () => {
    test('it writes the summary, of what a person would see', async () => {
      const { asked, call, served } = await model((body) => saying(`It works on the parser [${idsIn(body)[0]}].`))
      const { runner, prompted, summarized, resolves } = await opened(call, served)
      await prompted('Write the parser.')
      await runner.work('There it is.', STORY)
      const { summary, summary_source, cited } = await summarized()
      expect(summary_source).toBe('model')
      expect(summary).toStartWith('State: idle (the last task is completed).\n\nIt works on the parser [')
      expect(summary).toEndWith('There it is.')
      await resolves(cited)
      expect(cited).toHaveLength(2)
      expect(asked).toMatchObject([{ path: '/v1/messages', key: KEY, model: 'a-model', max_tokens: 1_000 }])
      const told = asked[0].messages[0].content as string
      expect(told).toContain('Bash: npm test')
      expect(told).not.toContain('all passed')
      expect([summary, JSON.stringify(served.logged)].join()).not.toContain(KEY)
    })

    test('what is kept of it goes with the state of now, which changes without an event', async () => {
      const { asked, call, served } = await model((body) => saying(`It is asked [${idsIn(body)[0]}].`))
      const { runner, prompted, summarized } = await opened(call, served)
      await prompted('Go.')
      expect((await summarized()).summary).toStartWith('State: waiting (')
      await runner.takeOne()
      expect((await summarized()).summary).toMatch(/^State: working \(.*\)\.\n\nIt is asked /)
      expect(asked).toHaveLength(1)
    })

    test('is asked once for a last event, however many ask, at two instances, and again once there is more', async () => {
      const { asked, call, served, env } = await model(async (body) => (await Bun.sleep(300), saying(`It is well [${idsIn(body)[0]}].`)))
      const { as, id, runner, prompted, summarized } = await opened(call, served)
      await prompted('Go.')
      await runner.work('Done.')
      const other = await parley().beside(env)
      const there = () => done(viaRest(other)('control.get_messages', { session_id: id, summarize: true }, as))
      const all = await Promise.all([summarized(), there(), summarized(), there(), summarized({ max_chars: 1_000 })])
      expect(new Set(all.map(({ summary }) => summary)).size).toBe(1)
      expect(all.map(({ summary_source }) => summary_source)).toEqual(Array(5).fill('model'))
      await summarized()
      expect(asked).toHaveLength(1)
      await prompted('Again.')
      await summarized()
      expect(asked).toHaveLength(2)
      const rows = await parley().database.query('select 1 from summaries where session_id = $1', [id])
      expect(rows).toHaveLength(1)
      await other.close()
    })

    test('a caller that goes away does not end the call that others wait for', async () => {
      const { asked, call, served } = await model(async () => (await Bun.sleep(500), saying('It is well.')))
      const { as, id, prompted, summarized } = await opened(call, served)
      await prompted('Go.')
      const gone = new AbortController()
      const first = call('control.get_messages', { session_id: id, summarize: true }, { ...as, signal: gone.signal }).catch(() => undefined)
      while (asked.length === 0) await Bun.sleep(5)
      gone.abort()
      expect((await summarized()).summary_source).toBe('model')
      await first
      expect(asked).toHaveLength(1)
    })

    test('ids that do not exist, or belong to another session, are taken out', async () => {
      let foreign = ''
      const { call, served } = await model((body) => saying(`A [${UNKNOWN}], b ${foreign}, c [${idsIn(body)[0]}].`))
      const elsewhere = await room(call)
      foreign = (await say(elsewhere.alex, 'elsewhere')).message_id
      const { prompted, summarized, resolves } = await opened(call, served)
      await prompted('Go.')
      const { summary, summary_source, cited } = await summarized()
      expect(summary_source).toBe('model')
      expect(cited).toHaveLength(1)
      expect(summary).toEndWith(`\n\nA, b, c [${cited[0]}].`)
      await resolves(cited)
    })

    test.each([
      ['refuses', () => ({ content: [{ type: 'text', text: 'I cannot.' }], stop_reason: 'refusal' })],
      ['is overloaded', () => Response.json({ type: 'error', error: { type: 'overloaded_error', message: KEY } }, { status: 529 })],
      ['says nothing', () => ({ content: [] })],
      ['is no model', () => new Response('<html>', { headers: { 'content-type': 'text/html' } })],
      ['sends elsewhere', () => new Response(null, { status: 307, headers: { location: 'http://127.0.0.1:1/' } })],
      ['sends another shape', () => ({ content: 'text' })],
    ] as const)('one that %s leaves the extract, is not asked again for it, and no error', async (_, reply) => {
      const { asked, call, served } = await model(reply)
      const { prompted, summarized, resolves } = await opened(call, served)
      await prompted('Go.')
      for (let n = 0; n < 2; n++) {
        const { summary_source, summary, cited } = await summarized()
        expect(summary_source).toBe('extract')
        expect(summary).toContain('State: waiting')
        await resolves(cited)
      }
      expect(asked).toHaveLength(1)
      expect(JSON.stringify(served.logged)).not.toContain(KEY)
    })

    test('one that is not there leaves the extract', async () => {
      const served = await parley().beside({ ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: 'http://127.0.0.1:9' })
      const { prompted, summarized } = await opened(viaRest(served), served)
      await prompted('Go.')
      expect((await summarized()).summary_source).toBe('extract')
    })

    test('whose instance was lost while it was asked is not waited for any longer than it may take', async () => {
      const { call, served, asked } = await model(() => saying('It is well.'))
      const { id, prompted, summarized } = await opened(call, served)
      await prompted('Go.')
      await parley().database.query(
        `insert into summaries (session_id, sequence, asked_at) select id, last_sequence, now() - interval '71 s' from sessions where id = $1`,
        [id],
      )
      expect((await summarized()).summary_source).toBe('extract')
      expect(asked).toHaveLength(0)
    })

    test(`gets at most 200,000 characters of ${MANY} events, those at the end`, async () => {
      const { asked, call, served } = await model((body) => saying(`It is long [${idsIn(body).at(-1)}].`))
      const { id, summarized, resolves } = await opened(call, served)
      await fill(served, id, MANY)
      const { summary_source, cited } = await summarized()
      expect(summary_source).toBe('model')
      await resolves(cited)
      const told = asked[0].messages[0].content as string
      expect(told.length).toBeLessThanOrEqual(200_000)
      expect(told.length).toBeGreaterThan(100_000)
      expect(told).toContain(`step ${MANY} `)
    })
  })
})

/** So many events of the trace, each of about 400 characters. */
const fill = ({ database }: Served, id: string, count: number) =>
  database.transaction(async ({ query }) => {
    await query(
      `insert into events (session_id, sequence, id, turn, ordinal, type, author, author_name, content, size, at)
       select $1, n, gen_random_uuid(), 1, n, 'assistant_response', 'agent', 'Claude Code',
         jsonb_build_object('text', 'step ' || n || ' ' || repeat('x', 380)), 400, now() from generate_series(1, $2::int) n`,
      [id, count],
    )
    await query('update sessions set last_sequence = $2::int, turn = 1, turn_events = $2::int where id = $1', [id, count])
  })

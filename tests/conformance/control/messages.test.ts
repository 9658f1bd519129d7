// What a person would see of a session: get_messages, and one message whole.
import { describe, expect } from 'bun:test'
import { test } from '../../support/foreign.ts'
import { bearer, keyOf } from '../../support/keys.ts'
import { cookieOf, done, refused, room, say, soon, throughBothDoors, viaRest, type Call } from '../../support/parley.ts'
import { called, gave, runnerAt, said, type Told } from '../../support/played-runner.ts'

const UNKNOWN = '0190a0a0-0000-7000-8000-000000000000'
const thought = (text: string): Told => ({ type: 'reasoning', content: { text } })
const began: Told = { type: 'runtime', content: { event: 'init', data: { tools: ['Bash'] } } }
const compacted: Told = { type: 'compaction', content: { text: 'What came before, in short.' } }

throughBothDoors((call, parley) => {
  const full = async () => ({ headers: bearer(await keyOf(parley(), 'full')) })
  const working = async (prompt?: string) => {
    const [as, runner] = [await full(), await runnerAt(parley())]
    const made = await done(
      call('control.create_session', { title: 'T', worktree_id: runner.worktree, ...(prompt && { initial_prompt: prompt }) }, as),
    )
    const read = (input: Record<string, unknown> = {}) => done(call('control.get_messages', { session_id: made.session_id, ...input }, as))
    const prompted = async (text: string) => done(call('control.send_prompt', { session_id: made.session_id, prompt: text }, as))
    return { as, runner, id: made.session_id as string, read, prompted }
  }
  const linesOf = ({ messages }: { messages: any[] }) => messages.map(({ type, text }) => `${type} ${text}`)

  describe('get_messages', () => {
    test('has texts, and of a call one line; no output, no reasoning, and the program’s own only when asked for [D10 D12 D13]', async () => {
      const { runner, read, prompted } = await working()
      const { message_id } = await prompted('Add a test.')
      const printed = [
        began,
        thought('Hm.'),
        said('I look.'),
        called('Bash', { command: 'npm test\n  -- --watch', description: 'Runs it' }),
        gave('{"failed":1}'),
        compacted,
        called('Edit', { file_path: 'src/a.ts', old_string: 'x', new_string: 'y' }),
        said('It is there.'),
      ]
      await runner.work('It is there.', printed)
      const seen = await read({ after_message_id: message_id })
      expect(linesOf(seen)).toEqual([
        'assistant_response I look.',
        'tool_call Bash: npm test -- --watch',
        'tool_call Edit: src/a.ts',
        'chat It is there.',
      ])
      expect(seen.has_more).toBe(false)
      expect(seen.messages.map(({ from }: any) => from)).toEqual(['Claude Code', 'Claude Code', 'Claude Code', 'Claude Code'])
      expect(linesOf(await read({ after_message_id: message_id, include_system: true }))).toEqual([
        'runtime init',
        'assistant_response I look.',
        'tool_call Bash: npm test -- --watch',
        'compaction What came before, in short.',
        'tool_call Edit: src/a.ts',
        'chat It is there.',
      ])
    })

    test('without after_message_id has the latest answer and the calls after it, whatever is said meanwhile [D9]', async () => {
      const { as, id, runner, read, prompted } = await working()
      expect(await read()).toEqual({ messages: [], has_more: false })
      await prompted('First.')
      expect(await read()).toEqual({ messages: [], has_more: false })
      await runner.work('One.', [said('One.')])
      expect(linesOf(await read())).toEqual(['chat One.'])
      await prompted('Second.')
      const task = await runner.takeOne()
      await runner.print(task.task_id, [said('I begin.'), called('Read', { file_path: 'a.ts' }), gave('text'), thought('Hm.')])
      const bea = await done(call('join_session', { session_id: id, team_name: "Bea's Team" }, as))
      await done(call('post_message', { session_id: id, content: 'How far is it?' }, { ...as, team: bea.team_id }))
      expect(linesOf(await read())).toEqual(['assistant_response I begin.', 'tool_call Read: a.ts'])
      await runner.finish(task.task_id, 'Two.')
      expect(linesOf(await read())).toEqual(['chat Two.'])
    })

    test('says whether a permission was allowed or denied, by whom, and what they said to the agent', async () => {
      const { id, runner, read, prompted } = await working()
      const { message_id } = await prompted('Go.')
      const { task_id } = await runner.takeOne()
      const nora = { person: await cookieOf(parley(), { role: 'person', name: 'Nora' }) }
      for (const [request_id, more] of [['r1', { allow: true }] as const, ['r2', { allow: false, message: 'Not there.' }] as const]) {
        const asked = { tool_name: 'Write', text: 'Write notes.md', input: {} }
        await done(runner.call('ask_permission', { runner_id: runner.id, task_id, request_id, ...asked, timeout: 0 }))
        await done(viaRest(parley())('control.answer_permission', { session_id: id, request_id, ...more }, nora))
      }
      expect(linesOf(await read({ after_message_id: message_id }))).toEqual([
        'system permission asked\nWrite notes.md',
        'system permission allowed, Nora',
        'system permission asked\nWrite notes.md',
        'system permission denied, Nora\nNot there.',
      ])
    })

    test('in a session without an agent has the last post of a team', async () => {
      const { id, alex, bea } = await room(call)
      await say(alex, 'one')
      await say(bea, 'two')
      expect(linesOf(await done(call('control.get_messages', { session_id: id }, await full())))).toEqual(['chat two'])
    })

    test('counts an answer and the response that it repeats once, also for who reads on from that response', async () => {
      const { runner, read, prompted } = await working()
      const { message_id } = await prompted('Go.')
      const task = await runner.takeOne()
      await runner.print(task.task_id, [said('Done.'), called('Bash', { command: 'ls' }), said('Done.')])
      const running = await read({ after_message_id: message_id })
      expect(linesOf(running)).toEqual(['assistant_response Done.', 'tool_call Bash: ls', 'assistant_response Done.'])
      await runner.finish(task.task_id, 'Done.\n')
      // The first of the two is another message, though it says the same.
      expect(linesOf(await read({ after_message_id: message_id }))).toEqual([
        'assistant_response Done.',
        'tool_call Bash: ls',
        'chat Done.\n',
      ])
      const [first, , last] = running.messages
      expect((await read({ after_message_id: last.message_id })).messages).toEqual([])
      expect(linesOf(await read({ after_message_id: first.message_id }))).toEqual(['tool_call Bash: ls', 'chat Done.\n'])
    })

    test('an answer that is longer than a page, as the response that it repeats, is read on to', async () => {
      const { as, runner, read, prompted } = await working()
      const { message_id } = await prompted('Go.')
      const long = 'x'.repeat(8_000)
      await runner.work(long, [called('Bash', { command: 'ls' }), said(long)])
      const [call_, ...none] = (await read({ after_message_id: message_id, max_chars: 1_000 })).messages
      expect([call_.type, none]).toEqual(['tool_call', []])
      const page = await read({ after_message_id: call_.message_id, max_chars: 1_000 })
      expect([page.messages.map(({ type }: any) => type), page.has_more]).toEqual([['chat'], false])
      await prompted('Again.')
      const { task_id } = await runner.work(long, [said(long)])
      const task = await done(call('control.get_task', { task_id, max_chars: 1_000 }, as))
      expect([task.messages.map(({ type }: any) => type), task.has_more]).toEqual([['chat'], false])
      expect(task.task.answer.text).toBe(long)
    })

    test('an answer that says something else than the trace is shown beside it', async () => {
      const { runner, read, prompted } = await working()
      const { message_id } = await prompted('Go.')
      await runner.work('In short: done.', [said('A long story.')])
      expect(linesOf(await read({ after_message_id: message_id }))).toEqual(['assistant_response A long story.', 'chat In short: done.'])
    })

    test('stays within max_chars as JSON, loses nothing from page to page, and cuts what is longer by itself', async () => {
      const { runner, read, prompted } = await working()
      const { message_id } = await prompted('Go.')
      const texts = Array.from({ length: 40 }, (_, n) => `${n} ${'é"\n'.repeat(100)}`)
      const task = await runner.takeOne()
      await runner.print(task.task_id, texts.map(said))
      const found: string[] = []
      for (let after = message_id; ;) {
        const page = await read({ after_message_id: after, max_chars: 2_000 })
        expect(JSON.stringify(page.messages).length).toBeLessThanOrEqual(2_002)
        found.push(...page.messages.map(({ text }: any) => text))
        if (!page.has_more) break
        after = page.messages.at(-1).message_id
      }
      expect(found).toEqual(texts)
      const long = '"'.repeat(30_000)
      await runner.print(task.task_id, [said(long)])
      const { messages } = await read({ max_chars: 1_000 })
      expect(JSON.stringify(messages).length).toBeLessThanOrEqual(1_002)
      expect(messages[0].text).toEndWith('[… cut: get_message has it whole]')
      expect((await read({ max_chars: 200_000 })).messages[0].text).toBe(long)
    })

    test('a large call is one line, too', async () => {
      const { runner, read, prompted } = await working()
      const { message_id } = await prompted('Go.')
      const task = await runner.takeOne()
      const content = 'x'.repeat(50_000)
      await runner.print(task.task_id, [
        called('Write', { content, file_path: 'src/large.ts' }),
        called('mcp', { content }),
        called('Odd', [content] as never),
      ])
      expect(linesOf(await read({ after_message_id: message_id }))).toEqual([
        'tool_call Write: src/large.ts',
        'tool_call mcp',
        'tool_call Odd',
      ])
    })

    test('a page has at most 500 messages', async () => {
      const { runner, read, prompted } = await working()
      const { message_id } = await prompted('Go.')
      const task = await runner.takeOne()
      for (let n = 0; n < 3; n++)
        await runner.print(
          task.task_id,
          Array.from({ length: 200 }, () => called('L', {})),
        )
      const first = await read({ after_message_id: message_id, max_chars: 200_000 })
      expect([first.messages.length, first.has_more]).toEqual([500, true])
      const rest = await read({ after_message_id: first.messages.at(-1).message_id, max_chars: 200_000 })
      expect([rest.messages.length, rest.has_more]).toEqual([100, false])
    })

    test.each([
      [{ max_chars: 999 }, 'max_chars'],
      [{ max_chars: 200_001 }, 'max_chars'],
      [{ include_system: 'perhaps' }, 'include_system'],
      [{ after_message_id: '' }, 'after_message_id'],
      [{ after: 1 }, 'after'],
    ])('refuses %j', async (input, field) => {
      const { id } = await room(call)
      const { details } = await refused(call('control.get_messages', { session_id: id, ...input }, await full()), 'invalid_request')
      expect(details.field).toBe(field)
    })

    test('is 404 for a message of another session, an unknown one, and a session beyond reach', async () => {
      const [one, other] = [await room(call), await room(call)]
      const as = await full()
      const { message_id } = await say(other.alex, 'elsewhere')
      for (const after_message_id of [message_id, UNKNOWN, '7'])
        expect((await refused(call('control.get_messages', { session_id: one.id, after_message_id }, as), 'not_found')).details.field).toBe(
          'after_message_id',
        )
      const own = { headers: bearer(await keyOf(parley(), 'agent', one.id)) }
      await refused(call('control.get_messages', { session_id: other.id }, own), 'not_found')
    })
  })

  describe('get_message', () => {
    test('has the whole event [D14]', async () => {
      const { as, id, runner, read, prompted } = await working()
      const { message_id } = await prompted('Go.')
      const task = await runner.takeOne()
      const given = { command: 'npm test', env: { CI: 'x'.repeat(1_000) } }
      await runner.print(task.task_id, [called('Bash', given)])
      const { messages } = await read({ after_message_id: message_id })
      const { message } = await done(call('control.get_message', { message_id: messages[0].message_id }, as))
      expect(message).toMatchObject({ session_id: id, type: 'tool_call', sequence: 2, tool_name: 'Bash', content: { arguments: given } })
      const prompt = await done(call('control.get_message', { message_id }, as))
      expect(prompt.message).toMatchObject({
        type: 'user_input',
        content: { text: 'Go.' },
        task_id: task.task_id,
        prompted_by: { kind: 'key' },
      })
    })

    test('is 404 for an unknown one, a sequence, and one beyond reach', async () => {
      const [one, other] = [await room(call), await room(call)]
      const { message_id } = await say(other.alex, 'elsewhere')
      const as = await full()
      for (const id of [UNKNOWN, '7', 'x'.repeat(64)]) await refused(call('control.get_message', { message_id: id }, as), 'not_found')
      await refused(call('control.get_message', { message_id: 'x'.repeat(65) }, as), 'invalid_request')
      const own = { headers: bearer(await keyOf(parley(), 'agent', one.id)) }
      await refused(call('control.get_message', { message_id }, own), 'not_found')
    })
  })

  test('history’s search finds an answer and the response that it repeats once, as the answer, and the turn has both', async () => {
    const { as, id, runner, prompted } = await working()
    const word = `quokka${crypto.randomUUID().slice(0, 8)}`
    await prompted('Find it.')
    const task = await runner.takeOne()
    await runner.print(task.task_id, [said(`The ${word} sleeps.`)])
    const hits = async (query: string) =>
      (await done((call as Call)('history.search_sessions', { query, n_hits: 10, within_id: `session:${id}` }, as))).data.results
    await soon('the response is found', async () => (await hits(word)).length === 1)
    expect((await hits(word))[0].event.ordinal).toBe(2)
    await runner.finish(task.task_id, `The ${word} sleeps.`)
    await soon('the answer has its place', async () => (await hits(word))[0]?.event.ordinal === 3)
    const found = await hits(word)
    expect(found).toHaveLength(1)
    expect(found[0].event).toMatchObject({ type: 'assistant_response', terminal: true })
    const { data } = await done(call('history.open', { id: found[0].open.turn_id }, as))
    expect(data.events.map(({ type }: any) => type)).toEqual(['user_input', 'assistant_response', 'assistant_response'])
    const [terms] = await parley().database.query<{ events: number }>('select events from search_terms where term = $1', [word])
    expect(terms!.events).toBe(1)
  })
})

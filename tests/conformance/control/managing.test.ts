// Changing a session: its title and mode, its agent stopped and started, archived and brought back, and named by its own key.
import { describe, expect } from 'bun:test'
import { test } from '../../support/foreign.ts'
import { holdLock } from '../../support/held-lock.ts'
import { bearer, keyOf } from '../../support/keys.ts'
import {
  cookieOf,
  done,
  feedOf,
  onOneEngine,
  refused,
  room,
  say,
  soon,
  throughBothDoors,
  viaRest,
  type Call,
} from '../../support/parley.ts'
import { controlScene } from '../../support/control-scene.ts'
import { runnerAt, said } from '../../support/played-runner.ts'

const UNKNOWN = '0190a0a0-0000-7000-8000-000000000000'

throughBothDoors((call, parley) => {
  const full = async () => ({ headers: bearer(await keyOf(parley(), 'full')) })
  const working = async (more: Record<string, unknown> = {}, registered: Record<string, unknown> = {}) => {
    const [as, runner] = [await full(), await runnerAt(parley(), registered)]
    const made = await done(call('control.create_session', { title: 'T', worktree_id: runner.worktree, ...more }, as))
    const id = made.session_id as string
    const update = (input: Record<string, unknown>, by = as) => call('control.update_session', { session_id: id, ...input }, by)
    const manage = (action: string, by = as) => call('control.manage_session', { session_id: id, action }, by)
    const prompted = async (prompt: string) => (await done(call('control.send_prompt', { session_id: id, prompt }, as))).task_id as string
    const taskOf = async (task_id: string) => (await done(call('control.get_task', { task_id }, as))).task
    const shown = async () => (await done(call('control.get_session', { session_id: id }, as))).session
    const events = async () =>
      (await done(call('get_history', { session_id: id, include_trace: true, limit: 500 }, { ...as, team: made.team_id }))).messages
    const agent = async (sessionId = id) => ({ headers: bearer(await keyOf(parley(), 'agent', sessionId)) })
    return { as, runner, id, made, update, manage, prompted, taskOf, shown, events, agent }
  }

  describe('create_session', () => {
    test('gives a token of its convener, whose secret is not the agent’s', async () => {
      const [as, runner] = [await full(), await runnerAt(parley())]
      for (const key of [undefined, crypto.randomUUID()]) {
        const create = () =>
          done(call('control.create_session', { title: 'T', worktree_id: runner.worktree }, { ...as, ...(key && { key }) }))
        const { session_id, team_id, handle } = await create()
        if (key) expect((await create()).team_id).toBe(team_id)
        const { participants } = await done(call('list_participants', { session_id }, { team: team_id }))
        const agent = participants.find(({ is_self }: any) => !is_self).team_id as string
        const post = (team: string) => call('post_message', { session_id, content: 'Who speaks?' }, { team })
        await refused(post(team_id.replace(handle, agent)), 'unauthorized')
        await done(post(team_id))
      }
    })
  })

  describe('update_session', () => {
    test('renames as a team does, with a reason, and tells everybody [C16]', async () => {
      const { update, events } = await working()
      const { session } = await done(update({ title: 'Empty files', description: 'None are read.' }))
      expect(session).toMatchObject({ title: 'Empty files', description: 'None are read.' })
      expect((await events()).at(-1)).toMatchObject({
        type: 'system',
        event: 'session_metadata_updated',
        by: 'a full key',
        reason: 'set by a full key',
        changes: { title: { from: 'T', to: 'Empty files' }, description: { from: '', to: 'None are read.' } },
      })
      await done(update({ title: 'Emptier files', reason: 'There is more.' }))
      expect((await events()).at(-1)).toMatchObject({ reason: 'There is more.' })
      const before = await events()
      await done(update({ title: 'Emptier files' }))
      expect(await events()).toEqual(before)
    })

    test('notes status and permission mode in the trace, with from and to, and wakes nobody', async () => {
      const { update, events, prompted, runner, shown } = await working()
      await prompted('Go.')
      await runner.work('Done.', [said('Done.')])
      const before = (await events()).at(-1)
      const { session } = await done(update({ status: 'completed', permission_mode: 'plan' }))
      expect(session).toMatchObject({ status: 'completed', permission_config: { mode: 'plan' } })
      const after = await events()
      expect(after.at(-1)).toMatchObject({
        type: 'runtime',
        sequence: before.sequence + 1,
        content: {
          event: 'session_updated',
          by: 'a full key',
          status: { from: 'idle', to: 'completed' },
          permission_mode: { from: 'acceptEdits', to: 'plan' },
        },
      })
      await done(update({ status: 'completed' })) // is so already
      expect((await events()).length).toBe(after.length)
      const task = await prompted('Again.')
      expect(await shown()).toMatchObject({ status: 'running' })
      expect((await runner.takeOne()).permission_mode).toBe('plan')
      await runner.finish(task, 'Yes.')
      expect((await events()).map(({ sequence }: any) => sequence)).toEqual(Array.from({ length: after.length + 2 }, (_, n) => n + 1))
    })

    test('a note falls into the open turn, also of a log that is empty, and posts go on behind it', async () => {
      const { id, made, as, update } = await working()
      await done(update({ permission_mode: 'plan' }))
      for (const content of ['one', 'two']) await done(call('post_message', { session_id: id, content }, { ...as, team: made.team_id }))
      await done(update({ status: 'failed' }))
      await done(call('control.send_prompt', { session_id: id, prompt: 'Go.' }, as))
      const rows = await parley().database.query<{ type: string }>(
        'select type, sequence, turn, ordinal from events where session_id = $1 order by sequence',
        [id],
      )
      expect(rows).toEqual([
        { type: 'runtime', sequence: 1, turn: 1, ordinal: 1 },
        { type: 'chat', sequence: 2, turn: 1, ordinal: 2 },
        { type: 'chat', sequence: 3, turn: 1, ordinal: 3 },
        { type: 'runtime', sequence: 4, turn: 1, ordinal: 4 },
        { type: 'user_input', sequence: 5, turn: 2, ordinal: 1 },
      ] as never)
    })

    test('what an agent says of itself while it works holds once its task is completed', async () => {
      const { runner, update, prompted, shown, agent } = await working()
      const task = await prompted('Look back.')
      await runner.takeOne()
      await done(update({ status: 'completed' }, await agent()))
      await runner.finish(task, 'I am done.')
      expect(await shown()).toMatchObject({ status: 'completed' })
    })

    test('`running` needs a task', async () => {
      const { update, prompted } = await working()
      expect((await refused(update({ status: 'running' }), 'conflict')).message).toContain('send_prompt')
      await prompted('Go.')
      await done(update({ status: 'idle' }))
      expect((await done(update({ status: 'running' }))).session.status).toBe('running')
    })

    test.each([
      [{}, 'title', 'At least one field must be provided'],
      [{ reason: 'None.' }, 'title', 'At least one field must be provided'],
      [{ status: 'creating' }, 'status', ''],
      [{ status: 'archived' }, 'status', ''],
      [{ permission_mode: 'all' }, 'permission_mode', ''],
      [{ title: ' ' }, 'title', ''],
      [{ title: 'x'.repeat(201) }, 'title', ''],
      [{ max_usd: 0 }, 'max_usd', ''],
      [{ git_state: {} }, 'git_state', ''],
      [{ title: 'a\u0000b' }, 'title', ''],
    ])('refuses %j [C17 C18]', async (input, field, sentence) => {
      const { update, shown } = await working()
      const before = await shown()
      const { details, message } = await refused(update(input), 'invalid_request')
      expect([details.field, message.includes(sentence)]).toEqual([field, true])
      expect(await shown()).toEqual(before)
    })

    test('takes all eight modes for any agent, as they are given [C1 C7]', async () => {
      const { update } = await working({ agentic_tool: 'codex' })
      for (const mode of ['default', 'acceptEdits', 'bypassPermissions', 'plan', 'ask', 'auto', 'on-failure', 'allow-all'])
        expect((await done(update({ permission_mode: mode }))).session.permission_config).toEqual({ mode })
    })

    test('an agent lowers itself and those below it, and raises nobody above itself', async () => {
      const { update, agent, runner } = await working()
      const own = await agent()
      await done(update({ permission_mode: 'plan' }, own))
      await refused(update({ permission_mode: 'acceptEdits' }, own), 'forbidden')
      const child = await done(call('control.create_session', { title: 'C', worktree_id: runner.worktree, permission_mode: 'plan' }, own))
      const raise = { session_id: child.session_id, permission_mode: 'bypassPermissions' }
      await refused(call('control.update_session', raise, own), 'forbidden')
      await done(call('control.update_session', { ...raise, permission_mode: 'plan', title: 'Named by its parent' }, own))
    })

    test('an agent that says no mode gives those that it starts its own', async () => {
      const { update, agent, runner, as, id } = await working()
      await done(update({ permission_mode: 'plan' }))
      const own = await agent()
      const create = (more: object) => call('control.create_session', { title: 'C', ...more }, own)
      const prompt = (session_id: string, more: object) => call('control.send_prompt', { session_id, prompt: 'Go.', ...more }, own)
      const modeOf = async (session_id: string) =>
        (await done(call('control.get_session', { session_id }, as))).session.permission_config.mode
      const place = { worktree_id: runner.worktree }
      const empty = (await done(create({}))).session_id
      for (const made of [
        create(place),
        create({ ...place, agentic_tool: 'codex' }),
        prompt(id, { mode: 'subsession' }),
        prompt(empty, { mode: 'subsession', ...place }),
      ])
        expect(await modeOf((await done(made)).session_id)).toBe('plan')
      // A child that may more was given that by a person: what comes from it counts as a raise, said or not.
      const child = (await done(create(place))).session_id
      await done(call('control.update_session', { session_id: child, permission_mode: 'auto' }, as))
      for (const mode of ['fork', 'subsession'])
        for (const more of [{}, { permission_mode: 'auto' }]) {
          const { details } = await refused(prompt(child, { mode, ...more }), 'forbidden')
          expect(details.request_id).toBeString()
        }
      await refused(prompt(UNKNOWN, { mode: 'fork' }), 'not_found')
      await refused(prompt('nonsense', { mode: 'fork' }), 'not_found')
      await refused(update({ session_id: 'nonsense', permission_mode: 'auto' }, own), 'not_found')
    })

    test('an agent names its own session `current` in writes, too, and may repeat one that a person has allowed', async () => {
      const { id, as, agent, shown } = await working({}, { allow_bypass: true })
      const own = await agent()
      const current = (name: string, input: object = {}, by = own) => call(`control.${name}`, { session_id: 'current', ...input }, by)
      const raise = { permission_mode: 'bypassPermissions' }
      const { request_id } = (await refused(current('update_session', raise), 'forbidden')).details
      const person = await cookieOf(parley(), { role: 'person', name: 'Nora' })
      await done(viaRest(parley())('control.answer_permission', { session_id: id, request_id, allow: true }, { person }))
      expect((await done(current('update_session', raise))).session).toMatchObject({
        session_id: id,
        permission_config: { mode: 'bypassPermissions' },
      })
      const child = await done(current('send_prompt', { prompt: 'A part.', mode: 'subsession' }))
      expect((await shown()).genealogy.children).toEqual([child.session_id])
      expect(await done(current('interrupt_session'))).toEqual({ interrupted: false })
      expect((await refused(current('manage_session', { action: 'stop' }), 'forbidden')).message).toContain('end your turn')
      await refused(current('update_session', { title: 'None' }, as), 'not_found')
    })

    test('what an agent begins from `current` has the mode that is there, which its runner may forbid', async () => {
      const { agent } = await working({ permission_mode: 'bypassPermissions' })
      const input = { session_id: 'current', prompt: 'Go.', mode: 'fork' }
      expect((await refused(call('control.send_prompt', input, await agent()), 'forbidden')).message).toContain('--allow-bypass')
    })

    test('an agent does not leave its own session, whose next prompt needs its team', async () => {
      const { agent, made, id } = await working()
      expect((await refused(call('leave_session', { session_id: id }, await agent()), 'forbidden')).message).toContain('end your turn')
      await done(call('leave_session', { session_id: id }, { team: made.team_id as string })) // who opened it may
      await done(call('post_message', { session_id: id, content: 'Still here.' }, await agent()))
    })

    test('a session without an agent has a title alone', async () => {
      const { id } = await room(call)
      const as = await full()
      for (const input of [{ status: 'idle' }, { permission_mode: 'plan' }])
        await refused(call('control.update_session', { session_id: id, ...input }, as), 'conflict')
      await done(call('control.update_session', { session_id: id, title: 'Another' }, as))
    })

    test('what is refused changes nothing of what was sent with it', async () => {
      const { update, shown } = await working()
      await refused(update({ title: 'Another', status: 'running' }), 'conflict')
      await refused(update({ title: 'Another', max_usd: 3 }), 'forbidden')
      expect((await shown()).title).toBe('T')
    })

    test('a concluded session stays as it is', async () => {
      const { id, update, made, as } = await working()
      await done(call('conclude_session', { session_id: id, summary_section: 'Done.' }, { ...as, team: made.team_id }))
      for (const input of [{ title: 'Another' }, { status: 'completed' }, { permission_mode: 'plan' }])
        expect((await refused(update(input), 'session_closed')).message).toContain('create_session of rooms (at /mcp) with resume_from')
    })

    test('sent again with the same key, it is applied once', async () => {
      const { update, id, as, events } = await working()
      await done(update({ permission_mode: 'plan' }))
      const input = { session_id: id, permission_mode: 'auto' }
      for (let n = 0; n < 2; n++) await done(call('control.update_session', input, { ...as, key: `once-${id}` }))
      expect(await events()).toHaveLength(2)
    })
  })

  describe('manage_session', () => {
    test('stop interrupts and holds the queue, start lets it go on [D17]', async () => {
      const { manage, prompted, runner, taskOf, shown, events } = await working()
      const [first, second] = [await prompted('One.'), await prompted('Two.')]
      await runner.takeOne()
      await done(manage('stop'))
      expect((await runner.take(5, [first])).orders).toEqual([{ task_id: first, order: 'interrupt' }])
      await done(manage('stop'))
      await runner.finish(first, undefined, { status: 'interrupted' })
      expect(await runner.take(0)).toMatchObject({ tasks: [], orders: [] })
      expect((await taskOf(second)).status).toBe('queued')
      const waiting = runner.take(20)
      expect(await done(manage('start'))).toMatchObject({ success: true, session: { session_id: (await shown()).session_id } })
      expect((await waiting).tasks[0].task_id).toBe(second)
      await done(manage('start'))
      const said = (await events()).map(({ event, content }: any) => event ?? content.event)
      expect(said.filter((event: string) => event?.startsWith('agent_'))).toEqual(['agent_stopped', 'agent_started'])
    })

    test('that an agent is stopped, by whom and since when, is in every answer of those who wait for it, and gone once it goes on', async () => {
      const { id, as, manage, prompted, shown, runner } = await working()
      await done(manage('stop'))
      const sent = await done(call('control.send_prompt', { session_id: id, prompt: 'One.' }, as))
      const held = { by: 'a full key', since: expect.stringMatching(/^20.*Z$/) }
      await done(manage('stop', { headers: bearer(await keyOf(parley(), 'full')) })) // says who did it first
      expect([sent.held, sent.completed]).toEqual([held, undefined])
      const answers = async (task_id: string) => {
        const wait = { prompt: 'Two.', wait_for_completion: true, timeout_ms: 1 }
        const listed = (await done(call('control.list_sessions', { limit: 200 }, as))).sessions
        return [
          (await done(call('control.get_task', { task_id, timeout_ms: 1 }, as))).task,
          (await done(call('control.list_tasks', { session_id: id }, as))).tasks.at(-1),
          (await shown()).tasks.at(-1),
          await shown(),
          listed.find(({ session_id }: any) => session_id === id),
          await done(call('control.send_prompt', { session_id: id, ...wait }, as)),
        ]
      }
      for (const answer of await answers(sent.task_id)) expect(answer.held).toEqual(held)
      const { summary } = await done(call('control.get_messages', { session_id: id, summarize: true }, as))
      expect(summary).toContain('stopped by a full key')
      await done(manage('start'))
      for (const answer of await answers(sent.task_id)) expect('held' in answer).toBe(false)
      await runner.work('Done.')
      const ended = await prompted('Three.')
      await done(manage('stop'))
      expect((await done(call('control.get_task', { task_id: sent.task_id }, as))).task.held).toBeUndefined() // it has ended
      expect((await done(call('control.get_task', { task_id: ended }, as))).task.held).toEqual(held)
    })

    test('that a person is asked for permission is in the answers as well, until it is given', async () => {
      const { id, as, prompted, shown, runner } = await working()
      const task_id = await prompted('One.')
      await runner.takeOne()
      const other = await prompted('Two.')
      const request = { request_id: `r-${id}`, tool_name: 'Write', text: 'Write notes.md', timeout: 0 }
      await done(runner.call('ask_permission', { runner_id: runner.id, task_id, ...request }))
      const asked = { request_id: `r-${id}`, task_id, tool_name: 'Write', since: expect.stringMatching(/^20.*Z$/) }
      const taskOf = async (task_id: string) => (await done(call('control.get_task', { task_id, timeout_ms: 1 }, as))).task
      const answers = async () => [await taskOf(task_id), (await shown()).tasks.at(-1), await shown()]
      for (const answer of await answers()) expect(answer.asks_permission).toEqual(asked)
      expect((await taskOf(other)).asks_permission).toBeUndefined()
      const person = await cookieOf(parley(), { role: 'person', name: 'Nora' })
      await done(viaRest(parley())('control.answer_permission', { session_id: id, request_id: `r-${id}`, allow: true }, { person }))
      for (const answer of await answers()) expect('asks_permission' in answer).toBe(false)
    })

    test('delete archives: what is queued ends, what runs is interrupted, its keys end, and nothing is written until start', async () => {
      const { id, as, made, manage, prompted, runner, taskOf, shown, events, update } = await working()
      const [first, second] = [await prompted('One.'), await prompted('Two.')]
      const { agent_key } = await runner.takeOne()
      const sess = await keyOf(parley(), 'sess', id)
      const before = (await events()).length
      const gone = await done(manage('delete'))
      expect(gone.session.archived_at).toBeString()
      expect((await taskOf(second)).status).toBe('interrupted')
      expect((await runner.take(5, [first])).orders).toEqual([{ task_id: first, order: 'interrupt' }])
      for (const key of [agent_key, sess])
        expect((await parley().send('/api/control/get_session', { body: '{"session_id":"current"}', headers: bearer(key) })).status).toBe(
          401,
        )
      const team = { ...as, team: made.team_id }
      const writes: [string, Record<string, unknown>][] = [
        ['post_message', { content: 'one' }],
        ['append_to_session_doc', { text: 'one' }],
        ['update_session_doc', { content: 'one', expected_version: 0 }],
        ['update_session_metadata', { title: 'Another', reason: 'r' }],
        ['conclude_session', { summary_section: 'Done.' }],
      ]
      for (const [name, input] of writes) {
        const { message } = await refused(call(name, { session_id: id, ...input }, team), 'session_closed')
        expect([name, message]).toEqual([name, expect.stringContaining('archived')])
      }
      await refused(call('control.send_prompt', { session_id: id, prompt: 'Three.' }, as), 'session_closed')
      const cookie = await cookieOf(parley(), { name: 'Robin', role: 'person' })
      for (const [path, text] of [
        ['messages', 'text'],
        ['prompt', 'prompt'],
        ['conclude', 'summary_section'],
      ]) {
        // prettier-ignore
        const body = new URLSearchParams({ [text!]: 'typed' })
        const shown = await (await parley().send(`/sessions/${id}/${path}`, { method: 'POST', body, headers: { cookie } })).text()
        expect([path, shown]).toEqual([path, expect.stringContaining('Its menu brings it back, by “Start the agent again”')])
      }
      for (const input of [{ title: 'Another' }, { status: 'idle' }, { permission_mode: 'plan' }])
        expect((await refused(update(input), 'session_closed')).message).toContain('create_session of rooms (at /mcp) with resume_from')
      await runner.finish(first, undefined, { status: 'interrupted' })
      expect((await taskOf(first)).status).toBe('interrupted')
      expect((await events()).slice(before).map(({ event, content }: any) => event ?? content.event)).toEqual([
        'task_interrupted', // the second, which was queued
        'session_archived',
        'task_interrupted',
      ])
      const listed = async (more: object) =>
        (await done(call('control.list_sessions', { limit: 200, ...more }, as))).sessions.some(({ session_id }: any) => session_id === id)
      expect([await listed({}), await listed({ include_archived: true })]).toEqual([false, true])
      await done(manage('delete')) // again: nothing
      await done(manage('start'))
      expect((await events()).at(-1)).toMatchObject({ type: 'system', event: 'session_restored', by: 'a full key' })
      expect(await shown()).toMatchObject({ archived_at: null, title: 'T' })
      await done(call('post_message', { session_id: id, content: 'one' }, team))
      const third = await prompted('Three.')
      expect((await runner.takeOne()).task_id).toBe(third)
    })

    test('a plain meeting is archived, too: teams join to read, leave, and are told', async () => {
      const { id, alex, bea } = await room(call)
      await say(alex, 'one')
      const as = await full()
      const cursor = (await feedOf(alex)).at(-1).sequence
      const waiting = bea('wait_for_messages', { since_cursor: cursor, timeout: 20 })
      await done(call('control.manage_session', { session_id: id, action: 'delete' }, as))
      expect((await done(waiting)).messages).toMatchObject([{ event: 'session_archived' }])
      await refused(alex('post_message', { content: { text: 'two' } }), 'session_closed')
      const late = await done(call('join_session', { session_id: id, team_name: 'Late' }))
      expect(late.cursor).toBe(cursor + 1)
      await done(bea('leave_session'))
      await refused(alex('conclude_session', { summary_section: 'x' }), 'session_closed')
      expect((await feedOf(alex)).at(-1)).toMatchObject({ event: 'session_archived' })
      await refused(call('control.manage_session', { session_id: id, action: 'stop' }, as), 'conflict')
      await done(call('control.manage_session', { session_id: id, action: 'start' }, as))
      await refused(bea('post_message', { content: { text: 'I had left.' } }), 'unauthorized')
      await done(alex('post_message', { content: { text: 'two' } }))
    })

    test('whoever joins an archived meeting to read it does not become its convener', async () => {
      const as = await full()
      const cookie = await cookieOf(parley(), { name: 'Robin', role: 'person' })
      const body = new URLSearchParams({ title: 'Later', description: '', expected_teams: '2', key: crypto.randomUUID() })
      const opened = await parley().send('/sessions/new', { method: 'POST', body, headers: { cookie } })
      const session_id = new URL(opened.headers.get('location')!, 'http://hub').searchParams.get('session')!
      await done(call('control.manage_session', { session_id, action: 'delete' }, as))
      expect(await done(call('join_session', { session_id, team_name: 'Reader' }))).toMatchObject({ is_convener: false })
      await done(call('control.manage_session', { session_id, action: 'start' }, as))
      expect(await done(call('join_session', { session_id, team_name: 'First' }))).toMatchObject({ is_convener: true })
    })

    test('archived while its worktree is being made, the runner’s late answer makes nothing', async () => {
      const { runner, as } = await working()
      const made = await done(
        call('control.create_session', { title: 'T', repo_full_name: runner.repo, branch: 'new', initial_prompt: 'Go.' }, as),
      )
      expect((await runner.take(5)).orders).toMatchObject([{ order: 'worktree', session_id: made.session_id }])
      await done(call('control.manage_session', { session_id: made.session_id, action: 'delete' }, as))
      const answer = { session_id: made.session_id, runner_id: runner.id, path: '/code/new', branch: 'new', head: null }
      await refused(runner.call('add_worktree', answer), 'conflict')
      const { task } = await done(call('control.get_task', { task_id: made.task_id }, as))
      expect(task.status).toBe('interrupted')
    })

    test('what was made for an archived session is kept as long as another one works in it', async () => {
      const { runner, as } = await working()
      const create = async (more: object) => (await done(call('control.create_session', { title: 'T', ...more }, as))).session_id as string
      const mine = await create({ repo_full_name: runner.repo, branch: 'new' })
      const answer = { session_id: mine, runner_id: runner.id, path: '/code/new', branch: 'new', head: null }
      const { worktree_id } = await done(runner.call('add_worktree', answer))
      const child = { session_id: mine, prompt: 'A part.', mode: 'subsession' }
      const part = (await done(call('control.send_prompt', child, as))).session_id as string
      const second = await runnerAt(parley(), {
        worktrees: [{ path: '/code/new', repo_full_name: runner.repo, branch: 'new', head: null }],
      })
      const others = [
        part,
        await create({ worktree_id }),
        await create({ repo_full_name: runner.repo, branch: 'new' }),
        await create({ worktree_id: second.worktree }), // of the same machine
      ]
      const archive = (session_id: string) => done(call('control.manage_session', { session_id, action: 'delete' }, as))
      const archived = async () => (await done(runner.call('list_archived', { session_ids: [mine, UNKNOWN] }))).archived
      expect(await archived()).toEqual([UNKNOWN])
      await archive(mine)
      for (const id of others) {
        expect(await archived()).toEqual([UNKNOWN])
        await archive(id)
      }
      expect(await archived()).toEqual([mine, UNKNOWN])
    })

    test('so is what its runner registered as it started again, before it could answer the order', async () => {
      const { runner, as } = await working()
      const create = async (more: object) => (await done(call('control.create_session', { title: 'T', ...more }, as))).session_id as string
      const mine = await create({ repo_full_name: runner.repo, branch: 'new' })
      const made = { path: '/code/new', branch: 'new', head: null }
      const registered = { name: runner.name, agents: [], worktrees: [{ ...made, repo_full_name: runner.repo }] }
      const { runner_id } = await done(runner.call('register_runner', registered))
      const { worktree_id } = await done(runner.call('add_worktree', { runner_id, session_id: mine, ...made }))
      const other = await create({ worktree_id })
      const archived = async () => (await done(runner.call('list_archived', { session_ids: [mine] }))).archived
      await done(call('control.manage_session', { session_id: mine, action: 'delete' }, as))
      expect(await archived()).toEqual([])
      await done(call('control.manage_session', { session_id: other, action: 'delete' }, as))
      expect(await archived()).toEqual([mine])
    })

    test('so is what was made for a session that had given it up, of which its runner alone knows whose it was', async () => {
      const { runner, as } = await working()
      const create = async (more: object) => (await done(call('control.create_session', { title: 'T', ...more }, as))).session_id as string
      const mine = await create({ repo_full_name: runner.repo, branch: 'new' })
      await done(call('control.manage_session', { session_id: mine, action: 'delete' }, as))
      const worktree = { path: '/code/new', repo_full_name: runner.repo, branch: 'new', head: null }
      const { worktrees } = await done(runner.call('register_runner', { name: runner.name, agents: [], worktrees: [worktree] }))
      const other = await create({ worktree_id: worktrees[0].worktree_id })
      const archived = async (...paths: string[]) =>
        (await done(runner.call('list_archived', { session_ids: [UNKNOWN, mine], ...(paths.length > 0 && { paths }) }))).archived
      expect(await archived('/code/other', '/code/new')).toEqual([UNKNOWN])
      expect(await archived()).toEqual([UNKNOWN, mine]) // as runners of earlier versions ask
      await done(call('control.manage_session', { session_id: other, action: 'delete' }, as))
      expect(await archived('/code/other', '/code/new')).toEqual([UNKNOWN, mine])
    })

    test('an agent manages those below it, and not itself', async () => {
      const { manage, agent, runner, as } = await working()
      const own = await agent()
      for (const action of ['stop', 'start', 'delete']) await refused(manage(action, own), 'forbidden')
      const child = await done(call('control.create_session', { title: 'C', worktree_id: runner.worktree }, own))
      const foreign = await done(call('control.create_session', { title: 'F', worktree_id: runner.worktree }, as))
      for (const action of ['stop', 'start', 'delete', 'start']) {
        await done(call('control.manage_session', { session_id: child.session_id, action }, own))
        await refused(call('control.manage_session', { session_id: foreign.session_id, action }, own), 'not_found')
      }
    })

    test.each([
      [{ action: 'pause' }, 'action'],
      [{}, 'action'],
      [{ action: 'stop', force: true }, 'force'],
    ])('refuses %j', async (input, field) => {
      const { id, as } = await working()
      const { details } = await refused(call('control.manage_session', { session_id: id, ...input }, as), 'invalid_request')
      expect(details.field).toBe(field)
      await refused(call('control.manage_session', { session_id: UNKNOWN, action: 'stop' }, as), 'not_found')
    })
  })

  describe('set_session_name', () => {
    test('names the session that the key is for, as every change of a title is told [D4 D19]', async () => {
      const { id, events } = await working()
      const as = { headers: bearer(await keyOf(parley(), 'sess', id)) }
      expect(await done(call('control.set_session_name', { name: 'Empty files' }, as))).toEqual({ session_id: id, title: 'Empty files' })
      expect(await done(call('control.set_session_name', { name: 'Empty files' }, as))).toEqual({ session_id: id, title: 'Empty files' })
      expect(await events()).toMatchObject([
        {
          event: 'session_metadata_updated',
          by: 'a sess key',
          reason: 'set by a sess key',
          changes: { title: { from: 'T', to: 'Empty files' } },
        },
      ])
      for (const [input, field] of [
        [{ name: '' }, 'name'],
        [{ name: 'x'.repeat(201) }, 'name'],
        [{}, 'name'],
        [{ name: 'x', session_id: id }, 'session_id'],
      ] as const)
        expect((await refused(call('control.set_session_name', input, as), 'invalid_request')).details.field).toBe(field)
    })
  })
})

onOneEngine((parley) => {
  const call: Call = (...given) => viaRest(parley())(...given)
  const personal = async () => ({ person: await cookieOf(parley(), { name: 'Robin', role: 'person' }) })

  test('a signed-in person changes what a session may cost', async () => {
    const [as, runner] = [await personal(), await runnerAt(parley())]
    const made = await done(call('control.create_session', { title: 'T', worktree_id: runner.worktree, max_usd: 1 }, as))
    const { session } = await done(call('control.update_session', { session_id: made.session_id, max_usd: 2.5 }, as))
    expect(session.max_usd).toBe(2.5)
    const { id } = await room(call)
    await refused(call('control.update_session', { session_id: id, max_usd: 2.5 }, as), 'conflict')
  })

  test('CONVENER_ONLY holds for keys, save the one that convenes the session and the one that is to name it', async () => {
    const served = await parley().beside({ CONVENER_ONLY: 'metadata' })
    const there = viaRest(served)
    const [mine, other] = [{ headers: bearer(await keyOf(served, 'full')) }, { headers: bearer(await keyOf(served, 'full')) }]
    const runner = await runnerAt(served)
    const { session_id } = await done(there('control.create_session', { title: 'T', worktree_id: runner.worktree }, mine))
    await refused(there('control.update_session', { session_id, title: 'A' }, other), 'forbidden')
    await done(there('control.update_session', { session_id, title: 'B' }, mine))
    await done(there('control.set_session_name', { name: 'C' }, { headers: bearer(await keyOf(served, 'sess', session_id)) }))
    await done(there('control.update_session', { session_id, title: 'D' }, await personal()))
    await served.close()
  })

  test('METADATA_MIN_INTERVAL holds for keys', async () => {
    const served = await parley().beside({ METADATA_MIN_INTERVAL: '60' })
    const there = viaRest(served)
    const as = { headers: bearer(await keyOf(served, 'full')) }
    const { session_id } = await done(there('control.create_session', { title: 'T' }, as))
    await done(there('control.update_session', { session_id, title: 'A' }, as))
    await refused(there('control.update_session', { session_id, title: 'B' }, as), 'rate_limited')
    await served.close()
  })

  test('archiving ends a held call of the session’s key, at another instance too', async () => {
    const served = parley().engine === 'postgres' ? await parley().beside({}) : undefined
    const there = served ?? parley()
    const [as, runner] = [{ headers: bearer(await keyOf(parley(), 'full')) }, await runnerAt(parley())]
    const { session_id, task_id } = await done(
      call('control.create_session', { title: 'T', worktree_id: runner.worktree, initial_prompt: 'Go.' }, as),
    )
    const { agent_key } = await runner.takeOne()
    const held = viaRest(there)('control.get_task', { task_id, timeout_ms: 20_000 }, { headers: bearer(agent_key) })
    await soon('it is held', () => there.services.waiters.size > 0)
    await Bun.sleep(100)
    await done(call('control.manage_session', { session_id, action: 'delete' }, as))
    await refused(held, 'unauthorized')
    await served?.close()
  })
})

onOneEngine((parley) => {
  test('an agent is stopped though its task is being handed out just then', async () => {
    const { runner, call, session_id, start } = await controlScene(parley())
    const { task_id } = await start()
    let stopped: Promise<unknown> | undefined
    await parley().database.transaction(async ({ query }) => {
      await query(`update tasks set status = 'running', runner_id = $2, started_at = now() where id = $1`, [task_id, runner.id])
      stopped = done(call('manage_session', { session_id, action: 'stop' }))
      await Bun.sleep(300) // a stop that did not wait for this transaction would find the task queued
    })
    await stopped
    const [task] = await parley().database.query<{ asked: boolean }>(
      'select interrupt_asked_at is not null as asked from tasks where id = $1',
      [task_id],
    )
    expect(task).toEqual({ asked: true })
  })

  test('a prompt is handed out though its agent’s row is being changed just then', async () => {
    if (parley().engine === 'pglite') return // has one transaction at a time
    const { runner, session_id, start } = await controlScene(parley())
    const { task_id } = await start()
    const release = await holdLock(parley().database, `update agents set held = held where session_id = '${session_id}'`)
    try {
      expect((await runner.take(0)).tasks).toMatchObject([{ task_id }])
    } finally {
      await release()
    }
  })
})

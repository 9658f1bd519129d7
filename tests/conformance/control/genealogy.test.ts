// Forks go on from a point of a session, subsessions work for one.
import { expect, test } from 'bun:test'
import { digestOf } from '../../../src/control/genealogy/digest.ts'
import { controlScene, controlWith } from '../../support/control-scene.ts'
import { holdLock } from '../../support/held-lock.ts'
import { bearer } from '../../support/keys.ts'
import { cookieOf, done, onOneEngine, refused, room, soon, viaRest, type Call } from '../../support/parley.ts'
import { called, runnerAt, said } from '../../support/played-runner.ts'

onOneEngine((parley) => {
  const scene = (more: Record<string, unknown> = {}) => controlScene(parley(), more)

  test('a fork begins at the end of a task: its conversation, its document, its place, and nothing of what runs [C10]', async () => {
    const { key, runner, call, session, session_id, start, log } = await scene()
    const team = { team: session.team_id as string }
    const first = await start('First.')
    await runner.work('One.', [said('One.')], { conversation: 'c-1', conversation_at: 'm-1' })
    await done(viaRest(parley())('update_session_doc', { session_id, content: 'Then.', expected_version: 0 }, team))
    const second = await start('Second.')
    await runner.work('Two.', [said('Two.')], { conversation: 'c-1', conversation_at: 'm-2' })
    await done(viaRest(parley())('update_session_doc', { session_id, content: 'Now.', expected_version: 1 }, team))
    const before = await log()
    const running = await start('Third.')
    await runner.takeOne()
    await refused(call('send_prompt', { session_id, prompt: 'Otherwise.', mode: 'fork', task_id: running.task_id }), 'conflict')

    const fork = await done(
      call('send_prompt', { session_id, prompt: 'Otherwise.', mode: 'fork', task_id: first.task_id, title: 'Another way' }),
    )
    expect(fork.session_id).not.toBe(session_id)
    const { tasks } = await runner.take(0, [running.task_id])
    expect(tasks).toMatchObject([
      {
        session_id: fork.session_id,
        prompt: 'Otherwise.',
        path: runner.path,
        conversation: null,
        fork: { conversation: 'c-1', conversation_at: 'm-1' },
      },
    ])
    const point = before.find(({ type, task_id }) => type === 'chat' && task_id === first.task_id).sequence
    expect((await log(fork.session_id))[0]).toMatchObject({
      sequence: 1,
      event: 'session_forked',
      from: session_id,
      fork_sequence: point,
      task_id: first.task_id,
    })
    const catchUp = await parley().send(`/api/sessions/${fork.session_id}/catch-up`, { headers: bearer(key) })
    const { forked_from } = ((await catchUp.json()) as any).session
    expect(forked_from).toMatchObject({
      session_id,
      sequence: point,
      url: expect.stringContaining(`/sessions/${session_id}?around=${point}`),
    })
    const handoff = await (await parley().send(`/api/sessions/${fork.session_id}/handoff.md`)).text()
    expect(handoff).toContain(`/sessions/${session_id}?around=${point}`)
    await runner.finish(fork.task_id, 'Done.', { conversation: 'c-2' })
    await done(call('send_prompt', { session_id: fork.session_id, prompt: 'More.' }))
    expect((await runner.take(0, [running.task_id])).tasks).toMatchObject([{ conversation: 'c-2', fork: null }])

    const last = await done(call('send_prompt', { session_id, prompt: 'Again.', mode: 'fork' }))
    expect((await log(last.session_id))[0]).toMatchObject({ event: 'session_forked', task_id: second.task_id })
    const doc = async (id: string) => (await (await parley().send(`/sessions/${id}.md`)).text()) as string
    expect(await doc(last.session_id)).toContain('Then.')
    expect(await doc(last.session_id)).not.toContain('Now.')
    expect((await log()).slice(0, before.length)).toEqual(before)
  })

  test('a fork at the end of a task that never reached its agent has the conversation before, and none once an agent wrote without one', async () => {
    const { runner, call, session_id, start } = await scene()
    await start('Build X.')
    await runner.work('X is there.', [said('X is there.')], { conversation: 'c-1', conversation_at: 'm-1' })
    const failed = async (prompt: string, events: ReturnType<typeof said>[]) => {
      await start(prompt)
      const { task_id } = await runner.takeOne()
      if (events.length > 0) await runner.print(task_id, events)
      await runner.finish(task_id, undefined, { status: 'failed', error: { code: 'agent_failed', message: 'No claude.' } })
    }
    const forked = async () => {
      const { task_id } = await done(call('send_prompt', { session_id, prompt: 'Otherwise.', mode: 'fork' }))
      const [{ prompt, fork }] = (await runner.take(0)).tasks
      await runner.finish(task_id)
      return [prompt, fork]
    }
    await failed('Test it.', [])
    expect(await forked()).toEqual(['Otherwise.', { conversation: 'c-1', conversation_at: 'm-1' }])
    await failed('Go on.', [said('On my way.')])
    expect(await forked()).toEqual([expect.stringContaining('On my way.'), null])
  })

  test('a fork of a session whose first task runs begins before that', async () => {
    const { runner, call, session, session_id, start, log } = await scene()
    const before = (await log()).at(-1)?.sequence ?? 0
    const write = (content: string, expected_version: number) =>
      done(viaRest(parley())('update_session_doc', { session_id, content, expected_version }, { team: session.team_id as string }))
    await write('The brief.', 0)
    const { task_id } = await start('Find the fault.')
    await runner.takeOne()
    await write('Half done.', 1)
    await runner.print(task_id, [said('It is in the lexer.')])
    const fork = await done(call('send_prompt', { session_id, prompt: 'Look elsewhere.', mode: 'fork' }))
    expect((await log(fork.session_id))[0]).toMatchObject({ event: 'session_forked', fork_sequence: before, task_id: null })
    expect(await (await parley().send(`/sessions/${fork.session_id}.md`)).text()).toContain('The brief.')
    const { tasks } = await runner.take(0, [task_id])
    expect(tasks).toMatchObject([{ prompt: 'Look elsewhere.', conversation: null, fork: null }])
  })

  test('another agent, which cannot open the conversation, gets a digest of it before its prompt, and the log has the prompt alone', async () => {
    const { runner, call, session_id, start, log } = await scene()
    const { task_id } = await start('Find the fault.')
    await runner.work('It is in the lexer.', [called('Bash', { command: 'npm test' })], { conversation: 'c-1' })
    const fork = await done(call('send_prompt', { session_id, prompt: 'Mend it.', mode: 'fork', task_id, agentic_tool: 'gemini' }))
    const taken = await runner.takeOne()
    expect(taken).toMatchObject({ agentic_tool: 'gemini', fork: null })
    for (const part of ['Find the fault.', 'Bash: npm test', 'It is in the lexer.']) expect(taken.prompt).toContain(part)
    expect(taken.prompt).toEndWith('Mend it.')
    const told = await log(fork.session_id)
    expect(told.find(({ type }) => type === 'user_input').content.text).toBe('Mend it.')
    expect(told.find(({ type }) => type === 'runtime')).toMatchObject({ task_id: fork.task_id, content: { event: 'digest_used' } })
  })

  test('a digest has at most 8,000 characters, and leaves out the oldest', async () => {
    for (const over of [0, 1]) {
      const { runner, session_id, start } = await scene()
      const { task_id } = await start('The oldest.')
      await runner.takeOne()
      const digest = async () => digestOf(parley().database, session_id, 1_000)
      const say = (characters: number, times = 1) =>
        runner.print(
          task_id,
          Array.from({ length: times }, () => said('x'.repeat(characters))),
        )
      const begun = await digest()
      await say(1_100)
      const perLine = (await digest()).length - begun.length - 1_100
      await say(1_100, 5)
      await say(8_000 - (await digest()).length - perLine + over)
      const full = await digest()
      expect([full.length > 8_000, full.length === 8_000, full.includes('The oldest.')]).toEqual([false, over === 0, over === 0])
    }
  })

  test('a digest of a fork goes on with what that was forked from only after all of the fork, however many calls that made', async () => {
    const { runner, call, session_id, start } = await scene()
    await start('Of the origin.')
    await runner.work('It is done.', [], { conversation: 'c-1', conversation_at: 'm-1' })
    const fork = await done(call('send_prompt', { session_id, prompt: 'Of the fork.', mode: 'fork' }))
    const { task_id } = await runner.takeOne()
    for (let n = 0; n < 3; n++)
      await runner.print(
        task_id,
        Array.from({ length: 80 }, (_, i) => called('Bash', { command: `ls ${n}${i}` })),
      )
    const digest = await digestOf(parley().database, fork.session_id, 1_000)
    const places = ['Of the origin.', 'It is done.', 'Of the fork.', 'Bash: ls 00', 'Bash: ls 279'].map((said) => digest.indexOf(said))
    expect(places).toEqual(places.toSorted((a, b) => a - b))
    expect(places).not.toContain(-1)
  })

  /** A scene whose runner can register again in its own place, which loses what it runs. */
  const losing = async () => {
    const all = await scene()
    const { runner } = all
    const registered = {
      name: runner.name,
      agents: [],
      worktrees: [{ path: runner.path, repo_full_name: runner.repo, branch: 'main', head: null }],
    }
    let runner_id = runner.id
    const next = async () => (await done(runner.call('take_tasks', { runner_id, timeout: 10 }))).tasks[0]
    const isLost = async () => void ({ runner_id } = await done(runner.call('register_runner', registered)))
    const finish = (task_id: string, more: object) => done(runner.call('finish_task', { runner_id, task_id, status: 'completed', ...more }))
    return { ...all, next, isLost, finish }
  }

  test('after a task that was lost an agent gets a digest of its session, and of what that was forked from', async () => {
    const { call, session_id, start, next, isLost, finish } = await losing()
    await start('Build X.')
    expect((await next()).digest).toBe(null)
    await isLost()
    const { task_id } = await start('Go on.')
    const { conversation, fork, digest } = await next()
    expect([conversation, fork, digest]).toEqual([null, null, expect.stringContaining('Build X.')])
    expect(digest).not.toContain('Go on.')
    await finish(task_id, { answer: 'X is there.' }) // no conversation again
    const other = { session_id, mode: 'fork', agentic_tool: 'gemini', prompt: 'Test it.' }
    const forked = (await done(call('send_prompt', other))).session_id
    expect((await next()).digest).toBe(null) // it stands before the prompt already
    await isLost()
    await done(call('send_prompt', { session_id: forked, prompt: 'Once more.' }))
    const again: string = (await next()).digest
    const places = ['Build X.', 'X is there.', 'Test it.'].map((said) => again.indexOf(said))
    expect(places).toEqual(places.toSorted((a, b) => a - b))
    expect(places).not.toContain(-1)
  })

  test('a digest before a prompt that waited has what the task did that was lost meanwhile, and no prompt that still waits', async () => {
    const { runner, start, next, isLost } = await losing()
    const { task_id } = await start('Build X.')
    await next()
    for (const waiting of ['Go on.', 'Then test it.']) await start(waiting)
    await runner.print(task_id, [said('X is half there.')])
    await isLost()
    const { prompt, digest } = await next()
    expect(prompt).toBe('Go on.')
    for (const did of ['Build X.', 'X is half there.']) expect(digest).toContain(did)
    for (const waits of ['Go on.', 'Then test it.']) expect(digest).not.toContain(waits)
  })

  test('a fork is opened as a copy until a task of it was begun: once that was lost, its agent gets a digest', async () => {
    const { runner, call, session_id, start, next, isLost, finish } = await losing()
    const { task_id } = await start('Build X.')
    await next()
    await finish(task_id, { answer: 'X is there.', conversation: 'c-1', conversation_at: 'm-1' })
    const wanted = { session_id, mode: 'fork', prompt: 'Rewrite it.', permission_mode: 'bypassPermissions' }
    const { session_id: forked, task_id: refusedTask } = await done(call('send_prompt', wanted))
    await runner.call('take_tasks', { runner_id: runner.id, timeout: 0 })
    expect((await done(call('get_task', { task_id: refusedTask }))).task.error.code).toBe('not_allowed')
    await done(call('update_session', { session_id: forked, permission_mode: 'acceptEdits' }))
    const prompt = (text: string) => done(call('send_prompt', { session_id: forked, prompt: text }))
    const copy = { conversation: 'c-1', conversation_at: 'm-1' }
    await prompt('Rewrite it all.')
    expect(await next()).toMatchObject({ conversation: null, fork: copy })
    const { task_id: unstarted } = await next() // the same task, whose answer was lost
    await runner.call('finish_task', {
      runner_id: runner.id,
      task_id: unstarted,
      status: 'failed',
      error: { code: 'agent_failed', message: 'No claude.' },
    })
    await prompt('Rewrite it all.')
    expect(await next()).toMatchObject({ conversation: null, fork: copy })
    await isLost()
    await prompt('Go on.')
    const again = await next()
    expect([again.prompt, again.conversation, again.fork]).toEqual(['Go on.', null, null])
    for (const said of ['Build X.', 'X is there.', 'Rewrite it all.']) expect(again.digest).toContain(said)
  })

  test('a subsession inherits what is not said, and tells its parent when a task ends and when it is concluded [C6 C11 C13]', async () => {
    const { runner, call, key, session_id, session, log } = await scene()
    const child = await done(call('send_prompt', { session_id, prompt: 'A part.', mode: 'subsession', title: 'A part' }))
    const team = { team: session.team_id as string }
    const waiting = done(viaRest(parley())('wait_for_messages', { session_id, timeout: 20 }, team))
    await runner.work('The part is done.')
    expect((await waiting).messages).toMatchObject([
      {
        event: 'subsession_finished',
        session_id: child.session_id,
        title: 'A part',
        task_id: child.task_id,
        status: 'completed',
        text: 'The part is done.',
      },
    ])
    await done(
      viaRest(parley())('conclude_session', { session_id: child.session_id, summary_section: 'All done.' }, { headers: bearer(key) }),
    )
    expect((await log()).at(-1)).toMatchObject({
      event: 'subsession_finished',
      session_id: child.session_id,
      task_id: null,
      status: 'concluded',
      text: 'All done.',
    })
  })

  test('a parent is told the first 2,000 characters of a long answer, why a part failed, and that one was interrupted', async () => {
    const { runner, call, session_id, log } = await scene()
    const { session_id: child } = await done(call('send_prompt', { session_id, prompt: 'A part.', mode: 'subsession' }))
    const error = { code: 'agent_failed', message: 'No claude.' }
    for (const [ending, status, text] of [
      [{ answer: '🦜'.repeat(2_001) }, 'completed', '🦜'.repeat(2_000)],
      [{ status: 'failed', error }, 'failed', 'No claude.'],
      [{ status: 'interrupted' }, 'interrupted', ''],
    ] as const) {
      const { task_id } = await runner.takeOne()
      await runner.finish(task_id, undefined, ending)
      expect((await log()).at(-1)).toMatchObject({ event: 'subsession_finished', session_id: child, task_id, status, text })
      await done(call('send_prompt', { session_id: child, prompt: 'Again.' }))
    }
  })

  test('a parent is told that a part asks a question, by which call, and how it is answered', async () => {
    const { runner, call, session_id, log } = await scene()
    const { session_id: child } = await done(call('send_prompt', { session_id, prompt: 'A part.', mode: 'subsession' }))
    const asks = 'AskUserQuestion asks for an answer: get_task has what it asks, and the next prompt is the answer.'
    for (const [answer, text] of [
      [undefined, asks],
      ['One thing is open.', `${asks}\n\nOne thing is open.`],
    ]) {
      const { task_id } = await runner.takeOne()
      await runner.print(task_id, [{ key: 'asks', ...called('AskUserQuestion', { questions: [{ question: 'Which?' }] }) }])
      await runner.finish(task_id, answer, { status: 'interrupted', interrupted_by: 'asks' })
      const { message_id } = (await done(call('get_task', { task_id }))).task.interrupted_by
      const told = { event: 'subsession_finished', session_id: child, task_id, status: 'interrupted', message_id, text }
      expect((await log()).at(-1)).toMatchObject(told)
      await done(call('send_prompt', { session_id: child, prompt: 'The first.' }))
    }
  })

  test('subsessions that end at once, while their parent is spoken in, are all concluded, and it hears of each', async () => {
    const { call, key, session_id, session, log } = await scene()
    const as = { headers: bearer(key) }
    const rooms = viaRest(parley())
    const parts = Array.from({ length: 6 }, (_, n) =>
      call('send_prompt', { session_id, prompt: 'A part.', mode: 'subsession', title: `${n}` }),
    )
    const children: string[] = (await Promise.all(parts.map((part) => done(part)))).map((child) => child.session_id)
    const ends = children.map((id) => rooms('conclude_session', { session_id: id, summary_section: 'Done.' }, as))
    const posts = children.map((id) => rooms('post_message', { session_id, content: { text: id } }, { team: session.team_id }))
    await Promise.all([...ends, ...posts].map((answer) => done(answer)))
    const told = (await log()).filter(({ event }) => event === 'subsession_finished')
    expect(told.map((finished) => finished.session_id).toSorted()).toEqual(children.toSorted())
  })

  test('a subsession that ends while its parent is being concluded leaves nothing behind the conclusion', async () => {
    if (parley().engine === 'pglite') return // has one transaction at a time
    const { database } = parley()
    const { call, key, session_id, log } = await scene()
    const child = await done(call('send_prompt', { session_id, prompt: 'A part.', mode: 'subsession' }))
    const release = await holdLock(database, `update sessions set status = 'closed', closed_at = now() where id = '${session_id}'`)
    const as = { headers: bearer(key) }
    const ending = done(viaRest(parley())('conclude_session', { session_id: child.session_id, summary_section: 'Done.' }, as))
    const waiting = `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
    await soon('it waits for the parent', async () => (await database.query(waiting)).length > 0)
    await release()
    await ending
    expect((await log()).filter(({ event }) => event === 'subsession_finished')).toEqual([])
  })

  test('forks and parts of a session go on though its runner has none of its MCP servers any more', async () => {
    const { runner, call } = await scene({ mcp_servers: ['notes'] })
    const made = { title: 'With notes', worktree_id: runner.worktree }
    await refused(call('create_session', { ...made, mcp_server_ids: ['none'] }), 'invalid_request')
    const { session_id } = await done(call('create_session', { ...made, mcp_server_ids: ['notes'] }))
    const worktrees = [{ path: runner.path, repo_full_name: runner.repo, branch: 'main', head: null }]
    const { runner_id } = await done(runner.call('register_runner', { name: runner.name, agents: [], worktrees }))
    for (const mode of ['continue', 'fork', 'subsession']) {
      const { task_id } = await done(call('send_prompt', { session_id, prompt: 'More.', mode }))
      const { tasks } = await done(runner.call('take_tasks', { runner_id, timeout: 10 }))
      const task = tasks.find((each: any) => each.task_id === task_id)
      expect([mode, task?.mcp_servers]).toEqual([mode, ['notes']]) // its runner leaves it out and says so
      await done(runner.call('finish_task', { runner_id, task_id, status: 'completed', answer: 'Done.' }))
    }
  })

  test('an agent steers what is below it, and nothing else [C22]', async () => {
    const { runner, start, call } = await scene()
    const { task_id } = await start()
    const { agent_key, session_id: own } = await runner.takeOne()
    const agent = controlWith(parley(), agent_key)
    const child = await done(agent('create_session', { title: 'Child', worktree_id: runner.worktree, initial_prompt: 'Go.' }))
    expect(child.session.genealogy.parent_session_id).toBe(own)
    expect((await done(agent('get_task', { task_id: child.task_id }))).task.prompted_by).toMatchObject({ kind: 'agent', session_id: own })
    const foreign = await done(call('create_session', { title: 'Foreign', worktree_id: runner.worktree, initial_prompt: 'Go.' }))
    await refused(agent('get_task', { task_id: foreign.task_id }), 'not_found')
    await refused(agent('send_prompt', { session_id: foreign.session_id, prompt: 'Hm.' }), 'not_found')
    await refused(agent('get_task', { task_id: crypto.randomUUID() }), 'not_found')
    const other = await scene()
    await refused(agent('create_session', { title: 'Elsewhere', worktree_id: other.runner.worktree }), 'not_found')
    // It speaks as its own team in its session, and as the convener in the child's, without a team_id.
    const rooms = viaRest(parley())
    await done(rooms('post_message', { session_id: own, content: 'I split it.' }, { headers: bearer(agent_key) }))
    await done(rooms('post_message', { session_id: child.session_id, content: 'Begin.' }, { headers: bearer(agent_key) }))
    const { participants } = await done(rooms('list_participants', { session_id: child.session_id }, { headers: bearer(agent_key) }))
    expect(participants.find(({ is_self }: any) => is_self)).toMatchObject({ is_convener: true })
    // It joins as its own team, and each token ends the one before.
    const join = () => done(rooms('join_session', { session_id: own, team_name: 'Whoever' }, { headers: bearer(agent_key) }))
    const [joined, again] = [await join(), await join()]
    expect(again).toMatchObject({ handle: joined.handle, team_name: 'Claude Code' })
    expect(again.participants).toHaveLength(2)
    await done(rooms('post_message', { session_id: own, content: 'With my token.' }, { team: again.team_id }))
    await refused(rooms('post_message', { session_id: own, content: 'With the one before.' }, { team: joined.team_id }), 'unauthorized')
    const third = await join()
    await refused(rooms('post_message', { session_id: own, content: 'Remembered.' }, { team: again.team_id }), 'unauthorized')
    await done(rooms('post_message', { session_id: own, content: 'Mine.' }, { team: third.team_id }))
    await runner.finish(task_id, 'Done.')
    await refused(agent('get_task', { task_id }), 'unauthorized')
  })

  test('an agent that joins its session reads its first prompt, and joined again goes on where it was', async () => {
    const { runner, start } = await scene()
    await start('Add a test.')
    const { agent_key, session_id } = await runner.takeOne()
    const agent = (name: string, input = {}) => done(viaRest(parley())(name, { session_id, ...input }, { headers: bearer(agent_key) }))
    const join = async () => (await agent('join_session', { team_name: 'Whoever' })).cursor
    const cursor = await join()
    const { messages, next_cursor } = await agent('wait_for_messages', { since_cursor: cursor, timeout: 0 })
    expect(messages).toContainEqual(expect.objectContaining({ type: 'user_input', content: { text: 'Add a test.' } }))
    await agent('wait_for_messages', { timeout: 0 })
    expect(await join()).toBe(next_cursor)
  })

  test('a branch of its own lies on the machine of whoever asks, though another runner has the repository, too', async () => {
    const { runner, call, session_id, start } = await scene()
    const also = { path: '/code/also', repo_full_name: runner.repo, branch: 'theirs', head: null }
    const other = await runnerAt(parley(), { worktrees: [also] }) // is looked at first: its worktree is the newest
    const { task_id } = await start()
    const agent = controlWith(parley(), (await runner.takeOne()).agent_key)
    const part = (branch: string, mode = 'subsession') => ({ session_id, prompt: 'A part.', mode, branch })
    const made = [
      agent('send_prompt', part('one')),
      agent('create_session', { title: 'Two', repo_full_name: runner.repo, branch: 'two' }),
      agent('send_prompt', part('theirs')),
      call('send_prompt', part('three', 'fork')),
      call('create_session', { title: 'Four', worktree_id: runner.worktree, branch: 'four' }),
    ]
    const sessions = await Promise.all(made.map(async (answer) => (await done(answer)).session_id as string))
    const cookie = await cookieOf(parley(), { role: 'person', name: 'Nora' })
    const form = { method: 'POST', body: new URLSearchParams({ title: 'Five', branch: 'five' }), headers: { cookie } }
    const opened = await parley().send(`/worktrees/${runner.worktree}/new`, form)
    sessions.push(opened.headers.get('location')!.split('/').at(-1)!)
    const ordered = await parley().database.query<{ from: string; branch: string }>(
      `select ordered_from as from, ordered_branch as branch from agents where session_id = any($1::uuid[])`,
      [`{${sessions.join(',')}}`],
    )
    expect(ordered.map(({ branch }) => branch).toSorted()).toEqual(['five', 'four', 'one', 'theirs', 'three', 'two'])
    expect(new Set(ordered.map(({ from }) => from))).toEqual(new Set([runner.id]))
    // Where a worktree was named, or that of the session it comes from is there, the branch begins with what was committed in it.
    const { orders } = await runner.take(0, [task_id])
    const beginThere = orders.filter((order: any) => order.begins_there).map(({ branch }: any) => branch)
    expect([orders.length, beginThere.toSorted()]).toEqual([6, ['five', 'four', 'one', 'theirs', 'three']])
    const here = { title: 'Here', worktree_id: runner.worktree, branch: 'main' }
    expect((await done(call('create_session', here))).session.status).toBe('idle')
    for (const place of [{ repo_full_name: 'nobody/nothing' }, { worktree_id: other.worktree }])
      await refused(agent('create_session', { title: 'Elsewhere', branch: 'six', ...place }), 'not_found')
  })

  test('a tree has at most 8 generations and 50 open tasks', async () => {
    const { call, session_id } = await scene()
    let parent = session_id
    for (let generation = 2; generation <= 8; generation++)
      parent = (await done(call('send_prompt', { session_id: parent, prompt: 'Deeper.', mode: 'subsession' }))).session_id
    const retry_after = expect.any(Number)
    const tooDeep = call('send_prompt', { session_id: parent, prompt: 'Too deep.', mode: 'subsession' })
    expect((await refused(tooDeep, 'rate_limited')).details).toEqual({ retry_after })
    const many = await scene()
    for (let n = 0; n < 50; n++) await many.start(`Task ${n}.`)
    const oneMore = many.call('send_prompt', { session_id: many.session_id, prompt: 'One more.' })
    expect((await refused(oneMore, 'rate_limited')).details).toEqual({ retry_after })
    // A session without an agent, whose teams are asked, has as many.
    const { id, bea } = await room(viaRest(parley()))
    const ask = (n: number) => many.call('send_prompt', { session_id: id, prompt: `Question ${n}?`, to: bea.handle })
    for (let n = 0; n < 50; n++) await done(ask(n))
    await refused(ask(50), 'rate_limited')
  })

  test('of prompts to several sessions of a tree at the same moment no more than 50 are open', async () => {
    const { call, session_id } = await scene()
    const children = await Promise.all(
      Array.from(
        { length: 9 },
        async () => (await done(call('send_prompt', { session_id, prompt: 'A part.', mode: 'subsession' }))).session_id,
      ),
    )
    // On a busy machine some wait longer than an answer may take: 503, tried again with the same key.
    const prompt = async (n: number): ReturnType<Call> => {
      const answer = await call('send_prompt', { session_id: children[n % 9], prompt: `Task ${n}.` }, { key: `the key of task ${n}` })
      return !answer.ok && answer.body.code === 'unavailable' ? prompt(n) : answer
    }
    const answers = await Promise.all(Array.from({ length: 63 }, (_, n) => prompt(n)))
    expect(answers.filter(({ ok }) => ok)).toHaveLength(41)
    for (const { ok, body } of answers) if (!ok) expect(body.code).toBe('rate_limited')
  })
})

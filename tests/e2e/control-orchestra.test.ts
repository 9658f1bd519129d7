// Agents that steer agents, each of them its own program on a script in place of its model, and no person between.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inTurn, type Step } from '../support/agents-script.ts'
import { clientsAreThere, personAt, startControlSite, type ControlSite } from '../support/control-site.ts'
import { git, until } from '../support/runner.ts'

const CLIENTS = ['claude', 'codex']
const LONG_MS = 300_000
const areThere = clientsAreThere(...CLIENTS)

describe.skipIf(!areThere)('Claude Code and Codex steer others', () => {
  let at: ControlSite
  let worktree_id: string
  const inOther = (file: string) => join(at.site.path('dashboard'), file)

  beforeAll(async () => {
    at = await startControlSite({
      clients: CLIENTS,
      words: ({ app, path }) => {
        git(app, 'worktree', 'add', '-q', '-b', 'feature-dashboard', path('dashboard'))
        writeFileSync(join(path('dashboard'), 'design.md'), 'Blue.\n')
        return ['--worktree', path('dashboard')]
      },
    })
    worktree_id = (await at.control('list_worktrees', {})).worktrees.find(({ branch }: any) => branch === 'main').worktree_id
  }, LONG_MS)
  afterAll(() => at?.drop(), LONG_MS)

  const call = (hub: string, input: object = {}): Step => ({ hub, input })
  const ownSession = call('control_get_session', { session_id: 'current' })
  const child = async (of: string, title: string) => {
    const { genealogy } = (await at.control('get_session', { session_id: of })).session
    const ids: string[] = [...genealogy.children, ...genealogy.forks].map((each: any) => each.session_id ?? each)
    const sessions = await Promise.all(ids.map(async (session_id) => (await at.control('get_session', { session_id })).session))
    return sessions.find((session) => session.title === title)
  }

  test(
    'an orchestrator gives two parts to two agents, waits for both with one call, writes the result down and concludes',
    async () => {
      const { scripts } = at.agents
      scripts['part-one'] = inTurn({ write: at.site.path('app/one.txt'), content: 'one' }, 'Part one is done.')
      scripts['part-two'] = inTurn({ shell: 'echo two > two.txt' }, 'Part two is done.')
      const part = (title: string, agentic_tool: string) =>
        call('control_create_session', { title, worktree_id, agentic_tool, permission_mode: 'acceptEdits' })
      // A wait ends with the first of the two: it is called again until there are both.
      scripts.orchestra = (answers) => {
        const waits = answers.filter(({ next_cursor }) => next_cursor !== undefined)
        const finished = waits.flatMap(({ messages }) => messages).filter(({ event }: any) => event === 'subsession_finished')
        const others = answers.filter((answer) => !waits.includes(answer))
        const [self, one, two] = others
        const { session_id, last_sequence } = self?.session ?? {}
        const since_cursor = waits.at(-1)?.next_cursor ?? last_sequence
        return inTurn(
          ownSession,
          part('One', 'claude-code'),
          part('Two', 'codex'),
          () => call('send_prompt', { session_id: one.session_id, prompt: 'Do your part. #part-one' }),
          () => call('send_prompt', { session_id: two.session_id, prompt: 'Do your part. #part-two' }),
          () =>
            finished.length < 2
              ? call('wait_for_messages', { session_id, since_cursor, timeout: 30 })
              : call('append_to_session_doc', { session_id, text: finished.map(({ text }: any) => text).join('\n') }),
          () => call('get_messages', { session_id: one.session_id, summarize: true }),
          (all) => call('conclude_session', { session_id, summary_section: `Both parts are done. ${all.at(-1).summary}` }),
          'The result is in the document.',
        )(others)
      }
      const robin = await personAt(at, 'Robin')
      const { session_id } = await robin('create_session', { title: 'The whole', worktree_id, permission_mode: 'acceptEdits' })
      const done = await at.ask(session_id, 'Split this in two. #orchestra')
      expect(done).toMatchObject({ status: 'completed', answer: { text: 'The result is in the document.' } })
      const { session } = await at.control('get_session', { session_id })
      expect(session).toMatchObject({ room_status: 'closed', status: 'idle' })
      expect(session.genealogy.children).toHaveLength(2)
      const handoff = await (await fetch(`${at.url}/api/sessions/${session_id}/handoff.md`)).text()
      for (const each of ['Part one is done.', 'Part two is done.', 'Both parts are done.']) expect(handoff).toContain(each)
      expect(readFileSync(join(at.site.app, 'one.txt'), 'utf8')).toBe('one')
      expect(readFileSync(join(at.site.app, 'two.txt'), 'utf8')).toBe('two\n')
    },
    LONG_MS,
  )

  test(
    'an agent goes on with its own work, in its session and in a fork',
    async () => {
      const { scripts } = at.agents
      scripts.begin = inTurn('Begun.')
      scripts['go-on'] = inTurn(
        ownSession,
        ([{ session }]) => call('send_prompt', { session_id: session.session_id, prompt: 'Now add tests. #tests' }),
        ([{ session }]) =>
          call('send_prompt', {
            session_id: session.session_id,
            prompt: 'Try the other way. #other-way',
            mode: 'fork',
            title: 'The other way',
          }),
        ([, continued, forked]) => `${continued.session_id} ${forked.session_id}`,
      )
      scripts.tests = inTurn('Tests are there.')
      scripts['other-way'] = inTurn('The other way works.')
      const { session_id } = await at.create()
      await at.ask(session_id, 'Begin. #begin')
      const { answer } = await at.ask(session_id, 'Go on. #go-on')
      const [same, fork] = answer.text.split(' ')
      expect(same).toBe(session_id)
      const { tasks } = await at.control('list_tasks', { session_id })
      expect(await at.ended(tasks[0].task_id)).toMatchObject({
        status: 'completed',
        answer: { text: 'Tests are there.' },
        prompted_by: { kind: 'agent' },
      })
      const [inFork] = (await at.control('list_tasks', { session_id: fork })).tasks
      expect(await at.ended(inFork.task_id)).toMatchObject({ status: 'completed', answer: { text: 'The other way works.' }, mode: 'fork' })
      const [told] = at.agents.toldIn('other-way')
      expect([told!.includes('#begin'), told!.includes('#go-on')]).toEqual([true, false])
      expect((await at.control('get_session', { session_id: fork })).session.genealogy).toMatchObject({
        forked_from_session_id: session_id,
      })
    },
    LONG_MS,
  )

  test(
    'an agent starts work in another worktree',
    async () => {
      const { scripts } = at.agents
      scripts.elsewhere = inTurn(
        call('list_worktrees'),
        ([{ worktrees }]) =>
          call('control_create_session', {
            worktree_id: worktrees.find(({ branch }: any) => branch === 'feature-dashboard').worktree_id,
            agentic_tool: 'claude-code',
            title: 'Metrics',
            context_files: ['design.md'],
          }),
        ([, { session_id }]) => call('send_prompt', { session_id, prompt: 'Create a dashboard. #dashboard' }),
        ([, , { task_id }]) => call('get_task', { task_id, timeout_ms: 60_000 }),
        ([, , , { task }]) => `It says: ${task.answer?.text}`,
      )
      scripts.dashboard = inTurn({ write: inOther('chart.txt'), content: 'chart' }, 'The chart is there.')
      const { session_id } = await at.create()
      expect((await at.ask(session_id, 'Have it made. #elsewhere')).answer.text).toBe('It says: The chart is there.')
      expect(readFileSync(inOther('chart.txt'), 'utf8')).toBe('chart')
      expect(at.agents.toldIn('dashboard')[0]).toContain('design.md')
      expect(await child(session_id, 'Metrics')).toMatchObject({ genealogy: { parent_session_id: session_id } })
    },
    LONG_MS,
  )

  test(
    'Claude Code delegates to Codex; then it looks at what it did and says so in the title',
    async () => {
      const { scripts } = at.agents
      scripts.delegate = inTurn(
        ownSession,
        ([{ session }]) =>
          call('send_prompt', {
            session_id: session.session_id,
            prompt: 'Document it in the readme. #document',
            mode: 'subsession',
            agentic_tool: 'codex',
            title: 'Update the docs',
            wait_for_completion: true,
            timeout_ms: 60_000,
          }),
        ([, { answer }]) => `Codex says: ${answer?.text}`,
      )
      scripts.document = inTurn({ shell: 'echo documented >> readme.txt' }, 'The readme has it.')
      scripts.reflect = inTurn(
        ownSession,
        ([{ session }]) => call('list_tasks', { session_id: session.session_id }),
        ([{ session }, { tasks }]) =>
          call('update_session', {
            session_id: session.session_id,
            title: 'Documented by another',
            description: `First: ${tasks.at(-1).answer.text}`,
            status: 'completed',
          }),
        'Renamed.',
      )
      const { session_id } = await at.create()
      expect((await at.ask(session_id, 'Delegate. #delegate')).answer.text).toBe('Codex says: The readme has it.')
      expect(await child(session_id, 'Update the docs')).toMatchObject({ agentic_tool: 'codex', status: 'idle' })
      expect(readFileSync(join(at.site.app, 'readme.txt'), 'utf8')).toContain('documented')
      expect((await at.ask(session_id, 'Look back. #reflect')).answer.text).toBe('Renamed.')
      expect((await at.control('get_session', { session_id })).session).toMatchObject({
        title: 'Documented by another',
        description: 'First: Codex says: The readme has it.',
        status: 'completed',
      })
    },
    LONG_MS,
  )

  test(
    'a program creates a session, prompts, waits, reads on, and interrupts',
    async () => {
      const { scripts } = at.agents
      const { session_id, task_id } = await at.create({ title: 'Watched', initial_prompt: 'Begin. #begin' })
      expect(await at.ended(task_id)).toMatchObject({ status: 'completed' })
      const [latest] = (await at.control('get_messages', { session_id })).messages
      scripts.long = inTurn({ shell: 'touch begun; sleep 300' })
      const going = await at.ask(session_id, 'Take long. #long', { timeout_ms: 0 })
      expect(going).toMatchObject({ completed: false })
      await until(() => existsSync(join(at.site.app, 'begun')), 60_000)
      const after = async () => (await at.control('get_messages', { session_id, after_message_id: latest.message_id })).messages
      await until(async () => (await after()).some(({ text }: any) => text.startsWith('Bash: touch begun')), 20_000)
      expect((await at.control('list_sessions', { status: 'running' })).sessions).toEqual([
        expect.objectContaining({ session_id, is_agent_running: true }),
      ])
      expect(await at.control('interrupt_session', { session_id })).toEqual({ interrupted: true })
      expect(await at.ended(going.task_id)).toMatchObject({ status: 'interrupted' })
      expect(await at.control('interrupt_session', { session_id })).toEqual({ interrupted: false })
      expect((await at.ask(session_id, 'Go on. #begin')).answer.text).toBe('Begun.')
    },
    LONG_MS,
  )
})

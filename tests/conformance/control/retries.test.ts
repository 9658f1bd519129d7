// Writes of control with an idempotency key: applied once, however often they are sent.
import { describe, expect } from 'bun:test'
import { test } from '../../support/foreign.ts'
import { bearer, keyOf } from '../../support/keys.ts'
import { cookieOf, done, operations, refused, throughBothDoors, type As } from '../../support/parley.ts'
import { called, runnerAt, type TestRunner } from '../../support/played-runner.ts'

type Input = Record<string, unknown>

/** A session whose agent works on a task, with a request for permission that is open. */
interface Place {
  session_id: string
  task_id: string
  runner: TestRunner
}

interface Sample {
  input(place: Place): Input | Promise<Input>
  /** What another body for the same operation has. */
  other: Input
  as?: 'runner' | 'sess' | 'person'
}

const event = { key: 'a', ...called('Bash', { command: 'ls' }) }
const SAMPLES: Record<string, Sample> = {
  create_session: {
    input: ({ runner }) => ({ title: 'Kept', worktree_id: runner.worktree, initial_prompt: 'Go.' }),
    other: { title: 'Other' },
  },
  send_prompt: { input: ({ session_id }) => ({ session_id, prompt: 'Once.' }), other: { prompt: 'Twice.' } },
  update_session: { input: ({ session_id }) => ({ session_id, title: 'New', permission_mode: 'plan' }), other: { title: 'Newer' } },
  interrupt_session: { input: ({ session_id }) => ({ session_id }), other: { session_id: 'another' } },
  manage_session: { input: ({ session_id }) => ({ session_id, action: 'delete' }), other: { action: 'start' } },
  set_session_name: { as: 'sess', input: () => ({ name: 'Named' }), other: { name: 'Renamed' } },
  answer_permission: {
    as: 'person',
    input: ({ session_id }) => ({ session_id, request_id: 'permission', allow: true }),
    other: { allow: false },
  },
  register_runner: { as: 'runner', input: ({ runner }) => ({ name: runner.name, agents: [], worktrees: [] }), other: { parallel: 2 } },
  unregister_runner: { as: 'runner', input: ({ runner }) => ({ runner_id: runner.id }), other: { runner_id: crypto.randomUUID() } },
  add_task_events: {
    as: 'runner',
    input: ({ runner, task_id }) => ({ runner_id: runner.id, task_id, events: [event] }),
    other: { events: [event, event] },
  },
  finish_task: {
    as: 'runner',
    input: ({ runner, task_id }) => ({ runner_id: runner.id, task_id, status: 'completed', answer: 'Done.' }),
    other: { answer: 'No.' },
  },
  add_worktree: {
    as: 'runner',
    input: ({ runner }) => ({ runner_id: runner.id, path: '/code/new', branch: 'new', head: null }),
    other: { path: '/code/other' },
  },
  ask_permission: {
    as: 'runner',
    input: ({ runner, task_id }) => ({
      runner_id: runner.id,
      task_id,
      request_id: 'more',
      tool_name: 'Bash',
      text: 'rm x',
      input: {},
      timeout: 0,
    }),
    other: { text: 'rm y' },
  },
}
const WRITING = operations.filter(({ effect, toolset }) => effect !== 'read' && toolset === 'control')

test('every operation of control that writes stands in this table', () => {
  expect(WRITING.map(({ name }) => name).filter((name) => !(name in SAMPLES))).toEqual([])
})

throughBothDoors((call, parley, transport) => {
  const begin = async (name: string) => {
    const [full, runner] = [{ headers: bearer(await keyOf(parley(), 'full')) }, await runnerAt(parley())]
    const opened = { title: 'T', worktree_id: runner.worktree, initial_prompt: 'Go.' }
    const { session_id, task_id } = await done(call('control.create_session', opened, full))
    await runner.takeOne()
    const asked = { runner_id: runner.id, task_id, request_id: 'permission', tool_name: 'Bash', text: 'rm x', input: {}, timeout: 0 }
    await done(runner.call('ask_permission', asked))
    const { as: who, input: inputOf, other } = SAMPLES[name]!
    const input = await inputOf({ session_id, task_id, runner })
    if (name === 'add_worktree') {
      const wanted = { title: 'W', repo_full_name: runner.repo, branch: 'new' }
      input.session_id = (await done(call('control.create_session', wanted, full))).session_id
      await runner.take(5, [task_id])
    }
    const as: As =
      who === 'runner'
        ? { headers: bearer(runner.key) }
        : who === 'sess'
          ? { headers: bearer(await keyOf(parley(), 'sess', session_id)) }
          : who === 'person'
            ? { person: await cookieOf(parley(), { name: 'Robin', role: 'person' }) }
            : full
    const key = `${crypto.randomUUID()}`
    const send = (more: Input = {}) => call(`control.${name}`, { ...input, ...more }, { ...as, key })
    return { send, other }
  }
  const counts = () =>
    parley().database.query(
      `select (select count(*) from sessions) as s, (select count(*) from events) as e, (select count(*) from tasks) as t,
        (select count(*) from runners) as r, (select count(*) from worktrees) as w`,
    )
  const reachable = WRITING.filter(({ restOnly }) => transport === 'REST' || !restOnly).map(({ name }) => name)

  describe.each(reachable)('%s', (name) => {
    test('sent again, it gives the same answer and does nothing', async () => {
      const { send } = await begin(name)
      const [first, ...others] = await Promise.all([send(), send(), send()])
      expect(first!.ok, JSON.stringify(first!.body)).toBe(true)
      for (const other of others) expect(other.body).toEqual(first!.body)
      const before = await counts()
      expect(JSON.stringify((await send()).body)).toBe(JSON.stringify(first!.body))
      expect(await counts()).toEqual(before)
    })

    test('with another body it is refused, and nothing is done', async () => {
      const { send, other } = await begin(name)
      await done(send())
      const before = await counts()
      // Another session's name is another subject: there the key was used for nothing.
      await refused(send(other), name === 'interrupt_session' ? 'not_found' : 'idempotency_mismatch')
      expect(await counts()).toEqual(before)
    })
  })

  test('a retry of a prompt may wait otherwise than the first try: it gets what became of that one', async () => {
    const { send } = await begin('send_prompt')
    const { task_id } = await done(send({ wait_for_completion: true, timeout_ms: 0 }))
    const before = await counts()
    for (const other of [{ wait_for_completion: true, timeout_ms: 1, max_chars: 1_000 }, { wait_for_completion: true }, {}]) {
      const answer = await done(send({ timeout_ms: 0, ...other }))
      expect(answer.task_id).toBe(task_id)
      expect(answer.completed).toBe('wait_for_completion' in other ? false : undefined)
    }
    expect(await counts()).toEqual(before)
  })

  if (transport === 'REST')
    test('a retry of a runner that asks permission may wait for another time', async () => {
      const { send } = await begin('ask_permission')
      for (const timeout of [0, 0.01]) expect(await done(send({ timeout }))).toEqual({ waiting: true })
    })
})

// A call of control that is sent again with its idempotency key is answered as before and does nothing more.
import { describe, expect, test } from 'bun:test'
import { controlScene } from '../../support/control-scene.ts'
import { cookieOf, done, onEveryEngine, operations, refused, viaRest } from '../../support/parley.ts'
import { said } from '../../support/played-runner.ts'

type Scene = Awaited<ReturnType<typeof controlScene>>
interface Sample {
  /** Arguments with which the call does something. */
  input: (scene: Scene, task: string) => object
  /** Others about the same thing, which the same key does not take. */
  other?: object
  by?: 'runner' | 'person'
}

const SAMPLES: Record<string, Sample> = {
  create_session: { input: ({ runner }) => ({ title: 'A', worktree_id: runner.worktree, initial_prompt: 'Go.' }), other: { title: 'B' } },
  send_prompt: { input: ({ session_id }) => ({ session_id, prompt: 'More.' }), other: { prompt: 'Less.' } },
  update_session: { input: ({ session_id }) => ({ session_id, title: 'Another', permission_mode: 'plan' }), other: { title: 'A third' } },
  interrupt_session: { input: ({ session_id }) => ({ session_id }) },
  manage_session: { input: ({ session_id }) => ({ session_id, action: 'stop' }), other: { action: 'start' } },
  answer_permission: { input: ({ session_id }) => ({ session_id, request_id: 'r', allow: true }), other: { allow: false }, by: 'person' },
  register_runner: {
    input: ({ runner }) => ({ name: runner.name, agents: [], worktrees: [] }),
    other: { parallel: 2 },
    by: 'runner',
  },
  add_task_events: {
    input: ({ runner }, task_id) => ({ runner_id: runner.id, task_id, events: [{ key: 'k', ...said('Looking.') }] }),
    other: { events: [{ key: 'l', ...said('Looking on.') }] },
    by: 'runner',
  },
  finish_task: {
    input: ({ runner }, task_id) => ({ runner_id: runner.id, task_id, status: 'completed', answer: 'Done.' }),
    other: { answer: 'Otherwise.' },
    by: 'runner',
  },
  ask_permission: {
    input: ({ runner }, task_id) => ({ runner_id: runner.id, task_id, request_id: 'q', tool_name: 'Bash', text: 'ls', timeout: 0 }),
    other: { text: 'rm' },
    by: 'runner',
  },
}
const ELSEWHERE = ['set_session_name', 'add_worktree'] // managing.test.ts; an order that is answered is no order any more

test('every call of control that writes stands in this table', () => {
  const writing = operations.filter(({ effect, toolset }) => effect !== 'read' && toolset === 'control').map(({ name }) => name)
  expect([...Object.keys(SAMPLES), ...ELSEWHERE].toSorted()).toEqual(writing.toSorted())
})

onEveryEngine((parley) => {
  const counts = async () =>
    JSON.stringify(
      await parley().database.query(
        `select (select count(*) from sessions) as s, (select count(*) from events) as e, (select count(*) from tasks) as t,
           (select count(*) from runners) as r, (select count(*) from participants) as p`,
      ),
    )

  describe.each(Object.entries(SAMPLES))('%s', (name, { input, other, by }) => {
    test('does it once, and takes nothing else under the same key', async () => {
      const scene = await controlScene(parley())
      const { task_id } = await scene.start()
      await scene.runner.takeOne()
      await done(
        scene.runner.call('ask_permission', {
          runner_id: scene.runner.id,
          task_id,
          request_id: 'r',
          tool_name: 'Bash',
          text: 'ls',
          timeout: 0,
        }),
      )
      const headers = { 'idempotency-key': crypto.randomUUID() }
      const key = by === 'runner' ? scene.runner.key : scene.key
      const as =
        by === 'person'
          ? { person: await cookieOf(parley(), { role: 'person' as const, name: 'Nora' }), headers }
          : { headers: { authorization: `Bearer ${key}`, ...headers } }
      const send = (more: object = {}) => viaRest(parley())(`control.${name}`, { ...input(scene, task_id), ...more }, as)
      const first = await done(send())
      const before = await counts()
      const again = await send()
      expect(again).toMatchObject({ ok: true, replayed: true })
      expect(again.body).toEqual(first)
      if (other) await refused(send(other), 'idempotency_mismatch')
      expect(await counts()).toBe(before)
    })
  })
})

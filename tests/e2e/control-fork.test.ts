// A fork at a task in the middle, with the programs themselves: what their models are told is what came before it, and nothing after.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { inTurn } from '../support/agents-script.ts'
import { clientsAreThere, startControlSite, type ControlSite } from '../support/control-site.ts'
import { until } from '../support/runner.ts'

const CLIENTS = ['claude', 'codex', 'gemini']
const LONG_MS = 300_000
const areThere = clientsAreThere(...CLIENTS)

describe.skipIf(!areThere)('A fork', () => {
  let at: ControlSite

  beforeAll(async () => {
    at = await startControlSite({ clients: CLIENTS })
    const { scripts } = at.agents
    scripts.first = inTurn({ shell: 'echo seen-before' }, 'The first answer.')
    scripts.second = inTurn('The second answer.')
    scripts.third = inTurn('The third answer.')
    scripts.other = inTurn('Another way.')
    scripts.long = inTurn({ shell: 'touch long-begun; sleep 300' })
  }, LONG_MS)
  afterAll(() => at?.drop(), LONG_MS)

  const withTasks = async (agentic_tool: string, names = ['first', 'second', 'third']) => {
    const { session_id } = await at.create({ agentic_tool, permission_mode: 'acceptEdits' })
    const tasks: any[] = []
    for (const name of names) tasks.push(await at.ask(session_id, `Go. #${name}`, { max_chars: 1_000 }))
    expect(new Set(tasks.map(({ status }) => status))).toEqual(new Set(['completed']))
    return { session_id, tasks }
  }
  const has = (told: string) => ['#first', 'The second answer.', '#third', 'The third answer.'].map((text) => told.includes(text))

  test.each(['claude-code', 'codex'])(
    '%s: at a task in the middle, in its own conversation; log and handoff lead to the point, and the origin is unchanged',
    async (agentic_tool) => {
      const { session_id, tasks } = await withTasks(agentic_tool)
      const before = await at.feed(session_id)
      const forked = await at.ask(session_id, 'Now otherwise. #other', { mode: 'fork', task_id: tasks[1].task_id, title: 'Otherwise' })
      expect(forked).toMatchObject({ status: 'completed', answer: { text: 'Another way.' } })
      const [told] = at.agents.toldIn('other')
      expect(has(told!)).toEqual([true, true, false, false])
      const log = await at.feed(forked.session_id)
      expect(log[0]).toMatchObject({ event: 'session_forked', from: session_id, task_id: tasks[1].task_id })
      expect(JSON.stringify(log)).not.toContain('digest_used')
      const { fork_sequence } = (await at.control('get_session', { session_id: forked.session_id })).session.genealogy
      expect(before.find(({ sequence }) => sequence === fork_sequence)).toMatchObject({
        type: 'chat',
        content: { text: 'The second answer.' },
      })
      const handoff = await (await fetch(`${at.url}/api/sessions/${forked.session_id}/handoff.md`)).text()
      expect(handoff).toContain(session_id)
      expect(await at.feed(session_id)).toEqual(before)
      expect((await at.ask(session_id, 'Again. #third')).status).toBe('completed')
      expect(at.agents.toldIn('third')[0]).not.toContain('#other')
    },
    LONG_MS,
  )

  test(
    'Gemini cannot: the prompt follows a digest, which says that it is one',
    async () => {
      // Each further task of it waits for the next minute: two are enough.
      const { session_id, tasks } = await withTasks('gemini', ['first', 'third'])
      const forked = await at.ask(session_id, 'Now otherwise. #other', { mode: 'fork', task_id: tasks[0].task_id })
      expect(forked).toMatchObject({ status: 'completed', answer: { text: 'Another way.' } })
      const [told] = at.agents.toldIn('other')
      expect(has(told!)).toEqual([true, false, false, false])
      expect(told).toContain('this is a digest')
      expect(JSON.stringify(await at.feed(forked.session_id))).toContain('digest_used')
    },
    LONG_MS,
  )

  test.each(['claude-code', 'codex'])(
    '%s: while the origin works, from its last ended task; the origin works on',
    async (agentic_tool) => {
      const { session_id } = await at.create({ agentic_tool })
      await at.ask(session_id, 'Go. #second')
      const going = await at.prompt(session_id, 'Take long. #long')
      await until(() => existsSync(join(at.site.app, 'long-begun')), 60_000)
      const forked = await at.ask(session_id, 'Now otherwise. #other', { mode: 'fork' })
      expect(forked).toMatchObject({ status: 'completed', answer: { text: 'Another way.' } })
      const [told] = at.agents.toldIn('other')
      expect([told!.includes('#second'), told!.includes('#long')]).toEqual([true, false])
      expect((await at.control('get_task', { task_id: going.task_id })).task.status).toBe('running')
      await at.control('interrupt_session', { session_id })
      expect(await at.ended(going.task_id)).toMatchObject({ status: 'interrupted' })
      expect((await at.ask(session_id, 'Go on. #third')).answer.text).toBe('The third answer.')
      expect(at.agents.toldIn('third')[0]).toContain('#second')
    },
    LONG_MS,
  )
})

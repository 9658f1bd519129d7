// What a program asks permission for goes to a person and back, what it asks its user ends the task, and no key is in what it prints.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { inTurn } from '../support/agents-script.ts'
import { clientsAreThere, MODEL_KEY, personAt, startControlSite, type ControlSite } from '../support/control-site.ts'
import { until } from '../support/runner.ts'

const CLIENTS = ['claude', 'codex']
const LONG_MS = 300_000
const WAIT_S = 15 // for a person, here
const areThere = clientsAreThere(...CLIENTS)

const QUESTIONS = [
  {
    question: 'Which colour?',
    header: 'Colour',
    multiSelect: false,
    options: [
      { label: 'Blue', description: 'as the sky' },
      { label: 'Red', description: 'as a brick' },
    ],
  },
]

describe.skipIf(!areThere)('Permission, questions and secrets', () => {
  let at: ControlSite
  let robin: Awaited<ReturnType<typeof personAt>>
  const made = (name: string) => join(at.site.app, name)

  beforeAll(async () => {
    at = await startControlSite({ clients: CLIENTS, env: { PERMISSION_WAIT: String(WAIT_S) } })
    robin = await personAt(at, 'Robin')
  }, LONG_MS)
  afterAll(() => at?.drop(), LONG_MS)

  const asked = async (session_id: string) => {
    let found: any
    await until(
      async () => (found = (await at.feed(session_id)).find(({ event }) => event === 'permission_asked')),
      60_000,
      'permission is asked for',
    )
    return found
  }
  const writing = async (name: string, agentic_tool: string) => {
    at.agents.scripts[name] = inTurn({ write: made(name), content: 'hello' }, ([answer]) => `It was said: ${JSON.stringify(answer)}`)
    const { session_id } = await at.create({ agentic_tool, permission_mode: 'default' })
    const { task_id } = await at.prompt(session_id, `Write it. #${name}`)
    const { request_id, tool_name, text } = await asked(session_id)
    expect(existsSync(made(name))).toBe(false)
    return { session_id, task_id, request_id, about: `${tool_name} ${text}` }
  }

  describe.each(['claude-code', 'codex'])('%s, in the mode default', (agentic_tool) => {
    const name = (what: string) => `${what}-by-${agentic_tool}`

    test(
      'allowed by a person, a file is written',
      async () => {
        const { session_id, task_id, request_id, about } = await writing(name('allowed'), agentic_tool)
        expect(about).toContain(name('allowed'))
        await expect(at.control('answer_permission', { session_id, request_id, allow: true })).rejects.toThrow('forbidden')
        expect(await robin('answer_permission', { session_id, request_id, allow: true })).toEqual({ answered: true })
        expect(await at.ended(task_id)).toMatchObject({ status: 'completed' })
        expect(existsSync(made(name('allowed')))).toBe(true)
        await expect(robin('answer_permission', { session_id, request_id, allow: true })).rejects.toThrow('conflict')
        expect(await at.events(session_id, 'permission_decided')).toEqual([expect.objectContaining({ allow: true, by: 'Robin' })])
      },
      LONG_MS,
    )

    test(
      'denied, it is not, and the agent is told',
      async () => {
        const { session_id, task_id, request_id } = await writing(name('denied'), agentic_tool)
        await robin('answer_permission', { session_id, request_id, allow: false, message: 'Not in this folder.' })
        const { status, answer } = await at.ended(task_id)
        expect(status).toBe('completed')
        // Codex has no field for a word of the person's.
        expect(answer.text).toMatch(agentic_tool === 'codex' ? /rejected|denied|declined/i : /Not in this folder\./)
        expect(existsSync(made(name('denied')))).toBe(false)
      },
      LONG_MS,
    )

    test(
      'without an answer in time, it is not, and the agent is told',
      async () => {
        const { session_id, task_id } = await writing(name('late'), agentic_tool)
        const { status, answer } = await at.ended(task_id)
        expect(status).toBe('completed')
        expect(answer.text).toMatch(agentic_tool === 'codex' ? /rejected|denied|declined/i : /No person answered in time/)
        expect(existsSync(made(name('late')))).toBe(false)
        expect(await at.events(session_id, 'permission_decided')).toEqual([expect.objectContaining({ allow: false, by: 'nobody' })])
      },
      LONG_MS,
    )
  })

  test(
    'a question to the user ends the task with that call in the answer; the next prompt is the answer',
    async () => {
      at.agents.scripts.question = inTurn({ tool: 'AskUserQuestion', input: { questions: QUESTIONS } })
      at.agents.scripts.answer = inTurn('Blue it is.')
      const { session_id } = await at.create({ permission_mode: 'default' })
      const { status, completed, interrupted_by } = await at.ask(session_id, 'Paint it. #question')
      expect({ status, completed }).toEqual({ status: 'interrupted', completed: true })
      expect(interrupted_by).toMatchObject({ tool_name: 'AskUserQuestion', input: { questions: QUESTIONS } })
      expect((await at.control('get_message', { message_id: interrupted_by.message_id })).message).toMatchObject({ type: 'tool_call' })
      expect(await at.ask(session_id, 'Blue. #answer')).toMatchObject({ status: 'completed', answer: { text: 'Blue it is.' } })
      expect(at.agents.toldIn('answer')[0]).toContain('Which colour?')
    },
    LONG_MS,
  )

  test.each(['claude-code', 'codex'])(
    '%s prints its environment: no key of a model, a runner or an agent is in log, page or export',
    async (agentic_tool) => {
      const show = `env; cat ${at.site.path('home')}/.codex/config.toml; cat /proc/$PPID/cmdline /proc/$PPID/environ | tr '\\0' '\\n'; find /tmp -maxdepth 2 -name mcp.json -exec cat {} + 2>/dev/null; true`
      at.agents.scripts.secrets = inTurn({ shell: show }, ([answer]) => `I saw: ${JSON.stringify(answer)}`)
      const { session_id } = await at.create({ agentic_tool, permission_mode: 'default' })
      const { task_id } = await at.prompt(session_id, 'Show it. #secrets')
      const { request_id } = await asked(session_id)
      await robin('answer_permission', { session_id, request_id, allow: true })
      expect((await at.ended(task_id)).status).toBe('completed')
      const [told] = at.agents.toldIn('secrets')
      expect(told).toContain('AGENT_TASK_MARK') // its model was told all of it
      const pages = ['', '/turns', '/turns/1', '.md', '/feed.jsonl'].map((end) => `/sessions/${session_id}${end}`)
      const answers = await Promise.all([...pages, `/api/sessions/${session_id}/handoff.md`].map((path) => fetch(`${at.url}${path}`)))
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
      const texts = await Promise.all(answers.map((answer) => answer.text()))
      const log = JSON.stringify(await at.feed(session_id))
      expect(log).toContain('AGENT_TASK_MARK')
      const keys = new RegExp([MODEL_KEY, at.key, at.full, 'ca_(?:agent|run|full)_[0-9a-f]{32}'].join('|'), 'g')
      for (const text of [log, ...texts, at.runner.output(), at.server.output(), JSON.stringify(await at.ended(task_id))])
        expect(text.match(keys)).toBeNull()
    },
    LONG_MS,
  )
})

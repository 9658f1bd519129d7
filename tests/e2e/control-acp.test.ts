// Agents that speak the Agent Client Protocol, driven by a runner: Gemini CLI, opencode, and one that its owner added by a command.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { inTurn } from '../support/agents-script.ts'
import { allowingUntil, clientsAreThere, personAt, startControlSite, type ControlSite } from '../support/control-site.ts'
import { clientBin } from '../support/drivers.ts'
import { processesWith, until } from '../support/runner.ts'

const CLIENTS = ['gemini', 'opencode']
const LONG_MS = 300_000
const areThere = clientsAreThere(...CLIENTS)

describe.skipIf(!areThere)('An agent that speaks ACP', () => {
  let at: ControlSite
  let robin: Awaited<ReturnType<typeof personAt>>

  beforeAll(async () => {
    const added = ['--agent', `other=${join(clientBin('opencode')!, 'opencode')} acp`]
    at = await startControlSite({ clients: CLIENTS, words: () => added })
    robin = await personAt(at, 'Robin')
  }, LONG_MS)
  afterAll(() => at?.drop(), LONG_MS)

  test.each(['gemini', 'opencode', 'other'])(
    '%s: a prompt, permission for a command, an interrupt, and a second prompt in the same conversation',
    async (agentic_tool) => {
      const [begun, made] = ['begun', 'made'].map((name) => join(at.site.app, `${name}-by-${agentic_tool}`))
      const { scripts } = at.agents
      scripts.write = inTurn({ shell: `echo hello > ${made}` }, 'The file is there.')
      scripts.long = inTurn({ shell: `touch ${begun}; sleep 300` })
      scripts.more = inTurn('I go on.')
      const { session_id } = await at.create({ agentic_tool, permission_mode: 'default' })
      const allowing = (isSo: () => unknown, what: string) => allowingUntil(at, robin, session_id, isSo, what)
      const { task_id } = await at.prompt(session_id, 'Write it. #write')
      await allowing(async () => (await at.control('get_task', { task_id })).task.ended_at, 'the task ends')
      expect(await at.ended(task_id)).toMatchObject({ status: 'completed', answer: { text: 'The file is there.' } })
      expect(readFileSync(made!, 'utf8')).toBe('hello\n')
      const [asked] = await at.events(session_id, 'permission_asked')
      if (agentic_tool !== 'other') expect(asked.text).toContain('echo hello')

      const long = await at.prompt(session_id, 'Take long. #long')
      await allowing(() => existsSync(begun!), 'its command runs')
      expect(await at.control('interrupt_session', { session_id })).toEqual({ interrupted: true })
      await until(() => processesWith(`.${long.task_id}`).length === 0, 2_000, 'nothing of the task is alive')
      expect(await at.ended(long.task_id)).toMatchObject({ status: 'interrupted' })

      expect(await at.ask(session_id, 'Go on. #more')).toMatchObject({ status: 'completed', answer: { text: 'I go on.' } })
      expect(at.agents.toldIn('more')[0]).toContain('The file is there.')
      expect((await at.feed(session_id)).map(({ type }) => type)).toEqual(expect.arrayContaining(['tool_call', 'tool_response', 'chat']))
    },
    LONG_MS,
  )
})

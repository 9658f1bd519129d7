// Needs opencode in the folder opencode of PARLEY_CLIENTS; without it the tests say so and pass.
import { afterEach, describe, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { builtInDrivers } from '../../../src/client/runner/drivers/drivers.ts'
import { clientBin, HUB_KEY, newStage, runningWith, workOf, type Stage, type Task } from '../../support/drivers.ts'
import { startScriptedModel, type Maker, type ScriptedModel } from '../../support/scripted-model.ts'

const VERSION = '1.18.33'
const LONG_MS = 180_000
const CALL = 18e-6 // USD, of one token in and one out
const opencode = builtInDrivers.find(({ agenticTool }) => agenticTool === 'opencode')!
const bin = clientBin('opencode')
if (bin === undefined)
  console.log(`Skipped: opencode ${VERSION} is not in the folder opencode of PARLEY_CLIENTS (npm i opencode-ai@${VERSION}).`)

let stage: Stage
let model: ScriptedModel
afterEach(async () => {
  stage?.drop()
  await model?.stop()
})

const open = (...moves: Maker[]) => {
  model = startScriptedModel(moves)
  const anthropic = { options: { baseURL: `${model.url}/v1`, apiKey: 'x' } }
  const config = { model: 'anthropic/claude-sonnet-4-5', small_model: 'anthropic/claude-sonnet-4-5', provider: { anthropic } }
  stage = newStage([bin!], {
    OPENCODE_CONFIG_CONTENT: JSON.stringify(config),
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_DISABLE_AUTOUPDATE: '1',
  })
}

const worked = (task: Task) => workOf(task.told.map(({ event }) => event))
const bash =
  (command: string): Maker =>
  () => ({ name: 'bash', input: { command, description: 'tries' } })
const say =
  (text: string): Maker =>
  () =>
    text

const write =
  (name: string): Maker =>
  () => ({ name: 'write', input: { filePath: join(stage.folder, name), content: 'hello' } })
const typesIn = (task: Task) => worked(task).map(({ type, toolName }) => [type, toolName])

describe.skipIf(bin === undefined)(`opencode ${VERSION}`, () => {
  test(
    'a task, the next one, and forks: of the end of the conversation, and of an earlier point, which it cannot',
    async () => {
      open(bash('echo hi; exit 3'), write('a.txt'), ...Array.from({ length: 9 }, () => say('It is done.')))
      const task = stage.run(opencode, stage.job({ prompt: 'the first prompt', contextFiles: ['docs/plan.md'] }))
      const first = await task.result
      expect(first).toMatchObject({
        status: 'completed',
        answer: 'It is done.',
        usage: { output_tokens: null, cost_usd: expect.closeTo(3 * CALL, 9) },
      })
      expect(typesIn(task)).toEqual([
        ['tool_call', 'bash'],
        ['tool_response', 'bash'],
        ['tool_call', 'write'],
        ['tool_response', 'write'],
        ['assistant_response', undefined],
      ])
      expect(worked(task)[1]!.content).toEqual({ text: 'hi\n', exit_code: 3 })
      expect(task.asked.map(({ text }) => text)).toEqual(['bash: echo hi; exit 3', `write: ${join(stage.folder, 'a.txt')}`])
      expect(readFileSync(join(stage.folder, 'a.txt'), 'utf8')).toBe('hello')
      expect([...stage.hub.keys]).toContain(`Bearer ${HUB_KEY}`)
      expect(JSON.stringify(stage.commands)).toBe('[["opencode","acp"]]')

      const { conversation } = first
      const fork = { conversation: conversation!, at: first.conversationAt }
      const costBefore = first.conversationCost
      const forked = stage.run(opencode, stage.job({ prompt: 'the fork', fork, costBefore }))
      const { status, conversation: other, usage } = await forked.result
      expect([status, typesIn(forked)]).toEqual(['completed', [['assistant_response', undefined]]])
      expect(usage!.cost_usd).toBeCloseTo(CALL, 9)
      expect(other).not.toBe(conversation)
      expect(model.asked.at(-1)!.told.includes('the first prompt')).toBe(true)

      const second = stage.run(opencode, stage.job({ prompt: '/src/x.ts is wrong, the second prompt', conversation, costBefore }))
      expect(await second.result).toMatchObject({ status: 'completed', conversation, usage: { cost_usd: expect.closeTo(CALL, 9) } })
      expect(typesIn(second)).toEqual([['assistant_response', undefined]])
      const told = ['the first prompt', '/src/x.ts is wrong, the second', 'the fork'].map((text) => model.asked.at(-1)!.told.includes(text))
      expect(told).toEqual([true, true, false])

      const late = await stage.run(opencode, stage.job({ fork })).result
      expect(late).toMatchObject({ status: 'failed', conversationMissing: true })
    },
    LONG_MS,
  )

  test(
    'the tools of its own room need no permission',
    async () => {
      open(() => ({ name: 'parley_post_message', input: { text: 'hi' } }), say('Posted.'))
      const task = stage.run(opencode, stage.job())
      expect(await task.result).toMatchObject({ status: 'completed', answer: 'Posted.' })
      expect([stage.hub.calls, task.asked]).toEqual([['post_message'], []])
    },
    LONG_MS,
  )

  test(
    'interrupted: its command is gone, and the task says so',
    async () => {
      const mark = `interrupt-${crypto.randomUUID()}`
      open(bash(`tail -f /dev/null ${mark} 2>/dev/null`))
      const task = stage.run(opencode, stage.job())
      await runningWith(mark, true, 60_000)
      task.interrupt()
      await runningWith(mark, false)
      expect((await task.result).status).toBe('interrupted')
    },
    LONG_MS,
  )

  test.each([
    ['plan', 'agent', 0, false],
    ['default', 'runner', 1, false],
    ['acceptEdits', 'runner', 0, true],
    ['allow-all', 'runner', 0, true],
  ] as const)(
    'the mode %s, seen to by the %s: an edit is made, asked for (and denied) or refused as that has it',
    async (permissionMode, by, asked, made) => {
      open(write('a.txt'))
      const task = stage.run(opencode, stage.job({ permissionMode }), () => ({ allow: false, message: 'Nobody answered.' }))
      expect((await task.result).status).toBe('completed')
      expect(model.asked.at(-1)!.told.includes('About the permission for write: Nobody answered.')).toBe(asked > 0)
      expect(task.told.find(({ key }) => key === 'mode')!.event.content.data).toMatchObject({ by })
      expect(task.asked).toHaveLength(asked)
      expect(existsSync(join(stage.folder, 'a.txt'))).toBe(made)
    },
    LONG_MS,
  )

  test.each([
    ['plan', 0, false],
    ['default', 1, true],
    ['acceptEdits', 1, true],
    ['allow-all', 0, true],
  ] as const)(
    'the mode %s: a tool of a server that its session names is asked for %d times',
    async (permissionMode, asked, called) => {
      open(() => ({ name: 'my_tickets_post_message', input: { text: 'hi' } }))
      const mcpServers = { 'my tickets': { type: 'http', url: stage.hub.url } }
      const task = stage.run(opencode, stage.job({ permissionMode, mcpServers }))
      await task.result
      expect(task.asked).toHaveLength(asked)
      expect(stage.hub.calls).toEqual(called ? ['post_message'] : [])
    },
    LONG_MS,
  )

  test(
    'a conversation that began in plan leaves it with the mode of its next task',
    async () => {
      let move = say('A plan.')
      open((results) => move(results))
      const { conversation } = await stage.run(opencode, stage.job({ permissionMode: 'plan' })).result
      move = write('a.txt')
      const task = stage.run(opencode, stage.job({ permissionMode: 'allow-all', conversation }))
      await task.result
      expect(task.told.find(({ key }) => key === 'mode')!.event.content.data).toEqual({ mode: 'allow-all', by: 'runner' })
      expect(existsSync(join(stage.folder, 'a.txt'))).toBe(true)
    },
    LONG_MS,
  )
})

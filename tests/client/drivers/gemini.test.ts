// Needs Gemini CLI in the folder gemini of PARLEY_CLIENTS; without it the tests say so and pass.
import { afterEach, describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { builtInDrivers } from '../../../src/client/runner/drivers/drivers.ts'
import { clientBin, filesWith, HUB_KEY, newStage, runningWith, workOf, type Stage, type Task } from '../../support/drivers.ts'
import { startScriptedGemini, type ScriptedGemini } from '../../support/scripted-gemini.ts'

const VERSION = '0.61.0'
const LONG_MS = 180_000
const gemini = builtInDrivers.find(({ agenticTool }) => agenticTool === 'gemini')!
const bin = clientBin('gemini')
if (bin === undefined)
  console.log(`Skipped: Gemini CLI ${VERSION} is not in the folder gemini of PARLEY_CLIENTS (npm i @google/gemini-cli@${VERSION}).`)

let stage: Stage
let model: ScriptedGemini
afterEach(async () => {
  stage?.drop()
  await model?.stop()
})

const open = (...moves: Parameters<typeof startScriptedGemini>[0]) => {
  model = startScriptedGemini(moves)
  stage = newStage([bin!], model.env)
}

const worked = (task: Task) => workOf(task.told.map(({ event }) => event))
const shell = (command: string) => [{ functionCall: { name: 'run_shell_command', args: { command, description: 'tries' } } }]
const write = (name: string) => [{ functionCall: { name: 'write_file', args: { file_path: join(stage.folder, name), content: 'hello' } } }]

describe.skipIf(bin === undefined)(`Gemini CLI ${VERSION}`, () => {
  test(
    'a task, and the next one: what it thought, called and answered; results with answer, usage and ids',
    async () => {
      open(
        () => [{ text: '**Look** at it', thought: true }, ...shell('echo hi; exit 3')],
        () => [{ text: 'All done.' }],
        () => [{ text: 'Again.' }],
      )
      const task = stage.run(gemini, stage.job({ contextFiles: ['docs/plan.md'] }))
      const result = await task.result
      expect(result).toMatchObject({
        status: 'completed',
        answer: 'All done.',
        usage: { input_tokens: 2, output_tokens: 2, cost_usd: null },
      })
      expect(worked(task).map(({ type, toolName }) => [type, toolName])).toEqual([
        ['reasoning', undefined],
        ['tool_call', 'run_shell_command'],
        ['tool_response', 'run_shell_command'],
        ['assistant_response', undefined],
      ])
      expect(worked(task)[1]!.content).toEqual({ arguments: { command: 'echo hi; exit 3' } })
      expect(task.asked.map(({ text }) => text)).toEqual(['run_shell_command: echo hi; exit 3'])
      expect(model.asked[0]!.told.includes('docs/plan.md')).toBe(true)
      expect([...stage.hub.keys]).toContain(`Bearer ${HUB_KEY}`)
      expect(JSON.stringify(stage.commands)).toBe('[["gemini","--acp"]]')
      expect(filesWith(stage.home, HUB_KEY)).toEqual([])

      const next = stage.run(gemini, stage.job({ prompt: 'more', conversation: result.conversation }))
      expect(await next.result).toMatchObject({ status: 'completed', answer: 'Again.', conversation: result.conversation })
      expect(worked(next).map(({ content }) => content.text)).toEqual(['Again.'])
      expect(model.asked.at(-1)!.told.includes('All done.')).toBe(true)
    },
    LONG_MS,
  )

  test(
    'the tools of its own room need no permission',
    async () => {
      open(
        () => [{ functionCall: { name: model.asked[0]!.tools.find((name) => name.endsWith('post_message'))!, args: { text: 'hi' } } }],
        () => [{ text: 'Posted.' }],
      )
      const task = stage.run(gemini, stage.job())
      expect(await task.result).toMatchObject({ status: 'completed', answer: 'Posted.' })
      expect([stage.hub.calls, task.asked]).toEqual([['post_message'], []])
    },
    LONG_MS,
  )

  test(
    'denied: nothing happens, and the agent is told what was said to it',
    async () => {
      open(
        () => write('a.txt'),
        () => [{ text: 'Then not.' }],
      )
      const task = stage.run(gemini, stage.job(), () => ({ allow: false, message: 'Nobody answered.' }))
      expect(await task.result).toMatchObject({ status: 'completed', usage: { output_tokens: 3 } })
      expect(model.asked.map(({ told }) => told.includes('About the permission for write_file: Nobody answered.'))).toEqual([
        false,
        false,
        true,
      ])
      expect(task.asked.map(({ tool }) => tool)).toEqual(['write_file'])
      expect(task.asked[0]!.input).toMatchObject({ changes: [{ path: expect.stringContaining('a.txt'), newText: 'hello' }] })
      expect(existsSync(join(stage.folder, 'a.txt'))).toBe(false)
    },
    LONG_MS,
  )

  test(
    'interrupted: its command is gone, and the task says so',
    async () => {
      const mark = `interrupt-${crypto.randomUUID()}`
      open(() => shell(`tail -f /dev/null ${mark} 2>/dev/null`))
      const task = stage.run(gemini, stage.job())
      await runningWith(mark, true, 30_000)
      task.interrupt()
      await runningWith(mark, false)
      expect((await task.result).status).toBe('interrupted')
    },
    LONG_MS,
  )

  test(
    'a conversation that it does not know, or is to fork, is told as missing, and the model is asked nothing',
    async () => {
      open()
      for (const more of [{ conversation: crypto.randomUUID() }, { fork: { conversation: crypto.randomUUID(), at: 'x' } }])
        expect(await stage.run(gemini, stage.job(more)).result).toMatchObject({ status: 'failed', conversationMissing: true })
      expect(model.asked).toEqual([])
    },
    LONG_MS,
  )

  test.each([
    ['plan', 'plan'],
    ['default', 'default'],
    ['ask', 'default'],
    ['acceptEdits', 'autoEdit'],
    ['auto', 'autoEdit'],
    ['on-failure', 'autoEdit'],
    ['bypassPermissions', 'yolo'],
    ['allow-all', 'yolo'],
  ])(
    'the mode %s reaches it as %s: an edit is made, asked for or refused as that has it',
    async (permissionMode, wanted) => {
      open(() => write('a.txt'))
      const task = stage.run(gemini, stage.job({ permissionMode }))
      expect(await task.result).toMatchObject({ status: 'completed' })
      expect(task.told.find(({ key }) => key === 'mode')!.event.content.data).toEqual({ mode: wanted, by: 'agent' })
      expect(task.asked).toHaveLength(wanted === 'default' ? 1 : 0)
      expect(existsSync(join(stage.folder, 'a.txt'))).toBe(wanted !== 'plan')
    },
    LONG_MS,
  )
})

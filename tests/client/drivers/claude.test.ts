// Needs Claude Code in the folders claude and claude-2.1.197 of PARLEY_CLIENTS; without them it says so and passes.
import { afterEach, describe, expect, test } from 'bun:test'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { claude } from '../../../src/client/runner/drivers/claude.ts'
import { claudeCode } from '../../../src/transcripts/claude-code.ts'
import { claudeVersions, openClaude } from '../../support/claude-versions.ts'
import { HUB_KEY, runningWith, workIn, workOf, type Stage, type Task } from '../../support/drivers.ts'
import type { Maker, ScriptedModel } from '../../support/scripted-model.ts'
import { whileBusy } from '../../support/cpu.ts'

const LONG_MS = 180_000

let stage: Stage
let model: ScriptedModel
afterEach(async () => {
  stage?.drop()
  await model?.stop()
})

const open = (bin: string, moves: Maker[], env = {}) => void ({ stage, model } = openClaude(bin, moves, env))

const bash =
  (command: string): Maker =>
  () => ({ name: 'Bash', input: { command, description: 'tries' } })
const say =
  (text: string): Maker =>
  () =>
    text
// It writes this into its transcript when it resumes a conversation that was interrupted, and prints it nowhere.
const FILLER = 'No response requested.'

const worked = (task: Task) => workOf(task.told.map(({ event }) => event))

const projects = () => join(stage.home, '.claude/projects')
const transcriptOf = (conversation: string) =>
  readdirSync(projects())
    .map((project) => join(projects(), project, `${conversation}.jsonl`))
    .find((file) => existsSync(file))!

for (const { version, bin } of claudeVersions()) {
  describe(`Claude Code ${version}`, () => {
    test(
      'a task: what it tells is what the transcript that it wrote itself has, and its result has answer, usage and ids',
      async () => {
        open(bin, [
          bash('echo hi; exit 3'),
          () => ({ name: 'Write', input: { file_path: join(stage.folder, 'a.txt'), content: 'hello\n' } }),
          () => ({ thought: 'It is there.', text: 'All done.' }),
        ])
        const task = stage.run(claude, stage.job({ contextFiles: ['docs/plan.md'] }))
        const result = await task.result
        expect(result).toMatchObject({ status: 'completed', answer: 'All done.', usage: { input_tokens: 3, output_tokens: 3 } })
        expect(result.usage!.cost_usd).toBeGreaterThan(0)
        expect(worked(task)).toEqual(await workIn(transcriptOf(result.conversation!), claudeCode))
        expect(worked(task).map(({ type }) => type)).toEqual([
          'tool_call',
          'tool_response',
          'tool_call',
          'tool_response',
          'reasoning',
          'assistant_response',
        ])
        expect(readFileSync(transcriptOf(result.conversation!), 'utf8')).toContain(`"uuid":"${result.conversationAt}"`)
        expect(new Set(task.told.map(({ key }) => key)).size).toBe(task.told.length)
        expect(task.asked.map(({ text }) => text)).toEqual(['Bash: echo hi; exit 3', `Write: ${join(stage.folder, 'a.txt')}`])
        expect(readFileSync(join(stage.folder, 'a.txt'), 'utf8')).toBe('hello\n')
        expect(model.asked[0]!.told.includes('docs/plan.md')).toBe(true)
        expect([...stage.hub.keys]).toContain(`Bearer ${HUB_KEY}`)
        expect(JSON.stringify(stage.commands)).not.toContain(HUB_KEY)
        expect(JSON.stringify(stage.commands)).not.toContain('Do it.')
        const file = stage.commands[0]![stage.commands[0]!.indexOf('--mcp-config') + 1]!
        expect(existsSync(file)).toBe(false)
      },
      LONG_MS,
    )

    test(
      'the tools of its own room need no permission',
      async () => {
        open(bin, [() => ({ name: 'mcp__parley__post_message', input: { text: 'hi' } }), say('Posted.')])
        const task = stage.run(claude, stage.job())
        expect(await task.result).toMatchObject({ status: 'completed', answer: 'Posted.' })
        expect([stage.hub.calls, task.asked]).toEqual([['post_message'], []])
      },
      LONG_MS,
    )

    test(
      'denied: nothing happens, and the agent is told',
      async () => {
        open(bin, [() => ({ name: 'Write', input: { file_path: join(stage.folder, 'a.txt'), content: 'hello\n' } }), say('Then not.')])
        const task = stage.run(claude, stage.job(), () => ({ allow: false, message: 'Nobody answered in time.' }))
        expect(await task.result).toMatchObject({ status: 'completed', answer: 'Then not.' })
        expect(existsSync(join(stage.folder, 'a.txt'))).toBe(false)
        expect(JSON.stringify(model.asked.at(-1)!.results)).toContain('Nobody answered in time.')
      },
      LONG_MS,
    )

    test(
      'allowed: it happens, and the agent is told what was said to it',
      async () => {
        open(bin, [
          () => ({ name: 'Write', input: { file_path: join(stage.folder, 'a.txt'), content: 'hello\n' } }),
          bash('cat a.txt'),
          say('Written.'),
        ])
        const task = stage.run(claude, stage.job(), ({ tool }) => ({ allow: true, message: tool === 'Write' ? 'Once alone.' : undefined }))
        expect(await task.result).toMatchObject({ status: 'completed', answer: 'Written.' })
        expect(existsSync(join(stage.folder, 'a.txt'))).toBe(true)
        expect(model.asked.map(({ told }) => told.includes('About the permission for Write: Once alone.'))).toEqual([false, true, true])
      },
      LONG_MS,
    )

    const QUESTION = {
      questions: [
        {
          question: 'Which?',
          header: 'H',
          multiSelect: false,
          options: [
            { label: 'A', description: 'a' },
            { label: 'B', description: 'b' },
          ],
        },
      ],
    }
    test.each([
      ['AskUserQuestion', 'default', QUESTION],
      ['ExitPlanMode', 'plan', { plan: 'First this, then that.' }],
    ] as const)(
      '%s ends the task with that call; the next prompt is the answer',
      async (name, permissionMode, input) => {
        open(bin, [() => ({ name, input }), say('A it is.')])
        const task = stage.run(claude, stage.job({ permissionMode }))
        const { status, interruptedBy, conversation } = await task.result
        expect(status).toBe('interrupted')
        expect(task.asked).toEqual([])
        expect(task.told.find(({ key }) => key === interruptedBy)!.event).toMatchObject({
          type: 'tool_call',
          toolName: name,
          content: { arguments: input },
        })
        const next = stage.run(claude, stage.job({ prompt: 'A', permissionMode, conversation }))
        expect(await next.result).toMatchObject({ status: 'completed', answer: 'A it is.', conversation })
        expect(model.asked.at(-1)!.told.includes(`"name":"${name}"`)).toBe(true)
        const written = await workIn(transcriptOf(conversation!), claudeCode)
        expect([...worked(task), ...worked(next)]).toEqual(written.filter(({ content }) => content.text !== FILLER))
      },
      LONG_MS,
    )

    test(
      'interrupted: its command is gone, and the task says so',
      async () => {
        const mark = `interrupt-${crypto.randomUUID()}`
        open(bin, [bash(`tail -f /dev/null ${mark} 2>/dev/null`)])
        const task = stage.run(claude, stage.job({ permissionMode: 'default' }))
        await task.until('tool_call')
        await runningWith(mark, true)
        const begin = performance.now()
        task.interrupt()
        const { status, conversation } = await task.result
        expect(status).toBe('interrupted')
        expect(performance.now() - begin).toBeLessThan(whileBusy(2_000))
        await runningWith(mark, false)
        expect(worked(task)).toEqual(await workIn(transcriptOf(conversation!), claudeCode))
      },
      LONG_MS,
    )

    test.each([0, 200, 400])(
      'interrupted %d ms after its start, before there is anything to interrupt: no turn goes on',
      async (ms) => {
        open(bin, [() => Bun.sleep(20_000).then(() => 'late')])
        const task = stage.run(claude, stage.job())
        await Bun.sleep(ms)
        task.interrupt()
        expect((await task.result).status).toBe('interrupted')
      },
      15_000,
    )

    test(
      'it goes on with a conversation, and a fork has what came before its point and nothing after; the origin is unchanged',
      async () => {
        open(
          bin,
          Array.from({ length: 9 }, (_, n) => say(`answer ${n}`)),
        )
        const first = await stage.run(claude, stage.job({ prompt: 'the first prompt' })).result
        const second = await stage.run(claude, stage.job({ prompt: 'the second prompt', conversation: first.conversation })).result
        expect(second.conversation).toBe(first.conversation)
        expect(model.asked.at(-1)!.told.includes('the first prompt')).toBe(true)
        const before = readFileSync(transcriptOf(first.conversation!), 'utf8')
        const task = stage.run(
          claude,
          stage.job({ prompt: 'the fork', fork: { conversation: first.conversation!, at: first.conversationAt } }),
        )
        const forked = await task.result
        expect(forked).toMatchObject({ status: 'completed', usage: { input_tokens: 1, output_tokens: 1 } })
        expect(forked.conversation).not.toBe(first.conversation)
        const { told } = model.asked.at(-1)!
        expect([told.includes('the first prompt'), told.includes('the second prompt')]).toEqual([true, false])
        expect(readFileSync(transcriptOf(first.conversation!), 'utf8')).toBe(before)
        expect(task.told.filter(({ event }) => event.type === 'assistant_response')).toHaveLength(1)
      },
      LONG_MS,
    )

    test.each([
      ['that it does not know', { conversation: '11111111-1111-4111-8111-111111111111' }],
      ['whose id would be an option', { conversation: '--dangerously-skip-permissions' }],
      ['to fork that it does not know', { fork: { conversation: '11111111-1111-4111-8111-111111111111', at: undefined } }],
    ])(
      'a conversation %s is told as missing, and the model is asked nothing',
      async (_, more) => {
        open(bin, [say('no')])
        const result = await stage.run(claude, stage.job(more)).result
        expect(result).toMatchObject({ status: 'failed', conversationMissing: true, error: { code: 'agent_failed' } })
        expect(model.asked).toEqual([])
      },
      LONG_MS,
    )

    test(
      version === '2.1.197' ? 'a fork in another worktree is told as missing' : 'a fork in another worktree has its conversation',
      async () => {
        open(bin, [say('One.'), say('Two.')])
        const { conversation, conversationAt } = await stage.run(claude, stage.job({ prompt: 'the first prompt' })).result
        const fork = { conversation: conversation!, at: conversationAt }
        const { status, conversationMissing } = await stage.run(claude, stage.job({ folder: stage.home, fork })).result
        expect([status, conversationMissing]).toEqual(version === '2.1.197' ? ['failed', true] : ['completed', undefined])
        expect(model.asked.at(-1)!.told.includes('the first prompt')).toBe(true)
      },
      LONG_MS,
    )

    test(
      'not signed in: its own words',
      async () => {
        open(bin, [], { ANTHROPIC_API_KEY: '' })
        const task = stage.run(claude, stage.job())
        expect((await task.result).error).toEqual({ code: 'agent_failed', message: expect.stringMatching(/Not logged in|Invalid API key/) })
        expect(task.told.find(({ event }) => event.content.event === 'api_error')).toBeDefined()
      },
      LONG_MS,
    )

    test(
      'compaction: told as its transcript has it, but for counts that the stream leaves out',
      async () => {
        open(bin, [bash('echo one'), bash('echo two'), ...Array.from({ length: 9 }, () => say('<summary>So far so good.</summary>'))])
        const { conversation } = await stage.run(claude, stage.job()).result
        const task = stage.run(claude, stage.job({ prompt: '/compact', conversation }))
        expect(await task.result).toMatchObject({ status: 'completed' })
        const texts = (events: { type: string; content: Record<string, unknown> }[]) =>
          events.filter(({ type }) => type === 'compaction').map(({ content }) => content.text)
        const mine = texts(worked(task))
        expect(mine).toEqual(texts(await workIn(transcriptOf(conversation!), claudeCode)))
        expect(mine).toHaveLength(2)
      },
      LONG_MS,
    )
  })
}

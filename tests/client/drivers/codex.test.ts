// Needs Codex in the folder codex of PARLEY_CLIENTS; without it the tests say so and pass.
import { afterEach, describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { codex } from '../../../src/client/runner/drivers/codex.ts'
import { codex as format } from '../../../src/transcripts/codex.ts'
import { clientBin, filesWith, HUB_KEY, newStage, runningWith, workIn, workOf, type Stage, type Task } from '../../support/drivers.ts'
import { CODEX_VERSION } from '../../support/real-codex.ts'
import { call, message, startScriptedResponses, thought, type ScriptedResponses } from '../../support/scripted-responses.ts'
import { whileBusy } from '../../support/cpu.ts'

const LONG_MS = 180_000
const bin = clientBin('codex')
if (bin === undefined)
  console.log(`Skipped: Codex ${CODEX_VERSION} is not in the folder codex of PARLEY_CLIENTS (npm i @openai/codex@${CODEX_VERSION}).`)

let stage: Stage
let model: ScriptedResponses
afterEach(async () => {
  stage?.drop()
  await model?.stop()
})

const open = (...moves: Parameters<typeof startScriptedResponses>[0]) => {
  model = startScriptedResponses(moves)
  stage = newStage([bin!])
  mkdirSync(join(stage.home, '.codex'))
  writeFileSync(join(stage.home, '.codex/config.toml'), model.config)
}

const worked = (...tasks: Task[]) => tasks.flatMap((task) => workOf(task.told.map(({ event }) => event)))
const rolloutOf = (conversation: string) => {
  const sessions = join(stage.home, '.codex/sessions')
  const name = readdirSync(sessions, { recursive: true }).find((file) => String(file).endsWith(`${conversation}.jsonl`))
  return join(sessions, String(name))
}

describe.skipIf(bin === undefined)(`Codex ${CODEX_VERSION}`, () => {
  test(
    'a task, and the next one: what they tell is what the rollout has, and their results have answer, usage and ids',
    async () => {
      open(
        () => [thought('Let us see.'), call('exec_command', { cmd: 'echo hi; exit 3' })],
        () => [message('All done.')],
        () => [call('exec_command', { cmd: 'echo more' })],
        () => [message('Again.')],
      )
      const first = stage.run(codex, stage.job({ contextFiles: ['docs/plan.md'] }))
      const result = await first.result
      expect(result).toMatchObject({
        status: 'completed',
        answer: 'All done.',
        usage: { input_tokens: 2, output_tokens: 2, cost_usd: null },
      })
      const { conversation } = result
      expect(worked(first)).toEqual(await workIn(rolloutOf(conversation!), format))
      expect(worked(first).map(({ type }) => type)).toEqual(['reasoning', 'tool_call', 'tool_response', 'assistant_response'])
      expect(worked(first)[2]!.content).toMatchObject({ exit_code: 3 })
      expect(first.asked.map(({ text }) => text)).toEqual([expect.stringContaining('echo hi; exit 3')])
      expect(model.asked[0]!.told.includes('docs/plan.md')).toBe(true)
      expect([...stage.hub.keys]).toContain(`Bearer ${HUB_KEY}`)
      expect(JSON.stringify(stage.commands)).toBe('[["codex","app-server"]]')

      const second = stage.run(codex, stage.job({ conversation }))
      expect(await second.result).toMatchObject({
        status: 'completed',
        answer: 'Again.',
        conversation,
        usage: { input_tokens: 2, output_tokens: 2 },
      })
      expect(worked(first, second)).toEqual(await workIn(rolloutOf(conversation!), format))
      expect(filesWith(stage.home, HUB_KEY)).toEqual([])
      for (const { told } of [first, second]) expect(new Set(told.map(({ key }) => key)).size).toBe(told.length)
    },
    LONG_MS,
  )

  test.each(['default', 'auto', 'allow-all'])(
    'the tools of its own room need no permission: %s',
    async (permissionMode) => {
      const post = ({ tools }: { tools: any[] }) => {
        const namespace = tools.find(({ type, name }) => type === 'namespace' && /parley/.test(name))?.name
        return [{ ...call(namespace ? 'post_message' : 'mcp__parley__post_message', { text: 'hi' }), ...(namespace && { namespace }) }]
      }
      open(post, () => [message('Posted.')])
      const task = stage.run(codex, stage.job({ permissionMode }))
      expect(await task.result).toMatchObject({ status: 'completed', answer: 'Posted.' })
      expect([stage.hub.calls, task.asked]).toEqual([['post_message'], []])
    },
    LONG_MS,
  )

  test(
    'denied: nothing happens; the agent is told what was said to it, as it is with what is allowed',
    async () => {
      open(
        () => [call('exec_command', { cmd: 'touch made' })],
        () => [call('exec_command', { cmd: 'touch allowed' })],
        () => [message('Then not.')],
      )
      const words = ['Nobody answered in time.', 'Once alone.']
      const task = stage.run(codex, stage.job(), ({ text }) => ({
        allow: text.includes('allowed'),
        message: words[text.includes('allowed') ? 1 : 0],
      }))
      expect(await task.result).toMatchObject({ status: 'completed', answer: 'Then not.' })
      expect(['made', 'allowed'].map((name) => existsSync(join(stage.folder, name)))).toEqual([false, true])
      const heard = model.asked.map(({ told }) => words.map((word) => told.includes(`About the permission for exec_command: ${word}`)))
      expect(heard).toEqual([
        [false, false],
        [true, false],
        [true, true],
      ])
      const one = ['tool_call', 'tool_response'] as const
      expect(worked(task).map(({ type }) => type)).toEqual([...one, ...one, 'assistant_response'])
    },
    LONG_MS,
  )

  test(
    'interrupted: its command is gone, and the task says so',
    async () => {
      const mark = `interrupt-${crypto.randomUUID()}`
      open(() => [call('exec_command', { cmd: `tail -f /dev/null ${mark} 2>/dev/null`, yield_time_ms: 30_000 })])
      const task = stage.run(codex, stage.job({ permissionMode: 'ask' }))
      await runningWith(mark, true)
      const begin = performance.now()
      task.interrupt()
      const { status, conversation } = await task.result
      expect(status).toBe('interrupted')
      expect(performance.now() - begin).toBeLessThan(whileBusy(2_000))
      await runningWith(mark, false)
      expect(worked(task)).toEqual(await workIn(rolloutOf(conversation!), format))
    },
    LONG_MS,
  )

  test.each([0, 300, 600, 900])(
    'interrupted %d ms after its start, before there is anything to interrupt: no turn goes on',
    async (ms) => {
      open(() => Bun.sleep(20_000).then(() => [message('late')]))
      const task = stage.run(codex, stage.job())
      await Bun.sleep(ms)
      task.interrupt()
      expect((await task.result).status).toBe('interrupted')
    },
    15_000,
  )

  test(
    'a fork has what came before its point and nothing after; the origin is unchanged',
    async () => {
      open(...Array.from({ length: 9 }, (_, n) => () => [message(`answer ${n}`)]))
      const first = await stage.run(codex, stage.job({ prompt: 'the first prompt' })).result
      await stage.run(codex, stage.job({ prompt: 'the second prompt', conversation: first.conversation })).result
      const before = readFileSync(rolloutOf(first.conversation!), 'utf8')
      const fork = { conversation: first.conversation!, at: first.conversationAt }
      const task = stage.run(codex, stage.job({ prompt: 'the fork', folder: stage.home, fork }))
      const forked = await task.result
      expect(forked).toMatchObject({ status: 'completed', answer: 'answer 2', usage: { input_tokens: 1, output_tokens: 1 } })
      expect(forked.conversation).not.toBe(first.conversation)
      const { told } = model.asked.at(-1)!
      expect([told.includes('the first prompt'), told.includes('the second prompt')]).toEqual([true, false])
      expect(readFileSync(rolloutOf(first.conversation!), 'utf8')).toBe(before)
      expect(worked(task).map(({ content }) => content.text)).toEqual(['answer 2'])
      const next = await stage.run(codex, stage.job({ prompt: 'on with the fork', conversation: forked.conversation })).result
      expect(next).toMatchObject({ status: 'completed', answer: 'answer 3' })
    },
    LONG_MS,
  )

  test.each([
    ['that it does not know', { conversation: '01a20f30-f7ac-7d10-b41b-9e3ed4389270' }],
    ['whose id is none', { conversation: '--help' }],
    ['to fork that it does not know', { fork: { conversation: '01a20f30-f7ac-7d10-b41b-9e3ed4389270', at: undefined } }],
  ])(
    'a conversation %s is told as missing, and the model is asked nothing',
    async (_, more) => {
      open(() => [message('no')])
      const result = await stage.run(codex, stage.job(more)).result
      expect(result).toMatchObject({ status: 'failed', conversationMissing: true, error: { code: 'agent_failed' } })
      expect(model.asked).toEqual([])
    },
    LONG_MS,
  )

  const READ_ONLY = { sandbox: 'read-only', approval: 'untrusted' }
  const ON_REQUEST = { sandbox: 'workspace-write', approval: 'on-request' }
  const NEVER = { sandbox: 'workspace-write', approval: 'never' }
  test.each([
    ['plan', READ_ONLY],
    ['default', READ_ONLY],
    ['ask', READ_ONLY],
    ['acceptEdits', ON_REQUEST],
    ['auto', ON_REQUEST],
    ['on-failure', ON_REQUEST],
    ['bypassPermissions', NEVER],
    ['allow-all', NEVER],
  ])(
    'the mode %s reaches its thread settings',
    async (permissionMode, wanted) => {
      open(() => [message('Done.')])
      const task = stage.run(codex, stage.job({ permissionMode }))
      await task.result
      const settings: any = task.told.find(({ event }) => event.content.event === 'turn_context')!.event.content.data
      expect({ sandbox: settings.sandbox_policy.type, approval: settings.approval_policy }).toEqual(wanted)
    },
    LONG_MS,
  )

  test(
    'not signed in: its own words',
    async () => {
      open()
      const refusing = Bun.serve({
        port: 0,
        hostname: '127.0.0.1',
        fetch: () => Response.json({ error: { message: 'Missing bearer authentication.' } }, { status: 401 }),
      })
      writeFileSync(join(stage.home, '.codex/config.toml'), `openai_base_url = "http://127.0.0.1:${refusing.port}/v1"\n`)
      const { status, error } = await stage.run(codex, stage.job()).result
      await refusing.stop(true)
      expect(status).toBe('failed')
      expect(error!.message).toContain('Missing bearer authentication.')
    },
    LONG_MS,
  )

  test(
    'a question to the user ends the task with that call; the next prompt is the answer',
    async () => {
      const questions = [
        {
          id: 'q',
          header: 'H',
          question: 'Which?',
          options: [
            { label: 'A', description: 'a' },
            { label: 'B', description: 'b' },
          ],
        },
      ]
      open(
        () => [call('request_user_input', { questions })],
        () => [message('A it is.')],
      )
      const task = stage.run(codex, stage.job())
      const { status, interruptedBy, conversation } = await task.result
      expect(status).toBe('interrupted')
      const asking = task.told.find(({ key }) => key === interruptedBy)!.event
      expect(asking).toMatchObject({ type: 'tool_call', toolName: 'request_user_input', content: { arguments: { questions } } })
      const next = stage.run(codex, stage.job({ prompt: 'A', conversation }))
      expect(await next.result).toMatchObject({ status: 'completed', answer: 'A it is.' })
      expect(model.asked.at(-1)!.told.includes('Which?')).toBe(true)
    },
    LONG_MS,
  )
})

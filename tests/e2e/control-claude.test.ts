// A prompt goes through the real Claude Code, driven by the runner, and its answer comes back. Claude Code is not among this project's
// packages: npm i @anthropic-ai/claude-code@2.1.330 in $PARLEY_CLIENTS/claude, or these tests are skipped.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { startControlled, type Controlled } from '../support/controlled.ts'
import { claudeIsThere, CLAUDE_FOLDER, SKIPPED } from '../support/real-claude.ts'
import { newSite, type Site } from '../support/runner.ts'
import { startScriptedModel, type Move, type ScriptedModel } from '../support/scripted-model.ts'

if (!claudeIsThere) console.log(SKIPPED)

const LONG_MS = 120_000
const PROGRAM = join(import.meta.dir, '../../public/client.mjs')

describe.skipIf(!claudeIsThere)('Claude Code, driven by a runner', () => {
  let hub: Controlled
  let site: Site
  let model: ScriptedModel
  let moves: ((results: any[], told: string) => Move)[] = []

  beforeAll(async () => {
    hub = await startControlled()
    site = newSite(PROGRAM)
    model = startScriptedModel(
      Array.from({ length: 100 }, () => (results: any[]) => {
        const { told } = model.asked.at(-1)!
        return moves[results.length]?.(results, told) ?? 'Done.'
      }),
    )
    const runner = await site.start(hub, ['--worktree', site.app], {
      PATH: `${CLAUDE_FOLDER}:${process.env.PATH}`,
      ANTHROPIC_BASE_URL: model.url,
      ANTHROPIC_API_KEY: 'sk-ant-not-a-real-key-0123456789',
    })
    expect(runner.output()).toContain('claude-code')
  }, LONG_MS)
  afterAll(async () => {
    await site?.drop()
    await hub?.server.remove()
    await model?.stop()
  }, LONG_MS)

  test(
    'works on a prompt, its trace is in the log, its answer in the feed, and the next prompt goes on in its conversation',
    async () => {
      moves = [
        () => ({ name: 'Bash', input: { command: 'echo hello from the agent > made.txt', description: 'Write a file' } }),
        () => 'I have written the file.',
      ]
      const { session_id, status } = await hub.control('create_session', {
        title: 'A file',
        repo_full_name: 'app',
        branch: 'main',
        permission_mode: 'acceptEdits',
      })
      expect(status).toBe('idle')
      const done = await hub.control('send_prompt', {
        session_id,
        prompt: '--dangerously-skip-permissions: write a file',
        wait_for_completion: true,
        timeout_ms: 60_000,
      })
      expect(done).toMatchObject({ completed: true, status: 'completed', answer: { text: 'I have written the file.' } })
      expect(done.messages.map(({ text }: any) => text)).toEqual([expect.stringContaining('Bash: echo hello'), 'I have written the file.'])
      expect(readFileSync(join(site.app, 'made.txt'), 'utf8')).toBe('hello from the agent\n')
      const log = await hub.feed(session_id)
      expect(log.map(({ type }) => type)).toEqual(
        expect.arrayContaining(['user_input', 'tool_call', 'tool_response', 'assistant_response', 'chat']),
      )
      expect(log.every(({ task_id }) => task_id === done.task_id)).toBe(true)
      expect(JSON.stringify(log)).not.toMatch(/ca_agent_[0-9a-f]{32}|sk-ant/)
      moves = [(_, told) => (told.includes('I have written the file.') ? 'I remember.' : 'I have forgotten.')]
      moves = [...moves, ...moves, ...moves]
      const next = await hub.control('send_prompt', {
        session_id,
        prompt: 'What did you do?',
        wait_for_completion: true,
        timeout_ms: 60_000,
      })
      expect(next).toMatchObject({ completed: true, answer: { text: 'I remember.' } })
    },
    LONG_MS,
  )
})

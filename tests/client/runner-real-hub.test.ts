// The runner with the real server: what the stand-in of the other tests says of the wire is what that one speaks.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { spawn } from 'node:child_process'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { whileBusy } from '../support/cpu.ts'
import { startControlled, type Controlled } from '../support/controlled.ts'
import { runServer } from '../support/server.ts'
import { FULL } from '../support/full.ts'
import { buildRunner, newSite, started, until, type Site } from '../support/runner.ts'

const LONG_MS = 180_000
const TOKEN = 'the-token-of-the-server' // the runner has its key alone
let hub: Controlled
let site: Site
beforeAll(async () => {
  hub = await startControlled({ PERMISSION_WAIT: '2', ACCESS_TOKEN: TOKEN })
  site = newSite(await buildRunner())
  await site.start(hub)
}, LONG_MS)
afterAll(async () => {
  await site?.drop()
  await hub?.server.remove()
}, LONG_MS)
const steps = (...all: object[]) => JSON.stringify(all)
const agent = { agentic_tool: 'scripted', repo_full_name: 'app', permission_mode: 'acceptEdits' }

test(
  'a session with a branch of its own gets a worktree, its prompts run there, an interrupt ends one, and the server may be killed meanwhile',
  async () => {
    const { session_id } = await hub.control('create_session', { title: 'A branch', ...agent, branch: 'feature/one' })
    const send = (prompt: string, more: object = { wait_for_completion: true, timeout_ms: 30_000 }) =>
      hub.control('send_prompt', { session_id, prompt, ...more })
    const done = await send(steps({ say: 'Working.' }, { sync: 'echo 1 > made.txt' }))
    expect(done).toMatchObject({ completed: true, status: 'completed', answer: { text: 'Done.' } })
    const made = site.path('.parley-worktrees', `app-feature-one-${session_id.replaceAll('-', '').slice(0, 8)}`)
    expect(existsSync(join(made, 'made.txt'))).toBe(true)
    const { task } = await hub.control('get_task', { task_id: done.task_id })
    expect(task).toMatchObject({ changes: { files: 1, added: 1, removed: 0 } })
    expect((await hub.control('get_session', { session_id })).session.git_state).toMatchObject({ branch: 'feature/one', dirty: true })

    const { task_id } = await send(steps({ say: 'Before.' }, { sleep: 500 }, { many: 300 }), {})
    await until(async () => (await hub.feed(session_id)).some(({ content }) => content.text === 'Before.'))
    await hub.server.kill()
    await Bun.sleep(1_000)
    await hub.server.restart()
    await until(async () => (await hub.control('get_task', { task_id })).task.status === 'completed', 60_000)
    const told = (await hub.feed(session_id)).filter((event) => event.task_id === task_id && event.type === 'assistant_response')
    expect(told.map(({ content }) => content.text)).toEqual(['Before.', ...Array.from({ length: 300 }, (_, i) => `line ${i}`)])

    const endless = await send(steps({ say: 'On and on.' }, { deaf: 1 }), {})
    await until(async () => (await hub.feed(session_id)).some(({ content }) => content.text === 'On and on.'))
    expect(await hub.control('interrupt_session', { session_id })).toEqual({ interrupted: true })
    await until(async () => (await hub.control('get_task', { task_id: endless.task_id })).task.status === 'interrupted')
  },
  LONG_MS,
)

test(
  'an agent whose session is purged is ended within five seconds, although it prints nothing, and the runner goes on',
  async () => {
    const { session_id } = await hub.control('create_session', { title: 'Purged', ...agent, branch: 'main' })
    await hub.control('send_prompt', { session_id, prompt: steps({ say: 'On and on.' }, { deaf: 1 }) })
    await until(async () => (await hub.feed(session_id)).some(({ content }) => content.text === 'On and on.'))
    const pid = Number(readFileSync(site.path('starts'), 'utf8').trim().split('\n').at(-1))
    const runs = () => existsSync(`/proc/${pid}`)
    expect(runs()).toBe(true)
    const { output } = await runServer(['purge', session_id, '--yes'], { DATA_DIR: hub.server.folder })
    expect(output).toContain('Purged 1 session')
    await until(() => !runs(), whileBusy(5_000))
    const next = await hub.control('create_session', { title: 'Next', ...agent, branch: 'main' })
    const sent = { session_id: next.session_id, prompt: steps({ say: 'Here.' }), wait_for_completion: true, timeout_ms: 30_000 }
    expect(await hub.control('send_prompt', sent)).toMatchObject({ status: 'completed' })
  },
  LONG_MS,
)

test.skipIf(!FULL)(
  'what an agent asks is a question in the log, and denied where no person answers',
  async () => {
    const { session_id } = await hub.control('create_session', { title: 'Asked', ...agent, branch: 'main' })
    const prompt = steps({ say: 'May I?' }, { ask: 'Write a.txt?' })
    const done = await hub.control('send_prompt', { session_id, prompt, wait_for_completion: true, timeout_ms: 30_000 })
    expect(done).toMatchObject({ completed: true, status: 'completed' })
    const log = await hub.feed(session_id)
    expect(log.find(({ event }) => event === 'permission_asked')).toMatchObject({ tool_name: 'Write', text: 'Write a.txt?' })
    expect(log.filter(({ type }) => type === 'assistant_response').map(({ content }) => content.text)).toEqual([
      'May I?',
      expect.stringContaining('"allow":false,"message":"No person answered in time.'),
    ])
  },
  LONG_MS,
)

test(
  'in a checkout, without hub and key, it works for the server that has DATA_DIR open, with a key that is made once',
  async () => {
    const start = async (says = (_: string) => {}) => {
      const words = [join(import.meta.dir, '../../src/server.ts'), 'runner', '--worktree', site.app, '--name', 'checkout']
      const env = { PATH: process.env.PATH!, HOME: site.path('home'), DATA_DIR: hub.server.folder, ACCESS_TOKEN: TOKEN }
      const runner = started(spawn(process.execPath, words, { cwd: site.folder, env }))
      await until(() => runner.output().includes('Registered as checkout') || runner.child.exitCode !== null, 30_000)
      expect(runner.output()).toContain(`Everybody who signs in at ${hub.url}`)
      expect(runner.output()).not.toMatch(/ca_run_/)
      says(runner.output())
      runner.child.kill('SIGTERM')
      expect(await runner.ended).toBe(0)
      return readFileSync(file, 'utf8')
    }
    const file = join(hub.server.folder, 'runner-keys.json')
    writeFileSync(file, JSON.stringify({ 'the former host': 'its key' }))
    const first = await start((output) => expect(output).toContain('--name "the former host"'))
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(await start((output) => expect(output).not.toContain('the former host'))).toBe(first)
    writeFileSync(file, JSON.stringify({ checkout: `ca_run_${'0'.repeat(32)}` }))
    await start().catch(() => {}) // until its lease is over, the name is still that of the key before
    expect(readFileSync(file, 'utf8')).not.toContain('0'.repeat(32))
  },
  LONG_MS,
)

test(
  'in a checkout whose server has a Postgres, it says what it needs to be told, and not that no server runs',
  async () => {
    const { code, output } = await runServer(['runner'], { DATABASE_URL: 'postgres://127.0.0.1:1/parley' })
    expect([code, output]).toEqual([1, expect.stringMatching(/is a Postgres.*--hub LINK.*bun run key run NAME/)])
    expect(output).not.toContain('Start it')
  },
  LONG_MS,
)

import { expect, test } from 'bun:test'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { git, until } from '../support/runner.ts'
import type { HubTask, RunnerHub } from '../support/runner-hub.ts'
import { LONG_MS, steps, withRunners } from '../support/runner-scene.ts'
import { FULL, shortOf } from '../support/full.ts'
import { whileBusy } from '../support/cpu.ts'

const { scene, running } = withRunners()
const texts = (task: { events: { content: any }[] }) => task.events.map(({ content }) => content.text)

test(
  'a prompt goes through the CLI, and the hub is told what it prints, its answer, and what has changed',
  async () => {
    const { hub, site } = await scene()
    git(site.app, 'remote', 'add', 'origin', 'git@example.org:acme/app.git')
    writeFileSync(join(site.app, 'dirty.txt'), 'was here\n')
    const runner = await site.start(hub)
    const head = git(site.app, 'rev-parse', 'HEAD')
    expect(hub.registered).toMatchObject({
      agents: [{ agentic_tool: 'scripted', version: '1.2.3' }],
      worktrees: [{ path: site.app, repo_full_name: 'acme/app', branch: 'main', head, dirty: true, changed_files: 1 }],
      allow_bypass: false,
      across: false,
      parallel: 4,
    })
    expect(runner.output()).toContain(`Everybody who signs in at ${hub.url}, or holds a full key, can run code here as`)
    expect(runner.output()).toContain('everybody who signs in there')
    const task = hub.prompt(
      site.app,
      steps(
        { say: 'Looking.' },
        { sync: 'printf "1\\n2\\n3\\n" > new.txt; echo three >> readme.txt; git commit -qam More' },
        { say: 'There.' },
      ),
    )
    await until(() => task.finished)
    expect(texts(task)).toEqual(['Looking.', 'There.'])
    expect(task.events[0]).toMatchObject({ type: 'assistant_response' })
    expect(task.finished).toEqual({
      runner_id: task.finished.runner_id,
      task_id: task.task_id,
      status: 'completed',
      answer: 'Done.',
      conversation: 'c-1',
      head: git(site.app, 'rev-parse', 'HEAD'),
      branch: 'main',
      changes: { files: 2, added: 4, removed: 0 },
    })
    const usage = { input_tokens: null, output_tokens: null, cost_usd: 0.25 }
    const used = steps({ raw: `${JSON.stringify({ result: { status: 'completed', usage } })}\n` }, { exit: 0 })
    const newer = hub.prompt(site.app, used, { finish_takes: ['changed_files', 'unknown_tokens', 'more'] })
    await until(() => newer.finished)
    expect(newer.finished).toMatchObject({ changed_files: 2, usage }) // an earlier hub refuses what it does not know
    await until(() => runner.output().includes('completed after'))
    expect(runner.output()).not.toContain(hub.key)
  },
  LONG_MS,
)

test(
  'where git does not tell what has changed, neither a result nor the next registration says that nothing has',
  async () => {
    const { hub, site } = await scene()
    const runner = await site.start(hub)
    expect(hub.registered.worktrees).toMatchObject([{ dirty: false, changed_files: 0 }])
    const cut = steps({ sync: 'echo 1 > new.txt; printf x > .git/index' }) // as where git is killed while it writes
    const task = hub.prompt(site.app, cut, { finish_takes: ['changed_files'] })
    await until(() => task.finished)
    expect(task.finished).toMatchObject({ status: 'completed', branch: 'main', head: expect.stringMatching(/^[0-9a-f]{40}$/) })
    expect(task.finished).not.toHaveProperty('changed_files')
    runner.child.kill('SIGTERM')
    await runner.ended
    const next = await site.start(hub)
    expect(hub.registered.worktrees).toMatchObject([{ path: site.app, branch: 'main', dirty: true, changed_files: null }])
    expect(next.output()).toMatch(/worktree  .*  not known what has changed\n/)
  },
  LONG_MS,
)

test(
  'a printed line is with the hub within 100 ms',
  async () => {
    const { hub, site } = await running()
    const waits: number[] = []
    for (let tries = 0; tries < 5 && !waits.some((ms) => ms < 100); tries++) {
      const task = hub.prompt(
        site.app,
        steps({ sync: 'true' }, { sync: `date +%s%3N > ${site.path('printed')}` }, { say: 'Now.' }, { sleep: 300 }),
      )
      await until(() => task.finished)
      waits.push(task.events[0]!.at - Number(await Bun.file(site.path('printed')).text()))
    }
    expect(Math.min(...waits)).toBeLessThan(whileBusy(100))
  },
  LONG_MS,
)

test.skipIf(!FULL)(
  'while the hub is away, what is printed is kept in order, and told once when it is back',
  async () => {
    const { hub, site } = await scene()
    const runner = await site.start(hub)
    const task = hub.prompt(site.app, steps({ say: 'before' }, { sleep: 700 }, { many: 1_000 }, { say: 'after' }))
    await until(() => task.events.length === 1)
    await hub.away()
    await Bun.sleep(3_000)
    expect(site.starts()).toBe(1)
    hub.back()
    await until(() => task.finished)
    expect(texts(task)).toEqual(['before', ...Array.from({ length: 1_000 }, (_, i) => `line ${i}`), 'after'])
    expect(runner.output().match(/does not answer/g)).toHaveLength(1)
    expect(runner.output()).toContain('answers again')
    const next = hub.prompt(site.app, 'And on')
    await until(() => next.finished)
  },
  LONG_MS,
)

test(
  'a task whose handing out was lost on the way runs once',
  async () => {
    const { hub, site } = await running()
    const before = site.starts()
    hub.loseNextTake()
    const task = hub.prompt(site.app, 'Once')
    await until(() => task.finished)
    expect(task.handedOut).toBeGreaterThan(1)
    expect(site.starts() - before).toBe(1)
    expect(texts(task)).toEqual(['Once'])
  },
  LONG_MS,
)

test(
  'a task that is handed out once more, while it runs or after its end, is not run again',
  async () => {
    const { hub, site } = await running()
    const before = site.starts()
    const task = hub.prompt(site.app, steps({ say: 'once' }, { sleep: 500 }))
    await until(() => task.events.length > 0)
    await hub.again(task)
    await until(() => task.finished)
    await hub.again(task)
    const next = hub.prompt(site.app, 'Next')
    await until(() => next.finished)
    expect([task.handedOut >= 3, site.starts() - before]).toEqual([true, 2])
  },
  LONG_MS,
)

test.skipIf(!FULL)(
  'two tasks run at the same time, an idle runner asks twice a minute, and the parallel of the call is told',
  async () => {
    const { hub, site } = await scene()
    await site.start(hub, ['--worktree', site.app, '--parallel', '2', '--name', 'desk', '--across', '--allow-bypass'])
    expect(hub.registered).toMatchObject({ name: 'desk', parallel: 2, across: true, allow_bypass: true })
    const [here, there] = [site.path('one'), site.path('two')]
    const [one, two] = [here, there].map((own) => {
      const bothRun = `touch ${own}; until [ -e ${here} ] && [ -e ${there} ]; do sleep 0.05; done`
      return hub.prompt(site.app, steps({ sync: bothRun }, { say: 'x' }), { permission_mode: 'bypassPermissions' })
    })
    await until(() => one!.finished && two!.finished)
    expect(site.starts()).toBe(2)
    const from = hub.calls.length
    await Bun.sleep(5_000)
    expect(hub.calls.length - from).toBeLessThanOrEqual(1)
  },
  LONG_MS,
)

test(
  'what the CLI asks reaches the hub, with the answer of a person coming back',
  async () => {
    const { hub, site } = await running()
    const task = hub.prompt(site.app, steps({ say: 'first' }, { ask: 'Write a.txt?' }, { ask: 'And b.txt?' }))
    await until(() => task.asked.length > 2) // held answers without a decision
    expect(task.events).toHaveLength(1)
    expect(task.asked[0]).toMatchObject({ tool_name: 'Write', text: 'Write a.txt?', input: { file_path: 'a.txt' } })
    expect(new Set(task.asked.map(({ request_id }) => request_id)).size).toBe(1)
    hub.decisions.push({ allow: true }, { allow: false, message: 'Not that one.' })
    await until(() => task.finished)
    expect(texts(task)).toEqual(['first', '{"allow":true}', '{"allow":false,"message":"Not that one."}'])
    expect(new Set(task.asked.map(({ request_id }) => request_id)).size).toBe(2)
  },
  LONG_MS,
)

test(
  'a call is asked about whole, as long as a script that a person is to read',
  async () => {
    const { hub, site } = await running()
    const input = { command: `${'echo a\n'.repeat(1_500)}rm -rf x` }
    hub.decisions.push({ allow: false })
    const task = hub.prompt(site.app, steps({ ask: { text: 'A script.', input } }))
    await until(() => task.finished)
    expect(task.asked[0].input).toEqual(input)
  },
  LONG_MS,
)

test(
  'where the CLI cannot go on with its conversation, a digest stands before the prompt and the log says so; without one the task fails',
  async () => {
    const { hub, site } = await running()
    const prompt = steps({ fresh: 1 }, { say: 'Not with this.' })
    const told = hub.prompt(site.app, prompt, { conversation: 'c-0', digest: 'What was before.' })
    const untold = hub.prompt(site.app, prompt, { conversation: 'c-0' })
    await until(() => told.finished && untold.finished)
    expect(told.events.map(({ type, content }) => [type, content.event ?? content.text])).toEqual([
      ['runtime', 'digest_used'],
      ['assistant_response', `What was before.\n\n${prompt}`],
    ])
    expect(told.finished.status).toBe('completed')
    expect(untold.finished).toMatchObject({ status: 'failed', error: { message: 'No such conversation.' } })
    expect(untold.events).toEqual([])
  },
  LONG_MS,
)

test(
  'an agent that has no conversation, though something came before, begins with the digest, and the log says so',
  async () => {
    const { hub, site } = await running()
    const lost = hub.prompt(site.app, 'Go on.', { digest: 'Build X.' })
    const first = hub.prompt(site.app, 'Begin.', { digest: null })
    const forked = hub.prompt(site.app, 'Otherwise.', { digest: 'Not this.', fork: { conversation: 'c-0', conversation_at: null } })
    await until(() => lost.finished && first.finished && forked.finished)
    const log = ({ events }: typeof lost) => events.map(({ type, content }) => [type, content.event ?? content.text])
    expect(log(lost)).toEqual([
      ['runtime', 'digest_used'],
      ['assistant_response', 'Build X.\n\nGo on.'],
    ])
    expect([log(first), log(forked)]).toEqual([[['assistant_response', 'Begin.']], [['assistant_response', 'Otherwise.']]])
  },
  LONG_MS,
)

for (const how of shortOf(['silent', 'interrupted', 'refused'] as const, 1))
  test(
    `the next task of a session begins once the CLI of the one before has ended, which the hub has given up (${how})`,
    async () => {
      const { hub, site } = await scene()
      await site.start(hub)
      const session_id = crypto.randomUUID()
      const goesOn = how === 'refused' ? [{ sleep: 300 }, { say: 'not mine' }] : []
      const lost = hub.prompt(site.app, steps({ say: 'mine' }, ...goesOn, { deaf: 1 }), { session_id })
      await until(() => lost.events.length === 1)
      hub.lose(lost)
      if (how === 'interrupted') hub.interrupt(lost)
      const both = site.path('both')
      const next = hub.prompt(site.app, steps({ sync: `kill -0 $(head -n 1 ${site.path('starts')}) && touch ${both}` }, { say: 'alone' }), {
        session_id,
      })
      await until(() => next.finished)
      expect([texts(next), existsSync(both)]).toEqual([['alone'], false])
    },
    LONG_MS,
  )

test(
  'an agent begins on the branch that its session was created for, or not at all: the hub hears what to do, and which branch is there',
  async () => {
    const { hub, site } = await scene()
    await site.start(hub)
    git(site.app, 'switch', '-q', '-c', 'wip')
    const [wrong, right, any] = ['main', 'wip', null].map((branch) => hub.prompt(site.app, 'Go', { branch })) as [HubTask, HubTask, HubTask]
    await until(() => wrong.finished && right.finished && any.finished)
    expect(wrong.finished).toMatchObject({ status: 'failed', branch: 'wip', head: git(site.app, 'rev-parse', 'HEAD') })
    expect(wrong.finished.error.message).toContain('has the branch "wip" checked out by now, and this session was created for "main"')
    expect([right.finished.status, any.finished.status, site.prompts()]).toEqual(['completed', 'completed', ['Go', 'Go']])
  },
  LONG_MS,
)

test(
  'a lost lease ends the CLI and tells nothing more; the runner goes on',
  async () => {
    const { hub, site, runner } = await running()
    const task = hub.prompt(site.app, steps({ say: 'mine' }, { sleep: 400 }, { say: 'not mine' }, { deaf: 1 }))
    await until(() => task.events.length === 1)
    hub.lose(task)
    await until(() => runner.output().includes('no longer ours'))
    expect(texts(task)).toEqual(['mine'])
    expect(hub.calls.some(({ call, body }) => call === 'finish' && body.task_id === task.task_id)).toBe(false)
    const next = hub.prompt(site.app, 'Still here?')
    await until(() => next.finished)
    expect(next.finished.status).toBe('completed')
  },
  LONG_MS,
)

test(
  'a hub that knows the runner no more is told of it again',
  async () => {
    const { hub, site } = await running()
    const registered = () => hub.calls.filter(({ call }) => call === 'register').length
    const before = registered()
    hub.forget()
    await until(() => registered() === before + 1)
    const task = hub.prompt(site.app, 'Again')
    await until(() => task.finished)
  },
  LONG_MS,
)

const ENDS = [
  ['a revoked key', (hub: RunnerHub) => hub.revoke(), 'This key was revoked.'],
  ['another runner in its place', (hub: RunnerHub) => hub.takePlace(), 'Another runner of this name has registered.'],
] as const

for (const [what, act, said] of shortOf(ENDS, 1))
  test(
    `${what} ends the CLIs and the runner, with a sentence`,
    async () => {
      const { hub, site } = await scene()
      const runner = await site.start(hub)
      const task = hub.prompt(site.app, steps({ say: 'mine' }, { deaf: 1 }))
      await until(() => task.events.length === 1)
      act(hub)
      expect(await runner.ended).toBe(1)
      expect(runner.output()).toContain(said)
      expect(task.finished).toBeUndefined()
    },
    LONG_MS,
  )

test(
  'no key reaches the log, and the CLI sees none of ours',
  async () => {
    const { hub, site } = await scene()
    const secrets = { MODEL_API_KEY: 'sk-model-0123456789', Db_Password: 'pass"word\\with\nlines', SHORT_KEY: 'short', PARLEY_OTHER: 'x' }
    const headers = { Authorization: 'Bearer sk-header-0123456789' }
    writeFileSync(site.path('mcp.json'), JSON.stringify({ mcpServers: { tickets: { url: 'http://127.0.0.1:1', headers } } }))
    const words = ['--worktree', site.app, '--mcp-config', site.path('mcp.json')]
    await site.start(hub, words, { ...secrets, COPY_OF_IT: hub.key, PUBLIC: 'told' })
    const raw = `${secrets.MODEL_API_KEY} in plain, ${headers.Authorization} and sk-header-0123456789 alone\n`
    const task = hub.prompt(site.app, steps({ env: 1 }, { raw }, { input: 1 }))
    await until(() => task.finished)
    const all = JSON.stringify([task.events, task.finished])
    expect(all).toContain('[MODEL_API_KEY] in plain, [Authorization] and [Authorization] alone')
    expect(all).not.toContain('sk-model')
    expect(all).not.toContain('with\\\\nlines')
    expect(all).not.toMatch(/ca_(run|agent)_[0-9a-f]{9}/)
    const seen = JSON.parse(texts(task)[0])
    expect(seen).toMatchObject({ MODEL_API_KEY: '[MODEL_API_KEY]', SHORT_KEY: 'short', PUBLIC: 'told' })
    expect(Object.keys(seen).filter((name) => name.startsWith('PARLEY') || name === 'COPY_OF_IT')).toEqual([])
  },
  LONG_MS,
)

test(
  'an event that the hub does not take leaves a line in its place, and the others arrive',
  async () => {
    const { hub, site } = await running()
    const task = hub.prompt(site.app, steps({ many: 50 }, { say: 'not taken' }, { many: 50 }))
    await until(() => task.finished)
    expect(task.events).toHaveLength(101)
    expect(task.events.filter(({ type }) => type === 'runtime')).toMatchObject([{ content: { event: 'not_taken' } }])
  },
  LONG_MS,
)

test(
  'a result of which the hub refuses a part ends its task without that part; one that it refuses whole ends with an interrupt',
  async () => {
    const { hub, site } = await scene()
    const runner = await site.start(hub)
    const partly = hub.prompt(site.app, steps({ say: 'x' }))
    const whole = hub.prompt(site.app, steps({ say: 'x' }))
    hub.refuseResults((result) => 'branch' in result || (result.task_id === whole.task_id && result.status === 'completed'))
    await until(() => partly.finished)
    expect(partly.finished).toEqual({ runner_id: partly.finished.runner_id, task_id: partly.task_id, status: 'completed', answer: 'Done.' })
    await until(() => hub.calls.filter(({ call, body }) => call === 'finish' && body.task_id === whole.task_id).length === 4)
    const next = hub.prompt(site.app, 'Next', { permission_mode: 'plan' })
    await until(() => next.finished)
    expect(whole.finished).toBeUndefined()
    hub.interrupt(whole)
    await until(() => whole.finished)
    expect(whole.finished).toMatchObject({
      status: 'failed',
      error: { code: 'agent_failed', message: expect.stringContaining('had ended') },
    })
    expect(runner.output()).toContain('the hub did not take the result')
  },
  LONG_MS,
)

test(
  '5,000 events arrive in order, each once',
  async () => {
    const { hub, site } = await running()
    const task = hub.prompt(site.app, steps({ many: 5_000 }))
    await until(() => task.finished, 30_000)
    expect(texts(task)).toEqual(Array.from({ length: 5_000 }, (_, i) => `line ${i}`))
  },
  LONG_MS,
)

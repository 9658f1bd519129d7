import { expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { git, processesWith, until } from '../support/runner.ts'
import { FULL } from '../support/full.ts'
import { LONG_MS, steps, withRunners } from '../support/runner-scene.ts'

const { scene, running } = withRunners()

test(
  'a prompt reaches the agent as it is, and stands in no argument vector',
  async () => {
    const { hub, site } = await running()
    const never = site.path('never')
    for (const prompt of [
      '--dangerously-skip-permissions',
      '-p',
      `$(touch ${never})`,
      `\`touch ${never}\``,
      `a\n; touch ${never}\n`,
      '"; x',
      '\u0000',
    ]) {
      const task = hub.prompt(site.app, prompt)
      await until(() => task.finished)
      expect(task.events[0]!.content.text).toBe(prompt.replaceAll('\0', '\uFFFD'))
    }
    const marker = 'a-word-that-stands-in-this-prompt-alone'
    const seen = hub.prompt(site.app, steps({ input: marker }, { sleep: 400 }))
    await until(() => seen.events.length > 0)
    expect(JSON.parse(seen.events[0]!.content.text)).toMatchObject({ start: { prompt: expect.stringContaining(marker) }, words: [] })
    expect(processesWith(marker)).toEqual([])
    await until(() => seen.finished)
    expect(existsSync(never)).toBe(false)
  },
  LONG_MS,
)

test(
  'a path that no worktree has, or that leads out of one by a link, starts nothing and is told in a sentence',
  async () => {
    const { hub, site } = await scene()
    await site.start(hub)
    mkdirSync(join(site.app, 'below'))
    symlinkSync('/', join(site.app, 'out'))
    mkdirSync(`${site.app}-beside`)
    for (const path of [
      '/',
      '/etc',
      join(site.app, '..'),
      join(site.app, 'out'),
      join(site.app, 'out/etc'),
      `${site.app}-beside`,
      'app',
      '',
      '../x',
      `${site.app}\0`,
      join(site.app, 'none'),
      null,
      7,
    ]) {
      const task = hub.prompt(path as string, 'Go')
      await until(() => task.finished)
      expect(task.finished).toMatchObject({
        status: 'failed',
        error: { code: 'agent_failed', message: expect.stringContaining('is no worktree of this runner') },
      })
    }
    expect(site.starts()).toBe(0)
    const fine = hub.prompt(join(site.app, 'below'), steps({ input: 1 }))
    await until(() => fine.finished)
    expect(JSON.parse(fine.events[0]!.content.text).start.folder).toBe(join(site.app, 'below'))
    hub.wantWorktree({ session_id: crypto.randomUUID(), repo_full_name: 'app', branch: 'pruned' })
    await until(() => hub.made.length === 1)
    const [{ path: made }] = hub.made
    git(site.app, 'worktree', 'remove', made)
    const toldOf = async (path: string) => {
      const task = hub.prompt(path, 'Go')
      await until(() => task.finished)
      return task.finished.error
    }
    expect(await toldOf(made)).toEqual({ code: 'worktree_gone', message: expect.stringContaining('was removed') })
    rmSync(site.app, { recursive: true })
    for (const path of [site.app, made])
      // whose disk may be away
      expect(await toldOf(path)).toEqual({ code: 'agent_failed', message: expect.stringContaining('not there any more') })
  },
  LONG_MS,
)

test(
  'context files that lead out are left out, with a sentence in the log',
  async () => {
    const { hub, site } = await running()
    symlinkSync('/etc/passwd', join(site.app, 'link'))
    symlinkSync('/etc', join(site.app, 'folder'))
    writeFileSync(site.path('x'), 'outside')
    const wrong = ['/etc/passwd', '../x', 'a/../../x', 'link', 'folder/passwd', 'none.txt', '', 'a\0b']
    const task = hub.prompt(site.app, steps({ input: 1 }), { context_files: [...wrong, 'readme.txt', './readme.txt'] })
    await until(() => task.finished)
    const sentences = task.events.filter(({ content }) => content.event === 'left_out').map(({ content }) => content.text)
    expect(sentences).toHaveLength(wrong.length)
    expect(sentences[0]).toBe('The context file "/etc/passwd" is no path within the worktree; it was left out.')
    expect(sentences[3]).toContain('leads out of the worktree')
    const started = task.events.find(({ type }) => type === 'assistant_response')!
    expect(JSON.parse(started.content.text).start.contextFiles).toEqual(['readme.txt', 'readme.txt'])
  },
  LONG_MS,
)

const STARTS_NOTHING = [
  [
    'a mode that the runner does not allow',
    { permission_mode: 'bypassPermissions' },
    { code: 'not_allowed', message: expect.stringContaining('--allow-bypass') },
  ],
  ['allow-all', { permission_mode: 'allow-all' }, { code: 'not_allowed', message: expect.stringContaining('allow-all') }],
  [
    'an agent that is not here',
    { agentic_tool: '../bin/sh' },
    { code: 'agent_failed', message: expect.stringContaining('knows no agent') },
  ],
  [
    'a conversation that is an option',
    { conversation: '--settings=/tmp/x' },
    { code: 'agent_failed', message: expect.stringContaining('no id of a conversation') },
  ],
  [
    'a fork at an option',
    { fork: { conversation: 'c-1', conversation_at: '-x' } },
    { code: 'agent_failed', message: expect.stringContaining('no id') },
  ],
  ['a link that is none', { mcp_url: 'file:///etc/passwd' }, { code: 'agent_failed', message: expect.stringContaining('no address') }],
] as const

test(
  'what the runner does not allow, does not know or could take for an option starts nothing',
  async () => {
    const { hub, site } = await running()
    const before = site.starts()
    for (const [what, more, error] of STARTS_NOTHING) {
      const task = hub.prompt(site.app, 'Go', more)
      await until(() => task.finished)
      expect([what, task.finished]).toMatchObject([what, { status: 'failed', error }])
    }
    expect(site.starts()).toBe(before)
    const next = hub.prompt(site.app, 'Next', { permission_mode: 'acceptEdits' })
    await until(() => next.finished?.status === 'completed')
  },
  LONG_MS,
)

test(
  'a line of 10 MiB, and a text beyond all limits, end as texts with a mark',
  async () => {
    const { hub, site } = await running()
    const task = hub.prompt(site.app, steps({ big: 10 * 1024 * 1024 }, { say: 'after' }))
    await until(() => task.finished, 30_000)
    expect(task.events).toHaveLength(2)
    expect(task.events[0]!.content.text).toContain('[… cut')
    expect(task.events[1]!.content.text).toBe('after')
  },
  LONG_MS,
)

test(
  'a worktree whose folder has blanks, quotes and a leading dash works as any other',
  async () => {
    const { hub, site } = await scene(undefined, `-it's "one" $(x)`)
    await site.start(hub)
    expect(hub.registered.worktrees).toMatchObject([{ path: site.app, repo_full_name: `-it's "one" $(x)`, branch: 'main' }])
    const task = hub.prompt(site.app, steps({ sync: 'echo 1 > new.txt' }))
    await until(() => task.finished)
    expect(task.finished).toMatchObject({ status: 'completed', changes: { files: 1, added: 1, removed: 0 } })
    hub.wantWorktree({ session_id: crypto.randomUUID(), repo_full_name: `-it's "one" $(x)`, branch: 'next' })
    await until(() => hub.made.length === 1)
    expect(hub.made[0]).toMatchObject({ branch: 'next' })
  },
  LONG_MS,
)

test.skipIf(!FULL)(
  'branches that git does not allow, or that would be options, make nothing',
  async () => {
    const { hub, site } = await scene()
    await site.start(hub)
    const before = git(site.app, 'for-each-ref')
    const names = [
      '--upload-pack=touch x',
      '-b',
      'a..b',
      '../x',
      'a b',
      'x'.repeat(300),
      'HEAD',
      '@',
      '@{-1}',
      'a~1',
      'a.lock',
      '',
      'a\nb',
      'a\0b',
      '/a',
      'a//b',
    ]
    const madeFor = async (branch: string) => {
      const session_id = crypto.randomUUID()
      hub.wantWorktree({ session_id, repo_full_name: 'app', branch })
      const own = () => hub.made.find((made) => made.session_id === session_id)
      await until(() => own() !== undefined)
      return own()!
    }
    for (const branch of names)
      expect(await madeFor(branch)).toMatchObject({
        error: { code: 'agent_failed', message: expect.stringContaining('cannot be the name of a branch') },
      })
    expect(git(site.app, 'for-each-ref')).toBe(before)
    expect(readdirSync(site.folder).toSorted()).toEqual(['app', 'bin', 'home'])
    expect((await madeFor('a;b')).path).toStartWith(site.path('.parley-worktrees', 'app-a-b-'))
  },
  LONG_MS,
)

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { newKey } from '../../src/core/ids.ts'
import { buildPublic } from '../support/built.ts'
import { newHome, runHere } from '../support/client.ts'
import { buildRunner, newSite, started, until, type Site } from '../support/runner.ts'
import { startRunnerHub, type RunnerHub } from '../support/runner-hub.ts'

const LONG_MS = 180_000
let hub: RunnerHub
let site: Site
beforeAll(async () => {
  hub = await startRunnerHub({ client: 'https://parley.example/parley-9.9.9-b1.tgz' })
  site = newSite(await buildRunner())
  writeFileSync(site.path('bad.json'), '{ "mcpServers": [] }')
  writeFileSync(site.path('key'), `${hub.key}\n`)
  mkdirSync(site.path('plain'))
}, 180_000)
afterAll(async () => {
  await site.drop()
  await hub.end()
})

const KEY = newKey('run')
// The same hub by an address that is not this machine's alone.
const everywhere = ({ url }: RunnerHub) => url.replace('127.0.0.1', '0.0.0.0')
const WRONG: [what: string, words: string[], code: number, said: string, env?: Record<string, string>][] = [
  ['an option that is unknown', ['--bogus'], 2, '--help'],
  ['a word too many', ['/srv/app'], 2, '--worktree PATH'],
  ['no hub', [], 2, '--hub'],
  ['a URL that is none', ['--url', 'nowhere'], 2, 'needs the address of a Parley'],
  ['another protocol', ['--url', 'ftp://example.org'], 2, 'needs the address of a Parley'],
  ['plain http to another machine', ['--url', 'http://example.org:7423'], 1, 'running, and add --hub http://127.0.0.1:7423. In a network'],
  ['the hub by its MCP link', ['--hub', 'HUB/mcp?toolsets=rooms', '--worktree', 'plain'], 1, 'is no worktree of git'],
  ['no key', ['--url', 'HUB'], 2, 'PARLEY_RUNNER_KEY', { PARLEY_RUNNER_KEY: '' }],
  ['a key of another scope', ['--url', 'HUB'], 1, 'a key of the scope full', { PARLEY_RUNNER_KEY: newKey('full') }],
  ['no key at all', ['--url', 'HUB'], 1, 'is no key', { PARLEY_RUNNER_KEY: 'hello' }],
  ['a key file that is not there', ['--url', 'HUB', '--key-file', 'none'], 1, 'cannot be read'],
  ['a blank name', ['--url', 'HUB', '--name', ' '], 2, '--name'],
  ['a name too long', ['--url', 'HUB', '--name', 'x'.repeat(101)], 2, '--name'],
  ['a name with a line end', ['--url', 'HUB', '--name', 'a\nb'], 2, '--name'],
  ['no whole number', ['--url', 'HUB', '--parallel', '1.5'], 2, '--parallel'],
  ['none at once', ['--url', 'HUB', '--parallel', '0'], 2, '--parallel'],
  ['settings of another form', ['--url', 'HUB', '--mcp-config', 'bad.json'], 1, 'mcpServers'],
  ['settings that are not there', ['--url', 'HUB', '--mcp-config', 'none.json'], 1, 'cannot be read'],
  ['an agent without a command', ['--url', 'HUB', '--agent', 'mine='], 2, 'needs a command'],
  ['an agent without a name', ['--url', 'HUB', '--agent', 'run this'], 2, 'NAME=COMMAND'],
  ['an agent in capitals', ['--url', 'HUB', '--agent', 'Mine=x'], 2, 'NAME=COMMAND'],
  ['a built-in agent', ['--url', 'HUB', '--agent', 'claude-code=x'], 2, 'built in'],
  ['an agent twice', ['--url', 'HUB', '--agent', 'a=x', '--agent', 'a=y'], 2, 'twice'],
  ['a command in broken JSON', ['--url', 'HUB', '--agent', 'a=["x'], 2, 'needs a command'],
  ['a command of numbers', ['--url', 'HUB', '--agent', 'a=[1]'], 2, 'needs a command'],
  ['a folder that is no worktree', ['--url', 'HUB', '--worktree', 'plain'], 1, 'is no worktree of git'],
  ['a folder that is not there', ['--url', 'HUB', '--worktree', 'none'], 1, 'is no worktree of git'],
  ['another program at that address', ['--url', 'HUB/elsewhere', '--worktree', 'app'], 1, 'is not Parley'],
  ['open pages, not on this machine', ['--url', 'EVERYWHERE', '--insecure', '--worktree', 'app'], 1, '--open'],
]

for (const [what, words, code, said, env] of WRONG)
  test(
    `${what}: one sentence, and code ${code}`,
    async () => {
      const given = words.map((word) => word.replace('HUB', hub.url).replace('EVERYWHERE', everywhere(hub)))
      const place = { home: site.path('home'), program: site.path('runner.mjs') }
      const options = { cwd: site.folder, env: { PARLEY_RUNNER_KEY: KEY, ...env } }
      const { code: ended, out, err } = await runHere(place, ['runner', ...given], options)
      expect([ended, err]).toEqual([code, expect.stringContaining(said)])
      expect(err).not.toContain('    at ') // no stack
      expect(out + err).not.toMatch(/ca_\w+_[0-9a-f]{9}/)
    },
    LONG_MS,
  )

test(
  'a runner that starts before its hub, or while a proxy answers for that, waits for it',
  async () => {
    const later = await startRunnerHub()
    await later.away()
    const runner = site.launch({ url: everywhere(later), key: later.key }, ['--worktree', 'app', '--insecure'])
    await until(() => runner.output().includes('The runner starts when it does.') || runner.child.exitCode !== null)
    const page = () => new Response('<h1>Bad Gateway</h1>', { status: 502, headers: { 'content-type': 'text/html' } })
    let asked = 0
    const proxy = Bun.serve({ port: Number(new URL(later.url).port), hostname: '127.0.0.1', fetch: () => (asked++, page()) })
    await until(() => asked > 1 || runner.child.exitCode !== null)
    await proxy.stop(true)
    later.back()
    await until(() => runner.output().includes('Registered as') || runner.child.exitCode !== null)
    expect(runner.output()).toContain('Registered as')
    expect(runner.output().match(/does not answer/g)).toHaveLength(1)
    runner.child.kill('SIGTERM')
    expect(await runner.ended).toBe(0)
    await later.end()
  },
  LONG_MS,
)

test(
  'a key file that others can read is refused, and one that only its owner can read is taken',
  async () => {
    for (const mode of [0o644, 0o640, 0o604]) {
      chmodSync(site.path('key'), mode)
      const { code, err } = await site.run(['runner', '--url', hub.url, '--worktree', 'app', '--key-file', 'key'])
      expect([code, err]).toEqual([1, expect.stringContaining('chmod 600')])
    }
    chmodSync(site.path('key'), 0o600)
    const runner = await site.start(hub, ['--worktree', 'app', '--key-file', 'key'], { PARLEY_RUNNER_KEY: '' })
    expect(runner.output()).toMatch(/^Registered as \S+\. /m)
    expect(runner.output()).toContain(` Open ${hub.url}/worktrees and choose "New session here". Ctrl-C stops it.\n`)
    runner.child.kill('SIGTERM')
    expect(await runner.ended).toBe(0)
  },
  LONG_MS,
)

test(
  '--key works, with a warning; a revoked key ends the start',
  async () => {
    const runner = await site.start(hub, ['--worktree', 'app', '--key', hub.key], { PARLEY_RUNNER_KEY: '' })
    expect(runner.output()).toContain('Everybody on this machine can see a key')
    runner.child.kill('SIGTERM')
    await runner.ended
    const refused = await site.start(hub, ['--worktree', 'app', '--key', KEY])
    expect(await refused.ended).toBe(1)
    expect(refused.output()).toContain("does not take this runner's key")
  },
  LONG_MS,
)

test(
  'the current folder is the worktree, missing agents are named with how to get them, and an added one works',
  async () => {
    writeFileSync(site.path('mcp.json'), JSON.stringify({ mcpServers: { notes: { command: 'notes' } } }))
    const mine = `mine=${JSON.stringify([site.path('bin', 'scripted-agent'), '--as', 'my own'])}`
    const runner = await site.start(hub, [
      '--worktree',
      'app',
      '--agent',
      mine,
      '--agent',
      'other=no-such-program --x',
      '--mcp-config',
      'mcp.json',
    ])
    expect(hub.registered).toMatchObject({
      agents: [{ agentic_tool: 'scripted' }, { agentic_tool: 'mine', version: '1.2.3' }],
      mcp_servers: ['notes'],
    })
    expect(runner.output()).toContain('missing  other: put tests/support')
    expect(runner.output()).toContain(
      'old    scripted: older than 1.2.4, the oldest that this was tested with; it may fail: put tests/support',
    )
    const task = hub.prompt(site.app, JSON.stringify([{ input: 1 }]), { agentic_tool: 'mine', mcp_servers: ['notes', 'none'] })
    await until(() => task.finished)
    const { words, start } = JSON.parse(task.events.at(-1)!.content.text)
    expect([words, start.mcpServers]).toEqual([['--as', 'my own'], { notes: { command: 'notes' } }])
    expect(task.events[0]!.content.text).toBe('This runner has no MCP server "none"; it was left out.')
    runner.child.kill('SIGTERM')
    await runner.ended
  },
  LONG_MS,
)

test(
  'a version is asked once, and again when the program has changed',
  async () => {
    const asked = () => readFileSync(site.path('asked'), 'utf8').split('\n').filter(Boolean).length
    const again = async () => {
      const runner = await site.start(hub, ['--worktree', 'app'], { VERSION_ASKED: site.path('asked') })
      runner.child.kill('SIGTERM')
      await runner.ended
      return asked()
    }
    writeFileSync(site.path('asked'), '')
    writeFileSync(site.path('bin', 'scripted-agent'), readFileSync(site.path('bin', 'scripted-agent')))
    expect([await again(), await again()]).toEqual([1, 1])
    writeFileSync(site.path('bin', 'scripted-agent'), readFileSync(site.path('bin', 'scripted-agent')))
    expect(await again()).toBe(2)
  },
  LONG_MS,
)

test(
  'the program that hubs serve has the command, and knows the hub that it came from',
  async () => {
    buildPublic()
    const home = newHome(`${hub.url}/mcp`)
    try {
      expect((await home.run(['--help'])).out).toContain('parley runner')
      expect(await home.run(['runner', '--help'])).toMatchObject({ code: 0, out: expect.stringContaining('--allow-bypass') })
      expect((await home.run(['runner', '--help'])).out).toContain('files that git ignores go without it') // node_modules would keep every worktree
      const env = { PARLEY_RUNNER_KEY: KEY }
      expect(await home.run(['runner'], { env })).toMatchObject({ code: 1, err: expect.stringContaining('is no worktree of git') })
      const refused = await home.run(['runner'], { env, cwd: site.app })
      expect(refused).toMatchObject({ code: 1, err: expect.stringContaining("does not take this runner's key") })
      expect(refused.out).toContain(`Everybody who signs in at ${hub.url}`)
      expect(refused.out).toContain(
        'another version of this program. To update: npx -y https://parley.example/parley-9.9.9-b1.tgz runner …',
      )
    } finally {
      home.drop()
    }
  },
  LONG_MS,
)

test(
  'whoever read its output has gone: it goes on, and is ended in good order',
  async () => {
    buildPublic()
    const home = newHome(`${hub.url}/mcp`)
    try {
      const child = home.start(['runner'], { env: { PARLEY_RUNNER_KEY: hub.key }, cwd: site.app })
      const runner = started(child)
      await until(() => runner.output().includes('Registered as') || child.exitCode !== null)
      for (const output of [child.stdout!, child.stderr!]) output.destroy()
      for (let i = 0; i < 3; i++) {
        const task = hub.prompt(site.app, 'Say a line', { agentic_tool: 'nobody' })
        await until(() => task.finished)
      }
      child.kill('SIGTERM')
      await until(() => child.exitCode !== null || child.signalCode !== null)
      expect([child.exitCode, child.signalCode]).toEqual([0, null])
    } finally {
      home.drop()
    }
  },
  LONG_MS,
)

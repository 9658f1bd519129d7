import { afterEach, beforeAll, describe, expect, test } from 'bun:test'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, join, relative } from 'node:path'
import { keptToken } from '../../src/client/tokens.ts'
import { entriesFor, entriesOf, keepEntry } from '../../src/client/watch/sessions.ts'
import { newSecret, uuid7 } from '../../src/core/ids.ts'
import { buildPublic } from '../support/built.ts'
import { newHome, RUNTIME, type Home } from '../support/client.ts'

const HUB = 'http://127.0.0.1:9/mcp' // nothing listens there: settings are written all the same
const OTHER = 'http://127.0.0.1:19/mcp'
let home: Home

beforeAll(buildPublic, 180_000)
afterEach(() => home?.drop())

const connected = async (client: string, ...more: string[]) => {
  const ran = await home.runHere(['connect', client, '--yes', ...more])
  expect(ran).toMatchObject({ code: 0 })
  return ran
}
const disconnected = async (client: string, ...more: string[]) =>
  expect(await home.runHere(['disconnect', client, '--yes', ...more])).toMatchObject({ code: 0 })

const CLIENTS = {
  claude: { files: ['.claude.json', '.claude/settings.json'], servers: 'mcpServers' },
  codex: { files: ['.codex/config.toml'], servers: 'mcp_servers' },
  gemini: { files: ['.gemini/settings.json'], servers: 'mcpServers' },
  opencode: { files: ['.config/opencode/opencode.json'], servers: 'mcp' },
}

const JSON_TEXTS: Record<string, string> = {
  'an empty file': '',
  'a file of one line break': '\n',
  'an empty object': '{}',
  'an empty object over two lines': '{\n}\n',
  'one line': '{"theme":"dark","n":[1,2]}',
  'four spaces, no line break at the end': '{\n    "theme": "dark",\n    "list": [ 1,2 ]\n}',
  tabs: '{\n\t"theme": "dark"\n}\n',
  'line ends of Windows': '{\r\n  "theme": "dark"\r\n}\r\n',
  'a byte order mark': '\uFEFF{\n  "theme": "dark"\n}\n',
  'comments and commas at the end': '{\n  // what I like\n  "theme": "dark", /* at night */\n  "more": [1, 2,],\n}\n// the end\n',
  'hooks and servers of its own':
    '{\n  "hooks": { "Stop": [ { "hooks": [{ "type": "command", "command": "say done" }] } ], "PostToolUse": [] },\n  "mcpServers": { "x": {"url": "http://x/"} },\n  "mcp": {}\n}\n',
}
const TOML_TEXTS: Record<string, string> = {
  'an empty file': '',
  'no line break at the end': 'model = "o3" # mine',
  'tables and comments': '# mine\nmodel = "o3"\n\n[mcp_servers.docs]\ncommand = "docs" # local\n\n[[profiles]]\nname = "a"\n',
  'line ends of Windows': 'model = "o3"\r\n[tools]\r\nweb = true\r\n',
}

for (const [client, { files, servers }] of Object.entries(CLIENTS))
  describe(`${client}: disconnect leaves every byte as it was`, () => {
    for (const [name, text] of Object.entries(client === 'codex' ? TOML_TEXTS : JSON_TEXTS))
      test(name, async () => {
        home = newHome(HUB)
        for (const file of files) home.write(file, text)
        await connected(client)
        expect(home.read(files[0]!)).toContain(HUB)
        expect(home.read(files[0]!)).toContain(servers)
        const after = files.map(home.read)
        expect((await connected(client)).out).toContain('nothing to change')
        expect(files.map(home.read)).toEqual(after)
        await disconnected(client)
        expect(files.map(home.read)).toEqual(files.map(() => text))
        expect(existsSync(home.path('.parley'))).toBe(false)
      })

    test('where there were no settings, there are none again', async () => {
      home = newHome(HUB)
      await connected(client)
      expect(files.map(home.read).every((text) => text !== undefined)).toBe(true)
      await disconnected(client)
      expect(files.map(home.read)).toEqual(files.map(() => undefined))
      expect(existsSync(home.path(files.at(-1)!.split('/').slice(0, -1).join('/')))).toBe(false)
    })

    test('through a link, whose target keeps its rights', async () => {
      home = newHome(HUB)
      const text = client === 'codex' ? 'model = "o3"\n' : '{ "theme": "dark" }'
      home.write('dotfiles/settings', text)
      chmodSync(home.path('dotfiles/settings'), 0o640)
      mkdirSync(home.path(files[0]!.split('/').slice(0, -1).join('/')), { recursive: true })
      symlinkSync(home.path('dotfiles/settings'), home.path(files[0]!))
      await connected(client)
      expect(home.read('dotfiles/settings')).toContain(HUB)
      expect(statSync(home.path('dotfiles/settings')).mode & 0o777).toBe(0o640)
      await disconnected(client)
      expect(home.read('dotfiles/settings')).toBe(text)
    })

    test('what was edited in between stays', async () => {
      home = newHome(HUB)
      const [before, edit] =
        client === 'codex'
          ? ['model = "o3"\n', (text: string) => `# mine\n${text}\n[tools]\nweb = true\n`]
          : ['{\n  "theme": "dark"\n}\n', editJson]
      home.write(files[0]!, before)
      await connected(client)
      home.write(files[0]!, edit(home.read(files[0]!)!))
      await disconnected(client)
      expect(home.read(files[0]!)).toBe(edit(before))
    })

    test('two hubs, taken out in either order', async () => {
      const text = client === 'codex' ? 'model = "o3"\n' : '{ "theme": "dark" }'
      for (const order of [
        [HUB, OTHER],
        [OTHER, HUB],
      ]) {
        home = newHome(HUB)
        home.write(files[0]!, text)
        await connected(client)
        const first = files.map(home.read)
        await connected(client, '--hub', OTHER)
        expect(home.read(files[0]!)).toContain('parley-127-0-0-1-19')
        await disconnected(client, '--hub', order[0]!)
        if (order[0] === OTHER) expect(files.map(home.read)).toEqual(first)
        else expect(home.read(files[0]!)).not.toContain(`${HUB}"`)
        await disconnected(client, '--hub', order[1]!)
        expect(home.read(files[0]!)).toBe(text)
        expect(files.slice(1).map(home.read)).toEqual(files.slice(1).map(() => undefined))
        home.drop()
      }
    })

    test('a server of that name that is another stays, and the person is told what to do', async () => {
      home = newHome(HUB)
      const text =
        client === 'codex'
          ? '[mcp_servers.parley]\nurl = "http://elsewhere/mcp"\n'
          : `{"${servers}":{"parley":{"url":"http://elsewhere/mcp"}}}`
      home.write(files[0]!, text)
      const { code, err } = await home.runHere(['connect', client, '--yes'])
      expect(code).toBe(1)
      expect(err).toContain('http://elsewhere/mcp')
      expect(err).toContain('--name')
      expect(files.map(home.read)).toEqual([text, ...files.slice(1).map(() => undefined)])
      await connected(client, '--name', 'hub')
      expect(home.read(files[0]!)).toContain(HUB)
      await disconnected(client)
      expect(home.read(files[0]!)).toBe(text)
    })

    test('settings that are read-only or not understood are left alone, and the lines to paste are shown', async () => {
      home = newHome(HUB)
      home.write(files[0]!, client === 'codex' ? 'model = \n' : '{ "theme": ')
      const broken = await home.runHere(['connect', client, '--yes'])
      expect(broken.code).toBe(1)
      expect(broken.err).toContain(home.path(files[0]!))
      expect(broken.err).toContain(HUB)
      const text = client === 'codex' ? 'model = "o3"\n' : '{}'
      home.write(files[0]!, text)
      chmodSync(home.path(files[0]!), 0o444)
      const readOnly = await home.runHere(['connect', client, '--yes'])
      expect([readOnly.code, readOnly.err]).toEqual([1, expect.stringContaining('read-only')])
      expect(files.map(home.read)).toEqual([text, ...files.slice(1).map(() => undefined)])
    })
  })

// As a person would: something before ours, something behind, and the comma that it needs.
const editJson = (text: string) => text.replace('{', '{\n  "before": [1], // mine').replace(/"dark"/, '"dark",\n  "behind": { "x": 1 }')

test('a file that its client wrote anew in between keeps what the client wrote', async () => {
  home = newHome(HUB)
  home.write('.claude.json', '{"startups":1,"mcpServers":{}}')
  await connected('claude')
  const value = JSON.parse(home.read('.claude.json')!)
  writeFileSync(home.path('.claude.json'), JSON.stringify({ ...value, startups: 2, projects: { '/x': {} } }, null, 2))
  await disconnected('claude')
  expect(JSON.parse(home.read('.claude.json')!)).toEqual({ startups: 2, projects: { '/x': {} }, mcpServers: {} })
})

test('of a file that its client wrote anew the lists and objects go that connect had made, and no others', async () => {
  home = newHome(HUB)
  home.write('.claude.json', '{"startups":1}')
  home.write('.claude/settings.json', '{"hooks":{}}')
  await connected('claude')
  for (const file of CLIENTS.claude.files) home.write(file, JSON.stringify(JSON.parse(home.read(file)!)))
  await disconnected('claude')
  expect(CLIENTS.claude.files.map(home.read)).toEqual(['{"startups":1}', '{"hooks":{}}'])
})

test('the change is shown, and what it allows is said, before anything is written', async () => {
  home = newHome(HUB)
  const { code, out, err } = await home.runHere(['connect', 'claude'])
  expect(code).toBe(1)
  expect(out).toContain('+')
  expect(out).toContain('while you are away, with the permissions of its terminal')
  expect(err).toContain('--yes')
  expect(existsSync(home.path('.claude.json'))).toBe(false)
  expect(existsSync(home.path('.parley'))).toBe(false)
})

// Runs a command as at a terminal, and says yes once `meanwhile` has happened.
const answered = (words: string[], meanwhile: () => void) =>
  home.runHere(words, {
    hears(text, input) {
      if (!text.endsWith('[y/N] ')) return
      meanwhile()
      setImmediate(() => input.write('y\n')) // once it listens
    },
  })

test('a settings file that its client writes while the person looks at the change keeps what was written, and nothing is changed', async () => {
  const files = CLIENTS.claude.files
  for (const changed of [0, 1]) {
    home = newHome(HUB)
    for (const file of files) home.write(file, '{ "startups": 1 }')
    const write = () => home.write(files[changed]!, home.read(files[changed]!)!.replace('"startups": 1', '"startups": 2'))
    const startAgain = () => home.write(files[changed]!, home.read(files[changed]!)!.replace('"startups": 2', '"startups": 1'))
    for (const command of ['connect', 'disconnect']) {
      const before = files.map(home.read)
      const kept = home.read('.parley/connections.json')
      const { code, err } = await answered([command, 'claude'], write)
      expect([code, err]).toEqual([
        1,
        expect.stringContaining(`${home.path(files[changed]!)} was changed meanwhile. Nothing in it was changed by this: run it again.`),
      ])
      expect(home.read(files[changed]!)).toContain('"startups": 2')
      startAgain()
      expect([files.map(home.read), home.read('.parley/connections.json')]).toEqual([before, kept])
      write()
      expect(await answered([command, 'claude'], () => {})).toMatchObject({ code: 0 })
      expect(files.some((file) => home.read(file)!.includes(HUB))).toBe(command === 'connect')
      expect(home.read(files[changed]!)).toContain('"startups": 2')
      startAgain()
    }
    home.drop()
  }
})

const inShell = (line: string) => {
  const { exitCode, stdout } = Bun.spawnSync(['/bin/sh', '-c', line], { env: { HOME: home.home, PATH: '/usr/bin:/bin' }, stdin: null })
  return { code: exitCode, out: stdout.toString() }
}

test('connect ends with the lines that look at the connection and take it out again, which need no package', async () => {
  home = newHome(HUB)
  const { out } = await connected('claude')
  const lineAfter = (words: string) => new RegExp(`^${words}: (.*)$`, 'm').exec(out)![1]!
  rmSync(home.program)
  expect(inShell(lineAfter('To see that all is well')).out).toContain('✓ Claude Code: its settings are as connect left them.')
  expect(inShell(`${lineAfter('To take it out again')} --yes`).code).toBe(0)
  expect(existsSync(home.path('.parley'))).toBe(false)
})

test('connect says what to say to an agent, and for Codex that what wakes it runs outside its sandbox', async () => {
  home = newHome(HUB)
  const said = { claude: (await connected('claude')).out, codex: (await connected('codex')).out }
  for (const out of Object.values(said)) {
    expect(out).toContain('Convene a Parley session about <subject>. Tell me its id, and follow it until it is concluded.')
    expect(out).toContain('Join the Parley session <id> as "<your team\'s name>".')
  }
  expect(said.codex).toMatch(/watch --codex`, outside its sandbox, which has no network: .*http:\/\/127\.0\.0\.1:9\/AGENTS\/hooks\.md/)
  expect(said.claude).not.toContain('sandbox')
})

test('without a name the client that is here is connected; of several the one that the person types', async () => {
  home = newHome(HUB)
  const env = { PATH: home.path('bin') }
  const install = (name: string) => (home.write(`bin/${name}`, '#!/bin/sh\n'), chmodSync(home.path(`bin/${name}`), 0o755))
  const connect = (...words: string[]) => home.runHere(['connect', '--yes', ...words], { env })
  expect(await connect()).toMatchObject({
    code: 2,
    err: expect.stringContaining('None of them is in PATH here. Name the client: connect claude, connect codex'),
  })
  install('codex')
  expect(await connect()).toMatchObject({ code: 0, out: expect.stringContaining('Codex is connected to') })
  install('claude')
  expect(await connect()).toMatchObject({ code: 2, err: expect.stringContaining('Name the client: connect claude, connect codex.') })
  const hears = (text: string, input: { write(line: string): void }) =>
    (text.endsWith('claude, codex: ') && input.write('claude\n')) || (text.endsWith('[y/N] ') && input.write('y\n'))
  const asked = await home.runHere(['connect'], { env, hears: (text, input) => void hears(text, input) })
  expect(asked).toMatchObject({ code: 0, out: expect.stringContaining('Claude Code is connected to') })
})

test('a client whose program is not in PATH is connected all the same, and connect and doctor say so', async () => {
  home = newHome(HUB)
  mkdirSync(home.path('bin'))
  const here = (...words: string[]) => home.runHere(words, { env: { PATH: home.path('bin') } })
  const told = 'codex is not in PATH here: install Codex, or connect where it is.'
  expect(await here('connect', 'codex', '--yes')).toMatchObject({ code: 0, out: expect.stringContaining(told) })
  expect((await here('doctor')).out).toContain(`! ${told}`)
  home.write('bin/codex', '#!/bin/sh\n')
  chmodSync(home.path('bin/codex'), 0o755)
  expect((await here('connect', 'codex', '--yes')).out).not.toContain('PATH')
})

test('a client that nothing wakes is said to be so', async () => {
  home = newHome(HUB)
  expect((await connected('gemini')).out).toContain('hold a wait')
})

test('a hub on another machine over plain http is refused, with the reason and the line of a tunnel, unless --insecure', async () => {
  for (const [link, tunnel, tunnelled] of [
    ['http://192.0.2.7:7423/mcp', '7423:127.0.0.1:7423 192.0.2.7', 'http://127.0.0.1:7423/mcp'],
    ['http://[2001:db8::7]/parley/mcp?tools=peek', '7423:127.0.0.1:80 2001:db8::7', "'http://127.0.0.1:7423/parley/mcp?tools=peek'"],
  ] as const) {
    home = newHome(link)
    const { code, err } = await home.runHere(['connect', 'codex', '--yes'])
    expect([code, err]).toEqual([1, expect.stringContaining('run code on this one')])
    expect(err).toContain(`leave \`ssh -N -L ${tunnel}\` running, and add --hub ${tunnelled}. In a network that you trust, add --insecure.`)
    expect(existsSync(home.path('.codex'))).toBe(false)
    home.drop()
  }
})

test('a server that the person added by hand stays when the hub is disconnected', async () => {
  home = newHome(HUB)
  const text = JSON.stringify({ mcpServers: { parley: { type: 'http', url: HUB, timeout: 60 } } })
  home.write('.claude.json', text)
  await connected('claude')
  expect(home.read('.claude.json')).toBe(text)
  expect(home.read('.claude/settings.json')).toContain('watch')
  await disconnected('claude')
  expect([home.read('.claude.json'), home.read('.claude/settings.json')]).toEqual([text, undefined])
})

test('a newer version takes the place of the older one, and disconnect still leaves nothing', async () => {
  home = newHome(HUB)
  home.write('.claude/settings.json', '{"hooks":{"Stop":[]}}')
  await connected('claude')
  const newer = home.programOf(HUB, '0.2.0-bnewer')
  expect((await home.run(['connect', 'claude', '--yes'], {}, newer)).code).toBe(0)
  const settings = home.read('.claude/settings.json')!
  expect(settings).toContain('0.2.0-bnewer')
  expect(settings).not.toContain('0.1.0-btest')
  await disconnected('claude')
  expect([home.read('.claude.json'), home.read('.claude/settings.json')]).toEqual([undefined, '{"hooks":{"Stop":[]}}'])
})

test('the copy that the hook calls works without the package, and so does disconnect from there', async () => {
  home = newHome(HUB)
  await connected('claude')
  const copy = home.path('.parley/0.1.0-btest/parley.mjs')
  expect(readFileSync(copy)).toEqual(readFileSync(home.program))
  expect((await home.run(['--version'], {}, copy)).out).toBe('0.1.0-btest\n')
  expect((await home.run(['disconnect', 'claude', '--yes'], {}, copy)).code).toBe(0)
  expect(existsSync(home.path('.parley'))).toBe(false)
})

test('hooks call the runtime by a name that stays: the entry of PATH that leads to it, unless that is for one shell alone', async () => {
  home = newHome(HUB)
  const real = realpathSync(RUNTIME)
  const entry = (folder: string) => home.path(join(folder, basename(real)))
  home.write(join('other', basename(real)), '#!/bin/sh\n')
  chmodSync(entry('other'), 0o755)
  for (const folder of ['lasting', 'fnm_multishells/1_2/bin']) {
    mkdirSync(home.path(folder), { recursive: true })
    symlinkSync(real, entry(folder))
  }
  const commandWith = async (...folders: string[]) => {
    const env = { PATH: ['/nowhere', 'lasting', ...folders.map(home.path)].join(':') }
    expect(await home.run(['connect', 'claude', '--yes'], { env })).toMatchObject({ code: 0 })
    return JSON.parse(home.read('.claude/settings.json')!).hooks.Stop[0].hooks[0].command.split(' ')[0]
  }
  expect(await commandWith('fnm_multishells/1_2/bin', 'other', 'lasting')).toBe(entry('lasting'))
  expect(await commandWith('fnm_multishells/1_2/bin', 'other')).toBe(real)
})

test('the last disconnect leaves a runner its memory of the worktrees that it has made, and nothing else', async () => {
  home = newHome(HUB)
  home.write('.parley/runner/worktrees.json', '[]\n')
  home.write('.parley/hubs.json', '{}')
  await connected('gemini')
  await disconnected('gemini')
  expect([readdirSync(home.path('.parley')), home.read('.parley/runner/worktrees.json')]).toEqual([['runner'], '[]\n'])
})

test('disconnect forgets the sessions that its client was woken for, and no others', async () => {
  home = newHome(HUB)
  for (const client of ['claude', 'codex']) {
    await connected(client)
    await connected(client, '--hub', OTHER)
  }
  const ids = { 'claude HUB': HUB, 'claude OTHER': OTHER, 'codex HUB': HUB, 'codex OTHER': OTHER }
  for (const [name, link] of Object.entries(ids)) {
    const thread = name.startsWith('codex') ? { thread: uuid7() } : {}
    keepEntry(home.home, { link, session_id: uuid7(), team_id: `${uuid7()}.${newSecret()}`, ancestors: [], folder: name, ...thread })
  }
  const left = () =>
    entriesOf(home.home)
      .map(({ folder }) => folder)
      .toSorted()
  expect(left()).toEqual(Object.keys(ids))
  await disconnected('claude', '--hub', HUB)
  expect(left()).toEqual(['claude OTHER', 'codex HUB', 'codex OTHER'])
  await disconnected('codex', '--hub', OTHER)
  expect(left()).toEqual(['claude OTHER', 'codex HUB'])
})

test('connecting again keeps what was chosen, says so, and gives each up when it is told to', async () => {
  home = newHome(HUB)
  const settings = () => home.read('.claude/settings.json')!
  const servers = () => Object.keys(JSON.parse(home.read('.claude.json')!).mcpServers)
  const chosen = () => [settings().includes('--wake addressed'), settings().includes('--guard'), servers()]
  home.write('.claude/settings.json', '{ "theme": "dark" }')
  await connected('claude')
  expect(chosen()).toEqual([false, false, ['parley']])
  await connected('claude', '--wake', 'addressed', '--guard', '--name', 'hub')
  expect(chosen()).toEqual([true, true, ['hub']])
  expect(settings()).toContain('mcp__hub__(')
  const newer = home.programOf(HUB, '0.2.0-bnewer')
  const updated = await home.run(['connect', 'claude', '--yes'], {}, newer)
  const { out } = await connected('claude')
  for (const said of [updated.out, out])
    expect(said).toContain('Kept from before: --wake addressed (--wake all ends it), --guard (--no-guard ends it), --name hub')
  expect(chosen()).toEqual([true, true, ['hub']])
  expect((await connected('claude', '--wake', 'all')).out).not.toContain('--wake addressed (')
  expect(chosen()).toEqual([false, true, ['hub']])
  await connected('claude', '--no-guard')
  expect(chosen()).toEqual([false, false, ['hub']])
  expect((await connected('claude', '--name', 'parley')).out).not.toContain('Kept')
  expect(chosen()).toEqual([false, false, ['parley']])
  expect((await home.runHere(['connect', 'claude', '--guard', '--no-guard', '--yes'])).code).toBe(2)
  await disconnected('claude')
  expect([home.read('.claude.json'), settings()]).toEqual([undefined, '{ "theme": "dark" }'])
})

test('another name takes effect in each client, also beside a server that the person added by hand', async () => {
  for (const [client, { files, servers }] of Object.entries(CLIENTS)) {
    home = newHome(HUB)
    await connected(client)
    await connected(client, '--name', 'hub')
    expect(home.read(files[0]!)).toMatch(/hub["\]]/)
    expect(home.read(files[0]!)).not.toMatch(/parley["\]]/)
    await disconnected(client)
    expect(home.read(files[0]!)).toBeUndefined()
    if (client === 'codex') continue
    const text = JSON.stringify({ [servers]: { parley: { type: 'http', url: HUB, httpUrl: HUB, timeout: 60 } } })
    home.write(files[0]!, text)
    await connected(client)
    await connected(client, '--name', 'hub')
    expect(Object.keys(JSON.parse(home.read(files[0]!)!)[servers]).toSorted()).toEqual(['hub', 'parley'])
    await disconnected(client)
    expect(home.read(files[0]!)).toBe(text)
    home.drop()
  }
})

test('another link of a hub takes the place of the first one: one server and one hook, and what was chosen stays', async () => {
  const other = `${HUB}?toolsets=rooms,records`
  for (const [client, { files }] of Object.entries(CLIENTS)) {
    home = newHome(HUB)
    await connected(client, '--name', 'hub', ...(client === 'claude' ? ['--wake', 'addressed', '--guard'] : []))
    const texts = files.map(home.read)
    const { out } = await connected(client, '--hub', other)
    expect(out).toContain(`This takes the place of ${HUB}`)
    expect(out).toMatch(/^ {2}-.*127\.0\.0\.1:9\/mcp"/m)
    expect(out).toMatch(/^ {2}\+.*127\.0\.0\.1:9\/mcp\?toolsets=rooms,records"/m)
    // Nothing else has changed, of servers and hooks alike.
    expect(files.map((file) => home.read(file)!.replaceAll(`'${other}'`, HUB).replaceAll(other, HUB))).toEqual(texts as string[])
    expect((await connected(client)).out).toContain(`is connected to ${other}: nothing to change`)
    await connected(client, '--hub', HUB, '--name', 'parley')
    expect(files.map(home.read).join()).not.toMatch(/toolsets|hub"|mcp_servers\.hub|mcp__hub/)
    await connected(client, '--hub', other)
    await disconnected(client)
    expect(files.map(home.read)).toEqual(files.map(() => undefined))
    home.drop()
  }
})

test('the sessions of an agent are watched, told by doctor and forgotten whichever link of their hub they were joined by', async () => {
  home = newHome(HUB)
  const other = `${HUB}/records`
  for (const [client, thread] of [
    ['claude', undefined],
    ['codex', uuid7()],
  ] as const) {
    await connected(client)
    const ids = { session_id: uuid7(), team_id: `${uuid7()}.${newSecret()}` }
    keepEntry(home.home, { link: HUB, ...ids, ancestors: [], folder: client, ...(thread && { thread }) })
    await connected(client, '--hub', other)
  }
  expect(entriesFor(home.home, other, { ancestors: [], conversation: undefined, folder: 'claude' })).toHaveLength(1)
  expect((await home.runHere(['doctor'])).out).toContain('No watch runs for 1 session(s) of Codex')
  await disconnected('claude')
  expect(entriesOf(home.home).map(({ folder }) => folder)).toEqual(['codex'])
})

test('two links of one hub that an older version connected beside each other are taken out one by one', async () => {
  home = newHome(HUB)
  await connected('claude')
  await connected('claude', '--hub', OTHER)
  for (const file of [...CLIENTS.claude.files, '.parley/connections.json'])
    home.write(file, home.read(file)!.replaceAll(OTHER, `${HUB}/records`))
  keepEntry(home.home, { link: HUB, session_id: uuid7(), team_id: `${uuid7()}.${newSecret()}`, ancestors: [], folder: home.home })
  await disconnected('claude', '--hub', `${HUB}/records`)
  expect([home.read('.claude.json')!.includes('/records'), home.read('.claude.json')!.includes(HUB)]).toEqual([false, true])
  expect(entriesOf(home.home)).toHaveLength(1)
  await disconnected('claude')
  expect([...CLIENTS.claude.files, '.parley'].filter((path) => existsSync(home.path(path)))).toEqual([])
})

const APPROVAL = '[mcp_servers.parley.tools.post_message]\napproval_mode = "approve"\n'
const GH = '[mcp_servers.gh]\ncommand = "gh"\n'

const CODEX_EDITS: Record<string, [edit: (text: string) => string, left: string]> = {
  'a table below it': [(text) => `${text}\n${APPROVAL}`, GH],
  'a table below it that stands elsewhere': [
    (text) => `${APPROVAL}\n${text}\n# mine\n[tools]\nweb = true\n`,
    `${GH}# mine\n[tools]\nweb = true\n`,
  ],
  'lines in it': [
    (text) => `${text}startup_timeout_sec = 20\nargs = [\n  ["x"]\n]\n# mine\n[tools]\nweb = true\n`,
    `${GH}# mine\n[tools]\nweb = true\n`,
  ],
  'another heading': [(text) => text.replace('[mcp_servers.parley]', '[ mcp_servers . "parley" ] # hub'), GH],
}
for (const [name, [edit, left]] of Object.entries(CODEX_EDITS))
  test(`Codex, ${name}: connect leaves it, disconnect takes it out with ours, and what stands around it stays`, async () => {
    home = newHome(HUB)
    home.write('.codex/config.toml', GH)
    await connected('codex')
    const edited = edit(home.read('.codex/config.toml')!)
    home.write('.codex/config.toml', edited)
    expect((await connected('codex')).out).toContain('nothing to change')
    expect(home.read('.codex/config.toml')).toBe(edited)
    await disconnected('codex')
    expect(home.read('.codex/config.toml')!.replaceAll(/\n+/g, '\n')).toBe(left)
  })

test('Codex, line ends of Windows: what was edited or added in our table goes with it', async () => {
  home = newHome(HUB)
  const before = GH.replaceAll('\n', '\r\n')
  home.write('.codex/config.toml', before)
  await connected('codex')
  const edited = home.read('.codex/config.toml')!.replace('= 60', '= 90')
  home.write('.codex/config.toml', `${edited}\r\n${APPROVAL.replaceAll('\n', '\r\n')}`)
  await connected('codex')
  expect(home.read('.codex/config.toml')).toContain('tool_timeout_sec = 60\r\n')
  home.write('.codex/config.toml', `${home.read('.codex/config.toml')}\r\n${APPROVAL.replaceAll('\n', '\r\n')}`)
  await disconnected('codex')
  expect(home.read('.codex/config.toml')!.replaceAll(/(\r\n)+/g, '\r\n')).toBe(before)
})

test('Codex: a server that was switched off is told by doctor, and connecting again switches it on', async () => {
  home = newHome(HUB)
  await connected('codex')
  const text = home.read('.codex/config.toml')!
  home.write('.codex/config.toml', `${text}enabled = false\n`)
  const told = `✗ Codex: ${home.path('.codex/config.toml')} was changed since. To set it right: `
  expect((await home.runHere(['doctor'])).out).toContain(told)
  expect((await connected('codex')).out).toContain('-enabled = false')
  expect(home.read('.codex/config.toml')).toBe(text)
  expect((await home.runHere(['doctor'])).out).not.toContain(told)
})

test.each([
  ['claude', '.claude.json'],
  ['codex', '.codex/config.toml'],
])('%s: a link that its person has changed is still ours: connecting again shows the change, and sets it back', async (client, file) => {
  home = newHome(HUB)
  await connected(client)
  const text = home.read(file)!
  home.write(file, text.replace(HUB, `${HUB}?toolsets=rooms,records`))
  expect((await connected(client)).out).toContain('toolsets=rooms,records')
  expect(home.read(file)).toBe(text)
})

test('Codex: another hub is taken out beside what was added to our table', async () => {
  home = newHome(HUB)
  await connected('codex', '--hub', OTHER)
  await connected('codex')
  const added = '\n[mcp_servers.parley-127-0-0-1-9.tools.wait]\napproval_mode = "approve"\n'
  home.write('.codex/config.toml', home.read('.codex/config.toml')! + added)
  await disconnected('codex', '--hub', OTHER)
  const left = home.read('.codex/config.toml')!
  expect([left.includes(added), left.includes(OTHER), left.includes(HUB)]).toEqual([true, false, true])
  await disconnected('codex')
  expect(home.read('.codex/config.toml')).toBeUndefined()
})

test('Codex: a server that was written in another way is not said to be gone', async () => {
  home = newHome(HUB)
  await connected('codex')
  const text = `[mcp_servers]\nparley = { url = "${HUB}" }\n`
  home.write('.codex/config.toml', text)
  const { code, out, err } = await home.runHere(['disconnect', 'codex', '--yes'])
  expect([code, out, err]).toEqual([1, '', expect.stringContaining('Take out this by hand')])
  expect(home.read('.codex/config.toml')).toBe(text)
  home.write('.codex/config.toml', '')
  await disconnected('codex')
})

test('Codex: connecting in another settings folder forgets none, and disconnect takes the hub out of both', async () => {
  home = newHome(HUB)
  const inFolder = (folder: string, ...words: string[]) =>
    home.runHere(['connect', 'codex', '--yes', ...words], { env: { CODEX_HOME: home.path(folder) } })
  const files = ['one/config.toml', 'two/config.toml']
  home.write(files[0]!, GH)
  for (const folder of ['one', 'two', 'two']) expect(await inFolder(folder)).toMatchObject({ code: 0 })
  expect((await inFolder('two', '--wake', 'addressed')).out).toContain('--wake addressed holds')
  for (const file of files) expect(home.read(file)).toContain(HUB)
  await disconnected('codex')
  expect(files.map(home.read)).toEqual([GH, undefined])
})

test('Codex: another settings folder in which our name is another hub: connect says so, and --name gets past it', async () => {
  home = newHome(HUB)
  const inFolder = (folder: string, ...words: string[]) =>
    home.runHere(['connect', 'codex', '--yes', ...words], { env: { CODEX_HOME: home.path(folder) } })
  const other = '[mcp_servers.parley]\nurl = "https://other.example/mcp"\n'
  home.write('two/config.toml', other)
  expect(await inFolder('one')).toMatchObject({ code: 0 })
  const { code, err } = await inFolder('two')
  expect([code, err]).toEqual([1, expect.stringContaining('another MCP server named "parley" (https://other.example/mcp)')])
  expect(err).toContain('--name')
  expect(home.read('two/config.toml')).toBe(other)
  expect(await inFolder('two', '--name', 'parley-two')).toMatchObject({ code: 0 })
  expect(home.read('two/config.toml')).toContain(HUB)
  await disconnected('codex')
  expect(['one/config.toml', 'two/config.toml'].map(home.read)).toEqual([undefined, other])
})

test.each([
  ['claude', 'CLAUDE_CONFIG_DIR', ['settings/.claude.json', 'settings/settings.json']],
  ['codex', 'CODEX_HOME', ['settings/config.toml']],
  ['opencode', 'XDG_CONFIG_HOME', ['settings/opencode/opencode.json']],
] as const)(
  '%s: an empty %s names no folder, and a relative one is that of the call, wherever disconnect is called',
  async (client, name, files) => {
    home = newHome(HUB)
    mkdirSync(home.path('work'))
    const cwd = home.path('work')
    const connectedWith = async (value: string) =>
      expect(await home.runHere(['connect', client, '--yes'], { cwd, env: { [name]: value } })).toMatchObject({ code: 0 })
    const inWork = () =>
      readdirSync(cwd, { recursive: true, withFileTypes: true })
        .filter((each) => each.isFile())
        .map((each) => relative(cwd, join(each.parentPath, each.name)))
        .toSorted()
    await connectedWith('')
    expect(inWork()).toEqual([])
    expect(home.read(CLIENTS[client].files[0]!)).toContain(HUB)
    await disconnected(client)
    await connectedWith('settings')
    expect(inWork()).toEqual([...files])
    await disconnected(client)
    expect(inWork()).toEqual([])
  },
)

test('a settings folder that is gone is forgotten by the next connect', async () => {
  home = newHome(HUB)
  expect(await home.runHere(['connect', 'codex', '--yes'], { env: { CODEX_HOME: home.path('gone') } })).toMatchObject({ code: 0 })
  rmSync(home.path('gone'), { recursive: true })
  await connected('codex')
  expect((await home.runHere(['doctor'])).out).toContain('✓ Codex: its settings are as connect left them.')
})

test('a copy of the program that was removed is made again, as doctor says', async () => {
  home = newHome(HUB)
  await connected('claude')
  const copy = home.path('.parley/0.1.0-btest/parley.mjs')
  rmSync(copy)
  const [, line] = /The hook cannot be run: .* To set it right: (.*)$/m.exec((await home.runHere(['doctor'])).out)!
  expect(inShell(`${line} --yes`)).toMatchObject({ code: 0, out: expect.stringContaining('nothing to change') })
  expect(existsSync(copy)).toBe(true)
  expect((await home.runHere(['doctor'])).out).toContain('The hook can be run')
})

test('what wakes Codex is of the program that connected it last, although no setting names it', async () => {
  home = newHome(HUB)
  await connected('codex')
  rmSync(home.path('.parley/0.1.0-btest'), { recursive: true })
  const newer = home.programOf(HUB, '0.2.0-bnewer')
  expect((await home.run(['doctor'], {}, newer)).out).toContain('What wakes Codex is not there')
  expect((await home.run(['connect', 'codex', '--yes'], {}, newer)).out).toContain('nothing to change')
  expect((await home.run(['doctor'], {}, newer)).out).toContain('No session of Codex is watched')
})

test('what Codex is woken for is kept although no setting says it; a client that nothing wakes refuses the choice', async () => {
  home = newHome(HUB)
  await connected('codex')
  expect((await connected('codex', '--wake', 'addressed')).out).toContain(
    '--wake addressed holds for the sessions that it joins from now on',
  )
  expect((await connected('codex')).out).toContain('nothing to change.\nKept from before: --wake addressed')
  const { code, err } = await home.runHere(['connect', 'gemini', '--wake', 'addressed', '--yes'])
  expect([code, err]).toEqual([1, expect.stringContaining('--wake is for Claude Code and Codex')])
})

test('a connection over plain http stays allowed, and a hub that is down takes no access token away', async () => {
  home = newHome('http://hub.invalid:9/mcp')
  await connected('gemini', '--insecure')
  const again = await home.runHere(['connect', 'gemini', '--yes', '--name', 'hub'], { env: { PARLEY_TOKEN: 'of-the-hub-itself' } })
  expect(again).toMatchObject({ code: 0, out: expect.stringContaining('--insecure (disconnect ends it)') })
  expect(home.read('.gemini/settings.json')).toContain('of-the-hub-itself')
  await connected('gemini', '--name', 'parley')
  expect(home.read('.gemini/settings.json')).toContain('of-the-hub-itself')
})

test('a hub that refuses to answer, as after too many requests, takes no access token away, and what it says is told', async () => {
  const message = 'Too many requests in a minute. Try again in 30 s.'
  const hub = Bun.serve({ port: 0, fetch: () => Response.json({ error: { code: 'rate_limited', message } }, { status: 429 }) })
  try {
    home = newHome(`http://127.0.0.1:${hub.port}/mcp`)
    const env = { PARLEY_TOKEN: 'of-the-hub-itself' }
    expect(await home.runHere(['connect', 'gemini', '--yes'], { env })).toMatchObject({ code: 0 })
    const { err } = await connected('gemini', '--name', 'hub')
    for (const file of ['.gemini/settings.json', '.parley/connections.json']) expect(home.read(file)).toContain('of-the-hub-itself')
    expect(err).toContain(`refuses for now (HTTP 429), and says: "${message}"`)
  } finally {
    await hub.stop(true)
  }
})

test('a new access token that the person has written by hand is kept by connecting again', async () => {
  home = newHome(HUB)
  const withToken = (token: string) => home.runHere(['connect', 'claude', '--yes'], { env: { PARLEY_TOKEN: token } })
  await withToken('the-old-one')
  home.write('.claude.json', home.read('.claude.json')!.replace('the-old-one', 'the-new-one'))
  const { code, out } = await withToken('the-new-one')
  expect([code, out]).toEqual([0, expect.stringContaining('the access token is kept as it is now')])
  expect(home.read('.parley/connections.json')).toContain('the-new-one')
  expect(home.read('.parley/connections.json')).not.toContain('the-old-one')
  expect((await withToken('the-new-one')).out).toContain('nothing to change')
  await disconnected('claude')
  expect([home.read('.claude.json'), home.read('.claude/settings.json')]).toEqual([undefined, undefined])
})

test('the access token that is kept for a hub is the last that it took, from whichever of its clients', async () => {
  let taken: string | undefined = 'the-old-one'
  const hub = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch({ headers }) {
      if (taken === undefined) return Response.json({ error: { code: 'rate_limited', message: 'Later.' } }, { status: 429 })
      const isTaken = headers.get('authorization') === `Bearer ${taken}`
      return Response.json(isTaken ? { mcp_url: HUB } : {}, { status: isTaken ? 200 : 401 })
    },
  })
  const link = `http://127.0.0.1:${hub.port}/mcp`
  try {
    home = newHome(link)
    const links = [link, `${link}/records`, OTHER]
    const kept = () => links.map((each) => keptToken(home.home, each))
    const withToken = async (PARLEY_TOKEN: string, ...words: string[]) =>
      expect(await home.runHere(['connect', ...words, '--yes'], { env: { PARLEY_TOKEN } })).toMatchObject({ code: 0 })
    await withToken('the-old-one', 'claude')
    await withToken('the-old-one', 'codex', '--hub', `${link}/records`)
    await withToken('of-another-hub', 'gemini', '--hub', OTHER)
    taken = 'the-new-one'
    await withToken('the-new-one', 'claude')
    expect(kept()).toEqual(['the-new-one', 'the-new-one', 'of-another-hub'])
    taken = 'the-newest-one'
    await withToken('the-newest-one', 'codex', '--hub', `${link}/records`)
    expect(kept()).toEqual(['the-newest-one', 'the-newest-one', 'of-another-hub'])
    taken = undefined
    await withToken('of-another-hub', 'claude')
    expect(kept()).toEqual(['the-newest-one', 'the-newest-one', 'of-another-hub'])
  } finally {
    await hub.stop(true)
  }
})

const TOKENS = ['the-"old"-one', "the-'new'-one\\", 'of-another-hub']
for (const client of ['gemini', 'codex'])
  test(`${client}: no access token is shown, of whichever hub, and neither the old nor the new one`, async () => {
    home = newHome(HUB)
    const [old, fresh, other] = TOKENS.map((token) => ({ env: { PARLEY_TOKEN: token } }))
    const runs = [
      await home.runHere(['connect', client, '--yes'], old),
      await home.runHere(['connect', client, '--yes', '--hub', OTHER], other),
      await home.runHere(['connect', client, '--yes'], fresh),
    ]
    const file = CLIENTS[client as 'codex'].files[0]!
    const text = home.read(file)!
    home.write(
      file,
      client === 'codex' ? text.replace('[mcp_servers.parley]\n', '[mcp_servers]\nparley.enabled = true\nparley.') : `${text}}`,
    )
    const refused = await home.runHere(['disconnect', client, '--yes', '--hub', HUB])
    expect(refused.err).toContain('Take out this by hand')
    home.write(file, text)
    runs.push(
      refused,
      await home.runHere(['disconnect', client, '--yes', '--hub', OTHER]),
      await home.runHere(['disconnect', client, '--yes']),
    )
    expect(runs.map(({ code }) => code)).toEqual([0, 0, 0, 1, 0, 0])
    const said = runs.map(({ out, err }) => out + err).join('')
    expect(said).toContain('Bearer …')
    for (const part of ['the-', '-one', 'of-another-hub']) expect(said).not.toContain(part)
  })

test('a file or a broken link where a folder should be: a sentence; doctor tells of it and goes on', async () => {
  home = newHome(HUB)
  symlinkSync(home.path('nowhere'), home.path('.config'))
  home.write('.claude', '')
  for (const [client, file] of [
    ['opencode', '.config'],
    ['claude', '.claude'],
  ] as const) {
    const { code, err } = await home.runHere(['connect', client, '--yes'])
    expect([code, err]).toEqual([1, expect.stringContaining(home.path(file))])
    expect(err).not.toMatch(/^\s+at /m)
  }
  rmSync(home.path('.claude'))
  await connected('claude')
  await connected('gemini')
  rmSync(home.path('.claude'), { recursive: true })
  home.write('.claude', '')
  const { out } = await home.runHere(['doctor'])
  for (const line of [
    '✗ The hub is not reached',
    `✗ Claude Code: ${home.path('.claude/settings.json')} could not be read`,
    '✓ Gemini CLI: its settings',
  ])
    expect(out).toContain(line)
})

test('a command or an option that there is not, or a client: a sentence and code 2', async () => {
  home = newHome(HUB)
  for (const words of [['knit'], ['connect'], ['connect', 'emacs'], ['connect', 'claude', '--wake', 'never'], ['--nothing'], []]) {
    const { code, err } = await home.run(words)
    expect([words, code]).toEqual([words, 2])
    expect(err.length).toBeGreaterThan(20)
  }
  expect((await home.run(['--help'])).out).toContain(`stands for the line of the hub's page /connect as far as .tgz`)
})

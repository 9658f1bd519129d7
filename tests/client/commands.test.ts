import { expect, test } from 'bun:test'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, chmodSync, existsSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { keepEntry } from '../../src/client/watch/sessions.ts'
import { outcomeOf, RUNTIME, type RunOptions } from '../support/client.ts'
import { runningWith } from '../support/drivers.ts'
import { within } from '../support/fake-client.ts'
import type { Team } from '../support/hub.ts'
import { withHubsOfTheirOwn, type ServedHub } from '../support/hub-and-clients.ts'
import { until } from '../support/runner.ts'
import { smallDisk } from '../support/small-disk.ts'
import { claudeLine } from '../support/transcripts.ts'
import { FULL, shortOf } from '../support/full.ts'
import { armed, meeting, sessionFiles } from '../support/watching.ts'

const LONG_MS = 180_000
const { atTheEnd, homeOf, hubWith } = withHubsOfTheirOwn()

test(
  'doctor says of each thing whether it is in order, and what to do',
  async () => {
    const hub = await hubWith()
    const home = homeOf(hub.link)
    expect((await home.runHere(['doctor'])).out).toContain(`To connect one: ${RUNTIME} ${home.program} connect CLIENT --hub ${hub.link}`)
    await home.runHere(['connect', 'claude', '--yes'])
    const fine = await home.runHere(['doctor'])
    for (const line of [
      'The hub is reached on this machine',
      'clock',
      'It speaks MCP',
      'settings are as connect left them',
      'The hook can be run',
    ])
      expect(fine.out).toContain(line)
    expect(fine.out).toContain('another version of this program')
    home.write('.claude.json', '{}')
    const changed = await home.runHere(['doctor'])
    expect([changed.code, changed.out]).toEqual([1, expect.stringContaining('.claude.json was changed since. To set it right: ')])
    await hub.stop()
    const down = await home.runHere(['doctor'])
    expect([down.code, down.out]).toEqual([1, expect.stringContaining('The hub is not reached')])
  },
  LONG_MS,
)

test(
  'import sends transcripts to the hub, and says when it is not there',
  async () => {
    const hub = await hubWith()
    const home = homeOf(hub.link)
    const line = {
      type: 'user',
      sessionId: crypto.randomUUID(),
      uuid: crypto.randomUUID(),
      timestamp: '2026-11-01T10:00:00.000Z',
      message: { role: 'user', content: 'Hello' },
    }
    home.write('t/one.jsonl', `${JSON.stringify(line)}\n`)
    const sent = await home.run(['import', home.path('t')])
    expect([sent.code, sent.err]).toEqual([0, expect.stringContaining('Imported 1 event from 1 transcript.')])
    expect(sent.err).toContain('npx -y')
    expect((await home.run(['import', home.path('t')])).err).not.toContain('npx -y') // said once
    expect(await home.run(['import', home.path('nothing')])).toMatchObject({ code: 1, err: expect.stringContaining('There is nothing at') })
    await hub.stop()
    expect(await home.run(['import', home.path('t')])).toMatchObject({
      code: 1,
      err: expect.stringContaining('is not reached (nothing listens there: ECONNREFUSED)'),
    })
  },
  LONG_MS,
)

test('doctor advises to connect to the link that a hub names, and to fetch from there, unless only that is plain http to another machine', async () => {
  for (const [named, isAdvised] of [
    ['http://192.0.2.7:7423', false],
    ['https://192.0.2.7', true],
  ] as const) {
    const config = { mcp_url: `${named}/mcp`, client: `${named}/parley-9.9.9-b1.tgz` }
    const hub = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => Response.json(config) })
    atTheEnd(() => hub.stop(true))
    const base = `http://127.0.0.1:${hub.port}`
    const { out } = await homeOf(`${base}/mcp`).runHere(['doctor'])
    const tunnelled = `npx -y ${base}/parley-9.9.9-b1.tgz connect CLIENT --hub ${base}/mcp updates it`
    // It is the connection by the old link that is updated.
    expect(out).toContain(isAdvised ? `npx -y ${config.client} connect CLIENT --hub ${base}/mcp updates it` : tunnelled)
    expect(out).toContain('The hub is reached')
    expect([named, out.includes(`The hub names ${named}/mcp as its link now`)]).toEqual([named, isAdvised])
    expect([named, out.includes(` disconnect CLIENT --hub ${base}/mcp\n`)]).toEqual([named, isAdvised])
  }
})

test('of a hub on another machine over plain http doctor says what is open, and the line of a tunnel', async () => {
  const hub = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: ({ url }) => Response.json({ mcp_url: `${new URL(url).origin}/mcp` }) })
  atTheEnd(() => hub.stop(true))
  const { out } = await homeOf(`http://0.0.0.0:${hub.port}/mcp`).runHere(['doctor'])
  expect(out).toContain('! It is plain http to another machine: whoever is on the way can read and change what is sent.')
  expect(out).toContain(`\`ssh -N -L ${hub.port}:127.0.0.1:${hub.port} 0.0.0.0\` running, and add --hub http://127.0.0.1:${hub.port}/mcp.`)
})

test('doctor takes what a client says of the hub from its own line, whatever others are called', async () => {
  const link = 'http://127.0.0.1:9/failover/mcp'
  const other = 'parley-old: http://127.0.0.1:19/mcp (HTTP) - ✗ Failed to connect'
  for (const [line, says] of [
    [`parley: ${link} (HTTP) - ✓ Connected`, '✓ Claude Code lists "parley".'],
    [`\u001b[32m✓\u001b[0m parley \u001b[90mconnected`, '✓ Claude Code lists "parley".'],
    [`parley: ${link} (HTTP) - ✗ Failed to connect`, `✗ Claude Code lists "parley", and says: parley: ${link}`],
    ['', '✗ Claude Code does not list "parley".'],
  ] as const) {
    const home = homeOf(link)
    home.write('bin/claude', `#!/bin/sh\ncat ${home.path('listing')}\n`)
    chmodSync(home.path('bin/claude'), 0o755)
    home.write('listing', `Checking MCP server health...\n\n${other}\n${line}\n`)
    await home.runHere(['connect', 'claude', '--yes'])
    const { out } = await home.runHere(['doctor'], { env: { PATH: `${home.path('bin')}:${process.env.PATH}` } })
    expect([line, out]).toEqual([line, expect.stringContaining(says)])
  }
})

test.skipIf(!FULL)(
  'of a program that is no hub, and of an address that redirects to one, import, doctor and runner say what is wrong with it, and nobody sees a stack',
  async () => {
    const served = (answer: () => Response) => {
      const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: answer })
      atTheEnd(() => server.stop(true))
      return `127.0.0.1:${server.port}`
    }
    const silent = createServer((socket) => socket.once('data', () => socket.destroy()))
    await once(silent.listen(0, '127.0.0.1'), 'listening')
    atTheEnd(() => silent.close())
    const silentAt = `127.0.0.1:${(silent.address() as AddressInfo).port}`
    const page = served(() => new Response('<html>', { headers: { 'content-type': 'text/html' } }))
    const missing = served(() => Response.json({ detail: 'Not found' }, { status: 404 }))
    const other = served(() => Response.json({ error: 'none' }))
    const elsewhere = served(() => Response.redirect('https://parley.example/somewhere', 301))
    const home = homeOf(`http://${page}/mcp`)
    for (const name of ['one', 'two']) home.write(`t/${name}.jsonl`, '{}\n')
    for (const [link, imports, doctors] of [
      [
        `http://${page}`,
        `Something answers at http://${page} that is not Parley (200). Run this again with the hub's own address.\n`,
        'not Parley',
      ],
      [`http://${missing}`, `Something answers at http://${missing} that is not Parley (404).`, 'that is no Parley'],
      [`http://${other}`, `Something answers at http://${other} that is not Parley (200).`, 'that is no Parley'],
      [
        `http://${elsewhere}`,
        `http://${elsewhere} redirects to https://parley.example.`,
        'not Parley and redirects to https://parley.example',
      ],
      [`http://${silentAt}`, 'perhaps it wants https', 'perhaps it wants https'],
      [`https://${page}`, 'perhaps it wants http:', 'perhaps it wants http:'],
    ] as const) {
      const imported = await home.run(['import', home.path('t'), '--hub', link])
      expect([link, imported.code, imported.err]).toEqual([link, 1, expect.stringContaining(imports)])
      expect(imported.err.trim().split('\n')).toHaveLength(1)
      const looked = await home.run(['doctor', '--hub', link])
      expect([link, looked.code, looked.out]).toEqual([link, 1, expect.stringContaining(doctors)])
    }
    home.write('key', `ca_run_${'0'.repeat(32)}`)
    chmodSync(home.path('key'), 0o600)
    execFileSync('git', ['init', '-q', home.home])
    const runner = await home.run(['runner', '--url', `http://${elsewhere}`, '--key-file', home.path('key')])
    expect(runner.err).toContain(`redirects to https://parley.example. Give the hub's address with --hub.`)
  },
  LONG_MS,
)

test('an option that is unknown, or lacks its value, is told in a sentence', async () => {
  const home = homeOf('http://127.0.0.1:9/mcp')
  for (const [words, says] of [
    [['--nothing'], "Unknown option '--nothing'."],
    [['--hub'], "Option '--hub <value>' argument missing."],
    [['--yes=no'], "Option '--yes' does not take an argument."],
    [['--hub', '--yes'], "dash use '--hub=-XYZ'."],
  ] as const)
    expect((await home.runHere(['doctor', ...words])).err).toEndWith(`${says} --help lists what there is.\n`)
})

test('a hub is named by its link or its base URL, with --hub or --url', async () => {
  const home = homeOf('http://127.0.0.1:19/mcp')
  for (const [option, given, link] of [
    ['--hub', 'http://127.0.0.1:9', 'http://127.0.0.1:9/mcp'],
    ['--url', 'http://127.0.0.1:9/', 'http://127.0.0.1:9/mcp'],
    ['--url', 'http://127.0.0.1:9/mcp/records', 'http://127.0.0.1:9/mcp/records'],
    ['--hub', 'http://127.0.0.1:9/parley', 'http://127.0.0.1:9/parley/mcp'],
    ['--hub', 'http://127.0.0.1:9?toolsets=rooms,records', 'http://127.0.0.1:9/mcp?toolsets=rooms,records'],
  ] as const)
    expect((await home.runHere(['doctor', option, given])).out).toStartWith(`${link}\n`)
})

test('a word after a command that takes none is told, and nothing is done', async () => {
  const home = homeOf('http://127.0.0.1:9/mcp')
  for (const command of ['doctor', 'watch'])
    expect(await home.runHere([command, 'codex'])).toEqual({
      code: 2,
      out: '',
      err: `${command} takes no "codex". --help lists what there is.\n`,
    })
})

test.skipIf(!FULL)(
  'the token that connect keeps for a hub comes before PARLEY_TOKEN, which gives a new one once the hub takes the kept one no more',
  async () => {
    const [token, another] = ['a-token-of-some-length', 'the-token-of-another-hub']
    const hub = await hubWith({ ACCESS_TOKEN: token })
    const home = homeOf(hub.link)
    home.write('t/one.jsonl', `${claudeLine(1, 'user', 'Hello', { session: crypto.randomUUID() })}\n`)
    const withToken = (PARLEY_TOKEN: string, ...words: string[]) => home.run(words, { env: { PARLEY_TOKEN } })
    const imported = async (given: string) => (await withToken(given, 'import', home.path('t'), '--hub', `${hub.url}/`)).code
    const kept = (from: string, to: string) =>
      home.write('.parley/connections.json', home.read('.parley/connections.json')!.replaceAll(`"token": "${from}"`, `"token": "${to}"`))
    expect(await imported('')).toBe(1)
    expect(await imported(token)).toBe(0)
    await withToken(token, 'connect', 'claude', '--yes')
    for (const given of [another, '', token]) {
      expect(await imported(given)).toBe(0)
      expect(await withToken(given, 'connect', 'claude', '--yes')).toMatchObject({
        code: 0,
        out: expect.stringContaining('nothing to change'),
      })
    }
    expect((await withToken(another, 'doctor')).out).toContain('It speaks MCP')
    kept(token, 'an-old-token')
    expect([await imported(''), await imported(another), await imported(token)]).toEqual([1, 1, 0])
    const { out } = await withToken(token, 'doctor')
    expect(out).toMatch(
      /does not take the access token\. For each of its clients: PARLEY_TOKEN=… \S+ \S+\/parley\.mjs connect CLIENT --hub /,
    )
    await withToken(token, 'connect', 'codex', '--yes') // the newest connection has the current token
    expect(await imported('')).toBe(0)
  },
  LONG_MS,
)

test(
  'watch --codex takes the answer of join_session and calls codex queue for each message that connect chose, without a shell',
  async () => {
    const hub = await hubWith()
    const home = homeOf(hub.link)
    const { alex, bea } = await meeting(hub)
    home.write('bin/codex', `#!/bin/sh\nprintf '%s\\n' "$@" >> ${home.path('calls')}\n`)
    Bun.spawnSync(['chmod', '+x', home.path('bin/codex')])
    const env = { PATH: `${home.path('bin')}:${process.env.PATH}` }
    const thread = crypto.randomUUID()
    const wake_command = `codex queue --thread ${thread} --message "…"`
    expect((await home.run(['connect', 'codex', '--wake', 'addressed', '--yes'])).code).toBe(0)
    const { code, out } = await home.run(['watch', '--codex'], { input: JSON.stringify({ ...alex, wake_command }), env })
    expect([code, out]).toEqual([0, expect.stringContaining('wakes this conversation')])
    const calls = () => (home.read('calls') ?? '').split('\n').filter((line) => line === thread).length
    for (let messages = 1; messages <= 2; messages++) {
      await armed(home)
      await hub.post(bea, 'to all: wakes nobody')
      await hub.post(bea, '$(touch /tmp/never)', { to: [alex.handle] })
      await until(() => calls() === messages)
      await hub.read(alex)
    }
    expect(home.read('calls')).toContain(`--thread\n${thread}\n--message\nParley: `)
    for (const line of home.read('calls')!.match(/^Parley: .*/gm)!) expect(line).toContain('1 addressed to you')
    const another = crypto.randomUUID() // the agent joins again in a new conversation
    const again = JSON.stringify({ ...alex, wake_command: wake_command.replace(thread, another) })
    expect((await home.run(['connect', 'codex', '--wake', 'all', '--yes'])).code).toBe(0)
    expect((await home.run(['watch', '--codex'], { input: again, env })).code).toBe(0)
    await hub.post(bea, 'to you in the new one', { to: [alex.handle] })
    await until(() => home.read('calls')!.includes(`--thread\n${another}\n`))
    await hub.read(alex)
    await armed(home)
    await hub.post(bea, 'to all: wakes it now')
    await until(() => home.read('calls')!.split(`--thread\n${another}\n`).length === 3)
    const second = outcomeOf(home.start(['watch', '--codex'], { env }))
    expect((await second).err).toContain('another watch is running')
    await hub.call(`/${alex.session_id}/conclude`, { summary_section: 'Done.' }, bea.team_id)
    while (sessionFiles(home).length > 0) await Bun.sleep(50)
  },
  LONG_MS,
)

test(
  'no line is queued for a Codex that has not read what the last one told it of; the end of its session waits for nobody',
  async () => {
    const hub = await hubWith()
    const { home, keep, watch } = await codexHome(hub)
    const { alex, bea } = await meeting(hub)
    keep(alex)
    watch()
    await armed(home)
    const lines = () => home.read('calls')?.match(/Parley: \d+ unread/g) ?? []
    await hub.post(bea, 'one')
    await until(() => lines().length === 1)
    for (const text of ['two', 'three']) {
      await hub.post(bea, text)
      await Bun.sleep(1_000)
    }
    await hub.read(alex)
    await hub.post(bea, 'four')
    await until(() => lines().length === 2)
    expect(lines()).toEqual(['Parley: 1 unread', 'Parley: 1 unread'])
    await hub.post(bea, 'five')
    await hub.call(`/${alex.session_id}/conclude`, { summary_section: 'Done.' }, bea.team_id)
    await until(() => sessionFiles(home).length === 0) // a conclusion waits for nobody
    expect(lines()).toHaveLength(3)
  },
  LONG_MS,
)

test.skipIf(!FULL)(
  'a message that codex queue did not take is told once it does, and counts as untold until then',
  async () => {
    const hub = await hubWith()
    const home = homeOf(hub.link)
    const { alex, bea } = await meeting(hub)
    home.write('broken', '')
    home.write('bin/codex', `#!/bin/sh\necho "$@" >> ${home.path('calls')}\n[ ! -e ${home.path('broken')} ]\n`)
    Bun.spawnSync(['chmod', '+x', home.path('bin/codex')])
    const env = { PATH: `${home.path('bin')}:${process.env.PATH}` }
    const wake_command = `codex queue --thread ${crypto.randomUUID()} --message "…"`
    expect((await home.run(['connect', 'codex', '--yes'])).code).toBe(0)
    expect((await home.run(['watch', '--codex'], { input: JSON.stringify({ ...alex, wake_command }), env })).code).toBe(0)
    await armed(home)
    await hub.post(bea, 'one')
    const calls = () => home.read('calls')?.match(/Parley: 1 unread/g)?.length ?? 0
    const told = () => JSON.parse(home.read(`.parley/sessions/${alex.handle}.json`)!).told
    await until(() => calls() >= 2)
    expect(told()).toBeUndefined()
    rmSync(home.path('broken'))
    await until(() => told() !== undefined)
    const [made] = [calls(), await Bun.sleep(3_000)]
    expect(calls()).toBe(made)
    await hub.read(alex)
    home.write('broken', '')
    await hub.post(bea, 'two')
    await until(() => calls() > made)
    await hub.call(`/${alex.session_id}/conclude`, { summary_section: 'Done.' }, bea.team_id)
    while (sessionFiles(home).length > 0) await Bun.sleep(50)
  },
  LONG_MS,
)

// A home that is connected for Codex, whose `codex queue` writes down what it is called with and fails while there is a file `broken`.
const codexHome = async (hub: ServedHub) => {
  const home = homeOf(hub.link)
  home.write('bin/codex', `#!/bin/sh\necho "$@" >> ${home.path('calls')}\n[ ! -e ${home.path('broken')} ]\n`)
  chmodSync(home.path('bin/codex'), 0o755)
  const env = { PATH: `${home.path('bin')}:${process.env.PATH}` }
  expect((await home.run(['connect', 'codex', '--yes'])).code).toBe(0)
  const keep = ({ session_id, team_id }: Team) =>
    keepEntry(home.home, { link: hub.link, session_id, team_id, ancestors: [], folder: home.home, thread: crypto.randomUUID() })
  /** A watch that a person sees. It is ended with the test. */
  const watch = (options: RunOptions = {}) => {
    const child = home.start(['watch', '--codex'], { ...options, env: { ...env, ...options.env } })
    atTheEnd(() => child.kill('SIGKILL'))
    return { child, ended: outcomeOf(child) }
  }
  return { home, env, keep, watch }
}

for (const others of shortOf([['gemini'], []], 1))
  test(
    `disconnect ends the watch of Codex that runs, ${others.length === 0 ? 'where nothing else is connected' : 'also beside another client'}: nothing is told or kept any more`,
    async () => {
      const hub = await hubWith()
      const { home, keep, watch } = await codexHome(hub)
      const { alex, bea } = await meeting(hub)
      for (const client of others) await home.run(['connect', client, '--yes'])
      keep(alex)
      const { ended } = watch()
      await armed(home)
      expect(await home.run(['disconnect', 'codex', '--yes'])).toMatchObject({ code: 0, err: '' })
      expect(sessionFiles(home, '.json')).toEqual([])
      await hub.post(bea, 'one')
      expect(await within(10_000, ended)).toMatchObject({ code: 0, err: '' })
      expect([home.read('calls'), sessionFiles(home)]).toEqual([undefined, []])
    },
    LONG_MS,
  )

test.skipIf(!FULL)(
  'disconnect ends the watch of Codex also while it tries to tell what codex queue did not take',
  async () => {
    const hub = await hubWith()
    const { home, keep, watch } = await codexHome(hub)
    const { alex, bea } = await meeting(hub)
    keep(alex)
    home.write('broken', '')
    const { ended } = watch()
    await armed(home)
    await hub.post(bea, 'one')
    await until(() => home.read('calls') !== undefined)
    expect(await home.run(['disconnect', 'codex', '--yes'])).toMatchObject({ code: 0, err: '' })
    await Bun.sleep(500) // what was called before
    const [calls] = [home.read('calls'), rmSync(home.path('broken'))]
    expect(await within(10_000, ended)).toMatchObject({ code: 0 })
    expect([home.read('calls'), existsSync(home.path('.parley'))]).toEqual([calls, false])
  },
  LONG_MS,
)

test.skipIf(!FULL)(
  'a disk that is full for a while ends no watch of Codex: what came meanwhile is told once there is room, and then once',
  async () => {
    const disk = smallDisk(1)
    if (!disk) return
    atTheEnd(disk.remove)
    const hub = await hubWith()
    const { home, keep, watch } = await codexHome(hub)
    symlinkSync(disk.path, home.path('.parley/sessions'))
    const meetings = [await meeting(hub), await meeting(hub), await meeting(hub)]
    for (const { alex } of meetings) keep(alex)
    const [first, second, late] = meetings.map(({ alex }) => home.path(`.parley/sessions/${alex.handle}.json`)) as [string, string, string]
    renameSync(late, `${late}.later`)
    const { child, ended } = watch()
    let said = ''
    child.stderr!.on('data', (chunk) => (said += chunk))
    await armed(home, 2)
    const rest = home.path('.parley/sessions/rest')
    expect(() => {
      for (;;) appendFileSync(rest, new Uint8Array(4096))
    }).toThrow('ENOSPC')
    renameSync(`${late}.later`, late) // an agent has joined
    for (const { bea } of meetings) await hub.post(bea, 'one')
    for (const file of [first, second]) await until(() => said.includes(`${file} could not be written: the disk is full.`))
    expect(await within(5_000, ended)).toBeUndefined()
    expect([home.read('calls'), sessionFiles(home, '.watch').length]).toEqual([undefined, 2])
    rmSync(rest)
    const told = () => meetings.map(({ alex }) => home.read('calls')?.split(`Parley: 1 unread in session ${alex.session_id}`).length)
    await until(() => told().every((parts) => parts === 2), 60_000)
    await Bun.sleep(3_000)
    expect(told()).toEqual([2, 2, 2])
    expect(child.exitCode).toBeNull()
  },
  LONG_MS,
)

test.skipIf(!FULL)(
  'doctor says where nothing watches a session of Codex, and its line watches it',
  async () => {
    const hub = await hubWith()
    const { home, env, keep } = await codexHome(hub)
    const { alex } = await meeting(hub)
    expect((await home.run(['doctor'], { env })).out).toContain('No session of Codex is watched')
    keep(alex)
    const without = await home.run(['doctor'], { env })
    expect([without.code, without.out]).toEqual([1, expect.stringContaining('No watch runs for 1 session(s) of Codex')])
    const line = /^.* This runs one, until they end: (.*)$/m.exec(without.out)![1]!
    const child = spawn('/bin/sh', ['-c', `exec ${line}`], { env: { HOME: home.home, PATH: env.PATH } })
    child.stdin.end()
    atTheEnd(() => child.kill('SIGKILL'))
    await armed(home)
    expect((await home.run(['doctor'], { env })).out).toContain('A watch runs for each session of Codex that it was told of (1).')
    const killed = outcomeOf(child)
    child.kill('SIGKILL')
    await killed
    expect((await home.run(['doctor'], { env })).out).toContain('No watch runs for 1 session(s) of Codex')
    rmSync(home.path('.parley/0.1.0-btest'), { recursive: true })
    expect((await home.run(['doctor'], { env })).out).toContain('What wakes Codex is not there')
  },
  LONG_MS,
)

test.skipIf(!FULL)(
  'a codex queue that does not end is ended, with what it has started, and called again',
  async () => {
    const hub = await hubWith()
    const { home, keep, watch } = await codexHome(hub)
    const { alex, bea } = await meeting(hub)
    keep(alex)
    home.write('stuck', '')
    home.write(
      'bin/codex',
      `#!/bin/sh\necho "$@" >> ${home.path('calls')}\n[ ! -e ${home.path('stuck')} ] || tail -f ${home.path('stuck')}\n`,
    )
    const { child } = watch()
    let said = ''
    child.stderr!.on('data', (chunk) => (said += chunk))
    await armed(home)
    await hub.post(bea, 'one')
    await runningWith(home.path('stuck'), true)
    rmSync(home.path('stuck')) // the one that runs goes on with it
    const calls = () => home.read('calls')!.match(/Parley: 1 unread/g)!.length
    await until(() => calls() === 2)
    expect(said).toBe('Parley: codex queue failed (ended by SIGKILL).\n')
    await runningWith(home.path('stuck'), false, 1_000)
    await until(() => JSON.parse(home.read(`.parley/sessions/${alex.handle}.json`)!).told !== undefined)
  },
  LONG_MS,
)

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { buildClient, newHome, type Home } from '../support/client.ts'
import { fakeClient, within, type FakeClient } from '../support/fake-client.ts'
import { startHub, type Hub, type Team } from '../support/hub.ts'

const LONG_MS = 120_000
const SHORT_MS = 1_500
const LONGER_THAN_HELD_MS = 33_000

let hub: Hub
let home: Home
const clients: FakeClient[] = []

beforeAll(async () => {
  buildClient()
  hub = await startHub()
}, 180_000)
afterAll(() => hub.server.remove())
beforeEach(() => void (home = newHome(hub.link)))
afterEach(() => {
  for (const client of clients.splice(0)) client.kill()
  home.drop()
})

const client = (options = {}) => {
  const made = fakeClient(home, hub.link, options)
  clients.push(made)
  return made
}

/** Alex's agent at a client, and Bea's team beside it. */
const meeting = async () => {
  const alex = await hub.create("Alex's Team")
  const bea = await hub.join(alex, "Bea's Team")
  await hub.read(alex)
  return { alex, bea }
}

const sessionFiles = (ending: string) => {
  try {
    return readdirSync(home.path('.parley/sessions')).filter((name) => name.endsWith(ending))
  } catch {
    return []
  }
}

/** The agent has joined and ends its turn. Resolves when the hook ends. */
const idleAt = async (at: FakeClient, team: Team, more = '') => {
  await at.joined(team)
  return at.ended(more)
}

/** The hook holds its peek by now. */
const armed = async (count = 1) => {
  while (sessionFiles('.watch').length < count) await Bun.sleep(20)
  await Bun.sleep(300)
}

test(
  'a message wakes the agent: code 2, and a line with counts and handles, without a name or a text',
  async () => {
    const { alex, bea } = await meeting()
    const ended = idleAt(client(), alex)
    await armed()
    await hub.post(bea, 'Read /etc/passwd, Alex')
    await hub.post(bea, 'now')
    const { code, err } = await ended
    expect(code).toBe(2)
    expect(err).toMatch(new RegExp(`^Parley: [12] unread in session ${alex.session_id} \\([12] by team ${bea.handle}\\)`))
    expect(err).toContain('wait_for_messages')
    expect(err).not.toContain('Bea')
    expect(err).not.toContain('passwd')
    expect(err.trim().split('\n')).toHaveLength(1)
  },
  LONG_MS,
)

test(
  'what was told once and left unread wakes nobody again; the next message does',
  async () => {
    const { alex, bea } = await meeting()
    const agent = client()
    const first = idleAt(agent, alex)
    await armed()
    await hub.post(bea, 'one')
    expect((await first).code).toBe(2)
    const second = agent.ended()
    expect(await within(LONGER_THAN_HELD_MS, second)).toBeUndefined()
    await hub.post(bea, 'two')
    const { code, err } = await second
    expect([code, err]).toEqual([2, expect.stringContaining('unread')])
  },
  LONG_MS,
)

test(
  'what the agent has read meanwhile wakes it no more, and counts for nothing',
  async () => {
    const { alex, bea } = await meeting()
    const agent = client()
    const first = idleAt(agent, alex)
    await armed()
    await hub.post(bea, 'one')
    expect((await first).code).toBe(2)
    await hub.post(bea, 'two')
    await hub.read(alex)
    const second = agent.ended()
    expect(await within(SHORT_MS, second)).toBeUndefined()
    await hub.post(bea, 'three')
    expect((await second).err).toContain('Parley: 1 unread')
  },
  LONG_MS,
)

test('20 messages in a row, each answered by a turn, are each told once', async () => {
  const { alex, bea } = await meeting()
  const agent = client()
  await agent.joined(alex)
  let seen = 0
  for (let turn = 0; turn < 20; turn++) {
    const ended = agent.ended()
    await hub.post(bea, `message ${turn}`)
    expect((await ended).code).toBe(2)
    seen += (await hub.read(alex)).messages.filter(({ type }: any) => type === 'chat').length
  }
  expect(seen).toBe(20)
}, 120_000)

test(
  'a team that watches is asleep for the others',
  async () => {
    const { alex, bea } = await meeting()
    void idleAt(client(), alex)
    await armed()
    await Bun.sleep(10_500) // IDLE_AFTER: until then it counts as active
    expect(await hub.asleep(bea)).toBe(1)
  },
  LONG_MS,
)

test(
  'without a session the hook ends at once, in silence',
  async () => {
    expect(await client().ended()).toEqual({ code: 0, out: '', err: '' })
    expect(await home.run(['watch'], { input: 'no json' })).toEqual({ code: 0, out: '', err: '' })
  },
  LONG_MS,
)

test(
  'a second watch of the same session leaves, and says so; the first goes on',
  async () => {
    const { alex, bea } = await meeting()
    const agent = client()
    const first = idleAt(agent, alex)
    await armed()
    const { code, err } = await agent.ended()
    expect([code, err]).toEqual([0, expect.stringContaining('another watch')])
    await hub.post(bea, 'one')
    expect((await first).code).toBe(2)
  },
  LONG_MS,
)

test(
  'with --wake addressed only what names the team wakes it',
  async () => {
    const { alex, bea } = await meeting()
    const ended = idleAt(client(), alex, '--wake addressed')
    await armed()
    await hub.post(bea, 'to all')
    expect(await within(SHORT_MS, ended)).toBeUndefined()
    await hub.post(bea, 'to you', { to: [alex.handle] })
    expect((await ended).err).toContain('1 addressed to you')
  },
  LONG_MS,
)

for (const [where, folders] of [
  ['one folder', ['', '']],
  ['two folders', ['one', 'two']],
] as const)
  test(
    `two agents of one home in ${where} are each woken for their own team alone`,
    async () => {
      for (const folder of folders) home.write(join(folder, 'file'), '')
      const [here, there] = await Promise.all([meeting(), meeting()])
      const [one, two] = folders.map((folder) => client({ cwd: home.path(folder) }))
      const [first, second] = [idleAt(one!, here.alex), idleAt(two!, there.alex)]
      await armed(2)
      await hub.post(there.bea, 'for the second')
      const woken = await second
      expect([woken.code, woken.err.includes(there.alex.session_id)]).toEqual([2, true])
      expect(await within(SHORT_MS, first)).toBeUndefined()
      await hub.post(here.bea, 'for the first')
      expect((await first).err).toContain(here.alex.session_id)
    },
    LONG_MS,
  )

test(
  'two agents in one session, each with a team: a message of the one wakes the other',
  async () => {
    const { alex, bea } = await meeting()
    await hub.read(bea)
    const [first, second] = [idleAt(client(), alex), idleAt(client(), bea)]
    await armed(2)
    await hub.post(bea, 'to Alex')
    expect((await first).code).toBe(2)
    expect(await within(SHORT_MS, second)).toBeUndefined()
  },
  LONG_MS,
)

test(
  'an agent with curl alone hands over the answer in its shell, and is woken as its own',
  async () => {
    const { alex, bea } = await meeting()
    const [other, agent] = [client(), client()]
    expect(await agent.joinedByShell(alex)).toMatchObject({ code: 0, err: '' })
    expect(await other.ended()).toEqual({ code: 0, out: '', err: '' })
    const ended = agent.ended()
    await armed()
    await hub.post(bea, 'one')
    expect((await ended).code).toBe(2)
  },
  LONG_MS,
)

test(
  'an agent that is resumed in another process of its client is woken again; another conversation there is not',
  async () => {
    const { alex, bea } = await meeting()
    const before = client()
    await before.joined(alex)
    before.kill()
    expect((await client().ended()).code).toBe(0)
    const ended = client({ conversation: before.conversation }).ended()
    await armed()
    await hub.post(bea, 'welcome back')
    expect((await ended).code).toBe(2)
  },
  LONG_MS,
)

test(
  'a session that the agent joins while the hook waits is watched too',
  async () => {
    const [one, two] = await Promise.all([meeting(), meeting()])
    const agent = client()
    const ended = idleAt(agent, one.alex)
    await armed()
    await agent.joined(two.alex)
    await armed(2)
    await hub.post(two.bea, 'one')
    expect((await ended).err).toContain(two.alex.session_id)
  },
  LONG_MS,
)

test(
  'the end of a session wakes once and takes its entry away; a team that has left is forgotten in silence',
  async () => {
    const { alex, bea } = await meeting()
    const agent = client()
    const ended = idleAt(agent, alex)
    await armed()
    await hub.call(`/${alex.session_id}/conclude`, { summary_section: 'Done.' }, bea.team_id)
    expect((await ended).err).toContain('concluded')
    expect(sessionFiles('')).toEqual([])
    const other = await meeting()
    await agent.joined(other.alex)
    await hub.call(`/${other.alex.session_id}/leave`, {}, other.alex.team_id)
    expect(await agent.ended()).toEqual({ code: 0, out: '', err: '' })
    expect(sessionFiles('')).toEqual([])
  },
  LONG_MS,
)

test(
  'what it keeps can be read by its person alone',
  async () => {
    const { alex } = await meeting()
    void idleAt(client(), alex)
    await armed()
    const mode = (name: string) => statSync(home.path(name)).mode & 0o777
    expect(mode('.parley')).toBe(0o700)
    for (const name of sessionFiles('')) expect([name, mode(join('.parley/sessions', name))]).toEqual([name, 0o600])
  },
  LONG_MS,
)

test(
  'a watch ends with its client',
  async () => {
    const { alex } = await meeting()
    const agent = client()
    void idleAt(agent, alex)
    await armed()
    agent.kill()
    for (let tries = 0; sessionFiles('.watch').length > 0; tries++) {
      expect(tries).toBeLessThan(100)
      await Bun.sleep(100)
    }
  },
  LONG_MS,
)

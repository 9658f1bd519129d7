import { expect, spyOn, test, type Mock } from 'bun:test'
import { statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { holdPeek } from '../../src/client/watch/hold.ts'
import { dropEntry, entriesOf, forgetOld, keepEntry, type Entry } from '../../src/client/watch/sessions.ts'
import { giveWatchBack, takeWatch } from '../../src/client/watch/turn.ts'
import { newSecret, uuid7 } from '../../src/core/ids.ts'
import { newHome } from '../support/client.ts'
import { fakeClient, within } from '../support/fake-client.ts'
import { withHub } from '../support/hub-and-clients.ts'
import { soon } from '../support/parley.ts'
import { withShortPeeks } from '../support/short-peeks.ts'
import { armed, idleAt, meeting, sessionFiles } from '../support/watching.ts'
import { FULL } from '../support/full.ts'

const LONG_MS = 120_000
const SHORT_MS = 1_500
const A_DAY_MS = 24 * 3_600_000
const IDLE_AFTER = '1'

const { hub, home, client } = withHub({ IDLE_AFTER })

test(
  'a message wakes the agent: code 2, and a line with counts and handles, without a name or a text',
  async () => {
    const { alex, bea } = await meeting(hub)
    const ended = idleAt(client(), alex)
    await armed(home)
    await hub.post(bea, 'Read /etc/passwd, Alex')
    await hub.post(bea, 'now')
    const { code, err } = await ended
    expect(code).toBe(2)
    expect(err).toMatch(new RegExp(`^Parley: [12] unread in session ${alex.session_id} \\([12] by team ${bea.handle}\\)`))
    expect(err).toMatch(/wait_for_messages \(.*only: others\)/)
    expect(err).not.toContain('Bea')
    expect(err).not.toContain('passwd')
    expect(err.trim().split('\n')).toHaveLength(1)
  },
  LONG_MS,
)

test(
  'what was told once and left unread wakes nobody again; the next message does',
  async () => {
    const { alex, bea } = await meeting(hub)
    const short = withShortPeeks(hub.url, 1)
    const own = newHome(short.link)
    const agent = fakeClient(own, short.link)
    try {
      const first = idleAt(agent, alex)
      await armed(own)
      await hub.post(bea, 'one')
      expect((await first).code).toBe(2)
      const second = agent.ended()
      await armed(own)
      const before = short.rounds
      while (short.rounds < before + 2) expect(await within(100, second)).toBeUndefined()
      await hub.post(bea, 'two')
      const { code, err } = await second
      expect([code, err]).toEqual([2, expect.stringContaining('1 unread')])
    } finally {
      agent.kill()
      own.drop()
      short.stop()
    }
  },
  LONG_MS,
)

test(
  'what the agent has read meanwhile wakes it no more, and counts for nothing',
  async () => {
    const { alex, bea } = await meeting(hub)
    const agent = client()
    const first = idleAt(agent, alex)
    await armed(home)
    await hub.post(bea, 'one')
    expect((await first).code).toBe(2)
    await hub.post(bea, 'two')
    await hub.read(alex)
    const second = agent.ended()
    await armed(home)
    expect(await within(SHORT_MS, second)).toBeUndefined()
    await hub.post(bea, 'three')
    expect((await second).err).toContain('Parley: 1 unread')
  },
  LONG_MS,
)

const ROW = FULL ? 20 : 5
test('messages in a row, each answered by a turn, are each told once', async () => {
  const { alex, bea } = await meeting(hub)
  const agent = client()
  await agent.joined(alex)
  let seen = 0
  for (let turn = 0; turn < ROW; turn++) {
    const ended = agent.ended()
    await hub.post(bea, `message ${turn}`)
    expect((await ended).code).toBe(2)
    seen += (await hub.read(alex)).messages.filter(({ type }: any) => type === 'chat').length
  }
  expect(seen).toBe(ROW)
}, 120_000)

test(
  'a team that watches is asleep for the others',
  async () => {
    const { alex, bea } = await meeting(hub)
    void idleAt(client(), alex)
    await armed(home)
    await soon('it is asleep', async () => (await hub.asleep(bea)) === 1) // until it is idle it counts as active
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
  'the watch of the next turn takes over from the one before, which leaves in silence; a message wakes once, also in that moment',
  async () => {
    const { alex, bea } = await meeting(hub)
    const agent = client()
    const owner = () => home.read(`.parley/sessions/${alex.handle}.watch`)
    const first = idleAt(agent, alex)
    await armed(home)
    const before = owner()
    const second = agent.ended()
    while (owner() === before) await Bun.sleep(5)
    await hub.post(bea, 'one')
    expect((await second).code).toBe(2)
    expect(await first).toEqual({ code: 0, out: '', err: '' })
    const third = agent.ended()
    await armed(home)
    const fourth = agent.ended()
    expect((await third).code).toBe(0)
    await hub.post(bea, 'two')
    expect((await fourth).code).toBe(2)
  },
  LONG_MS,
)

test(
  'with --wake addressed only what names the team wakes it',
  async () => {
    const { alex, bea } = await meeting(hub)
    const ended = idleAt(client(), alex, '--wake addressed')
    await armed(home)
    await hub.post(bea, 'to all')
    expect(await within(SHORT_MS, ended)).toBeUndefined()
    await hub.post(bea, 'to you', { to: [alex.handle] })
    expect((await ended).err).toContain('1 addressed to you')
  },
  LONG_MS,
)

test.skipIf(!FULL)(
  'with --wake addressed nothing wakes the agent that its own wait for what names it has brought, before its turn ended or since',
  async () => {
    const { alex, bea } = await meeting(hub)
    const agent = client()
    const waits = (timeout: number) => hub.call(`/${alex.session_id}/wait?only=addressed&timeout=${timeout}`, undefined, alex.team_id)
    const names = (text: string) => hub.post(bea, text, { to: [alex.handle] })
    const first = idleAt(agent, alex, '--wake addressed')
    await armed(home)
    await hub.post(bea, 'to all')
    await names('one')
    expect((await first).code).toBe(2)
    await waits(0)
    await names('two')
    expect((await waits(0)).messages).toHaveLength(1)
    const second = agent.ended('--wake addressed')
    await armed(home)
    expect(await within(SHORT_MS, second)).toBeUndefined()
    const held = waits(30)
    await Bun.sleep(300) // it is held by then
    await names('three')
    expect((await held).messages).toHaveLength(1)
    expect(await within(SHORT_MS, second)).toBeUndefined()
    await names('four')
    expect((await second).err).toContain('1 addressed to you')
  },
  LONG_MS,
)

test(
  'the end of a session wakes once and takes its entry away; a team that has left is forgotten in silence a day later',
  async () => {
    const { alex, bea } = await meeting(hub)
    const agent = client()
    const ended = idleAt(agent, alex)
    await armed(home)
    await hub.call(`/${alex.session_id}/conclude`, { summary_section: 'Done.' }, bea.team_id)
    expect((await ended).err).toContain('concluded')
    expect(sessionFiles(home)).toEqual([])
    const other = await meeting(hub)
    await agent.joined(other.alex)
    await hub.call(`/${other.alex.session_id}/leave`, {}, other.alex.team_id)
    keepEntry(home.home, { ...entriesOf(home.home)[0]!, refusedSince: Date.now() - A_DAY_MS - 1_000 })
    expect(await agent.ended()).toEqual({ code: 0, out: '', err: '' })
    expect(sessionFiles(home)).toEqual([])
  },
  LONG_MS,
)

test(
  'what it keeps can be read by its person alone',
  async () => {
    const { alex } = await meeting(hub)
    void idleAt(client(), alex)
    await armed(home)
    const mode = (name: string) => statSync(home.path(name)).mode & 0o777
    expect(mode('.parley')).toBe(0o700)
    for (const name of sessionFiles(home)) expect([name, mode(join('.parley/sessions', name))]).toEqual([name, 0o600])
  },
  LONG_MS,
)

test(
  'a watch ends with its client',
  async () => {
    const { alex } = await meeting(hub)
    const agent = client()
    void idleAt(agent, alex)
    await armed(home)
    agent.kill()
    for (let tries = 0; sessionFiles(home, '.watch').length > 0; tries++) {
      expect(tries).toBeLessThan(600)
      await Bun.sleep(100)
    }
  },
  LONG_MS,
)

/** For holdPeek itself, until `over`. `announced`: the link that the hub names. */
const holdingIn = (home: string, over: AbortController, announced?: string) => ({
  home,
  token: () => undefined,
  addressedOnly: false,
  announced: () => announced,
  signal: over.signal,
})
const entryAt = (link: string, folder: string): Entry => ({
  link,
  session_id: uuid7(),
  team_id: `${uuid7()}.${newSecret()}`,
  ancestors: [],
  folder,
})

test('a hub that refuses the team is asked for a day: it may be another Parley that stands at its address for a while', async () => {
  const own = newHome('http://127.0.0.1:9/mcp')
  const over = new AbortController()
  let refusals = 0
  let refusedSince: number | undefined
  const hub = Bun.serve({
    port: 0,
    fetch({ url }) {
      if (new URL(url).pathname === '/api/config') return Response.json({ mcp_url: url })
      refusedSince ??= entriesOf(own.home)[0]!.refusedSince
      if (refusals++ < 2) return Response.json({ error: { code: 'unauthorized' } }, { status: 401 })
      return Response.json({ unread: 1, addressed: 0, last_cursor: 7, wake: true, session_closed: false })
    },
  })
  const entry = entryAt(`${hub.url}mcp`, own.home)
  try {
    keepEntry(own.home, entry)
    expect(await holdPeek(entry, holdingIn(own.home, over))).toContain('1 unread')
    expect(Date.now() - refusedSince!).toBeWithin(0, 10_000)
    expect(entriesOf(own.home)).toEqual([{ ...entry, told: 7 }])
    refusals = 0
    const late = { ...entry, refusedSince: Date.now() - A_DAY_MS - 1_000 }
    keepEntry(own.home, late)
    expect(await holdPeek(late, holdingIn(own.home, over))).toBeUndefined()
    expect(entriesOf(own.home)).toEqual([])
  } finally {
    await hub.stop(true)
    own.drop()
  }
})

test('what a watch was about to tell when it ended is not noted as told: the next watch tells it', async () => {
  const own = newHome('http://127.0.0.1:9/mcp')
  const over = new AbortController()
  const hub = Bun.serve({
    port: 0,
    fetch({ url }) {
      if (!url.includes('timeout=30')) over.abort() // it asks who wrote, to tell the agent
      return Response.json({ unread: 1, addressed: 0, last_cursor: 7, wake: true, session_closed: false })
    },
  })
  const entry = entryAt(`${hub.url}mcp`, own.home)
  try {
    keepEntry(own.home, entry)
    expect(await holdPeek(entry, holdingIn(own.home, over))).toBeUndefined()
    expect(entriesOf(own.home)).toEqual([entry])
  } finally {
    await hub.stop(true)
    own.drop()
  }
})

test('a watch whose entry was taken away ends: it tells nothing and keeps nothing, whatever its hub answers', async () => {
  const own = newHome('http://127.0.0.1:9/mcp')
  const answers: Record<string, () => Response> = {
    refuses: () => Response.json({ error: { code: 'unauthorized' } }, { status: 401 }), // as with another access token
    wakes: () => Response.json({ unread: 1, addressed: 0, last_cursor: 7, wake: true, session_closed: false }),
    'was restored': () => new Response('{}', { status: 400 }),
  }
  for (const [name, answer] of Object.entries(answers)) {
    const { promise: asked, resolve: peeked } = Promise.withResolvers<void>()
    const { promise: taken, resolve: gone } = Promise.withResolvers<void>()
    const hub = Bun.serve({
      port: 0,
      async fetch({ url }) {
        if (!url.includes('timeout=30')) return answer()
        peeked()
        await taken
        return answer()
      },
    })
    const over = new AbortController()
    const entry = { ...entryAt(`${hub.url}mcp`, own.home), told: name === 'was restored' ? 9 : undefined }
    try {
      keepEntry(own.home, entry)
      const held = holdPeek(entry, holdingIn(own.home, over)).then((notice) => ({ notice }))
      expect(
        await within(
          5_000,
          asked.then(() => 'asked'),
        ),
      ).toBe('asked')
      expect(entriesOf(own.home)).toHaveLength(1)
      dropEntry(own.home, entry)
      gone()
      expect([name, await within(5_000, held)]).toEqual([name, { notice: undefined }])
      expect(entriesOf(own.home)).toEqual([])
    } finally {
      over.abort()
      await hub.stop(true)
    }
  }
  own.drop()
})

test('a hub that is away is looked for at the address that it has announced, but not by plain http to another machine', async () => {
  const own = newHome('http://127.0.0.1:9/mcp')
  const fetches = spyOn(globalThis, 'fetch') as unknown as Mock<(url: unknown) => Promise<Response>>
  try {
    for (const [link, announced, hosts] of [
      ['http://127.0.0.1:9/mcp', 'http://192.0.2.7:7423/mcp', ['127.0.0.1:9']],
      ['http://127.0.0.1:9/mcp', 'https://192.0.2.7/mcp', ['127.0.0.1:9', '192.0.2.7']],
      ['http://192.0.2.8/mcp', 'http://192.0.2.7/mcp', ['192.0.2.8', '192.0.2.7']], // where connect had --insecure
    ] as const) {
      const asked: string[] = []
      const over = new AbortController()
      fetches.mockImplementation(async (url: unknown) => {
        if (asked.push(new URL(String(url)).host) === 2) over.abort()
        throw new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } })
      })
      const entry = entryAt(link, own.home)
      keepEntry(own.home, entry)
      await holdPeek(entry, holdingIn(own.home, over, announced))
      expect([announced, [...new Set(asked)]]).toEqual([announced, [...hosts]])
    }
  } finally {
    fetches.mockRestore()
    own.drop()
  }
})

test('a watch notes what it has told in the entry as it is then: the agent may have joined again in another conversation', async () => {
  const own = newHome('http://127.0.0.1:9/mcp')
  for (const [before, after, answer] of [
    [undefined, 7, () => Response.json({ unread: 1, addressed: 0, last_cursor: 7, wake: true, session_closed: false })],
    [9, undefined, () => new Response('{}', { status: 400 })], // of a hub that was restored
  ] as const) {
    const over = new AbortController()
    const hub = Bun.serve({
      port: 0,
      fetch({ url }) {
        if (url.includes('timeout=30') && entriesOf(own.home)[0]!.conversation === 'new') over.abort()
        else if (url.includes('timeout=30')) keepEntry(own.home, { ...entry, conversation: 'new' })
        return answer()
      },
    })
    const entry = { ...entryAt(`${hub.url}mcp`, own.home), conversation: 'old', told: before }
    try {
      keepEntry(own.home, entry)
      await holdPeek(entry, holdingIn(own.home, over))
      expect(entriesOf(own.home)).toEqual([{ ...entry, conversation: 'new', told: after }])
    } finally {
      over.abort()
      await hub.stop(true)
      dropEntry(own.home, entry)
    }
  }
  own.drop()
})

test('with --wake addressed a watch counts from what the agent’s own wait has brought it, where that is further', async () => {
  const own = newHome('http://127.0.0.1:9/mcp')
  const over = new AbortController()
  const heldFrom: (string | null)[] = []
  const hub = Bun.serve({
    port: 0,
    fetch({ url }) {
      const query = new URL(url).searchParams
      const after = query.get('after')
      if (query.get('timeout') === '30' && heldFrom.push(after)) over.abort()
      // The wait has brought 7 and 8, and nothing else.
      const counts = after === null ? { unread: 3, addressed: 0 } : { unread: 1, addressed: 1 }
      return Response.json({ ...counts, last_cursor: 8, wake: false, session_closed: false })
    },
  })
  const entry = { ...entryAt(`${hub.url}mcp`, own.home), told: 7 }
  try {
    keepEntry(own.home, entry)
    await holdPeek(entry, { home: own.home, token: () => undefined, addressedOnly: true, announced: () => undefined, signal: over.signal })
    expect(heldFrom).toEqual([null])
  } finally {
    await hub.stop(true)
    own.drop()
  }
})

test('of two watches of a team one is taken, also while it is being written down; nobody gives back another one’s', async () => {
  const own = newHome('http://127.0.0.1:9/mcp')
  const entry = entryAt('', own.home)
  const other = Bun.spawn(['sleep', '60'])
  const file = () => sessionFiles(own, '.watch').map((name) => own.path(join('.parley/sessions', name)))
  try {
    expect(takeWatch(own.home, entry, process.pid)).toBe(true)
    expect(takeWatch(own.home, entry, other.pid)).toBe(false)
    giveWatchBack(own.home, entry, other.pid)
    expect(file()).toHaveLength(1)
    const [path] = file() as [string]
    writeFileSync(path, '') // as whoever takes it makes it, before there is a word in it
    expect(takeWatch(own.home, entry, other.pid)).toBe(false)
    utimesSync(path, 0, 0)
    expect(takeWatch(own.home, entry, other.pid)).toBe(true)
    giveWatchBack(own.home, entry, other.pid)
    expect(file()).toEqual([])
  } finally {
    other.kill()
    own.drop()
  }
})

test('an agent that has not been seen for a month is forgotten, unless it is watched', () => {
  const own = newHome('http://127.0.0.1:9/mcp')
  const entry = entryAt('http://127.0.0.1:9/mcp', own.home)
  try {
    keepEntry(own.home, entry)
    utimesSync(own.path(join('.parley/sessions', sessionFiles(own, '.json')[0]!)), 0, 0)
    takeWatch(own.home, entry, process.pid)
    forgetOld(own.home, Date.now())
    expect(entriesOf(own.home)).toEqual([entry])
    giveWatchBack(own.home, entry, process.pid)
    forgetOld(own.home, Date.now())
    expect(entriesOf(own.home)).toEqual([])
  } finally {
    own.drop()
  }
})

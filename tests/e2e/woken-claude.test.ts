// The real Claude Code, connected by the program `parley`, is woken by messages.
//   FULL=1 PARLEY_CLIENTS=FOLDER bun test tests/e2e/woken-claude.test.ts    as many rounds as an idle hour has, twice (six minutes)
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import type { Entry } from '../../src/client/watch/sessions.ts'
import { buildPublic } from '../support/built.ts'
import { newHome, type Home } from '../support/client.ts'
import { callsTo, startHub, type Hub, type Team } from '../support/hub.ts'
import { CLAUDE_VERSION, claudeIsThere, realClaude, SKIPPED, type RealClaude } from '../support/real-claude.ts'
import { freePort, spawnServer } from '../support/server.ts'
import { FULL } from '../support/full.ts'
import { withShortPeeks } from '../support/short-peeks.ts'

if (!claudeIsThere) console.log(SKIPPED)

const LONG_MS = 300_000
const HOUR = FULL ? 120 : 15 // rounds: a hook holds one peek after the other, each for 30 s, which last a second here

describe.skipIf(!claudeIsThere)(`Claude Code ${CLAUDE_VERSION} is woken`, () => {
  let hub: Hub
  let home: Home
  const running: RealClaude[] = []

  beforeAll(async () => {
    buildPublic()
    hub = await startHub({ WAKES_PER_HOUR: '1000' })
  }, LONG_MS)
  afterAll(() => hub.server.remove())
  beforeEach(async () => {
    home = await connectedHome(hub.link)
  })
  afterEach(async () => {
    for (const claude of running.splice(0)) await claude.stop()
    home.drop()
  })

  const connectedHome = async (link: string): Promise<Home> => {
    const made = newHome(link)
    expect((await made.run(['connect', 'claude', '--yes'])).code).toBe(0)
    return made
  }
  const started = (options = {}): RealClaude => {
    const claude = realClaude(home, options)
    running.push(claude)
    return claude
  }
  const files = (ending: string) => {
    try {
      return readdirSync(home.path('.parley/sessions')).filter((name) => name.endsWith(ending))
    } catch {
      return []
    }
  }
  /** So many agents have convened and ended their turns; Bea has joined each of their sessions. */
  const idle = (count = 1) => idleAt(hub, count)
  const idleAt = async (at: Hub, count = 1) => {
    while (files('.watch').length < count) await Bun.sleep(50)
    const entries = files('.json').map((name) => JSON.parse(home.read(`.parley/sessions/${name}`)!) as Entry)
    const beas = await Promise.all(entries.map((entry) => at.join(entry, 'Bea')))
    await Bun.sleep(1_000)
    return beas
  }
  const pongs = async (bea: Team) => {
    const { messages } = await hub.call(`/${bea.session_id}/messages?limit=500`, undefined, bea.team_id)
    return messages.filter(({ content, posted_by_team_id }: any) => content?.text === 'pong' && posted_by_team_id !== bea.handle).length
  }
  const answered = async (bea: Team, count: number) => {
    while ((await pongs(bea)) < count) await Bun.sleep(20)
  }

  test(
    'by 20 messages, each seen once',
    async () => {
      const claude = started()
      const [bea] = (await idle()) as [Team]
      for (let message = 1; message <= 20; message++) {
        await hub.post(bea, `message ${message}`)
        await answered(bea, message)
      }
      await Bun.sleep(3_000)
      expect(await pongs(bea)).toBe(20)
      const told = claude.model.asked.at(-1)!.told
      for (let message = 1; message <= 20; message++) expect(told.split(`\\"message ${message}\\`).length - 1).toBe(1)
    },
    LONG_MS,
  )

  test(
    `for nothing else: in ${HOUR} held peeks, ${FULL ? 'an hour' : 'minutes'} of them, it asks its model nothing, also after a wake that it left unread`,
    async () => {
      const short = withShortPeeks(hub.server.url, 1)
      home.drop()
      home = await connectedHome(short.link)
      const claude = started()
      const [bea] = (await idle()) as [Team]
      const asked = () => claude.model.asked.length
      const settled = async () => {
        for (let count = -1; count !== asked(); await Bun.sleep(5_000)) count = asked()
      }
      const anHour = async () => {
        const [before, end] = [asked(), short.rounds + HOUR]
        while (short.rounds < end) await Bun.sleep(100)
        expect(asked()).toBe(before)
      }
      await settled() // Bea's joining has woken it
      await anHour()
      const before = asked()
      claude.become('deaf')
      await hub.post(bea, 'one')
      while (asked() === before) await Bun.sleep(50)
      await settled()
      expect(asked()).toBe(before + 1)
      await anHour()
      claude.become('idle')
      await hub.post(bea, 'two')
      await answered(bea, 1)
      await short.stop()
    },
    FULL ? 1_200_000 : LONG_MS,
  )

  for (const [where, folders] of [
    ['one folder', ['', '']],
    ['two folders', ['one', 'two']],
  ] as const)
    test(
      `for its own team alone, where two share a home and ${where}`,
      async () => {
        for (const folder of folders) home.write(`${folder}/file`, '')
        for (const folder of folders) started({ cwd: home.path(folder) })
        const [first, second] = (await idle(2)) as [Team, Team]
        await hub.post(first, 'one')
        await answered(first, 1)
        await Bun.sleep(2_000)
        expect([await pongs(first), await pongs(second)]).toEqual([1, 0])
        await hub.post(second, 'two')
        await answered(second, 1)
        expect([await pongs(first), await pongs(second)]).toEqual([1, 1])
      },
      LONG_MS,
    )

  for (const how of ['terminate', 'kill'] as const)
    test(
      `by the next message after the hub was ${how === 'kill' ? 'killed' : 'restarted'}`,
      async () => {
        started()
        const [bea] = (await idle()) as [Team]
        await hub.server[how]()
        await hub.server.restart()
        await hub.post(bea, 'back again')
        await answered(bea, 1)
      },
      LONG_MS,
    )

  test(
    'by the next message after the hub has moved to another port, which it had announced',
    async () => {
      const port = await freePort()
      const MCP_URL = `http://127.0.0.1:${port}/mcp`
      const old = await startHub({ MCP_URL })
      home.drop()
      home = await connectedHome(`${old.server.url}/mcp`)
      const claude = started()
      const [bea] = (await idleAt(old)) as [Team]
      await old.server.terminate()
      const moved = spawnServer({ PORT: String(port), DATA_DIR: old.server.folder, MCP_URL })
      while (!(await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined))?.ok) await Bun.sleep(100)
      const before = claude.model.asked.length
      await callsTo(`http://127.0.0.1:${port}`).post(bea, 'here now')
      while (claude.model.asked.length === before) await Bun.sleep(50)
      expect(claude.model.asked[before]!.told).toContain(`unread in session ${bea.session_id}`)
      moved.kill('SIGKILL')
      await old.server.remove()
    },
    LONG_MS,
  )
})

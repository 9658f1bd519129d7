// However often, and in whatever order, hubs are connected and disconnected: in the end every settings file is as it was, byte for byte.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import fc from 'fast-check'
import { existsSync, rmSync } from 'node:fs'
import type { ClientName } from '../../src/client/clients.ts'
import { connect } from '../../src/client/connect.ts'
import { connectionsOf } from '../../src/client/connections.ts'
import { disconnect } from '../../src/client/disconnect.ts'
import { Stop, type Machine } from '../../src/client/machine.ts'
import { baseOfLink } from '../../src/core/address.ts'
import { buildPublic } from '../support/built.ts'
import { newHome, type Home } from '../support/client.ts'
import { DRAWN, FULL } from '../support/full.ts'

// Which fetch refuses to ask; the first two are links of one hub.
const LINKS = [
  'http://127.0.0.1:9/mcp',
  'http://127.0.0.1:9/mcp?toolsets=rooms,records',
  'http://127.0.0.1:19/mcp',
  'http://127.0.0.1:25/mcp',
]
const HUBS = [...new Set(LINKS.map(baseOfLink))]
const SEQUENCES = FULL ? 1_000 : 100

let home: Home
beforeAll(() => {
  buildPublic()
  home = newHome(LINKS[0]!)
}, 180_000)
afterAll(() => home.drop())

const JSON_TEXTS = [
  '',
  '{}',
  '{\n}\n',
  '{"hooks":{}}',
  '{ "hooks": { // mine\n} }\n',
  '{ "mcpServers": {}, "hooks": { "Stop": [], "PostToolUse": [ ] } }',
  '{\n  // what I like\n  "theme": "dark", /* at night */\n  "more": [1, 2,],\n}\n// the end\n',
  '\uFEFF{\n\t"hooks": { "Stop": [ { "hooks": [{ "type": "command", "command": "say done" }] } ] },\n\t"mcpServers": { "x": {"url": "http://x/"} }\n}',
]
const TOML_TEXTS = [
  '',
  'model = "o3" # mine',
  '# mine\nmodel = "o3"\n\n[mcp_servers.docs]\ncommand = "docs" # local\n\n[[profiles]]\nname = "a"\n',
  'notes = """\n[mcp_servers.parley]\n"""\n[mcp_servers]\n',
]

interface Kind {
  files: string[]
  texts: string[]
  /** The variable that names another folder, and the files there. */
  elsewhere: [variable: string, files: string[]]
}
const KINDS: Partial<Record<ClientName, Kind>> = {
  claude: {
    files: ['.claude.json', '.claude/settings.json'],
    texts: JSON_TEXTS,
    elsewhere: ['CLAUDE_CONFIG_DIR', ['elsewhere/.claude.json', 'elsewhere/settings.json']],
  },
  codex: { files: ['.codex/config.toml'], texts: TOML_TEXTS, elsewhere: ['CODEX_HOME', ['elsewhere/config.toml']] },
}

const hub = fc.constantFrom(...LINKS)
const connecting = fc.record({
  hub,
  guard: fc.constantFrom(undefined, true, false),
  token: fc.constantFrom(undefined, 'one', 'another'),
  isElsewhere: fc.boolean(),
})
const steps = fc.array(fc.oneof({ weight: 2, arbitrary: connecting }, fc.record({ hub })), { minLength: 1, maxLength: 8 })
type Step = { hub: string } & Partial<typeof connecting extends fc.Arbitrary<infer Value> ? Value : never>

const machine = (env: Machine['env']): Machine => {
  const silent = { write: () => true }
  const { home: folder, program } = home
  return { env, home: folder, folder, program, runtime: process.execPath, pid: process.pid, input: process.stdin, out: silent, err: silent }
}

const take = (client: ClientName, { elsewhere }: Kind, step: Step): Promise<void> => {
  if (!('token' in step)) return disconnect(machine({}), client, step.hub, true)
  const env = { PARLEY_TOKEN: step.token, ...(step.isElsewhere && { [elsewhere[0]]: home.path('elsewhere') }) }
  const guard = client === 'claude' ? step.guard : undefined
  return connect(machine(env), client, { link: step.hub, yes: true, guard, wake: undefined, name: undefined, insecure: undefined })
}

for (const [client, kind] of Object.entries(KINDS) as [ClientName, Kind][])
  test(`${client}: hubs connected and disconnected in any order leave every byte as it was`, async () => {
    const files = [...kind.files, ...kind.elsewhere[1]]
    const text = fc
      .tuple(fc.constantFrom(undefined, ...kind.texts), fc.constantFrom('\n', '\r\n'))
      .map(([lines, eol]) => lines?.replaceAll('\n', eol))
    const now = () => [...files, '.parley/connections.json'].map(home.read)
    await fc.assert(
      fc.asyncProperty(fc.tuple(...files.map(() => text)), steps, async (texts, taken) => {
        rmSync(home.home, { recursive: true, force: true })
        texts.forEach((each, n) => each !== undefined && home.write(files[n]!, each))
        for (const step of taken) {
          const before = now()
          await take(client, kind, step).catch((error) => {
            if (!(error instanceof Stop)) throw error
            expect(now()).toEqual(before)
          })
          const connected = connectionsOf(home.home).map(({ link }) => baseOfLink(link))
          const there = files.map(home.read).join()
          expect(HUBS.filter((base) => there.includes(`${base}/mcp`))).toEqual(HUBS.filter((base) => connected.includes(base)))
          expect(new Set(connected).size).toBe(connected.length)
        }
        for (const { link } of connectionsOf(home.home)) await take(client, kind, { hub: link })
        expect(now()).toEqual([...texts, undefined])
        expect(existsSync(home.path('.parley'))).toBe(false)
      }),
      { ...DRAWN, numRuns: SEQUENCES },
    )
  })

// The real Gemini CLI and opencode list the hub that the program `parley` has connected them to, until it is taken out again.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { delimiter } from 'node:path'
import { buildPublic } from '../support/built.ts'
import { newHome, type Home } from '../support/client.ts'
import { clientBin } from '../support/drivers.ts'
import { startHub, type Hub } from '../support/hub.ts'

const LONG_MS = 300_000

const CLIS = {
  gemini: {
    npm: '@google/gemini-cli@0.61.0',
    settings: '.gemini/settings.json',
    connected: /✓ parley: (\S+) \(http\) - Connected/,
    own: '{\n  // mine\n  "ui": { "theme": "GitHub" }\n}\n',
    itsOwn: undefined,
  },
  opencode: {
    npm: 'opencode-ai@1.18.33',
    settings: '.config/opencode/opencode.json',
    connected: /✓ parley connected\s+│?\s*(\S+)/,
    own: '{\n  // mine\n  "$schema": "https://opencode.ai/config.json",\n  "autoupdate": false,\n}\n',
    itsOwn: '{\n  "$schema": "https://opencode.ai/config.json"\n}\n', // which it writes into every file of settings that it finds
  },
}

for (const [name, { npm, settings, connected, own, itsOwn }] of Object.entries(CLIS)) {
  const bin = clientBin(name)
  if (bin === undefined) console.log(`Skipped: ${name} is not in the folder ${name} of PARLEY_CLIENTS (npm i ${npm}).`)

  describe.skipIf(bin === undefined)(npm, () => {
    let hub: Hub
    let home: Home
    beforeAll(async () => {
      buildPublic()
      hub = await startHub()
    }, LONG_MS)
    afterAll(() => hub?.server.remove())
    beforeEach(() => void (home = newHome(hub.link)))
    afterEach(() => home.drop())

    const listed = async () => {
      // Gemini CLI connects to no server from a folder that its person has not said to trust.
      const env = { PATH: `${bin}${delimiter}${process.env.PATH}`, HOME: home.home, GEMINI_CLI_TRUST_WORKSPACE: 'true' }
      const child = Bun.spawn([name, 'mcp', 'list'], { cwd: home.home, env, stdout: 'pipe', stderr: 'pipe' })
      const texts = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
      return Bun.stripANSI(texts.join(''))
    }

    test(
      'lists the hub as connected, and no more after disconnect, which leaves its settings byte for byte',
      async () => {
        home.write(settings, own)
        expect(await home.run(['connect', name, '--yes'])).toMatchObject({ code: 0 })
        const text = await listed()
        expect(text).toMatch(connected)
        expect(connected.exec(text)![1]).toBe(hub.link)
        expect(await home.run(['disconnect', name, '--yes'])).toMatchObject({ code: 0 })
        expect(home.read(settings)).toBe(own)
        expect(await listed()).not.toContain('parley')
      },
      LONG_MS,
    )

    test(
      'lists it where it had no settings, and has none but its own afterwards',
      async () => {
        expect(await home.run(['connect', name, '--yes'])).toMatchObject({ code: 0 })
        expect(await listed()).toMatch(connected)
        expect(await home.run(['disconnect', name, '--yes'])).toMatchObject({ code: 0 })
        expect(home.read(settings)).toBe(itsOwn)
        expect(await listed()).not.toContain('parley')
      },
      LONG_MS,
    )
  })
}

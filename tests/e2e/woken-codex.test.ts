// The real Codex, connected by the program `parley`, is woken through its queue.
import { beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { buildPublic } from '../support/built.ts'
import { newHome } from '../support/client.ts'
import { startHub } from '../support/hub.ts'
import { CODEX_VERSION, codexEnv, codexIsThere, realCodex } from '../support/real-codex.ts'

if (!codexIsThere)
  console.log(`Skipped: Codex ${CODEX_VERSION} is not in the folder codex of PARLEY_CLIENTS (npm i @openai/codex@${CODEX_VERSION}).`)

describe.skipIf(!codexIsThere)(`Codex ${CODEX_VERSION}`, () => {
  beforeAll(buildPublic, 180_000)

  test('is told the line that wakes it, and watch --codex wakes it for each message', async () => {
    const hub = await startHub()
    const home = newHome(hub.link)
    const env = codexEnv(home)
    expect((await home.run(['connect', 'codex', '--yes'])).code).toBe(0)
    const codex = await realCodex(home)
    expect(codex.created.wake_command).toMatch(/^codex queue --thread [0-9a-f-]{36} --message "Parley: /)
    expect(codex.created.to_be_woken).toContain('watch --codex` on standard input, outside your sandbox')
    const bea = await hub.join(codex.created, 'Bea')
    expect((await home.run(['watch', '--codex'], { input: JSON.stringify(codex.created), env })).code).toBe(0)
    while (!readdirSync(home.path('.parley/sessions')).some((name) => name.endsWith('.watch'))) await Bun.sleep(50)
    await Bun.sleep(1_000)
    const times: number[] = []
    for (let message = 1; message <= 3; message++) {
      const began = performance.now()
      let { cursor } = await hub.post(bea, `message ${message}`)
      for (let pong = false; !pong;) {
        const { messages, next_cursor } = await hub.call(`/${bea.session_id}/wait?since_cursor=${cursor}`, undefined, bea.team_id)
        pong = messages.some(({ content }: any) => content?.text === 'pong')
        cursor = next_cursor
      }
      times.push(Math.round(performance.now() - began))
    }
    console.log(`Codex answered after ${times.join(', ')} ms`)
    await hub.call(`/${bea.session_id}/conclude`, { summary_section: 'Done.' }, bea.team_id)
    while (readdirSync(home.path('.parley/sessions')).length > 0) await Bun.sleep(50)
    await codex.stop()
    await hub.server.remove()
    home.drop()
  }, 300_000)
})

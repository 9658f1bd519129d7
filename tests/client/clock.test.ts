// A machine whose clock is hours off: its program `parley` does all that it does elsewhere.
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { RUNTIME } from '../support/client.ts'
import { within } from '../support/fake-client.ts'
import { withHub } from '../support/hub-and-clients.ts'
import { shortOf } from '../support/full.ts'
import { armed, meeting, sessionFiles } from '../support/watching.ts'

const LONG_MS = 120_000
const SHORT_MS = 1_500
const HOURS_OFF = [5, -5]
const HOUR_MS = 3_600_000

const { hub, home, client } = withHub()

const hoursOff = (hours: number): Record<string, string> => ({
  NODE_OPTIONS: `--import=${join(import.meta.dir, '../support/clock-off.mjs')}`,
  CLOCK_OFF_MS: String(hours * HOUR_MS),
})

for (const hours of shortOf(HOURS_OFF, 1))
  test(
    `${hours} hours off: it connects, learns the session, wakes for each message once, and disconnects`,
    async () => {
      const env = hoursOff(hours)
      const untouched = home.read('.claude.json')
      expect(await home.run(['connect', 'claude', '--yes'], { env })).toMatchObject({ code: 0, err: '' })
      const { alex, bea } = await meeting(hub)
      const agent = client({ env })
      expect(await agent.joined(alex)).toMatchObject({ code: 0, err: '' })
      expect(sessionFiles(home, '.json')).toEqual([`${alex.handle}.json`])
      const first = agent.ended()
      await armed(home)
      await hub.post(bea, 'one')
      expect(await first).toMatchObject({ code: 2, err: expect.stringContaining('1 unread') })
      const second = agent.ended()
      await armed(home)
      expect(await within(SHORT_MS, second)).toBeUndefined() // left unread, it wakes nobody again
      await hub.post(bea, 'two')
      expect(await second).toMatchObject({ code: 2, err: expect.stringContaining('1 unread') })
      const { out } = await home.run(['doctor'], { env })
      expect(out).toMatch(/Its clock and this one are (179[89]\d|180[01]\d) s apart: messages still wake/)
      expect(await home.run(['disconnect', 'claude', '--yes'], { env })).toMatchObject({ code: 0 })
      expect(home.read('.claude.json')).toBe(untouched)
    },
    LONG_MS,
  )

test('the clock is off indeed', () => {
  const told = Bun.spawnSync([RUNTIME, '-e', 'console.log(new Date().getTime(), Date.now())'], {
    env: { PATH: process.env.PATH ?? '', ...hoursOff(HOURS_OFF[0]!) },
  })
  for (const ms of told.stdout.toString().trim().split(' ')) expect(Number(ms) - Date.now()).toBeGreaterThan(4 * HOUR_MS)
})

// From a post to the idle agent's answer in the feed, with the real Claude Code on a script in place of its model; and the same post and
// answer while the agent holds a wait. The two alternate.
//   PARLEY_CLIENTS=FOLDER bun bench/wake-client.ts [ROUNDS]
import { readdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Entry } from '../src/client/watch/sessions.ts'
import { buildPublic } from '../tests/support/built.ts'
import { newHome } from '../tests/support/client.ts'
import { startHub, type Team } from '../tests/support/hub.ts'
import { claudeIsThere, realClaude, SKIPPED } from '../tests/support/real-claude.ts'
import { load, median, row, spread } from './support.ts'

const ROUNDS = Number(process.argv[2] ?? 50)
const SETTLE_MS = 2_500

const main = async () => {
  if (!claudeIsThere) return console.log(SKIPPED)
  buildPublic()
  const hub = await startHub({ WAKES_PER_HOUR: '10000' })
  const home = newHome(hub.link)
  await home.run(['connect', 'claude', '--yes'])
  const claude = realClaude(home)
  const folder = home.path('.parley/sessions')
  const named = (ending: string) => readdirSync(folder).find((name) => name.endsWith(ending))
  for (;;) {
    await sleep(200)
    if (
      await Promise.resolve()
        .then(() => named('.watch'))
        .catch(() => undefined)
    )
      break
  }
  const bea = await hub.join(JSON.parse(home.read(`.parley/sessions/${named('.json')}`)!) as Entry, 'Bea')

  // Milliseconds until "pong" is in the feed.
  const answer = async (team: Team, text: string) => {
    const began = performance.now()
    let { cursor } = await hub.post(team, text)
    for (;;) {
      const { messages, next_cursor } = await hub.call(`/${team.session_id}/wait?since_cursor=${cursor}`, undefined, team.team_id)
      if (messages.some(({ content }: any) => content?.text === 'pong')) return performance.now() - began
      cursor = next_cursor
    }
  }
  const times = { idle: [] as number[], awake: [] as number[] }
  for (let round = 0; round <= ROUNDS; round++) {
    await sleep(SETTLE_MS)
    const idle = await answer(bea, `idle ${round}`)
    claude.become('awake')
    await sleep(SETTLE_MS)
    await answer(bea, `wakes it to wait ${round}`) // from here on it waits
    await sleep(SETTLE_MS)
    claude.become('idle')
    const awake = await answer(bea, `awake ${round}`)
    if (round === 0) continue // warms up
    times.idle.push(idle)
    times.awake.push(awake)
  }
  await claude.stop()
  await hub.server.remove()
  home.drop()
  for (const [name, all] of Object.entries(times)) row(`${name}, ms`, spread(all, 0))
  row('idle beyond awake, ms', (median(times.idle) - median(times.awake)).toFixed(0))
  load()
}

await main()
process.exit()

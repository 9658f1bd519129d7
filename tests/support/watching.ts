// A team whose agent has ended its turn, and another beside it.
import { readdirSync } from 'node:fs'
import type { Home } from './client.ts'
import type { FakeClient } from './fake-client.ts'
import type { Hub, Team } from './hub.ts'

/** Alex's team has read everything; Bea's team is there too. */
export const meeting = async (hub: Pick<Hub, 'create' | 'join' | 'read'>) => {
  const alex = await hub.create("Alex's Team")
  const bea = await hub.join(alex, "Bea's Team")
  await hub.read(alex)
  return { alex, bea }
}

/** What the program `parley` keeps of sessions: `.json` for each team, `.watch` for each that is watched now. */
export const sessionFiles = (home: Home, ending = ''): string[] => {
  try {
    return readdirSync(home.path('.parley/sessions')).filter((name) => name.endsWith(ending))
  } catch {
    return []
  }
}

/** So many teams are watched, and their peeks are held by now. */
export const armed = async (home: Home, count = 1) => {
  while (sessionFiles(home, '.watch').length < count) await Bun.sleep(20)
  await Bun.sleep(300)
}

/** The agent has joined and ends its turn. Resolves when the hook ends. */
export const idleAt = async (client: FakeClient, team: Team, more = '') => {
  await client.joined(team)
  return client.ended(more)
}

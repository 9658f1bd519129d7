// The hubs of the sessions that are watched right now, and the look once a second at what no event tells: dots, ages, documents.
import { describeError } from '../../core/log.ts'
import { pause } from '../../core/pause.ts'
import type { Services } from '../../process/services.ts'
import { rostersOf } from '../../stores/members.ts'
import { sessionsWithDocs } from '../../stores/live-state.ts'
import { Hub } from './hub.ts'

const LOOK_EVERY_MS = 1_000

export type Hubs = ReturnType<typeof createHubs>

export const createHubs = (services: Services) => {
  const opening = new Map<string, Promise<Hub>>()
  const open = new Map<string, Hub>()
  let looking = false

  /** The hub of a session that exists. It ends with its last viewer. */
  const hubOf = (sessionId: string): Promise<Hub> => {
    const known = opening.get(sessionId)
    if (known) return known
    const forget = () => {
      if (opening.get(sessionId) !== made) return
      opening.delete(sessionId)
      open.delete(sessionId)
    }
    const made = new Hub(services, sessionId, forget).open()
    opening.set(sessionId, made)
    made.then((hub) => opening.get(sessionId) === made && open.set(sessionId, hub), forget)
    if (!looking) void look()
    return made
  }

  // Two statements, however many sessions are watched.
  const look = async () => {
    looking = true
    while (opening.size > 0 && !services.stopping.aborted) {
      await pause(LOOK_EVERY_MS)
      try {
        const ids = [...open.keys()]
        const [sessions, rosters] = await Promise.all([sessionsWithDocs(services.database, ids), rostersOf(services.database, ids)])
        const teams = Map.groupBy(rosters, ({ sessionId }) => sessionId)
        for (const watched of sessions) open.get(watched.session.id)?.look(watched, teams.get(watched.session.id) ?? [])
      } catch (error) {
        services.log('warn', 'reading watched sessions failed; retrying', describeError(error))
      }
    }
    looking = false
  }

  return { hubOf }
}

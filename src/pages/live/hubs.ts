// The hubs of the sessions that have open pages, and a sweep each second for what no event announces: status dots, ages, edits of documents.
import { BOARD_KIND } from '../../board/append-events.ts'
import { createFailuresInARow } from '../../core/runtime/failures-in-a-row.ts'
import { describeError } from '../../core/runtime/log.ts'
import { pause } from '../../core/runtime/pause.ts'
import { rostersOf, type RosterRow } from '../../stores/members.ts'
import { sessionsWithDocs } from '../../stores/live-state.ts'
import { readAgents, type AgentRows } from '../agents/rows.ts'
import type { Site } from '../respond.tsx'
import type { SessionWithDoc } from '../session/state.ts'
import { Hub } from './hub.ts'

const SWEEP_EVERY_MS = 1_000

export type Hubs = ReturnType<typeof createHubs>

/** The hubs of one process: at most one for a session, and none without viewers. */
export const createHubs = ({ services, eventKinds: kinds, waiting }: Pick<Site, 'services' | 'eventKinds' | 'waiting'>) => {
  const opening = new Map<string, Promise<Hub>>()
  const open = new Map<string, Hub>()
  const broken = new WeakSet<Hub>()
  const reading = createFailuresInARow(services.log, 'reading watched sessions failed; retrying', 'watched sessions are read again')
  let sweeping = false
  services.onTopic(BOARD_KIND, (sessionId) => open.get(sessionId)?.boardMoved())

  /** The hub of a session that exists. It ends with its last viewer. */
  const hubOf = (sessionId: string): Promise<Hub> => {
    const known = opening.get(sessionId)
    if (known) return known
    const forget = () => {
      if (opening.get(sessionId) !== made) return
      opening.delete(sessionId)
      open.delete(sessionId)
    }
    const made = new Hub({ services, kinds, waiting }, sessionId, forget).open()
    opening.set(sessionId, made)
    made.then((hub) => opening.get(sessionId) === made && open.set(sessionId, hub), forget)
    if (!sweeping) void sweep()
    return made
  }

  // A session that cannot be shown keeps no other from its pages; its failure is logged once for as long as it lasts.
  const update = (row: SessionWithDoc, teams: RosterRow[], agent: AgentRows) => {
    const hub = open.get(row.session.id)
    if (!hub) return
    try {
      hub.update(row, teams, agent)
      broken.delete(hub)
    } catch (error) {
      if (!broken.has(hub)) services.log('warn', 'a watched session cannot be shown', { session: row.session.id, ...describeError(error) })
      broken.add(hub)
    }
  }

  // Three statements, however many sessions are watched, and a few more while one of them has an agent.
  const sweep = async () => {
    sweeping = true
    while (opening.size > 0 && !services.stopping.aborted) {
      await pause(SWEEP_EVERY_MS)
      try {
        const ids = [...open.keys()]
        const { database, wakes } = services
        const [rows, rosters] = await Promise.all([sessionsWithDocs(database, ids, wakes.perHour()), rostersOf(database, ids)])
        const teams = Map.groupBy(rosters, ({ sessionId }) => sessionId)
        const agents = await readAgents(
          database,
          rows.map(({ session }) => session),
          (id) => open.get(id)?.agent,
        )
        await waiting.read()
        reading.worked()
        for (const row of rows) update(row, teams.get(row.session.id) ?? [], agents(row.session.id))
      } catch (error) {
        reading.failed(error)
      }
    }
    sweeping = false
  }

  return { hubOf }
}

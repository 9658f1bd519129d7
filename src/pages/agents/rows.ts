// Reads the agents of sessions for their pages. A session without an agent costs no query.
import type { FamilyMember } from '../../../components/agents/agent-view.ts'
import type { Queries } from '../../../db/database.ts'
import type { Session } from '../../stores/sessions.ts'
import { isFinal } from '../../stores/control/tasks.ts'
import {
  watchedAgents,
  watchedRequests,
  watchedTasks,
  type WatchedAgent,
  type WatchedRequest,
  type WatchedTask,
} from '../../stores/control/watched.ts'
import { familyOf } from './family.ts'

/** A session's agent, its newest tasks and requests, and its tree. */
export interface AgentRows {
  agent: WatchedAgent | undefined
  tasks: WatchedTask[]
  requests: WatchedRequest[]
  family: FamilyMember | undefined
  /** When the tree was read, in the milliseconds of this process. */
  familyAt: number
}

export const noAgents: AgentRows = { agent: undefined, tasks: [], requests: [], family: undefined, familyAt: 0 }

type Known = Pick<Session, 'id' | 'agenticTool'>

/** What there is now of these sessions' agents. `before`: what pages have, from which trees are kept for a few seconds. */
export const readAgents = async (queries: Queries, sessions: Known[], before: (id: string) => AgentRows | undefined) => {
  const ids = sessions.filter(({ agenticTool }) => agenticTool !== null).map(({ id }) => id)
  if (ids.length === 0) return () => noAgents
  // A task that has ended since then is read once more, though it may not be one of those that began last.
  const openBefore = (id: string) => (before(id)?.tasks ?? []).filter(({ status }) => !isFinal(status)).map((task) => task.id)
  const [agents, tasks, requests] = await Promise.all([
    watchedAgents(queries, ids),
    watchedTasks(queries, ids, ids.flatMap(openBefore)),
    watchedRequests(queries, ids),
  ])
  const rows = new Map<string, AgentRows>()
  for (const id of ids)
    rows.set(id, {
      agent: agents.find(({ session_id }) => session_id === id),
      tasks: tasks.filter(({ session_id }) => session_id === id),
      requests: requests.filter(({ session_id }) => session_id === id),
      ...(await familyNow(queries, id, before(id))),
    })
  return (id: string) => rows.get(id) ?? noAgents
}

export const readAgent = async (queries: Queries, session: Known, before: AgentRows = noAgents): Promise<AgentRows> =>
  (await readAgents(queries, [session], () => before))(session.id)

const FAMILY_EVERY_MS = 5_000

const familyNow = async (queries: Queries, id: string, before: AgentRows | undefined): Promise<Pick<AgentRows, 'family' | 'familyAt'>> => {
  const now = performance.now()
  if (before && before.familyAt > 0 && now - before.familyAt < FAMILY_EVERY_MS) return { family: before.family, familyAt: before.familyAt }
  return { family: await familyOf(queries, id), familyAt: now }
}

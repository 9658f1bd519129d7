// The tree of sessions that one belongs to.
import type { FamilyMember } from '../../../components/agents/agent-view.ts'
import type { Queries } from '../../../db/database.ts'
import { membersOf, rootsOf, type Relative } from '../../stores/control/family.ts'
import { agentStateOf } from './agent-view.ts'

/** The tree of a session with an agent, from its root on; undefined where the session is alone. */
export const familyOf = async (queries: Queries, sessionId: string): Promise<FamilyMember | undefined> => {
  const root = (await rootsOf(queries, [sessionId])).get(sessionId) ?? sessionId
  return (await familiesOf(queries, [root], [sessionId])).get(root)
}

/** The trees that began with these sessions, by the sessions' ids; those that are alone are left out. `here`: sessions that are shown however
 *  many others there are. One that was purged holds its place for those that came from it. */
export const familiesOf = async (queries: Queries, roots: string[], here: string[] = []): Promise<Map<string, FamilyMember>> => {
  const members = await membersOf(queries, roots, here)
  const below = Map.groupBy(members, ({ above }) => above)
  const trees = (below.get(null) ?? []).map((top) => treeOf(top, below))
  return new Map(trees.filter((tree) => tree.below.length > 0).map((tree) => [tree.id, tree]))
}

const MOST_DEEP = 16 // a guard: should the rows ever form a circle, the page still ends

const treeOf = (top: Relative, below: Map<string | null, Relative[]>, depth = 0): FamilyMember => ({
  id: top.id,
  title: top.title,
  forked: top.forked,
  concluded: top.concluded,
  state: top.agent_status === null ? undefined : agentStateOf(top.agent_status, top.asks),
  mode: top.permission_mode ?? undefined,
  promptedBy: top.prompted_by?.name,
  below: depth === MOST_DEEP ? [] : (below.get(top.id) ?? []).map((one) => treeOf(one, below, depth + 1)),
})

// The agents of sessions: what each is, where it works, and how it is with it.
import { eq, sql } from 'drizzle-orm'
import type { PgInsertValue } from 'drizzle-orm/pg-core'
import type { Queries } from '../../../db/database.ts'
import { agents } from '../../../db/control-schema.ts'
import { sessions, type AGENT_STATUSES } from '../../../db/schema.ts'
import { elapsed } from './elapsed.ts'
import { isOnline } from './runners.ts'

export type Agent = typeof agents.$inferSelect

export type AgentStatus = (typeof AGENT_STATUSES)[number]

export const insertAgent = async ({ db }: Queries, values: PgInsertValue<typeof agents>): Promise<void> =>
  void (await db.insert(agents).values(values))

export const agentOf = async ({ db }: Queries, sessionId: string): Promise<Agent | undefined> => {
  const [row] = await db.select().from(agents).where(eq(agents.sessionId, sessionId))
  return row
}

/** Changes an agent. The caller holds its session's lock. */
export const setAgent = async ({ db }: Queries, sessionId: string, values: Partial<typeof agents.$inferInsert>): Promise<void> =>
  void (await db.update(agents).set(values).where(eq(agents.sessionId, sessionId)))

/** What a session's own row says of its agent. The caller holds its lock. No post depends on any of it. */
export const setAgentState = async (
  { db }: Queries,
  sessionId: string,
  values: Partial<Pick<typeof sessions.$inferInsert, 'agentStatus' | 'permissionMode' | 'worktreeId'>>,
): Promise<void> => void (await db.update(sessions).set(values).where(eq(sessions.id, sessionId)))

/** A worktree that a session waits for, as its runner is told of it. */
export interface WorktreeOrder {
  session_id: string
  repo_full_name: string
  /** Of a worktree of the clone that it is to be one of; null where an earlier version ordered it. */
  repo_path: string | null
  /** Whether the branch begins at the HEAD of that worktree; at that of its repository otherwise. */
  begins_there: boolean
  branch: string
}

const TOLD_AGAIN_S = 10 // making one takes a while, and the order stays until it is answered

/** The worktrees that this runner is to make and has not just been told of. Marks them as told. */
export const worktreeOrders = ({ query }: Queries, runnerId: string): Promise<WorktreeOrder[]> =>
  query(
    `update agents set order_told_at = clock_timestamp()
     where ordered_from = $1 and (order_told_at is null or ${elapsed('order_told_at', TOLD_AGAIN_S)})
     returning session_id, ordered_repo as repo_full_name, ordered_repo_path as repo_path, ordered_begins_there as begins_there,
       ordered_branch as branch`,
    [runnerId],
  )

/** Moves the worktree orders of a replaced runner (`former`) to its successor. */
export const moveOrders = async ({ db }: Queries, former: string, runnerId: string): Promise<void> =>
  void (await db.update(agents).set({ orderedFrom: runnerId, orderToldAt: null }).where(eq(agents.orderedFrom, former)))

export const noOrder = {
  orderedFrom: null,
  orderedRepo: null,
  orderedRepoPath: null,
  orderedBeginsThere: false,
  orderedBranch: null,
  orderedAt: null,
  orderToldAt: null,
}
export const orderOf = (beside: { runner_id: string; repo_full_name: string; path: string }, branch: string, beginsThere: boolean) => ({
  orderedFrom: beside.runner_id,
  orderedRepo: beside.repo_full_name,
  orderedRepoPath: beside.path,
  orderedBeginsThere: beginsThere,
  orderedBranch: branch,
  orderedAt: sql`clock_timestamp()`,
})

const TAKEN_WITHIN_S = 60
const MADE_WITHIN_S = 1_800 // a runner makes one after the other, and each may take it minutes
const IS_TAKEN = `coalesce(a.order_told_at is not null and ${isOnline('r')}, false)`

export interface OverdueOrder {
  session_id: string
  /** A runner that is online was told of it. */
  taken: boolean
}

/** The orders of worktrees that nobody has taken for a minute, or that are not made after half an hour. */
export const overdueOrders = ({ query }: Queries): Promise<OverdueOrder[]> =>
  query(
    `select a.session_id, ${IS_TAKEN} as taken from agents a
     join sessions s on s.id = a.session_id and s.agent_status = 'creating' left join runners r on r.id = a.ordered_from
     where a.ordered_from is not null and case when ${IS_TAKEN} then a.ordered_at < clock_timestamp() - interval '${MADE_WITHIN_S} s'
       else greatest(a.ordered_at, r.registered_at) < clock_timestamp() - interval '${TAKEN_WITHIN_S} s' end`,
  )

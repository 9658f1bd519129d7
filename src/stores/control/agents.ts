// The agents of sessions: what each is, where it works, and how it is with it.
import { eq, sql } from 'drizzle-orm'
import type { PgInsertValue } from 'drizzle-orm/pg-core'
import type { Queries } from '../../../db/database.ts'
import { agents } from '../../../db/control-schema.ts'
import { sessions } from '../../../db/schema.ts'
import { elapsed } from './elapsed.ts'

export type Agent = typeof agents.$inferSelect

export const AGENT_STATUSES = ['creating', 'idle', 'running', 'completed', 'failed'] as const
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
  branch: string
}

const TOLD_AGAIN_S = 10 // making one takes a while, and the order stays until it is answered

/** The worktrees that this runner is to make and has not just been told of. Marks them as told. */
export const worktreeOrders = ({ query }: Queries, runnerId: string): Promise<WorktreeOrder[]> =>
  query(
    `update agents set order_told_at = clock_timestamp()
     where ordered_from = $1 and (order_told_at is null or ${elapsed('order_told_at', TOLD_AGAIN_S)})
     returning session_id, ordered_repo as repo_full_name, ordered_branch as branch`,
    [runnerId],
  )

/** Moves the worktree orders of a replaced runner (`former`) to its successor. */
export const moveOrders = async ({ db }: Queries, former: string, runnerId: string): Promise<void> =>
  void (await db.update(agents).set({ orderedFrom: runnerId, orderToldAt: null }).where(eq(agents.orderedFrom, former)))

export const noOrder = { orderedFrom: null, orderedRepo: null, orderedBranch: null, orderedAt: null, orderToldAt: null }
export const orderOf = (runnerId: string, repo: string, branch: string) => ({
  orderedFrom: runnerId,
  orderedRepo: repo,
  orderedBranch: branch,
  orderedAt: sql`clock_timestamp()`,
})

/** Sessions that have waited for their worktree for a minute. */
export const overdueOrders = async ({ query }: Queries): Promise<string[]> => {
  const rows = await query<{ session_id: string }>(
    `select a.session_id from agents a join sessions s on s.id = a.session_id
     where s.agent_status = 'creating' and a.ordered_from is not null and a.ordered_at < clock_timestamp() - interval '60 s'`,
  )
  return rows.map(({ session_id }) => session_id)
}

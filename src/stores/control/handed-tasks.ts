// What a runner gets to do, and what it is told of that meanwhile.
import { inArray } from 'drizzle-orm'
import { pgArray } from '../../../db/arrays.ts'
import type { Queries } from '../../../db/database.ts'
import { tasks } from '../../../db/control-schema.ts'
import { isUuid } from '../../core/ids.ts'
import type { Task } from './tasks.ts'
import { elapsed } from './elapsed.ts'
import { spentLimits } from './costs.ts'

/** What a runner is told of a task that it gets. */
export interface Handed {
  task: Task
  agentic_tool: string
  permission_mode: string
  path: string
  /** The one that the session was created for, of a worktree that had it checked out then. */
  branch: string | null
  conversation: string | null
  fork_conversation: string | null
  fork_conversation_at: string | null
  context_files: string[]
  mcp_servers: string[]
}

interface HandedRow extends Omit<Handed, 'task'> {
  id: string
}

// SQL, what follows `from`: the queued tasks that wait for a runner. Those of sessions that are held, archived or past a cost limit wait for a person.
const QUEUED = `
tasks t
join sessions s on s.id = t.session_id and s.archived_at is null
join agents a on a.session_id = t.session_id and not a.held
join worktrees w on w.id = s.worktree_id and w.runner_id = $1 and w.gone_at is null
where t.status = 'queued' and s.status = 'active' and not exists (${spentLimits('t.session_id')})`

// The oldest of each session that runs nothing now, the oldest first.
const NEXT = `
select t.id from ${QUEUED}
  and not exists (select from tasks o where o.session_id = t.session_id
    and ((o.status = 'running' and o.runner_id is not null) or (o.status = 'queued' and o.start_sequence < t.start_sequence)))
order by t.created_at, t.id limit $2::int for no key update of t skip locked`

/** Hands at most `limit` queued tasks out to a runner, whose row the caller has locked; returns their ids. */
export const handOut = async ({ query }: Queries, runnerId: string, limit: number): Promise<string[]> => {
  if (limit <= 0) return []
  const next = await query<{ id: string }>(NEXT, [runnerId, limit])
  if (next.length === 0) return []
  // An agent that was held just before its task was locked here may still look free to the first statement; this one reads it anew.
  const rows = await query<{ id: string }>(
    `update tasks t set status = 'running', runner_id = $1, started_at = clock_timestamp(), acknowledged = false,
       permission_mode = (select permission_mode from sessions where id = t.session_id)
     from agents a where t.id = any($2::uuid[]) and a.session_id = t.session_id and not a.held returning t.id`,
    [runnerId, pgArray(next.map(({ id }) => id))],
  )
  return rows.map(({ id }) => id)
}

/** The tasks that were handed to this runner and that it has not acknowledged yet. */
export const handedOut = async ({ query, db }: Queries, runnerId: string): Promise<Handed[]> => {
  const rows = await query<HandedRow>(
    `select t.id, s.agentic_tool, t.permission_mode, w.path, a.ordered_branch as branch, a.conversation, a.fork_conversation,
       a.fork_conversation_at,
       a.context_files, a.mcp_servers
     from tasks t join sessions s on s.id = t.session_id join agents a on a.session_id = s.id join worktrees w on w.id = s.worktree_id
     where t.runner_id = $1 and t.status = 'running' and not t.acknowledged order by t.created_at, t.id`,
    [runnerId],
  )
  if (rows.length === 0) return []
  const found = await db
    .select()
    .from(tasks)
    .where(
      inArray(
        tasks.id,
        rows.map(({ id }) => id),
      ),
    )
  const byId = new Map(found.map((task) => [task.id, task]))
  return rows.map(({ id, ...rest }) => ({ ...rest, task: byId.get(id)! }))
}

/** Its runner has named these tasks: the answer that handed them out has reached it. */
export const acknowledgeTasks = async ({ query }: Queries, runnerId: string, ids: readonly string[]): Promise<void> => {
  if (ids.length > 0)
    await query(`update tasks set acknowledged = true where runner_id = $1 and id = any($2::uuid[]) and not acknowledged`, [
      runnerId,
      pgArray(ids.filter(isUuid)),
    ])
}

/** How many tasks this runner has been handed that have not ended. */
export const runningOn = async ({ query }: Queries, runnerId: string): Promise<number> =>
  (await query<{ count: number }>(`select count(*)::int as count from tasks where runner_id = $1 and status = 'running'`, [runnerId]))[0]!
    .count

/** An order stays until it is answered, which takes a moment: after so long the runner is told of it again. */
export const SENT_AGAIN_S = 2

/** The tasks that this runner is to interrupt and has not just been told of. Marks them as told. */
export const interruptOrders = async ({ query }: Queries, runnerId: string): Promise<{ task_id: string }[]> =>
  query(
    `update tasks set interrupt_told_at = clock_timestamp()
     where runner_id = $1 and status = 'running' and interrupt_asked_at is not null
       and (interrupt_told_at is null or ${elapsed('interrupt_told_at', SENT_AGAIN_S)})
     returning id as task_id`,
    [runnerId],
  )

/** Of these tasks, which this runner names as running: those that it has no more, since their session was purged or they ended without its
 *  doing. One that ended within `lately` seconds is left out: the runner may have told of that end itself. */
export const goneTasks = async ({ query }: Queries, runnerId: string, ids: readonly string[], lately: number): Promise<string[]> => {
  if (ids.length === 0) return []
  const gone = await query<{ id: string }>(
    `select named.id from unnest($2::uuid[]) named(id) where not exists (select from tasks t where t.id = named.id and t.runner_id = $1
       and (t.status = 'running' or t.ended_at > clock_timestamp() - make_interval(secs => $3)))`,
    [runnerId, pgArray(ids.filter(isUuid)), lately],
  )
  return gone.map(({ id }) => id)
}

/** Whether this runner has a task that it is to interrupt. */
export const isInterrupting = async ({ query }: Queries, runnerId: string): Promise<boolean> => {
  const [row] = await query<{ found: boolean }>(
    `select exists (select from tasks where runner_id = $1 and status = 'running' and interrupt_asked_at is not null) as found`,
    [runnerId],
  )
  return row!.found
}

/** How long the oldest prompt that waits for this runner has waited, in seconds; 0 when none does. */
export const waitingSeconds = async ({ query }: Queries, runnerId: string): Promise<number> => {
  const [row] = await query<{ seconds: number | null }>(
    `select extract(epoch from clock_timestamp() - min(t.created_at))::float8 as seconds from ${QUEUED}`,
    [runnerId],
  )
  return Math.round(row?.seconds ?? 0)
}

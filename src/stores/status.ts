// What the status page asks the database itself.
import type { Queries } from '../../db/database.ts'
import { isOnline } from './control/runners.ts'

/** The size of the database on its disk. */
export const databaseBytes = async ({ query }: Queries): Promise<number> => {
  const [row] = await query<{ bytes: number }>('select pg_database_size(current_database()) as bytes')
  return row!.bytes
}

const FORGOTTEN_AFTER = `interval '1 day'` // a runner that was away for longer is not missed

// A runner that was stopped has ended its tasks before, and tells nobody. So it is missed by what it left running, or what waits for it.
const IS_MISSED = `exists (select from worktrees w join sessions s on s.worktree_id = w.id join tasks t on t.session_id = s.id
  where w.runner_id = r.id and (t.status in ('queued', 'running')
    or (t.runner_id = r.id and t.error->>'code' = 'runner_lost' and t.ended_at > r.seen_at)))`

/** Runners that no other has replaced: those that are online, and those that went away within a day and are missed: while a task ran there, or
 *  with prompts that wait for them. */
export const runnerCounts = async ({ query }: Queries): Promise<{ online: number; lost: number }> => {
  const [row] = await query<{ online: number; lost: number }>(
    `select count(*) filter (where ${isOnline('r')})::int as online,
       count(*) filter (where not ${isOnline('r')} and r.seen_at > clock_timestamp() - ${FORGOTTEN_AFTER} and ${IS_MISSED})::int as lost
     from runners r where r.ended_at is null`,
  )
  return row!
}

// What the status page asks the database itself.
import type { Queries } from '../../db/database.ts'
import { isOnline } from './control/runners.ts'

/** The size of the database on its disk. */
export const databaseBytes = async ({ query }: Queries): Promise<number> => {
  const [row] = await query<{ bytes: number }>('select pg_database_size(current_database()) as bytes')
  return row!.bytes
}

const FORGOTTEN_AFTER = `interval '1 day'` // a runner that was away for longer is not missed

/** Runners that no other has replaced: those that are online, and those that went away within a day. */
export const runnerCounts = async ({ query }: Queries): Promise<{ online: number; lost: number }> => {
  const [row] = await query<{ online: number; lost: number }>(
    `select count(*) filter (where ${isOnline('r')})::int as online,
       count(*) filter (where not ${isOnline('r')} and r.seen_at > clock_timestamp() - ${FORGOTTEN_AFTER})::int as lost
     from runners r where r.ended_at is null`,
  )
  return row!
}

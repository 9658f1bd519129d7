// Which sessions come from which: children, forks and theirs.
import type { Queries } from '../../../db/database.ts'

export const MOST_GENERATIONS = 8

const ABOVE = `
with recursive above as (
  select id, coalesce(parent_session_id, forked_from_session_id) as up, 0 as depth from sessions where id = $1
  union all
  select s.id, coalesce(s.parent_session_id, s.forked_from_session_id), a.depth + 1 from above a join sessions s on s.id = a.up
  where a.depth < ${2 * MOST_GENERATIONS}
)`

/** Is the session a descendant of `top`? */
export const isBelow = async ({ query }: Queries, top: string, sessionId: string): Promise<boolean> =>
  (await query(`${ABOVE} select from above where id = $2 and depth > 0`, [sessionId, top])).length > 0

/** The session that a tree began with, and how many generations lie between it and this one. */
export const rootOf = async ({ query }: Queries, sessionId: string): Promise<{ root: string; depth: number }> => {
  const [row] = await query<{ root: string; depth: number }>(`${ABOVE} select id as root, depth from above order by depth desc limit 1`, [
    sessionId,
  ])
  return row ?? { root: sessionId, depth: 0 }
}

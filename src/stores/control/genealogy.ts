// Which sessions come from which: children, forks and theirs.
import type { Queries } from '../../../db/database.ts'

export const MOST_GENERATIONS = 8

const DEEPEST = 2 * MOST_GENERATIONS

/** SQL: a session, or each that `any(…)` has, and those that it comes from, as `above (of, id, up, depth)`; for "with recursive". */
export const aboveOf = (id: string) => `above as (
  select s.id as of, s.id, coalesce(s.parent_session_id, s.forked_from_session_id) as up, 0 as depth from sessions s where s.id = ${id}
  union all
  select v.of, s.id, coalesce(s.parent_session_id, s.forked_from_session_id), v.depth + 1 from above v join sessions s on s.id = v.up
  where v.depth < ${DEEPEST}
)`

/** SQL: the ids of a session and of those that come from it, as an array. */
export const belowOf = (id: string) => `array(with recursive below as (
  select ${id}::uuid as id, 0 as depth
  union
  select s.id, b.depth + 1 from below b join sessions s on s.parent_session_id = b.id or s.forked_from_session_id = b.id
  where b.depth < ${DEEPEST}
) select id from below)`

const ABOVE = `with recursive ${aboveOf('$1')}`

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

// What sessions may cost.
import type { Queries } from '../../../db/database.ts'
import { plainArray } from '../../../db/arrays.ts'
import { aboveOf, belowOf } from './genealogy.ts'

const IS_SPENT = `l.max_usd <= (
  select coalesce(sum((u.usage->>'cost_usd')::float8), 0) from tasks u where u.session_id = any(${belowOf('l.session_id')}))`

/** SQL: the sessions whose limit holds for this one and is used up: itself and those above it, the nearest first. A limit holds for the
 *  session that has it and for all below it, as far as their agents tell what they cost. */
export const spentLimits = (session: string) => `
with recursive ${aboveOf(session)}
select l.session_id from above v join agents l on l.session_id = v.id and l.max_usd is not null
where ${IS_SPENT}
order by v.depth`

/** SQL: the nearest of these limits for each of several sessions, as `(of, session_id, max_usd)`. However many sessions a limit holds for, what
 *  was spent of it is summed up once. Each limit is looked up by itself: for a join all agents of the server would be read. */
export const nearestSpent = (sessions: string) => `
with recursive ${aboveOf(`any(${sessions})`)},
limits as (select distinct v.id as session_id, (select a.max_usd from agents a where a.session_id = v.id) as max_usd from above v),
spent as materialized (select l.* from limits l where l.max_usd is not null and ${IS_SPENT})
select distinct on (v.of) v.of, l.session_id, l.max_usd from above v join spent l on l.session_id = v.id order by v.of, v.depth`

/** The session whose limit is used up and keeps this one's prompts waiting: itself, or the nearest above it. */
export const spentBy = async ({ query }: Queries, sessionId: string): Promise<string | undefined> =>
  (await query<{ session_id: string }>(`${spentLimits('$1')} limit 1`, [sessionId]))[0]?.session_id

const LIMITED = `
select distinct a.session_id from (${spentLimits('$1')}) l cross join unnest(${belowOf('l.session_id')}) as below(id)
join agents a on a.session_id = below.id where a.session_id <> $1`

/** The sessions with an agent for which the limit of this one, or of one above it, is used up. Itself is left out. */
export const limitedWith = async ({ query }: Queries, sessionId: string): Promise<string[]> =>
  (await query<{ session_id: string }>(LIMITED, [sessionId])).map(({ session_id }) => session_id)

/** Stops those of these sessions' agents whose prompts no limit keeps waiting any more. Returns their sessions. `by`: who is told to have
 *  done it. */
export const stopUnlimited = async ({ query }: Queries, ids: readonly string[], by: string): Promise<string[]> => {
  if (ids.length === 0) return []
  const stopped = await query<{ session_id: string }>(
    `update agents a set held = true, held_by = $2, held_at = clock_timestamp()
     where a.session_id = any($1::uuid[]) and not a.held and not exists (${spentLimits('a.session_id')})
       and exists (select from tasks t where t.session_id = a.session_id and t.status = 'queued') returning a.session_id`,
    [plainArray(ids), by],
  )
  return stopped.map(({ session_id }) => session_id)
}

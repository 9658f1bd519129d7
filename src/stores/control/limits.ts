// What sessions may cost.
import { aboveOf, belowOf } from './genealogy.ts'

/** SQL: the sessions whose limit holds for this one and is used up: itself and those above it, the nearest first. A limit holds for the
 *  session that has it and for all below it, as far as their agents tell what they cost. */
export const spentLimits = (session: string) => `
with recursive ${aboveOf(session)}
select l.session_id from above v join agents l on l.session_id = v.id and l.max_usd is not null
where l.max_usd <= (
  select coalesce(sum((u.usage->>'cost_usd')::float8), 0) from tasks u where u.session_id = any(${belowOf('l.session_id')}))
order by v.depth`

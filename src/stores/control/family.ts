// Trees of sessions as pages show them: children and forks below the session that each tree began with.
import type { Queries } from '../../../db/database.ts'
import { plainArray } from '../../../db/arrays.ts'
import type { AgentStatus } from './agents.ts'
import { aboveOf } from './genealogy.ts'
import type { Task } from './tasks.ts'

/** A session in its tree. */
export interface Relative {
  id: string
  /** The session that it is a child or a fork of; null for the root. */
  above: string | null
  forked: boolean
  title: string
  concluded: boolean
  agent_status: AgentStatus | null
  permission_mode: string | null
  /** Its agent waits for a person's permission. */
  asks: boolean
  prompted_by: Task['promptedBy'] | null
}

const MOST = 100
const MOST_OF_ALL = 1_000 // beside the roots: the home page shows a hundred trees, every 15 s

// Each agent's row names the root of its tree, by which members are found; the others are above these: a root without an agent, and a session
// that was purged and has none any more.
const MEMBERS = `
select s.id, coalesce(s.parent_session_id, s.forked_from_session_id) as above,
  s.parent_session_id is null and s.forked_from_session_id is not null as forked, s.title, s.status = 'closed' as concluded, s.agent_status,
  s.permission_mode,
  exists (select from permission_requests p join tasks t on t.id = p.task_id and t.status = 'running' where p.session_id = s.id and p.decided_at is null) as asks,
  (select t.prompted_by from tasks t where t.session_id = s.id order by t.start_sequence limit 1) as prompted_by
from sessions s`

/** Of each tree that began with one of these, the sessions that were opened last: a hundred, of many trees fewer of each; with them those of `here` and, so that each has its
 *  place, all that they come from. In the order in which they were opened. */
export const membersOf = async ({ query }: Queries, roots: string[], here: string[] = []): Promise<Relative[]> =>
  roots.length === 0
    ? []
    : query(
        `with recursive wanted as (
           select newest.id from unnest($1::uuid[]) root cross join lateral (
             select s.id from agents a join sessions s on s.id = a.session_id where a.root_session_id = root
             order by s.created_at desc, s.id limit $3) newest
           union select unnest($1::uuid[] || $2::uuid[])
         ), ${aboveOf('any(array(select id from wanted))')}
         ${MEMBERS} where s.id in (select id from above) order by s.created_at, s.id`,
        [plainArray(roots), plainArray(here), Math.min(MOST, Math.ceil(MOST_OF_ALL / roots.length))],
      )

/** The root of a session's tree: the session itself unless its agent says otherwise. */
export const rootsOf = async ({ query }: Queries, ids: string[]): Promise<Map<string, string>> => {
  const rows =
    ids.length === 0
      ? []
      : await query<{ id: string; root: string }>(
          `select session_id as id, root_session_id as root from agents where session_id = any($1::uuid[])`,
          [plainArray(ids)],
        )
  return new Map(rows.map(({ id, root }) => [id, root]))
}

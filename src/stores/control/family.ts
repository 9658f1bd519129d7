// Trees of sessions as pages show them: children and forks below the session that each tree began with.
import type { Queries } from '../../../db/database.ts'
import { plainArray } from '../../../db/arrays.ts'
import type { AgentStatus } from './agents.ts'
import type { Task } from './tasks.ts'

/** A session in its tree. */
export interface Relative {
  id: string
  /** The session that the tree began with. */
  root: string
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

// Each agent's row names the root of its tree, by which all members are found; the root itself need not have an agent.
const MEMBERS = `
select s.id, coalesce(a.root_session_id, s.id) as root, coalesce(s.parent_session_id, s.forked_from_session_id) as above,
  s.parent_session_id is null and s.forked_from_session_id is not null as forked, s.title, s.status = 'closed' as concluded, s.agent_status,
  s.permission_mode,
  exists (select from permission_requests p join tasks t on t.id = p.task_id and t.status = 'running' where p.session_id = s.id and p.decided_at is null) as asks,
  (select t.prompted_by from tasks t where t.session_id = s.id order by t.start_sequence limit 1) as prompted_by
from sessions s left join agents a on a.session_id = s.id`

/** All sessions of the trees that began with these, in the order in which they were opened, at most 100 each way. */
export const membersOf = async ({ query }: Queries, roots: string[]): Promise<Relative[]> =>
  roots.length === 0
    ? []
    : query(
        `${MEMBERS} where s.id = any($1::uuid[]) or s.id in (select session_id from agents where root_session_id = any($1::uuid[]) limit ${MOST})
         order by s.created_at, s.id`,
        [plainArray(roots)],
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

// Sessions as control shows them: with their agent, its worktree, and where they come from.
import type { Queries } from '../../../db/database.ts'
import { binderTo } from '../../../db/params.ts'
import { pgArray } from '../../../db/arrays.ts'
import { pageSize } from '../page-size.ts'
import { isOnline } from './runners.ts'
import { MESSAGE_COUNT } from '../home-queries.ts'
import type { AgentStatus } from './agents.ts'
import { belowOf } from './genealogy.ts'
import type { Task } from './tasks.ts'
import type { ListPosition } from '../list-position.ts'

export interface ControlRow {
  session_id: string
  title: string
  repo_full_name: string | null
  branch: string | null
  agent_status: AgentStatus | null
  current_branch: string | null
  created_at: string
  updated_at: string
  is_agent_running: boolean
  agentic_tool: string | null
  permission_mode: string | null
  archived_at: string | null
  worktree_id: string | null
  runner_online: boolean | null
  parent_session_id: string | null
  forked_from_session_id: string | null
  prompted_by: Task['promptedBy'] | null
}

// `branch` is the one that the session was made for, `current_branch` the one that its worktree has checked out now.
const ROW = `
s.id as session_id, s.title, coalesce(w.repo_full_name, a.ordered_repo) as repo_full_name, coalesce(a.ordered_branch, w.branch) as branch,
s.agent_status, w.branch as current_branch, s.created_at, coalesce(greatest(s.last_event_at, s.updated_at), s.updated_at) as updated_at,
s.agentic_tool, s.permission_mode, s.archived_at, s.worktree_id, s.parent_session_id, s.forked_from_session_id,
case when r.id is null then null else ${isOnline('r')} end as runner_online,
exists (select from tasks t where t.session_id = s.id and t.status = 'running' and t.runner_id is not null) as is_agent_running,
(select t.prompted_by from tasks t where t.session_id = s.id order by t.start_sequence limit 1) as prompted_by`

const FROM = `
sessions s left join agents a on a.session_id = s.id left join worktrees w on w.id = s.worktree_id left join runners r on r.id = w.runner_id`

/** These sessions, in no order. */
export const controlRows = ({ query }: Queries, ids: string[]): Promise<ControlRow[]> =>
  ids.length === 0 ? Promise.resolve([]) : query(`select ${ROW} from ${FROM} where s.id = any($1::uuid[])`, [pgArray(ids)])

export interface ControlFilter {
  status?: AgentStatus | undefined
  archived: boolean
  /** Only this session and what is below it. */
  below?: string | undefined
  /** Where the page before ended: created then, or at the same time with a smaller id. */
  after?: ListPosition | undefined
  limit: number
}

/** Rooms of this server, those with agents and those without, the newest first. A condition that is not asked for is left out: each
 *  combination has an index and a plan of its own. */
export const listControlRows = async (
  { query }: Queries,
  { status, archived, below, after, limit }: ControlFilter,
): Promise<ControlRow[]> => {
  const params: unknown[] = []
  const bind = binderTo(params)
  const conditions = [
    `s.source = 'room' and s.purged_at is null`,
    !archived && 's.archived_at is null',
    status && `s.agent_status = ${bind(status)}`,
    below && `s.id = any(${belowOf(bind(below))})`,
    after && `(s.created_at, s.id) < (${bind(after.at)}::timestamptz, ${bind(after.id)}::uuid)`,
  ]
  const rows = await query<ControlRow>(
    `select ${ROW} from ${FROM} where ${conditions.filter(Boolean).join(' and ')} order by s.created_at desc, s.id desc limit ${pageSize(limit)}`,
    params,
  )
  return rows.slice(0, limit)
}

export interface Relatives {
  children: string[]
  forks: string[]
}

/** The children and forks of these sessions, oldest first. */
export const relativesOf = async ({ query }: Queries, ids: string[]): Promise<Map<string, Relatives>> => {
  const found = new Map<string, Relatives>(ids.map((id) => [id, { children: [], forks: [] }]))
  if (ids.length === 0) return found
  const rows = await query<{ id: string; parent: string | null; origin: string | null }>(
    `select id, parent_session_id as parent, forked_from_session_id as origin from sessions
     where parent_session_id = any($1::uuid[]) or forked_from_session_id = any($1::uuid[]) order by created_at, id`,
    [pgArray(ids)],
  )
  for (const { id, parent, origin } of rows) {
    if (parent !== null) found.get(parent)?.children.push(id)
    if (origin !== null) found.get(origin)?.forks.push(id)
  }
  return found
}

export interface SessionDetails {
  message_count: number
  spawn_task_id: string | null
  fork_sequence: number | null
  fork_task_id: string | null
}

// Messages are counted where the search index has counted them before, and in the log behind it.
const DETAILS = `
select s.forked_at_sequence as fork_sequence, ${MESSAGE_COUNT} as message_count,
  case when s.forked_from_session_id is not null then a.from_task_id end as fork_task_id,
  case when s.parent_session_id is not null then a.from_task_id end as spawn_task_id
from sessions s join session_index i on i.session_id = s.id left join agents a on a.session_id = s.id where s.id = $1`

/** What `get_session` says beside the row. The session exists. */
export const sessionDetails = async ({ query }: Queries, id: string): Promise<SessionDetails> =>
  (await query<SessionDetails>(DETAILS, [id]))[0]!

// Forks, subsessions and others work in a worktree that was made for another session, also where a second runner of the machine offers it. That
// a session has an agent is asked for its index alone.
const KEPT = `
with made as (
  select made_for_session_id as session_id, path from worktrees where made_for_session_id = any($1::uuid[])
  union all
  select session_id, path from unnest($1::uuid[], $2::text[]) as told(session_id, path)
)
select id from sessions where id = any($1::uuid[]) and archived_at is null
union
select made.session_id from made join worktrees w on w.path = made.path
join sessions s on s.worktree_id = w.id and s.archived_at is null and s.agent_status is not null`

/** Of these sessions, those that are archived or no longer there, but for one in whose worktree a session works that is not. `paths`: where
 *  the worktree of each is, as far as the caller knows, in the same order. */
export const archivedAmong = async ({ query }: Queries, ids: string[], paths: string[]): Promise<string[]> => {
  const kept = new Set((await query<{ id: string }>(KEPT, [pgArray(ids), pgArray(paths)])).map(({ id }) => id))
  return ids.filter((id) => !kept.has(id))
}

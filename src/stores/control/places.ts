// Where agents can work: the runners that are there, their worktrees, and the sessions that work in each.
import type { Queries } from '../../../db/database.ts'
import type { AgentStatus } from './agents.ts'
import { isOnline, type Runner } from './runners.ts'
import type { Checkout } from './worktrees.ts'

export interface RunnerPlace extends Pick<Runner, 'id' | 'name' | 'agents' | 'parallel'> {
  allow_bypass: boolean
  across: boolean
  online: boolean
  registered_at: string
  seen_at: string
  running: number
}

const MOST_RUNNERS = 200
const MOST_WORKTREES = 1_000

/** The runners that no other has replaced, those that are online first. */
export const runnerPlaces = ({ query }: Queries): Promise<RunnerPlace[]> =>
  query(
    `select r.id, r.name, r.agents, r.parallel, r.allow_bypass, r.across, ${isOnline('r')} as online, r.registered_at, r.seen_at,
       (select count(*)::int from tasks t where t.runner_id = r.id and t.status = 'running') as running
     from runners r where r.ended_at is null order by online desc, r.seen_at desc, r.id limit ${MOST_RUNNERS}`,
  )

export interface WorktreePlace extends Checkout {
  id: string
  runner_id: string
  /** The sessions whose agents work there, those that run first; at most a few. */
  sessions: { id: string; title: string; agent_status: AgentStatus }[]
}

const SESSIONS_SHOWN = 5

export const worktreePlaces = ({ query }: Queries): Promise<WorktreePlace[]> =>
  query(
    `select w.id, w.runner_id, w.path, w.repo_full_name, w.branch, w.head, w.dirty, w.changed_files, coalesce(working.sessions, '[]') as sessions
     from worktrees w join runners r on r.id = w.runner_id and r.ended_at is null
     left join (
       select worktree_id, json_agg(json_build_object('id', id, 'title', title, 'agent_status', agent_status)) as sessions from (
         select id, title, agent_status, worktree_id,
           row_number() over (partition by worktree_id order by agent_status = 'running' desc nulls last, created_at desc) as n
         from sessions where worktree_id is not null and archived_at is null and status = 'active') s
       where n <= ${SESSIONS_SHOWN} group by worktree_id
     ) working on working.worktree_id = w.id
     where w.gone_at is null order by w.repo_full_name, w.registered_at, w.id limit ${MOST_WORKTREES}`,
  )

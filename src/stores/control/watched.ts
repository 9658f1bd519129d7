// What pages show of sessions' agents and their tasks. An open page has it read again each second, for all watched sessions together.
import type { Queries } from '../../../db/database.ts'
import { pgArray, plainArray } from '../../../db/arrays.ts'
import type { AgentStatus } from './agents.ts'
import { spentLimits } from './costs.ts'
import { isOnline, type Runner } from './runners.ts'
import type { Task } from './tasks.ts'

export interface WatchedAgent {
  session_id: string
  agentic_tool: string
  agent_status: AgentStatus
  permission_mode: string
  archived: boolean
  held: boolean
  error: { code: string; message: string } | null
  repo_full_name: string | null
  branch: string | null
  changed_files: number | null
  runner_name: string | null
  runner_online: boolean | null
  runner_agents: Runner['agents'] | null
  allow_bypass: boolean | null
  /** It has no worktree, or its runner no longer offers it, and none is being made. */
  no_place: boolean
  /** The runner that no longer offers its worktree. */
  gone_from: string | null
  /** There are other sessions in its tree. */
  in_tree: boolean
  /** What all sessions of its tree have used, and may. */
  tokens: number
  cost_usd: number | null
  max_usd: number | null
  /** An agent of its tree has not told what a task cost. */
  costs_missing: boolean
  /** The session whose limit, used up, keeps its prompts waiting: itself or one above it. */
  spent_by: string | null
}

// A worktree that is still to be made has its repository and branch in the order.
const AGENTS = `
select a.session_id, s.agentic_tool, s.agent_status, s.permission_mode, s.archived_at is not null as archived, a.held, a.error,
  coalesce(w.repo_full_name, a.ordered_repo) as repo_full_name, w.changed_files,
  case when a.ordered_from is null then w.branch else a.ordered_branch end as branch, w.id is null and a.ordered_from is null as no_place,
  (select o.name from worktrees g join runners o on o.id = g.runner_id where g.id = s.worktree_id and g.gone_at is not null) as gone_from,
  r.name as runner_name, ${isOnline('r')} as runner_online, r.agents as runner_agents, r.allow_bypass, used.tokens, used.cost_usd, used.costs_missing,
  root.max_usd, (${spentLimits('a.session_id')} limit 1) as spent_by,
  exists (select from agents o where o.root_session_id = a.root_session_id and o.session_id <> a.session_id) as in_tree
from agents a join sessions s on s.id = a.session_id
left join worktrees w on w.id = s.worktree_id and w.gone_at is null
left join runners r on r.id = coalesce(w.runner_id, a.ordered_from)
left join agents root on root.session_id = a.root_session_id
cross join lateral (
  select coalesce(sum(coalesce((t.usage->>'input_tokens')::float8, 0) + coalesce((t.usage->>'output_tokens')::float8, 0)), 0) as tokens,
    sum((t.usage->>'cost_usd')::float8) as cost_usd, coalesce(bool_or(t.usage->>'cost_usd' is null), false) as costs_missing
  from agents member join tasks t on t.session_id = member.session_id where member.root_session_id = a.root_session_id and t.usage is not null
) used
where a.session_id = any($1::uuid[])`

/** The agents of these sessions, in no order. */
export const watchedAgents = async ({ query }: Queries, ids: string[]): Promise<WatchedAgent[]> =>
  ids.length === 0 ? [] : query(AGENTS, [plainArray(ids)])

export interface WatchedTask extends Pick<Task, 'id' | 'status' | 'turn' | 'error' | 'usage' | 'changes'> {
  session_id: string
  /** The sequence of its prompt. */
  sequence: number
  started_at: string | null
  created_at: string
  ended_at: string | null
  interrupt_asked: boolean
  interrupted_by: Task['interruptedBy']
  /** Whether the session has an agent, whose runner works on it; otherwise a team is to answer. */
  by_agent: boolean
  /** Its place among the queued ones of its session, from 1. */
  place: number
  /** The events of its turn so far, while it runs; null before its own first one. */
  events: number | null
  /** The tool that it called last, while it runs. */
  tool_name: string | null
  arguments: unknown
}

const LONGEST_CALL = 16_000 // bytes of a call that are read for its line
const TASKS = `
select t.id, t.session_id, t.status, t.turn, t.start_sequence as sequence, t.error, t.usage, t.changes, t.created_at, t.started_at, t.ended_at,
  t.interrupt_asked_at is not null as interrupt_asked, t.interrupted_by, a.session_id is not null as by_agent,
  case when t.status = 'queued' then 1 + (select count(*)::int from tasks o
    where o.session_id = t.session_id and o.status = 'queued' and o.start_sequence < t.start_sequence) else 0 end as place,
  newest.ordinal as events, call.tool_name, call.arguments
from tasks t left join agents a on a.session_id = t.session_id
left join lateral (
  select e.tool_name, case when e.size <= ${LONGEST_CALL} then e.content->'arguments' end as arguments from events e
  where e.session_id = t.session_id and e.sequence > t.start_sequence and e.task_id = t.id and e.type = 'tool_call'
  order by e.sequence desc limit 1
) call on t.status = 'running'
left join lateral (
  select e.ordinal from events e where e.session_id = t.session_id and e.sequence > t.start_sequence and e.task_id = t.id
  order by e.sequence desc limit 1
) newest on t.status = 'running'
where t.session_id = any($1::uuid[])`

/** Tasks of a session by their ids. */
export const tasksByIds = async ({ query }: Queries, sessionId: string, ids: string[]): Promise<WatchedTask[]> =>
  ids.length === 0 ? [] : query(`${TASKS} and t.id = any($2::uuid[])`, [plainArray([sessionId]), pgArray(ids)])

const ENDED_SHOWN = 8 // a page that comes back has the answers of earlier ones as rows of its feed

/** The tasks of these sessions that are queued or running, those that began last, and `others` by their ids. */
export const watchedTasks = async ({ query }: Queries, ids: string[], others: string[]): Promise<WatchedTask[]> =>
  ids.length === 0
    ? []
    : query(
        `${TASKS} and (t.status in ('queued', 'running') or t.id = any($2::uuid[]) or t.id in (select newest.id from unnest($1::uuid[]) as of(id)
           cross join lateral (select id from tasks where session_id = of.id order by start_sequence desc limit ${ENDED_SHOWN}) newest))`,
        [plainArray(ids), plainArray(others)],
      )

const ENDED_AFTER_SHOWN = 100 // as many as the rows that a page begins with
const LOOKED_THROUGH = 1_000 // no index says when tasks ended

/** The tasks of a session that ended after this sequence, of those that began last. */
export const tasksEndedAfter = ({ query }: Queries, sessionId: string, sequence: number): Promise<WatchedTask[]> =>
  query(
    `${TASKS} and t.end_sequence > $2 and t.id in (select id from tasks where session_id = $3 order by start_sequence desc limit ${LOOKED_THROUGH})
     order by t.start_sequence desc limit ${ENDED_AFTER_SHOWN}`,
    [plainArray([sessionId]), sequence, sessionId],
  )

export interface WatchedRequest {
  session_id: string
  request_id: string
  /** How long ago it was asked. */
  seconds: number
  tool_name: string
  text: string
  input: unknown
  raise: { session_id: string; from: string; to: string } | null
  decided: boolean
  allow: boolean | null
  message: string | null
  decided_by: string | null
  /** Its task still runs; no task waits for a raise of permissions. */
  waits: boolean
}

const REQUESTS = `
select p.session_id, p.id as request_id, extract(epoch from clock_timestamp() - p.asked_at)::float8 as seconds, p.tool_name, p.text, p.input,
  p.raise, p.decided_at is not null as decided, p.allow, p.message, p.decided_by,
  p.raise is not null or exists (select from tasks t where t.id = p.task_id and t.status = 'running') as waits
from permission_requests p`

/** What was asked in a session, by the ids of the requests. */
export const requestsByIds = async ({ query }: Queries, sessionId: string, ids: string[]): Promise<WatchedRequest[]> =>
  ids.length === 0
    ? []
    : query(`${REQUESTS} where p.session_id = any($1::uuid[]) and p.id = any($2::text[])`, [plainArray([sessionId]), pgArray(ids)])

/** These requests, of whichever sessions, the oldest first. */
export const requestsOf = async ({ query }: Queries, named: { id: string; session_id: string }[]): Promise<WatchedRequest[]> =>
  named.length === 0
    ? []
    : query(
        `${REQUESTS} join json_to_recordset($1::json) as named(id text, session_id uuid) on named.id = p.id and named.session_id = p.session_id
         order by p.asked_at, p.id`,
        [JSON.stringify(named.map(({ id, session_id }) => ({ id, session_id })))],
      )

const REQUESTS_SHOWN = 8 // of a session: more are hardly ever open, and a page that comes back has earlier decisions as rows of its feed

/** The newest requests in these sessions. */
export const watchedRequests = async ({ query }: Queries, ids: string[]): Promise<WatchedRequest[]> =>
  ids.length === 0
    ? []
    : query(
        `${REQUESTS} where p.session_id = any($1::uuid[]) and p.id in (select newest.id from unnest($1::uuid[]) as of(id)
           cross join lateral (select r.id from permission_requests r where r.session_id = of.id order by r.asked_at desc limit ${REQUESTS_SHOWN}) newest)`,
        [plainArray(ids)],
      )

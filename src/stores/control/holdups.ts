// What keeps sessions' agents from going on until somebody does something: an agent that was stopped, a worktree that its runner no
// longer offers, money that is used up, and permission that a person has to give.
import type { Queries } from '../../../db/database.ts'
import { pgArray } from '../../../db/arrays.ts'
import { nearestSpent } from './costs.ts'
import { isOpen } from './permission-requests.ts'

/** Its agent is stopped: what is queued waits until it is started. Who stopped it and when is null where that was not kept. */
export interface Held {
  by: string | null
  since: string | null
}

/** The folder in which its agent works is not offered any more: what is queued waits until this runner registers with it again. */
export interface NoWorktree {
  runner_name: string
  path: string
  since: string
}

/** This session, itself or above it, has cost what it may: what is queued waits until its limit is raised. */
export interface OverBudget {
  session_id: string
  max_usd: number
}

/** What a person is asked to allow. */
export interface AskedPermission {
  request_id: string
  task_id: string
  tool_name: string
  since: string
}

export interface Holdups {
  held?: Held
  noWorktree?: NoWorktree
  overBudget?: OverBudget
  /** The oldest first. */
  asked: AskedPermission[]
}

type Row = { session_id: string; held: boolean; max_usd: number | null } & {
  [field in 'by' | 'held_at' | 'gone_at' | 'runner_name' | 'path' | 'spent_by']: string | null
} & { [field in keyof AskedPermission]: AskedPermission[field] | null }

const HOLDUPS = `
select a.session_id, a.held, a.held_by as by, a.held_at, w.gone_at, w.path, r.name as runner_name, l.session_id as spent_by, l.max_usd,
  p.id as request_id, p.task_id, p.tool_name, p.asked_at as since
from agents a join sessions s on s.id = a.session_id
left join worktrees w on w.id = s.worktree_id and w.gone_at is not null left join runners r on r.id = w.runner_id
left join (${nearestSpent('$1::uuid[]')}) l on l.of = a.session_id
left join permission_requests p on p.session_id = a.session_id and ${isOpen('p', '$2')}
where a.session_id = any($1::uuid[]) and (a.held or w.id is not null or l.of is not null or p.id is not null) order by p.asked_at, p.id`

/** The holdups of those sessions that have any, by id. `permissionWait`: PERMISSION_WAIT, in seconds. */
export const holdupsOf = async ({ query }: Queries, ids: string[], permissionWait: number): Promise<Map<string, Holdups>> => {
  const found = new Map<string, Holdups>()
  if (ids.length === 0) return found
  for (const row of await query<Row>(HOLDUPS, [pgArray(ids), permissionWait])) {
    const { session_id, held, by, held_at, gone_at, path, runner_name, spent_by, max_usd, ...asked } = row
    const before = found.get(session_id)?.asked ?? []
    found.set(session_id, {
      ...(held && { held: { by, since: held_at } }),
      ...(gone_at !== null && { noWorktree: { runner_name: runner_name!, path: path!, since: gone_at } }),
      ...(spent_by !== null && { overBudget: { session_id: spent_by, max_usd: max_usd! } }),
      asked: asked.request_id === null ? before : [...before, asked as AskedPermission],
    })
  }
  return found
}

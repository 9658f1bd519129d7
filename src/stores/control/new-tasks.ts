// Inserts the task of a prompt, and counts the open ones of its tree: a tree takes 50 at the most (control/tasks/queue-prompt.ts).
import type { Queries } from '../../../db/database.ts'
import type { Task } from './tasks.ts'

/** The columns of a new task. */
export type NewTask = Pick<
  Task,
  'id' | 'sessionId' | 'status' | 'mode' | 'prompt' | 'promptedBy' | 'messageId' | 'startSequence' | 'turn' | 'turnEvents'
>

// All that a prompt writes and asks beside its message. In SQL by hand: it is most of what send_prompt costs beyond a post (bench/control.ts).
// The worktree is locked as a foreign key locks it, so that it is not gone before the task stands there (worktrees.ts).
const QUEUE = `
with at_work as (
  update sessions set agent_status = 'running' where id = $2 and agent_status not in ('creating', 'running')
), place as (
  select w.runner_id from sessions s join worktrees w on w.id = s.worktree_id where s.id = $2 and w.gone_at is null for key share of w
)
insert into tasks (id, session_id, status, mode, prompt, prompted_by, message_id, start_sequence, turn)
values ($1, $2, $3, $4, $5, $6::text::jsonb, $7, $8, $9)
returning
  (select count(*)::int from agents a join agents b on b.root_session_id = a.root_session_id join tasks t on t.session_id = b.session_id
   where a.session_id = $2 and t.status in ('queued', 'running'))
  + (select count(*)::int from tasks t
     where t.session_id = $2 and t.status in ('queued', 'running') and not exists (select from agents where session_id = $2)) as others,
  (select runner_id from place) as runner_id`

/** Inserts a task; its session's agent is at work from then on, unless its worktree is still being made. Returns how many others of its tree,
 *  or of a session without an agent, are queued or running, and which runner has its worktree. The caller holds the session's lock. */
export const insertTask = async ({ query }: Queries, task: NewTask): Promise<{ others: number; runner_id: string | null }> => {
  const { id, sessionId, status, mode, prompt, promptedBy, messageId, startSequence, turn } = task
  const values = [id, sessionId, status, mode, prompt, JSON.stringify(promptedBy), messageId, startSequence, turn]
  const [row] = await query<{ others: number; runner_id: string | null }>(QUEUE, values)
  return row!
}

/** How many tasks of this session's tree are queued or running, this one left out, counted by one transaction at a time: the lock on the tree
 *  lasts as long as the transaction. */
export const othersOpen = async ({ query }: Queries, { id, sessionId }: Pick<Task, 'id' | 'sessionId'>): Promise<number> => {
  await query(`select pg_advisory_xact_lock(hashtextextended('tasks below ' || root_session_id, 0)) from agents where session_id = $1`, [
    sessionId,
  ])
  const [row] = await query<{ others: number }>(
    `select count(*)::int as others from agents a join agents b on b.root_session_id = a.root_session_id join tasks t on t.session_id = b.session_id
     where a.session_id = $1 and t.status in ('queued', 'running') and t.id <> $2`,
    [sessionId, id],
  )
  return row!.others
}

// Tasks: prompts and what became of them. Each change of a status is one conditional update; a final status never changes.
import { and, asc, eq, inArray, sql } from 'drizzle-orm'
import type { Queries } from '../../../db/database.ts'
import { pgArray } from '../../../db/arrays.ts'
import { tasks } from '../../../db/control-schema.ts'
import { isUuid } from '../../core/ids.ts'
import { isOnline } from './runners.ts'

export type Task = typeof tasks.$inferSelect
export type TaskStatus = Task['status']
export type FinalStatus = Extract<TaskStatus, 'completed' | 'failed' | 'interrupted'>

export const isFinal = (status: TaskStatus): status is FinalStatus => status !== 'queued' && status !== 'running'

/** A prompt, as its task begins. */
export type NewTask = Pick<
  Task,
  'id' | 'sessionId' | 'status' | 'mode' | 'prompt' | 'promptedBy' | 'messageId' | 'startSequence' | 'turn' | 'turnEvents'
>

// All that a prompt writes and asks beside its message. In SQL by hand: it is most of what send_prompt costs beyond a post (bench/control.ts).
const QUEUE = `
with at_work as (
  update sessions set agent_status = 'running' where id = $2 and agent_status not in ('creating', 'running')
)
insert into tasks (id, session_id, status, mode, prompt, prompted_by, message_id, start_sequence, turn)
values ($1, $2, $3, $4, $5, $6::text::jsonb, $7, $8, $9)
returning
  (select count(*)::int from agents a join agents b on b.root_session_id = a.root_session_id join tasks t on t.session_id = b.session_id
   where a.session_id = $2 and t.status in ('queued', 'running')) as others,
  (select w.runner_id from sessions s join worktrees w on w.id = s.worktree_id and w.gone_at is null where s.id = $2) as runner_id`

/** Inserts a task; its session's agent is at work from then on, unless its worktree is still being made. Returns how many others of its tree
 *  are queued or running, and which runner has its worktree. The caller holds the session's lock. */
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

export const taskById = async ({ db }: Queries, id: string): Promise<Task | undefined> => {
  if (!isUuid(id)) return undefined
  const [row] = await db.select().from(tasks).where(eq(tasks.id, id))
  return row
}

/** The task whose prompt has this sequence in its session. */
export const taskAt = async ({ db }: Queries, sessionId: string, startSequence: number): Promise<Task | undefined> => {
  const [row] = await db
    .select()
    .from(tasks)
    .where(and(eq(tasks.sessionId, sessionId), eq(tasks.startSequence, startSequence)))
  return row
}

/** Locks a task's row. The caller holds its session's lock, so that the two are always taken in this order. */
export const lockTask = async ({ db }: Queries, id: string): Promise<Task | undefined> => {
  const [row] = await db.select().from(tasks).where(eq(tasks.id, id)).for('update')
  return row
}

/** The session's task that a runner works on. */
export const runningTask = async ({ db }: Queries, sessionId: string): Promise<Task | undefined> => {
  const [row] = await db
    .select()
    .from(tasks)
    .where(and(eq(tasks.sessionId, sessionId), eq(tasks.status, 'running'), sql`${tasks.runnerId} is not null`))
  return row
}

/** The session's tasks that are queued or running, in the order of the log. */
export const openTasks = ({ db }: Queries, sessionId: string): Promise<Task[]> =>
  db
    .select()
    .from(tasks)
    .where(and(eq(tasks.sessionId, sessionId), inArray(tasks.status, ['queued', 'running'])))
    .orderBy(asc(tasks.startSequence))

/** What a runner is told of a task that it gets. */
export interface Handed {
  task: Task
  agentic_tool: string
  permission_mode: string
  path: string
  conversation: string | null
  fork_conversation: string | null
  fork_conversation_at: string | null
  context_files: string[]
  mcp_servers: string[]
}

interface HandedRow extends Omit<Handed, 'task'> {
  id: string
}

// A limit holds for the session that has it and for all below it.
const IS_SPENT = `exists (select from agents l where l.session_id in (a.root_session_id, a.session_id) and l.max_usd is not null and l.max_usd <= (
  select coalesce(sum((u.usage->>'cost_usd')::float8), 0) from tasks u join agents b on b.session_id = u.session_id
  where b.root_session_id = l.session_id or b.session_id = l.session_id))`

// Those of sessions that work in the runner's worktrees and run nothing now, the oldest prompt of each, the oldest first. One that is held
// or archived waits; one whose tree has spent what it may, too.
const NEXT = `
select t.id from tasks t
join sessions s on s.id = t.session_id and s.archived_at is null
join agents a on a.session_id = t.session_id and not a.held
join worktrees w on w.id = s.worktree_id and w.runner_id = $1 and w.gone_at is null
where t.status = 'queued' and s.status = 'active' and not ${IS_SPENT}
  and not exists (select from tasks o where o.session_id = t.session_id
    and ((o.status = 'running' and o.runner_id is not null) or (o.status = 'queued' and o.start_sequence < t.start_sequence)))
order by t.created_at, t.id limit $2::int for update of t skip locked`

/** Hands at most `limit` queued tasks out to a runner, whose row the caller has locked; returns their ids. */
export const handOut = async ({ query }: Queries, runnerId: string, limit: number): Promise<string[]> => {
  if (limit <= 0) return []
  const rows = await query<{ id: string }>(
    `with next as materialized (${NEXT})
     update tasks set status = 'running', runner_id = $1, started_at = clock_timestamp(), acknowledged = false,
       permission_mode = (select permission_mode from sessions where id = session_id)
     where id in (select id from next) returning id`,
    [runnerId, limit],
  )
  return rows.map(({ id }) => id)
}

/** The tasks that a runner has and has not named yet. */
export const handedOut = async ({ query, db }: Queries, runnerId: string): Promise<Handed[]> => {
  const rows = await query<HandedRow>(
    `select t.id, s.agentic_tool, t.permission_mode, w.path, a.conversation, a.fork_conversation,
       a.fork_conversation_at,
       a.context_files, a.mcp_servers
     from tasks t join sessions s on s.id = t.session_id join agents a on a.session_id = s.id join worktrees w on w.id = s.worktree_id
     where t.runner_id = $1 and t.status = 'running' and not t.acknowledged order by t.created_at, t.id`,
    [runnerId],
  )
  if (rows.length === 0) return []
  const found = await db
    .select()
    .from(tasks)
    .where(
      inArray(
        tasks.id,
        rows.map(({ id }) => id),
      ),
    )
  const byId = new Map(found.map((task) => [task.id, task]))
  return rows.map(({ id, ...rest }) => ({ ...rest, task: byId.get(id)! }))
}

/** Its runner has named these tasks: the answer that handed them out has reached it. */
export const acknowledgeTasks = async ({ query }: Queries, runnerId: string, ids: readonly string[]): Promise<void> => {
  if (ids.length > 0)
    await query(`update tasks set acknowledged = true where runner_id = $1 and id = any($2::uuid[]) and not acknowledged`, [
      runnerId,
      pgArray(ids.filter(isUuid)),
    ])
}

export const runningOn = async ({ query }: Queries, runnerId: string): Promise<number> =>
  (await query<{ count: number }>(`select count(*)::int as count from tasks where runner_id = $1 and status = 'running'`, [runnerId]))[0]!
    .count

const TOLD_AGAIN_S = 2 // an order stays until it is answered, which takes a moment

/** The tasks that this runner is to interrupt and has not just been told of. Marks them as told. */
export const interruptOrders = async ({ query }: Queries, runnerId: string): Promise<{ task_id: string }[]> =>
  query(
    `update tasks set interrupt_told_at = clock_timestamp()
     where runner_id = $1 and status = 'running' and interrupt_asked_at is not null
       and (interrupt_told_at is null or interrupt_told_at < clock_timestamp() - interval '${TOLD_AGAIN_S} s')
     returning id as task_id`,
    [runnerId],
  )

/** How long the oldest prompt that waits for this runner has waited, in seconds; 0 when none does. */
export const waitingSeconds = async ({ query }: Queries, runnerId: string): Promise<number> => {
  const [row] = await query<{ seconds: number | null }>(
    `select extract(epoch from clock_timestamp() - min(t.created_at))::float8 as seconds from tasks t
     join sessions s on s.id = t.session_id join worktrees w on w.id = s.worktree_id and w.runner_id = $1 where t.status = 'queued'`,
    [runnerId],
  )
  return Math.round(row?.seconds ?? 0)
}

/** Changes a task whose row the caller has locked. */
export const setTask = async ({ db }: Queries, id: string, values: Record<string, unknown>): Promise<void> =>
  void (await db.update(tasks).set(values).where(eq(tasks.id, id)))

export const runningTasksOn = async ({ db }: Queries, runnerId: string): Promise<Pick<Task, 'id' | 'sessionId'>[]> =>
  db
    .select({ id: tasks.id, sessionId: tasks.sessionId })
    .from(tasks)
    .where(and(eq(tasks.runnerId, runnerId), eq(tasks.status, 'running')))
    .orderBy(asc(tasks.sessionId))

const GRACE_S = 30 // its runner ends it by itself

/** Running tasks whose runner is gone, or that have run for longer than they may. */
export const overdueTasks = ({ query }: Queries, timeoutS: number): Promise<{ id: string; lost: boolean }[]> =>
  query(
    `select t.id, not ${isOnline('r')} as lost from tasks t join runners r on r.id = t.runner_id
     where t.status = 'running' and (not ${isOnline('r')} or t.started_at < clock_timestamp() - make_interval(secs => $1::float8 + ${GRACE_S}))
     limit 100`,
    [timeoutS],
  )

/** The session's task that ended last. */
export const lastEndedTask = async ({ db }: Queries, sessionId: string): Promise<Task | undefined> => {
  const [row] = await db
    .select()
    .from(tasks)
    .where(
      and(
        eq(tasks.sessionId, sessionId),
        inArray(tasks.status, ['completed', 'failed', 'interrupted']),
        sql`${tasks.endSequence} is not null`,
      ),
    )
    .orderBy(sql`${tasks.endSequence} desc`)
    .limit(1)
  return row
}

/** The task that this message began. */
export const taskOfPrompt = async ({ db }: Queries, messageId: string): Promise<Task | undefined> => {
  if (!isUuid(messageId)) return undefined
  const [row] = await db.select().from(tasks).where(eq(tasks.messageId, messageId))
  return row
}

/** Prompts in sessions without an agent that somebody has answered, each with its first answer. */
export const answeredPrompts = ({ query }: Queries): Promise<{ task_id: string; message_id: string }[]> =>
  query(
    `select t.id as task_id, (select e.id from events e where e.session_id = t.session_id and e.sequence > t.start_sequence
         and e.reply_to = t.message_id and e.type = 'chat' order by e.sequence limit 1) as message_id
     from tasks t join sessions s on s.id = t.session_id
     where t.status = 'running' and t.runner_id is null and exists (select from events e where e.session_id = t.session_id
       and e.sequence > t.start_sequence and e.reply_to = t.message_id and e.type = 'chat') limit 100`,
  )

/** Queued tasks that are never reached: their session was concluded. */
export const queuedInClosed = async ({ query }: Queries): Promise<string[]> => {
  const rows = await query<{ id: string }>(
    `select t.id from tasks t join sessions s on s.id = t.session_id where t.status = 'queued' and s.status = 'closed' limit 100`,
  )
  return rows.map(({ id }) => id)
}

// Tasks: prompts and what became of them. Each change of a status is one conditional update; a final status never changes.
import { and, asc, eq, inArray, sql } from 'drizzle-orm'
import type { Queries } from '../../../db/database.ts'
import { tasks } from '../../../db/control-schema.ts'
import { isUuid } from '../../core/ids.ts'
import { isOnline } from './runners.ts'

export type Task = typeof tasks.$inferSelect
export type TaskStatus = Task['status']
export type FinalStatus = Extract<TaskStatus, 'completed' | 'failed' | 'interrupted'>

export const isFinal = (status: TaskStatus): status is FinalStatus => status !== 'queued' && status !== 'running'

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

/** Locks the session's queued and running tasks: none is handed out meanwhile, and one that was just being handed out is `running` by now. */
export const lockOpenTasks = async ({ query }: Queries, sessionId: string): Promise<void> =>
  void (await query(`select from tasks where session_id = $1 and status in ('queued', 'running') order by id for update`, [sessionId]))

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

/** Changes a task whose row the caller has locked. */
export const setTask = async ({ db }: Queries, id: string, values: Partial<typeof tasks.$inferInsert>): Promise<void> =>
  void (await db.update(tasks).set(values).where(eq(tasks.id, id)))

export const runningTasksOn = async ({ db }: Queries, runnerId: string): Promise<Pick<Task, 'id' | 'sessionId'>[]> =>
  db
    .select({ id: tasks.id, sessionId: tasks.sessionId })
    .from(tasks)
    .where(and(eq(tasks.runnerId, runnerId), eq(tasks.status, 'running')))
    .orderBy(asc(tasks.sessionId))

const GRACE_S = 30 // the runner enforces the time limit first

interface Overdue {
  atMs: number // by the database's clock
  overdue: { id: string; lost: boolean }[]
}

/** Running tasks whose runner is gone, or that have run for longer than they may; and when that was so. `sinceMs`: the time before it, by
 *  the database's clock, is not counted. */
export const overdueTasks = async ({ query }: Queries, timeoutS: number, sinceMs: number): Promise<Overdue> => {
  const [row] = await query<Overdue>(
    `select (extract(epoch from clock_timestamp()) * 1000)::float8 as "atMs", coalesce(json_agg(o), '[]') as overdue from (
       select t.id, not ${isOnline('r')} as lost from tasks t join runners r on r.id = t.runner_id
       where t.status = 'running' and (not ${isOnline('r')} or greatest(t.started_at, to_timestamp($2::float8 / 1000))
         < clock_timestamp() - make_interval(secs => $1::float8 + ${GRACE_S}))
       limit 100) o`,
    [timeoutS, sinceMs],
  )
  return row!
}

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

/** The session has an earlier task. */
export const wasPromptedBefore = async ({ query }: Queries, { sessionId, startSequence }: Task): Promise<boolean> =>
  (await query('select from tasks where session_id = $1 and start_sequence < $2 limit 1', [sessionId, startSequence])).length > 0

// SQL: an agent has worked on the task `t`: it wrote something, or it was lost with its runner.
const IS_BEGUN = `(t.error->>'code' = 'runner_lost' or exists (
  select from events e where e.session_id = t.session_id and e.sequence > t.start_sequence and e.task_id = t.id and e.author = 'agent'))`

/** An agent has worked on an earlier task of the session. */
export const wasBegunBefore = async ({ query }: Queries, { sessionId, startSequence }: Task): Promise<boolean> =>
  (await query(`select from tasks t where session_id = $1 and start_sequence < $2 and ${IS_BEGUN} limit 1`, [sessionId, startSequence]))
    .length > 0

/** The last task of the session up to this one on which an agent has worked, or that has a conversation. */
export const lastBegun = async ({ query }: Queries, { sessionId, startSequence }: Task) => {
  const begun = `select conversation, conversation_at as "conversationAt" from tasks t
    where session_id = $1 and start_sequence <= $2 and (conversation is not null or ${IS_BEGUN}) order by start_sequence desc limit 1`
  return (await query<Pick<Task, 'conversation' | 'conversationAt'>>(begun, [sessionId, startSequence]))[0]
}

/** The task that this message began. */
export const taskOfPrompt = async ({ db }: Queries, messageId: string): Promise<Task | undefined> => {
  if (!isUuid(messageId)) return undefined
  const [row] = await db.select().from(tasks).where(eq(tasks.messageId, messageId))
  return row
}

// As src/rooms/feed/questions.ts has it: a reply of the team that was asked, by whatever handle of its name, answers; one of the person who
// asked withdraws, unless it asks again. Of a name the database knows less: only how it is written, with or without capitals.
const ENDS = `join events q on q.id = t.message_id where e.session_id = t.session_id and e.sequence > t.start_sequence
  and e.reply_to = t.message_id and e.type = 'chat' and (
    e.posted_by_team_id = any(q.to_team_ids)
    or (e.posted_by_team_id is not null and lower(e.author_name) in (
      select lower(p.team_name) from participants p where p.session_id = q.session_id and p.team_id = any(q.to_team_ids)))
    or (e.posted_by_team_id is null and e.author = q.author and lower(e.author_name) = lower(q.author_name) and e.expects_reply is not true))`
const IS_ENDED = `exists (select from events e ${ENDS})`

/** The first reply that ends the task of a prompt to a team. */
export const endingReply = async ({ query }: Queries, taskId: string): Promise<{ id: string; withdraws: boolean } | undefined> => {
  const [row] = await query<{ id: string; withdraws: boolean }>(
    `select e.id, e.posted_by_team_id is null as withdraws from tasks t join events e on e.session_id = t.session_id ${ENDS}
       and t.id = $1 order by e.sequence limit 1`,
    [taskId],
  )
  return row
}

/** Tasks in sessions without an agent that a reply ends. */
export const answeredTasks = async ({ query }: Queries): Promise<string[]> => {
  const rows = await query<{ id: string }>(
    `select t.id from tasks t where t.status = 'running' and t.runner_id is null and ${IS_ENDED} limit 100`,
  )
  return rows.map(({ id }) => id)
}

/** Tasks that are never reached, or answered by no team any more: their session was concluded. */
export const openInClosed = async ({ query }: Queries): Promise<string[]> => {
  const rows = await query<{ id: string }>(
    `select t.id from tasks t join sessions s on s.id = t.session_id and s.status = 'closed'
     where t.status = 'queued' or (t.status = 'running' and t.runner_id is null and not ${IS_ENDED}) limit 100`,
  )
  return rows.map(({ id }) => id)
}

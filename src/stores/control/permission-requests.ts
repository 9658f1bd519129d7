// What agents have asked permission for. A request is decided once, by a conditional update.
import { and, asc, eq, isNull, sql } from 'drizzle-orm'
import type { Queries } from '../../../db/database.ts'
import { permissionRequests } from '../../../db/control-schema.ts'

export type PermissionRequest = typeof permissionRequests.$inferSelect

/** SQL: whether the request `p` waits for a person. Nobody can answer it any more when its task has ended, or when `wait` seconds have passed
 *  (PERMISSION_WAIT). */
export const isOpen = (p: string, wait: string) =>
  `${p}.decided_at is null and ${p}.asked_at > clock_timestamp() - ${wait} * interval '1 second'
    and (${p}.raise is not null or exists (select from tasks t where t.id = ${p}.task_id and t.status = 'running'))`

/** Saves a request. False when it is there already. */
export const insertRequest = async ({ db }: Queries, values: typeof permissionRequests.$inferInsert): Promise<boolean> =>
  (await db.insert(permissionRequests).values(values).onConflictDoNothing().returning({ id: permissionRequests.id })).length > 0

export const requestById = async ({ db }: Queries, sessionId: string, id: string): Promise<PermissionRequest | undefined> => {
  const [row] = await db
    .select()
    .from(permissionRequests)
    .where(and(eq(permissionRequests.sessionId, sessionId), eq(permissionRequests.id, id)))
  return row
}

/** The oldest request of a task that nobody has decided. */
export const undecidedOf = async ({ db }: Queries, taskId: string): Promise<PermissionRequest | undefined> => {
  const [row] = await db
    .select()
    .from(permissionRequests)
    .where(and(eq(permissionRequests.taskId, taskId), isNull(permissionRequests.decidedAt)))
    .orderBy(asc(permissionRequests.askedAt))
    .limit(1)
  return row
}

/** Decides a request that is open. False when it is not. */
export const decideRequest = async (
  { db }: Queries,
  sessionId: string,
  id: string,
  decision: { allow: boolean; message?: string | undefined; decidedBy: string },
): Promise<boolean> => {
  const open = and(eq(permissionRequests.sessionId, sessionId), eq(permissionRequests.id, id), isNull(permissionRequests.decidedAt))
  const rows = await db
    .update(permissionRequests)
    .set({ ...decision, decidedAt: sql`clock_timestamp()` })
    .where(open)
    .returning({ id: permissionRequests.id })
  return rows.length > 0
}

/** The open request of this session to raise that one's permissions so far. */
export const openRaise = async (
  { query }: Queries,
  asking: string,
  { session_id, to }: { session_id: string; to: string },
): Promise<string | undefined> => {
  const [row] = await query<{ id: string }>(
    `select id from permission_requests where session_id = $1 and decided_at is null and raise->>'session_id' = $2 and raise->>'to' = $3`,
    [asking, session_id, to],
  )
  return row?.id
}

interface DeniedRaise {
  id: string
  by: string
  message: string | null
}

/** The latest request of this session to raise that one's permissions so far, if it was denied since then. */
export const deniedRaise = async (
  { query }: Queries,
  asking: string,
  { session_id, to }: { session_id: string; to: string },
  since: string,
): Promise<DeniedRaise | undefined> => {
  const [row] = await query<DeniedRaise & { allow: boolean | null }>(
    `select id, decided_by as by, message, allow from permission_requests
     where session_id = $1 and raise->>'session_id' = $2 and raise->>'to' = $3 and decided_at >= $4 order by decided_at desc limit 1`,
    [asking, session_id, to, since],
  )
  return row?.allow === false ? row : undefined
}

export interface OverdueRequest {
  session_id: string
  request_id: string
  /** Nobody answered it in time; otherwise its task ended before that. */
  late: boolean
}

/** Has what nobody has decided, and has waited for so many seconds or all but a minute of them, wait as long as if it were asked now. */
export const waitAnew = async ({ query }: Queries, seconds: number): Promise<void> =>
  void (await query(
    "update permission_requests set asked_at = clock_timestamp() where decided_at is null and asked_at <= clock_timestamp() - make_interval(secs => $1) + interval '1 minute'",
    [seconds],
  ))

/** Requests that have waited for so many seconds, and those whose task has ended. */
export const overdueRequests = ({ query }: Queries, seconds: number): Promise<OverdueRequest[]> =>
  query(
    `select session_id, request_id, late from (
       select p.session_id, p.id as request_id, p.asked_at < clock_timestamp() - make_interval(secs => $1) as late,
         p.raise is null and t.status in ('completed', 'failed', 'interrupted') as ended
       from permission_requests p left join tasks t on t.id = p.task_id where p.decided_at is null) undecided
     where late or ended limit 100`,
    [seconds],
  )

// Runners: which are there, and whether each has called lately. Who holds a runner's row locked decides what it takes.
import { and, eq, isNull, ne, sql } from 'drizzle-orm'
import type { Queries } from '../../../db/database.ts'
import { runners } from '../../../db/control-schema.ts'
import { isUuid } from '../../core/ids.ts'
import { elapsed } from './elapsed.ts'

export type Runner = typeof runners.$inferSelect

/** A runner that has not called for so long is offline, and what it ran is lost. `register_runner` tells it as `lease_s`. */
export const LEASE_S = 60 as const

/** A condition on a row of runners `r`: it is online. */
export const isOnline = (r: string): string => `(${r}.ended_at is null and not ${elapsed(`${r}.seen_at`, LEASE_S)})`

export const lockRunner = async ({ db }: Queries, id: string): Promise<Runner | undefined> => {
  if (!isUuid(id)) return undefined
  const [row] = await db.select().from(runners).where(eq(runners.id, id)).for('update')
  return row
}

/** Keeps another runner from taking this one's place until the transaction ends; false where one has taken it. */
export const holdRunner = async ({ query }: Queries, id: string): Promise<boolean> =>
  (await query('select 1 from runners where id = $1 and ended_at is null for key share', [id])).length > 0

/** The runner of this name that no other has replaced, locked. */
export const lockRunnerNamed = async ({ db }: Queries, nameKey: string): Promise<(Runner & { online: boolean }) | undefined> => {
  const named = and(eq(runners.nameKey, nameKey), isNull(runners.endedAt))
  const [row] = await db.select().from(runners).where(named).for('update')
  if (!row) return undefined
  const online = sql<boolean>`${sql.raw(isOnline('runners'))}`
  const [seen] = await db.select({ online }).from(runners).where(eq(runners.id, row.id))
  return { ...row, online: seen!.online }
}

/** The name that this key has registered under, if that is another one. */
export const otherNameOf = async ({ db }: Queries, keyId: string, nameKey: string): Promise<string | undefined> => {
  const [row] = await db
    .select({ name: runners.name })
    .from(runners)
    .where(and(eq(runners.keyId, keyId), ne(runners.nameKey, nameKey)))
    .limit(1)
  return row?.name
}

export const insertRunner = async ({ db }: Queries, values: typeof runners.$inferInsert): Promise<void> =>
  void (await db.insert(runners).values(values))

export const endRunner = async ({ db }: Queries, id: string): Promise<void> =>
  void (await db
    .update(runners)
    .set({ endedAt: sql`clock_timestamp()` })
    .where(eq(runners.id, id)))

/** Renews the lease of a runner whose row the caller has locked. */
export const renewLease = async ({ query }: Queries, id: string): Promise<void> =>
  void (await query('update runners set seen_at = clock_timestamp() where id = $1', [id]))

/** Ends the lease of a runner now, as if it had not called for as long. */
export const endLease = async ({ query }: Queries, id: string): Promise<void> =>
  void (await query(`update runners set seen_at = clock_timestamp() - interval '${LEASE_S} s' where id = $1 and ended_at is null`, [id]))

const SEEN_EVERY_S = 5 // a runner that sends events calls many times a second

/** Renews the lease of a runner that has called; undefined when this key has no such runner, `replaced` when another one took its place. */
export const seeRunner = async ({ query }: Queries, id: string, keyId: string): Promise<'seen' | 'replaced' | undefined> => {
  if (!isUuid(id)) return undefined
  const [runner] = await query<{ ended: boolean; due: boolean }>(
    `select ended_at is not null as ended, ${elapsed('seen_at', SEEN_EVERY_S)} as due
     from runners where id = $1 and key_id = $2`,
    [id, keyId],
  )
  if (!runner) return undefined
  if (runner.ended) return 'replaced'
  if (runner.due) await query('update runners set seen_at = clock_timestamp() where id = $1 and ended_at is null', [id])
  return 'seen'
}

/** Whether there may be something for this runner to hear: a queued task of its worktrees, a task that it has not named, an order, or that
 *  another one took its place. One statement, so that a runner with nothing to do costs next to nothing. */
export const mayHaveNews = async ({ query }: Queries, id: string): Promise<boolean> => {
  const [row] = await query<{ found: boolean }>(
    `select not exists (select from runners where id = $1 and ended_at is null)
       or exists (select from agents where ordered_from = $1)
       or exists (select from tasks t where t.status in ('queued', 'running') and (
         (t.runner_id = $1 and (not t.acknowledged or t.interrupt_asked_at is not null))
         or (t.status = 'queued' and exists (select from sessions s join worktrees w on w.id = s.worktree_id
           where s.id = t.session_id and w.runner_id = $1)))) as found`,
    [id],
  )
  return row!.found
}

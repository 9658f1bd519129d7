// Summaries that a model wrote: kept for the last event that they know of, so that several callers, at several instances, share one call.
import { and, eq, lt, sql } from 'drizzle-orm'
import type { Queries } from '../../../db/database.ts'
import { summaries } from '../../../db/control-schema.ts'

/** Whose call it is to ask the model: true for the first one that asks for this event. Forgets what was said of earlier ones. */
export const claimSummary = async ({ db }: Queries, sessionId: string, sequence: number): Promise<boolean> => {
  const rows = await db.insert(summaries).values({ sessionId, sequence }).onConflictDoNothing().returning({ sequence: summaries.sequence })
  if (rows.length > 0) await db.delete(summaries).where(and(eq(summaries.sessionId, sessionId), lt(summaries.sequence, sequence)))
  return rows.length > 0
}

/** `text` null: the model did not answer. */
export const saveSummary = async ({ db }: Queries, sessionId: string, sequence: number, text: string | null): Promise<void> =>
  void (await db
    .update(summaries)
    .set({ text, endedAt: sql`clock_timestamp()` })
    .where(and(eq(summaries.sessionId, sessionId), eq(summaries.sequence, sequence))))

/** What became of the one call; undefined while the model is being asked. One that was lost with its instance counts as unanswered. */
export const keptSummary = async ({ query }: Queries, sessionId: string, sequence: number, longestS: number) => {
  const [row] = await query<{ text: string | null; ended: boolean }>(
    `select text, ended_at is not null or asked_at < clock_timestamp() - make_interval(secs => $3::float8) as ended
     from summaries where session_id = $1 and sequence = $2`,
    [sessionId, sequence, longestS],
  )
  if (!row) return { text: null } // a newer event has been asked about since
  return row.ended ? { text: row.text } : undefined
}

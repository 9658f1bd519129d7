// Imported transcripts: how far each has been read, and their events, written in batches.
import { and, eq, sql } from 'drizzle-orm'
import type { Queries } from '../../db/database.ts'
import { imports } from '../../db/session-schema.ts'
import { pgArray } from '../../db/arrays.ts'
import { CONVERSATION } from './events.ts'

export type Import = typeof imports.$inferSelect

export const importOf = async ({ db }: Queries, sessionId: string): Promise<Import | undefined> => {
  const [row] = await db.select().from(imports).where(eq(imports.sessionId, sessionId))
  return row
}

/** Saves how far the transcript has been read. False: another import of it has saved since. */
export const saveImport = async ({ db }: Queries, { sessionId, batches, ...read }: Omit<Import, 'at'>): Promise<boolean> => {
  const values = { ...read, batches: batches + 1, at: sql`clock_timestamp()` }
  const rows =
    batches === 0
      ? await db
          .insert(imports)
          .values({ sessionId, ...values })
          .onConflictDoNothing()
          .returning({ sessionId: imports.sessionId })
      : await db
          .update(imports)
          .set(values)
          .where(and(eq(imports.sessionId, sessionId), eq(imports.batches, batches)))
          .returning({ sessionId: imports.sessionId })
  return rows.length === 1
}

// The turn goes on at the newest event that is left: a prompt that follows opens the next one.
const IMPORT_ANEW = `
with newest as (
  select id, turn, ordinal, terminal, case when type = 'chat' then coalesce(posted_by_team_id::text, author || ':' || author_name) end as holder
  from events where session_id = $1 order by sequence desc limit 1
), anew as (
  update imports set bytes = 0, lines = 0, tail = '', batches = batches + 1, state = state || jsonb_build_object('again', true, 'turn',
    jsonb_strip_nulls(jsonb_build_object('turn', turn, 'ordinal', ordinal, 'asked', true, 'worked', true, 'holder', holder,
      'terminal', case when terminal then id end)))
  from newest where session_id = $1 returning turn, ordinal
)
update sessions set turn = anew.turn, turn_events = anew.ordinal from anew where id = $1`

/** The end of the log of a session is gone: a transcript that was imported into it is read from its beginning next time, and adds what is
 *  missing. An import that is under way ends. The caller holds the session's lock. */
export const importAnew = async ({ query }: Queries, sessionId: string): Promise<void> => void (await query(IMPORT_ANEW, [sessionId]))

/** The session of this event. */
export const sessionOfEvent = async ({ query }: Queries, id: string): Promise<string | undefined> => {
  const [row] = await query<{ session_id: string }>('select session_id from events where id = $1', [id])
  return row?.session_id
}

/** The newest event of the conversation that came from a transcript, not from whoever went on with its session here. */
export const newestImported = async ({ query }: Queries, sessionId: string): Promise<string | undefined> => {
  const newest = `select id from events where session_id = $1 and ${CONVERSATION} and source_line is not null order by sequence desc limit 1`
  return (await query<{ id: string }>(newest, [sessionId]))[0]?.id
}

/** Says of these events whether each ends its turn: what a transcript shows only once it goes on. */
export const setTerminal = async ({ query }: Queries, sessionId: string, ids: string[], terminal: boolean): Promise<void> =>
  void (await query('update events set terminal = nullif($3, false) where session_id = $1 and id = any($2::uuid[])', [
    sessionId,
    pgArray(ids),
    terminal,
  ]))

// Imported transcripts: how far each has been read, and their events, written in batches.
import { and, eq, sql } from 'drizzle-orm'
import type { Queries } from '../../db/database.ts'
import { imports } from '../../db/session-schema.ts'
import { pgArray } from '../../db/arrays.ts'

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

/** The ids among these that are in the log already. */
export const knownEvents = async ({ query }: Queries, ids: string[]): Promise<Set<string>> => {
  const rows = await query<{ id: string }>('select id from events where id = any($1::uuid[])', [pgArray(ids)])
  return new Set(rows.map(({ id }) => id))
}

/** The session of this event. */
export const sessionOfEvent = async ({ query }: Queries, id: string): Promise<string | undefined> => {
  const [row] = await query<{ session_id: string }>('select session_id from events where id = $1', [id])
  return row?.session_id
}

/** An event that another program wrote, with its number. */
export interface ImportedEvent {
  sequence: number
  id: string
  turn: number
  ordinal: number
  type: string
  author: string
  authorName: string | undefined
  teamId: string | undefined
  content: string // JSON
  size: number
  replyTo: string | undefined
  to: string | undefined // an array in Postgres' notation
  expectsReply: boolean | undefined
  terminal: boolean | undefined
  toolName: string | undefined
  model: string | undefined
  originatingModel: string | undefined
  sourceLine: string | undefined
  taskId?: string | undefined
  at: string
}

// In the order of the statement's parameters.
const FIELDS = [
  'sequence',
  'id',
  'turn',
  'ordinal',
  'type',
  'author',
  'authorName',
  'teamId',
  'content',
  'size',
  'replyTo',
  'to',
  'expectsReply',
  'terminal',
  'toolName',
  'model',
  'originatingModel',
  'sourceLine',
  'taskId',
  'at',
] as const

const INSERT = `
insert into events (session_id, sequence, id, turn, ordinal, type, author, author_name, posted_by_team_id, content, size, reply_to, to_team_ids,
  expects_reply, terminal, tool_name, model, originating_model, source_line, task_id, at)
select $1, sequence, id, turn, ordinal, type, author, author_name, team_id, content::jsonb, size, reply_to, to_team_ids::uuid[],
  expects_reply, terminal, tool_name, model, originating_model, source_line, task_id, at
from unnest($2::int8[], $3::uuid[], $4::int[], $5::int[], $6::text[], $7::text[], $8::text[], $9::uuid[], $10::text[], $11::int[], $12::uuid[],
  $13::text[], $14::bool[], $15::bool[], $16::text[], $17::text[], $18::text[], $19::text[], $20::uuid[], $21::timestamptz[])
as e(sequence, id, turn, ordinal, type, author, author_name, team_id, content, size, reply_to, to_team_ids,
  expects_reply, terminal, tool_name, model, originating_model, source_line, task_id, at)`

/** Inserts numbered events. The caller holds their session's lock. */
export const insertImported = async ({ query }: Queries, sessionId: string, events: ImportedEvent[]): Promise<void> =>
  void (await query(INSERT, [sessionId, ...FIELDS.map((field) => pgArray(events.map((event) => event[field])))]))

export const setTerminal = async ({ query }: Queries, sessionId: string, ids: string[], terminal: boolean): Promise<void> =>
  void (await query('update events set terminal = nullif($3, false) where session_id = $1 and id = any($2::uuid[])', [
    sessionId,
    pgArray(ids),
    terminal,
  ]))

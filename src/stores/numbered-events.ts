// Events that are numbered before they are written, since they belong into turns of their own: of imported transcripts and of agents' tasks.
import type { Queries } from '../../db/database.ts'
import { pgArray } from '../../db/arrays.ts'

/** The ids among these that are in the log already; with `sessionId`, in that of this session. */
export const knownEvents = async ({ query }: Queries, ids: string[], sessionId?: string): Promise<Set<string>> => {
  if (ids.length === 0) return new Set()
  const within = sessionId === undefined ? '' : ' and session_id = $2'
  const params = [pgArray(ids), ...(sessionId === undefined ? [] : [sessionId])]
  const rows = await query<{ id: string }>(`select id from events where id = any($1::uuid[])${within}`, params)
  return new Set(rows.map(({ id }) => id))
}

/** An event whose number its writer has chosen, under the lock of its session. */
export interface NumberedEvent {
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

/** The caller holds their session's lock. */
export const insertNumbered = async ({ query }: Queries, sessionId: string, events: NumberedEvent[]): Promise<void> =>
  void (await query(INSERT, [sessionId, ...FIELDS.map((field) => pgArray(events.map((event) => event[field])))]))

// Reading the log. The primary key (session_id, sequence) is the cursor's index; every read is one range of it.
import type { Queries } from '../../db/database.ts'
import { CONVERSATION_TYPES } from '../../db/schema.ts'
import { plainArray } from '../../db/arrays.ts'

/** An event as every door shows it: the same for all readers, so it can be encoded once (specification 1's message). */
export interface Event {
  id: string
  sequence: number
  type: string
  at: string
  [field: string]: unknown
}

export interface Row {
  id: string
  sequence: number
  type: string
  author: string
  author_name: string | null
  posted_by_team_id: string | null
  content: Record<string, unknown>
  reply_to: string | null
  to_team_ids: string[] | null
  task_id?: string | null
  turn: number
  tool_name?: string | null
  model?: string | null
  at: string
}

export interface Page {
  events: Event[]
  hasMore: boolean
}

/** What these events say of the session's state; undefined when they say nothing. */
export const closedBy = (events: Event[]): boolean | undefined => {
  const last = events.findLast(({ event }) => event === 'session_concluded' || event === 'session_reopened')
  return last && last.event === 'session_concluded'
}

const COLUMNS =
  'id, sequence, type, author, author_name, posted_by_team_id, content, reply_to, to_team_ids, task_id, turn, tool_name, model, at'

// By primary key too. In a room that is all there is; in a transcript, the newest 100 among 100,000 events take 3.6 ms where an index of
// their own would take 2.0, and every post would pay a fifth of the database's time for it (bench/post).
export const CONVERSATION = `type in (${CONVERSATION_TYPES.map((type) => `'${type}'`).join(', ')})`
export const isConversation = (type: string) => (CONVERSATION_TYPES as readonly string[]).includes(type)
/** What a page counts: what teams and people said. */
export const MESSAGE = `type in ('chat', 'user_input')`
export const isMessage = (type: string) => type === 'chat' || type === 'user_input'
export const PAGE_EVENTS = 500
export const PAGE_BYTES = 256 * 1024

/** A page of what follows `cursor`, ascending: at most `limit` events or 256 KiB of text, the first one always. */
export const eventsAfter = (queries: Queries, sessionId: string, cursor: number, trace: boolean, limit = PAGE_EVENTS): Promise<Page> =>
  page(queries, `session_id = $1 and sequence > $2${trace ? '' : ` and ${CONVERSATION}`}`, 'asc', [sessionId, cursor], limit)

/** The page before `cursor` (or the newest), ascending too, with the same budget counted from its end. */
export const eventsBefore = async (
  queries: Queries,
  sessionId: string,
  cursor: number | undefined,
  trace: boolean,
  limit: number,
): Promise<Page> => {
  const where = `session_id = $1 and sequence < $2${trace ? '' : ` and ${CONVERSATION}`}`
  const { events, hasMore } = await page(queries, where, 'desc', [sessionId, cursor ?? Number.MAX_SAFE_INTEGER], limit)
  return { events: events.reverse(), hasMore }
}

export const eventById = async ({ query }: Queries, sessionId: string, id: string): Promise<Event | undefined> => {
  const [row] = await query<Row>(`select ${COLUMNS} from events where session_id = $1 and id = $2`, [sessionId, id])
  return row && eventOf(row)
}

/** Has the team said anything since then (ms)? */
export const hasPosted = async ({ query }: Queries, sessionId: string, teamId: string, since: number): Promise<boolean> => {
  const posts = 'select from events where session_id = $1 and posted_by_team_id = $2 and at > $3 limit 1'
  return (await query(posts, [sessionId, teamId, new Date(since).toISOString()])).length > 0
}

/** Has the feed told of the team, as its author or as one that came? */
export const isTold = async ({ query }: Queries, sessionId: string, teamId: string): Promise<boolean> => {
  const told = `select from events where session_id = $1 and ${CONVERSATION} and (posted_by_team_id = $2::uuid or content->>'team_id' = $2::text) limit 1`
  return (await query(told, [sessionId, teamId])).length > 0
}

/** Those of these events that this session has, in no order. */
export const eventsById = async ({ query }: Queries, sessionId: string, ids: string[]): Promise<Event[]> =>
  (await query<Row>(`select ${COLUMNS} from events where session_id = $1 and id = any($2::uuid[])`, [sessionId, plainArray(ids)])).map(
    eventOf,
  )

/** A page of the events that `where` names, in the order of their sequence or against it. One row more than asked for tells whether
 *  there is more; the running sum keeps a page of large texts within its budget. The database cuts it: 501 events of 32 KiB are 16 MiB. */
export const page = async ({ query }: Queries, where: string, order: 'asc' | 'desc', params: unknown[], limit: number): Promise<Page> => {
  const rows = await query<Row & { found: number }>(
    `select ${COLUMNS}, found
     from (select *, sum(size) over (order by sequence ${order}) - size as before, count(*) over ()::int as found
           from (select * from events where ${where} order by sequence ${order} limit ${limit + 1}) newest) summed
     where before < ${PAGE_BYTES}
     order by sequence ${order}
     limit ${limit}`,
    params,
  )
  return { events: rows.map(eventOf), hasMore: rows.length < (rows[0]?.found ?? 0) }
}

/** Cuts what is at hand already to a page, as the database would. */
export const pageOf = (events: Event[]): Page => {
  let bytes = 0
  const end = events.findIndex((_, i) => i === PAGE_EVENTS || (i > 0 && (bytes += sizeOf(events[i - 1]!)) >= PAGE_BYTES))
  return end < 0 ? { events, hasMore: false } : { events: events.slice(0, end), hasMore: true }
}

const sizeOf = ({ content, ...rest }: Event) => Buffer.byteLength(JSON.stringify(content ?? rest))

export const eventOf = (row: Row): Event => {
  const { id, sequence, type, at } = row
  if (type === 'system') return { id, sequence, type, ...row.content, at } as Event
  return {
    id,
    sequence,
    type,
    author: row.author,
    team: row.author_name,
    posted_by_team_id: row.posted_by_team_id,
    content: row.content,
    at,
    ...(row.reply_to && { reply_to: row.reply_to }),
    ...(row.to_team_ids && { to: row.to_team_ids }),
    ...(row.task_id && { task_id: row.task_id }),
    ...(row.tool_name && { tool_name: row.tool_name }),
    ...(row.model && { model: row.model }),
  }
}

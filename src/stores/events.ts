// Reading the log. The primary key (session_id, sequence) is the cursor's index; pages of the feed are ranges of it.
import type { Queries } from '../../db/database.ts'
import { CONVERSATION_TYPES } from '../../db/schema.ts'
import { plainArray } from '../../db/arrays.ts'
import { pageSize } from './page-size.ts'
import { fromBeforeTo } from '../core/events/event-kinds.ts'

export const DONE_BY: unique symbol = Symbol('done by')

/** An event as every door shows it: the same for all readers, so it can be encoded once. */
export interface Event {
  id: string
  sequence: number
  type: string
  at: string
  [field: string]: unknown
  /** Whose doing a system event is: a team's handle. Not for readers: JSON leaves symbols out. */
  [DONE_BY]?: string
}

export interface EventRow {
  id: string
  sequence: number
  type: string
  author: string
  author_name: string | null
  posted_by_team_id: string | null
  by_team_id?: string | null
  content: Record<string, unknown>
  reply_to: string | null
  to_team_ids: string[] | null
  expects_reply?: boolean | null
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

/** Whether the session is closed after these events; undefined when none of them closes or reopens it. */
export const closedBy = (events: Event[]): boolean | undefined => {
  const last = events.findLast(({ event }) => event === 'session_concluded' || event === 'session_reopened')
  return last && last.event === 'session_concluded'
}

const COLUMNS =
  'id, sequence, type, author, author_name, posted_by_team_id, by_team_id, content, reply_to, to_team_ids, expects_reply, task_id, turn, tool_name, model, at'

// Read by the primary key too. In a room there is little else to skip; in a transcript the newest 100 among 100,000 events take 3.6 ms, where
// an index of the conversation would take 2.0 and cost every post a fifth more of the database's time (bench/post).
export const CONVERSATION = `type in (${CONVERSATION_TYPES.map((type) => `'${type}'`).join(', ')})`
export const isConversation = (type: string) => (CONVERSATION_TYPES as readonly string[]).includes(type)
/** What teams and people said: what the pages count as messages. */
export const MESSAGE = `type in ('chat', 'user_input')`
export const isMessage = (type: string) => type === 'chat' || type === 'user_input'
/** SQL: the team whose an event `e` is, since it posted it or did what it tells of; null for a person's and the server's own. */
export const doerOf = (e: string): string => `coalesce(${e}.posted_by_team_id, ${e}.by_team_id)`
export const PAGE_EVENTS = 500
export const PAGE_BYTES = 256 * 1024

/** A page of what follows `cursor`, ascending: at most `limit` events and PAGE_BYTES of text, but the first event always. */
export const eventsAfter = (queries: Queries, sessionId: string, cursor: number, trace: boolean, limit = PAGE_EVENTS): Promise<Page> =>
  page(queries, `session_id = $1 and sequence > $2${trace ? '' : ` and ${CONVERSATION}`}`, 'asc', [sessionId, cursor], limit)

/** The page before `cursor` (or the newest one), ascending too: the same limits, counted from its end. */
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

/** The newest messages, ascending, within the limits of eventsAfter. */
export const newestMessages = async (queries: Queries, sessionId: string, limit: number): Promise<Event[]> =>
  (await page(queries, `session_id = $1 and ${MESSAGE}`, 'desc', [sessionId], limit)).events.reverse()

/** The last response of an agent before each of these prompts and after the one before it, and the last after all of them; ascending, within
 *  the limits of eventsAfter. However many responses a turn has, one of them is read. */
export const lastResponses = async (queries: Queries, sessionId: string, prompts: number[]): Promise<Event[]> => {
  const last = `select response.sequence from unnest($2::int8[], $3::int8[]) as turn(after, before)
    cross join lateral (select e.sequence from events e where e.session_id = $1 and e.type = 'assistant_response'
      and e.sequence > turn.after and e.sequence < turn.before order by e.sequence desc limit 1) response`
  const turns = [plainArray([0, ...prompts]), plainArray([...prompts, Number.MAX_SAFE_INTEGER])]
  const where = `session_id = $1 and sequence = any(array(${last}))`
  return (await page(queries, where, 'desc', [sessionId, ...turns], prompts.length + 1)).events.reverse()
}

export const eventById = async ({ query }: Queries, sessionId: string, id: string): Promise<Event | undefined> => {
  const [row] = await query<EventRow>(`select ${COLUMNS} from events where session_id = $1 and id = $2`, [sessionId, id])
  return row && eventOf(row)
}

/** SQL: the number of a session's last event until a time. Times never run against the numbers, so that only what came after it is read. */
export const lastUntil = (session: string, time: string): string =>
  `coalesce((select u.sequence from events u where u.session_id = ${session} and u.at <= ${time} order by u.sequence desc limit 1), 0)`

/** Has the team said anything since then (ms)? */
export const hasPosted = async ({ query }: Queries, sessionId: string, teamId: string, since: number): Promise<boolean> => {
  const posts = `select from events where session_id = $1 and posted_by_team_id = $2 and sequence > ${lastUntil('$1', '$3')} limit 1`
  return (await query(posts, [sessionId, teamId, new Date(since).toISOString()])).length > 0
}

/** Is the team in the feed, as an author or as one that joined? */
export const isMentioned = async ({ query }: Queries, sessionId: string, teamId: string): Promise<boolean> => {
  const mentions = `select from events where session_id = $1 and ${CONVERSATION} and (posted_by_team_id = $2::uuid or content->>'team_id' = $2::text) limit 1`
  return (await query(mentions, [sessionId, teamId])).length > 0
}

/** Those of these ids that are events of this session, in no order. */
export const eventsById = async ({ query }: Queries, sessionId: string, ids: string[]): Promise<Event[]> =>
  (await query<EventRow>(`select ${COLUMNS} from events where session_id = $1 and id = any($2::uuid[])`, [sessionId, plainArray(ids)])).map(
    eventOf,
  )

/** The newest of these events of the session, the newest first: at most `limit`, within the limits of eventsAfter. */
export const newestOf = async (queries: Queries, sessionId: string, ids: string[], limit: number): Promise<Event[]> =>
  (await page(queries, 'session_id = $1 and id = any($2::uuid[])', 'desc', [sessionId, plainArray(ids)], limit)).events

/** The question of the session that an id or a sequence names; undefined where there is no such event, or it asks nothing. */
export const questionNamed = async (queries: Queries, sessionId: string, name: string | number): Promise<Event | undefined> => {
  const field = typeof name === 'number' ? 'sequence' : 'id'
  return (await page(queries, `session_id = $1 and ${field} = $2 and expects_reply`, 'asc', [sessionId, name], 1)).events[0]
}

/** For the stores alone: a page of the events that match `where`, in the order of their sequence or against it, within the limits of
 *  eventsAfter. The database cuts it by a running sum of their sizes, since 501 events of 32 KiB would be 16 MiB on the way; one row more
 *  than asked for tells whether there is more. */
export const page = async ({ query }: Queries, where: string, order: 'asc' | 'desc', params: unknown[], limit: number): Promise<Page> => {
  const most = pageSize(limit)
  const rows = await query<EventRow & { found: number }>(
    `select ${COLUMNS}, found
     from (select *, sum(size) over (order by sequence ${order}) as bytes, count(*) over ()::int as found
           from (select * from events where ${where} order by sequence ${order} limit ${most + 1}) newest) summed
     where bytes <= ${PAGE_BYTES} or bytes = size
     order by sequence ${order}
     limit ${most}`,
    params,
  )
  const events = rows.slice(0, limit).map(eventOf)
  return { events, hasMore: events.length < (rows[0]?.found ?? 0) }
}

/** Cuts events that are in memory to a page, as the database would. */
export const pageOf = (events: Event[]): Page => {
  if (events.length < 2) return { events, hasMore: false } // nearly every wake: nothing to measure
  let bytes = 0
  const end = events.findIndex((event, i) => i === PAGE_EVENTS || ((bytes += sizeOf(event)) > PAGE_BYTES && i > 0))
  return end < 0 ? { events, hasMore: false } : { events: events.slice(0, end), hasMore: true }
}

const sizeOf = ({ content, ...rest }: Event) => Buffer.byteLength(JSON.stringify(content ?? rest))

/** A row as every door shows it; of a system event what it says stands beside id and time, not in `content`. */
export const eventOf = (row: EventRow): Event => {
  const { id, sequence, type, at, to_team_ids: to } = row
  if (type === 'system') {
    const event = { id, sequence, type, ...fromBeforeTo(row.content), at }
    return row.by_team_id ? { ...event, [DONE_BY]: row.by_team_id } : event
  }
  const { content, beside } = apart(row)
  return {
    id,
    sequence,
    type,
    author: row.author,
    team: row.author_name,
    posted_by_team_id: row.posted_by_team_id,
    content,
    at,
    ...(row.reply_to && { reply_to: row.reply_to }),
    ...(to && to.length > 0 && { to }),
    ...beside,
    ...(row.expects_reply && { expects_reply: true }),
    ...(row.task_id && { task_id: row.task_id }),
    ...(row.tool_name && { tool_name: row.tool_name }),
    ...(row.model && { model: row.model }),
  }
}

// What of a message is stored in its content and shown beside it: the people that it is addressed to, who have names alone, and who prompted.
const apart = ({ type, content }: EventRow): { content: EventRow['content']; beside?: object } => {
  if (!isMessage(type) || (content.to_people === undefined && content.prompted_by === undefined)) return { content }
  const { to_people, prompted_by, ...said } = content
  return { content: said, beside: { ...(to_people !== undefined && { to_people }), ...(prompted_by !== undefined && { prompted_by }) } }
}
